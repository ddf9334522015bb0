"""The figures of an evaluation report as SVG text: mean costs, costliest mistakes, and calibration."""

from collections.abc import Sequence

from coalface.evaluate.breakdown import Mistake
from coalface.evaluate.calibration import CalibrationBin
from coalface.evaluate.report import EvaluationReport
from coalface.evaluate.tables import LEARNER
from coalface.report import figure_style
from coalface.report.figure_style import placeholder_for, styled_figure, svg_of

_WIDTH = 8.4  # inches
_ROW = 0.34  # inches per line of a figure
_LONGEST_NAME = 40  # letters


def draw_costs(report: EvaluationReport) -> str:
    """The mean cost of the learner and its references, with their intervals."""
    lines = [(LEARNER, report.cost), *((one.name, one.cost) for one in report.references)]
    colours = [figure_style.RULES["coal"], *(figure_style.RULES["passive"] for _ in report.references)]
    with styled_figure((_WIDTH, _ROW * len(lines) + 0.9), salt="evaluation costs") as figure:
        axes = figure.subplots()
        for place, ((_, cost), colour) in enumerate(zip(lines, colours, strict=True)):
            axes.hlines(place, cost.low, cost.high, color=placeholder_for(colour), linewidth=3)
            axes.plot([cost.mean], [place], "o", color=placeholder_for(colour), markersize=8)
        axes.set_yticks(range(len(lines)), [_plain(name) for name, _ in lines])
        axes.set_ylim(len(lines) - 0.5, -0.5)
        axes.set_xlabel("mean cost, 95 % interval")
        axes.grid(axis="y", visible=False)
        return svg_of(figure, "Mean cost of the learner and its references")


def draw_mistakes(mistakes: Sequence[Mistake]) -> str:
    """The extra cost of some mistakes as bars."""
    with styled_figure((_WIDTH, _ROW * len(mistakes) + 0.9), salt="evaluation mistakes") as figure:
        axes = figure.subplots()
        places = range(len(mistakes))
        colour = placeholder_for(figure_style.LEFT_OUT)
        axes.barh(places, [one.extra_cost for one in mistakes], height=0.6, color=colour)
        axes.set_yticks(places, [_plain(f"{one.truth} -> {one.predicted}") for one in mistakes])
        axes.set_ylim(len(mistakes) - 0.5, -0.5)
        axes.set_axisbelow(True)
        axes.set_xlabel("total cost beyond the cheapest label")
        axes.grid(axis="y", visible=False)
        return svg_of(figure, "The costliest mistakes")


def draw_calibration(bins: Sequence[CalibrationBin]) -> str:
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


def _plain(name: str) -> str:
    """A label for an axis: not too long, and without dollar signs, which would begin a formula."""
    short = name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 3]}..."
    return short.replace("$", r"\$")
