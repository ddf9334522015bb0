"""An evaluation report as tables of text, the same for the terminal and the page, as figures, and as an HTML page."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from coalface.errors import counted
from coalface.evaluate.breakdown import CalibrationBin, Mistake
from coalface.evaluate.report import EvaluationReport, MeanCost
from coalface.report import figure_style, html_page
from coalface.report.figure_style import placeholder_for, styled_figure, svg_of
from coalface.report.number_format import percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_ROWS = 10
LEARNER = "the learner"
_HOW_TO_READ_BINS = "Each line is the mean of costs with similar predictions. A good model has gaps near 0."
_MISTAKES_DRAWN = 10
_WIDTH = 8.4  # inches
_ROW = 0.34  # inches per line of a figure
_LONGEST_NAME = 40  # letters


class _EvaluationTable(NamedTuple):
    """A table with its title and a sentence on how to read it."""

    title: str
    headings: tuple[str, ...]
    rows: list[list[str]]
    note: str = ""


def tables_of(report: EvaluationReport) -> list[_EvaluationTable]:
    """All tables, the most important first; those without rows are left out."""
    tables = [_costs(report), _mistakes(report), _labels(report), _calibration(report)]
    return [table for table in tables if table.rows]


def facts_of(report: EvaluationReport) -> dict[str, str]:
    """The numbers about rows and ranges, by what they mean."""
    coverage, calibration = report.coverage, report.calibration
    facts = {
        "rows that could be judged": f"{report.judged:,} of {report.rows:,}",
        "known costs of these rows": f"{report.known_costs:,}",
        "total cost": _cost_text(report.total_cost),
        "mean gap between predicted and known cost": _cost_text(calibration.mean_gap),
    }
    if report.abstained:
        facts["rows without a label, because the learner abstained"] = f"{report.abstained:,}"
    if calibration.answers_predicted is not None:
        facts["mean predicted cost of the predicted labels"] = _cost_text(calibration.answers_predicted)
    facts["known costs inside their range"] = percent(coverage.costs, 1)
    facts["mean costs of similar predictions inside their mean range"] = percent(coverage.means, 1)
    facts["rows whose cheapest label the rule would rule out"] = percent(coverage.ruled_out, 1)
    return facts


def notice_of(report: EvaluationReport) -> str:
    """What limits the report: rows that could not be judged; empty if all could."""
    missing = report.rows - report.judged
    if not missing:
        return ""
    return (
        f"{counted(missing, 'row')} could not be judged, because the cost of the predicted label is not known. "
        "The cheapest label of a row is the cheapest of its known costs."
    )


def _cost_text(value: float) -> str:
    """A cost, or a sum of costs.

    >>> _cost_text(0.123456), _cost_text(12345.678), _cost_text(-0.0)
    ('0.1235', '12,346', '0')
    """
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value + 0.0:.4g}"


def _interval_text(estimate: MeanCost) -> str:
    """The interval of an estimate, if it needs one.

    >>> _interval_text(MeanCost(0.2, 0.15, 0.25, 100))
    '0.15 to 0.25'
    """
    if estimate.is_exact:
        return "exact"
    return f"{_cost_text(estimate.low)} to {_cost_text(estimate.high)}"


def _costs(report: EvaluationReport) -> _EvaluationTable:
    headings = ("prediction", "mean cost", "95 % interval", "rows", "minus the learner", "95 % interval")
    own = report.cost
    rows = [[LEARNER, _cost_text(own.mean), _interval_text(own), f"{own.rows:,}", "", ""]]
    for one in report.references:
        cost, difference = one.cost, one.difference
        rows.append(
            [
                one.name,
                _cost_text(cost.mean),
                _interval_text(cost),
                f"{cost.rows:,}",
                _cost_text(difference.mean),
                _interval_text(difference),
            ]
        )
    return _EvaluationTable(
        "Mean cost",
        headings,
        rows,
        "The single label is the one with the least mean cost on these rows. Intervals are Wilson's. Differences are "
        "between costs of the same rows.",
    )


def _mistakes(report: EvaluationReport) -> _EvaluationTable:
    rows = [
        [
            f"{one.truth} -> {one.predicted}",
            f"{one.rows:,}",
            _cost_text(one.mean_cost),
            _cost_text(one.total_cost),
            _cost_text(one.extra_cost),
        ]
        for one in report.mistakes[:_MOST_ROWS]
    ]
    headings = ("true -> predicted label", "rows", "mean cost", "total cost", "beyond the cheapest")
    return _EvaluationTable(
        "Costliest mistakes", headings, rows, _and_more(len(report.mistakes), "kind", " of mistakes")
    )


def _labels(report: EvaluationReport) -> _EvaluationTable:
    rows = [
        [
            one.label,
            f"{one.rows:,}",
            _cost_text(one.mean_cost),
            _cost_text(one.total_cost),
            "" if one.share is None else percent(one.share, 1),
        ]
        for one in report.labels[:_MOST_ROWS]
    ]
    headings = ("true label", "rows", "mean cost", "total cost", "share of the total")
    return _EvaluationTable("Cost by true label", headings, rows, _and_more(len(report.labels), "label"))


def _calibration(report: EvaluationReport) -> _EvaluationTable:
    rows = [
        [
            _cost_text(one.predicted),
            _cost_text(one.cost),
            _cost_text(one.predicted - one.cost),
            f"{_cost_text(one.lowest)} to {_cost_text(one.highest)}",
            f"{one.costs:,}",
        ]
        for one in report.calibration.bins
    ]
    headings = ("mean predicted cost", "mean known cost", "gap", "mean range", "costs")
    return _EvaluationTable("Calibration of predicted costs", headings, rows, _HOW_TO_READ_BINS)


def _and_more(n: int, noun: str, rest: str = "") -> str:
    """A note on rows that are not shown; empty if all are."""
    return f"{counted(n - _MOST_ROWS, f'more {noun}')}{rest} not shown." if n > _MOST_ROWS else ""


def evaluation_page(report: EvaluationReport, title: str) -> str:
    """The page as HTML text: numbers to remember, figures, tables, and the features of the costliest labels."""
    figures = {
        "Mean cost": _draw_costs(report),
        "Calibration of predicted costs": _draw_calibration(report.calibration.bins),
    }
    if report.mistakes:
        figures["Costliest mistakes"] = _draw_mistakes(report.mistakes[:_MISTAKES_DRAWN])
    return html_page.page(
        "evaluation.html",
        title,
        f"{str(report)[0].upper()}{str(report)[1:]}.",
        facts=_large_facts(report),
        notice=notice_of(report),
        tables=tables_of(report),
        figures=figures,
        numbers=facts_of(report),
        feature_headings=("feature", _unit_of_features(report)),
        features={
            label: [[one.name, _cost_text(one.effect)] for one in found] for label, found in report.features.items()
        },
    )


def _large_facts(report: EvaluationReport) -> dict[str, str]:
    """The few numbers to remember, by what they mean."""
    meaning = f"mean cost per row, 95 % interval {_interval_text(report.cost)}"
    facts = {meaning: _cost_text(report.cost.mean)}
    for one in report.references:
        facts[f"mean cost of {one.name}"] = _cost_text(one.cost.mean)
    return facts


def _unit_of_features(report: EvaluationReport) -> str:
    units = [one.unit for found in report.features.values() for one in found[:1]]
    return "effect on the cost" if units[:1] == ["cost"] else "share of splits"


def _draw_costs(report: EvaluationReport) -> str:
    """The mean cost of the learner and its references, with their intervals."""
    lines = [(LEARNER, report.cost), *((one.name, one.cost) for one in report.references)]
    colours = [figure_style.RULES["coal"], *(figure_style.RULES["passive"] for _ in report.references)]
    with styled_figure((_WIDTH, _ROW * len(lines) + 0.9), salt="evaluation costs") as figure:
        axes = figure.subplots()
        for place, ((_, cost), colour) in enumerate(zip(lines, colours, strict=True)):
            axes.hlines(place, cost.low, cost.high, color=placeholder_for(colour), linewidth=3)
            axes.plot([cost.mean], [place], "o", color=placeholder_for(colour), markersize=8)
        _name_rows(axes, [name for name, _ in lines], "mean cost, 95 % interval")
        return svg_of(figure, "Mean cost of the learner and its references")


def _draw_mistakes(mistakes: Sequence[Mistake]) -> str:
    """The extra cost of some mistakes as bars."""
    with styled_figure((_WIDTH, _ROW * len(mistakes) + 0.9), salt="evaluation mistakes") as figure:
        axes = figure.subplots()
        places = range(len(mistakes))
        colour = placeholder_for(figure_style.LEFT_OUT)
        axes.barh(places, [one.extra_cost for one in mistakes], height=0.6, color=colour)
        axes.set_axisbelow(True)
        names = [f"{one.truth} -> {one.predicted}" for one in mistakes]
        _name_rows(axes, names, "total cost beyond the cheapest label")
        return svg_of(figure, "The costliest mistakes")


def _draw_calibration(bins: Sequence[CalibrationBin]) -> str:
    """Mean known cost against mean predicted cost, with the mean range of each bin as a bar."""
    predicted = [one.predicted for one in bins]
    text, known = placeholder_for(figure_style.TEXT), placeholder_for(figure_style.ASKED)
    with styled_figure((_WIDTH, 4.2), salt="evaluation calibration") as figure:
        axes = figure.subplots()
        axes.vlines(
            predicted,
            [one.lowest for one in bins],
            [one.highest for one in bins],
            color=placeholder_for(figure_style.DOMINATED),
            linewidth=5,
            alpha=0.45,
            label="mean range",
        )
        axes.plot(predicted, [one.cost for one in bins], "o", color=known, markersize=6.5, label="mean known cost")
        axes.axline((predicted[0], predicted[0]), slope=1, color=text, linewidth=0.9, linestyle=(0, (1, 2)))
        axes.set_xlabel("mean predicted cost")
        axes.set_ylabel("mean known cost")
        figure.legend(loc="outside upper center", ncols=2, handlelength=1.6)
        return svg_of(figure, "Known costs against predicted costs")


def _name_rows(axes: "Axes", names: Sequence[str], quantity: str) -> None:
    """Name the rows of a figure, from the top, and what its horizontal axis shows."""
    axes.set_yticks(range(len(names)), [_plain(name) for name in names])
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_xlabel(quantity)
    axes.grid(axis="y", visible=False)


def _plain(name: str) -> str:
    """A label for an axis: not too long, and without dollar signs, which would begin a formula."""
    short = name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 3]}..."
    return short.replace("$", r"\$")
