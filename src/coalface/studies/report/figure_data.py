"""The figures of a study: which it has, their arrays, and the same numbers as rows of a CSV file."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from coalface.evaluate import AXIS_LABELS, panel
from coalface.report import DotColumn, DotLine, DotPlot, Panel, Style, draw_curves, draw_dots, styles_for
from coalface.studies.findings import ANSWERS, COSTS, EXAMPLES, PRICE, Measure, applies, counted_points, start_of
from coalface.studies.report.savings import Analysis

MOST_PANELS = 9  # with more datasets, the figure shows savings only
MEAN_ROW = "geometric mean"
_AXIS_NAMES = {
    COSTS: AXIS_LABELS[COSTS.axis],
    EXAMPLES: AXIS_LABELS[EXAMPLES.axis],
    ANSWERS: "answers (a label is one)",
}
_HEADINGS_OF_PANELS = ("data", "line", "drawn", "asked", "lower_15", "median", "upper_85")
_HEADINGS_OF_DOTS = ("counted", "data", "line", "saving", "low", "high")
_UNSET = ("default", "online")  # lines of these names
NAMES = ("costs", "examples", "price", "answers", "ablations", "savings")  # of the figures that a report may have


@dataclass(frozen=True, eq=False)
class StudyFigure:
    """One figure: the name of its files, its title, its caption, and its arrays."""

    name: str
    title: str
    caption: str
    shown: tuple[Panel, ...] | DotPlot

    def svg(self) -> str:
        """The figure as SVG text."""
        if isinstance(self.shown, DotPlot):
            return draw_dots(self.shown, self.title)
        return draw_curves(self.shown, self.title)

    @property
    def headings(self) -> tuple[str, ...]:
        """The columns of ``rows``."""
        return _HEADINGS_OF_DOTS if isinstance(self.shown, DotPlot) else _HEADINGS_OF_PANELS

    def rows(self) -> Iterator[list[Any]]:
        """Every number of the figure."""
        return _dot_rows(self.shown) if isinstance(self.shown, DotPlot) else _panel_rows(self.shown)


def figures_for(analysis: Analysis) -> list[StudyFigure]:
    """The figures that apply to a study, the most important one first."""
    main, ablated = analysis.main_lines, _lines_beside_ablations(analysis)
    if not analysis.outcomes:
        return []
    if len(analysis.data_names) > MOST_PANELS:
        return _figures_of_savings(analysis, main, ablated)
    found = [_curves(analysis, main, measure, measure.name, _title_of(measure)) for measure in analysis.measures]
    if ablated:
        found.append(_curves(analysis, ablated, COSTS, "ablations", "What each half of the rule is worth"))
    return [figure for figure in found if figure.shown]


def _lines_beside_ablations(analysis: Analysis) -> tuple[str, ...]:
    """The baseline, the ablations, and the coal lines with the same settings; all coal lines if there are none."""
    if not analysis.ablation_lines:
        return ()
    settings = {line.partition(" ")[2] for line in analysis.ablation_lines} - {""}
    alike = [line for line in analysis.coal_lines if line.partition(" ")[2] in settings] or analysis.coal_lines
    wanted = (analysis.findings.baseline, *alike, *analysis.ablation_lines)
    return tuple(line for line in analysis.rules if line in wanted)


def _styles(analysis: Analysis, lines: Sequence[str]) -> dict[str, Style]:
    """The styles of these lines, the same in all figures; ours without any setting has a colour of its own."""
    rules = ["default" if line in _UNSET else rule for line, rule in analysis.rules.items()]
    every = dict(zip(analysis.rules, styles_for(rules), strict=True))
    return {line: every[line] for line in lines}


def _title_of(measure: Measure) -> str:
    if measure is PRICE:
        return "Test cost against the price of the answers"
    if measure is ANSWERS:
        return "Test cost against answers, a label being one answer"
    return f"Test cost against {_AXIS_NAMES[measure]}"


def _curves(analysis: Analysis, lines: Sequence[str], measure: Measure, name: str, title: str) -> StudyFigure:
    panels, styles = [], _styles(analysis, lines)
    for facts in analysis.findings.data:
        here = [choice for choice in analysis.choices if choice.data == facts.name and choice.line in lines]
        chosen = [choice for choice in here if applies(measure, facts, choice.runs)]
        if not chosen:
            continue
        points = {choice.line: counted_points(choice.runs, measure, facts) for choice in chosen}
        target = next((one.baseline_test_cost for one in analysis.on(facts.name, [analysis.findings.baseline])), np.nan)
        panels.append(
            panel(
                facts.name,
                f"price in {facts.price_unit}" if measure is PRICE else _AXIS_NAMES[measure],
                [(line, styles[line], points[line]) for line in lines if line in points],
                measure.axis,
                start=start_of([run for runs in points.values() for run in runs], measure),
                target=target,
            )
        )
    return StudyFigure(name, title, _caption_of_curves(analysis, name), tuple(panels))


_HOW_TO_READ = {
    "costs": (
        "Further down and further left is better. Lines are medians over the permutations, each line at its best "
        "learning rate. Bars with the line's marker reach from the 15th to the 85th percentile at every doubling, with "
        "an offset per line to avoid overlap. A line ends, with a larger marker, where its longest run asks for no "
        "more. The dotted line is the final test cost of {baseline}: a saving is counted where a line falls below it "
        "for good."
    ),
    "examples": (
        "The same runs, counted in examples with at least one question: the number that matters where looking at an "
        "example is the expensive part."
    ),
    "price": "The same runs, counted in the price of the answers.",
    "answers": (
        "The same runs, with each true label counted as one answer. Giving the one true label of an example may be "
        "less work than giving all its costs; the truth lies between this figure and the first one."
    ),
    "ablations": (
        "all-or-none asks for every cost of an example or for none; no-domination also asks about labels that cannot "
        "be best. The distance to the coal line is the value of the half of the rule that each leaves out."
    ),
}
_LABELS_ARE_COSTS = " A true label counts as the costs of all labels here."


def _caption_of_curves(analysis: Analysis, name: str) -> str:
    caption = _HOW_TO_READ[name].format(baseline=analysis.findings.baseline)
    return caption + (_LABELS_ARE_COSTS if name == "costs" and ANSWERS in analysis.measures else "")


def _figures_of_savings(analysis: Analysis, main: Sequence[str], ablated: Sequence[str]) -> list[StudyFigure]:
    baseline = analysis.findings.baseline
    caption = (
        f"How many times less than {baseline} each line needs to get as good as {baseline} is at its end, with 95 % "
        "intervals over permutations. Further right is better; left of the dotted line is worse. A hollow marker at "
        "'never' means that the line did not get there; a bar that begins there means that some draws did not. "
        f"Datasets are sorted by the largest saving of costs. The {MEAN_ROW} is over the datasets where a line got "
        "there; the table has their number."
    )
    compared = {measure for outcome in analysis.outcomes for measure in outcome.savings}
    plain = [measure for measure in analysis.measures if measure is not ANSWERS and measure in compared]
    figures = [StudyFigure("savings", "Savings on every dataset", caption, _dots(analysis, main, plain))]
    if ANSWERS in analysis.measures:
        title = "Savings on every dataset, a label being one answer"
        figures.append(StudyFigure("answers", title, _HOW_TO_READ["answers"], _dots(analysis, main, [ANSWERS])))
    if ablated:
        title, how = "What each half of the rule is worth", _HOW_TO_READ["ablations"]
        figures.append(StudyFigure("ablations", title, how, _dots(analysis, ablated, [COSTS])))
    return figures


def _dots(analysis: Analysis, lines: Sequence[str], measures: Sequence[Measure]) -> DotPlot:
    compared = [line for line in lines if line != analysis.findings.baseline]
    order = sorted(analysis.data_names, key=lambda data: -_largest_saving(analysis, data, compared))
    columns = tuple(
        DotColumn(
            measure.less.removeprefix("a "),
            tuple(_dot_line(analysis, line, measure, order) for line in compared),
        )
        for measure in measures
    )
    return DotPlot((*order, MEAN_ROW), 1, columns, analysis.findings.baseline)


def _largest_saving(analysis: Analysis, data: str, lines: Sequence[str]) -> float:
    best = analysis.best(data, [line for line in lines if line in analysis.coal_lines] or lines)
    return best.savings[COSTS].factor if best else 0.0


def _dot_line(analysis: Analysis, line: str, measure: Measure, order: Sequence[str]) -> DotLine:
    found = {
        outcome.data: outcome.savings[measure]
        for outcome in analysis.outcomes
        if outcome.line == line and measure in outcome.savings
    }
    unknown = (np.nan, np.nan, np.nan)
    numbers = [(found[data].factor, *found[data].interval) if data in found else unknown for data in order]
    mean = analysis.mean(line, measure)
    numbers.append((mean.mean, *mean.interval) if mean else unknown)
    factor, low, high = np.array(numbers).T
    return DotLine(line, _styles(analysis, [line])[line], factor, low, high)


def _panel_rows(panels: Sequence[Panel]) -> Iterator[list[Any]]:
    for panel_ in panels:
        for line in panel_.lines:
            for drawn, band in (("line", line.curve), ("bar", line.bars)):
                for values in zip(band.asked, band.lower, band.median, band.upper, strict=True):
                    yield [panel_.title, line.name, drawn, *values]


def _dot_rows(plot: DotPlot) -> Iterator[list[Any]]:
    for column in plot.columns:
        for line in column.lines:
            for name, *values in zip(plot.rows, line.factor, line.low, line.high, strict=True):
                yield [column.title, name, line.name, *values]
