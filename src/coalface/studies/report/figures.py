"""Figures as SVG text that stands in a page: text stays text, colours follow the page's light or dark scheme.

Each figure is a data function (arrays, no matplotlib) and a drawing function (no arithmetic on results).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from coalface.rounds.queries import Queries
from coalface.studies.curve import Curve
from coalface.studies.report import colours as inks
from coalface.studies.report.colours import Ink
from coalface.studies.report.figure_style import DASHES, paper, svg_of
from coalface.studies.summary import Band, band_over

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_AXIS_NAMES = {"costs_queried": "costs asked for", "examples_queried": "examples asked about"}
_BAR_INKS = {
    "asked": inks.ASKED,
    "cannot be best": inks.DOMINATED,
    "already known well enough": inks.KNOWN,
    "only contender": inks.KNOWN,
}


@dataclass(frozen=True)
class Line:
    """One rule's curve, its colour, and a dash pattern that tells settings of the same rule apart.

    Only the first setting of a rule (``dash`` 0) is drawn with its band: more of them hide each other.
    """

    name: str
    band: Band
    ink: Ink
    dash: int


@dataclass(frozen=True)
class RangeBars:
    """The cost ranges of one example, a bar per label; ``meanings`` says why each is asked for or not."""

    labels: tuple[str, ...]
    lowest: NDArray[np.float64]
    highest: NDArray[np.float64]
    predicted: NDArray[np.float64]
    meanings: tuple[str, ...]
    guaranteed_cost: float


def curve_lines(runs: Mapping[str, Sequence[Curve]], axis: str = "costs_queried", start: float = 1.0) -> list[Line]:
    """A line per entry of ``runs``; its name begins with the name of its rule, which decides the colour.

    >>> one = np.array([10, 20])
    >>> run = Curve(one, one, one, one, np.array([0.5, 0.2]), np.array([0.5, 0.2]), seconds=0.0)
    >>> [(line.name, line.ink.name, line.dash) for line in curve_lines({"coal 0.1": [run], "coal 0.01": [run]})]
    [('coal 0.1', 'coal', 0), ('coal 0.01', 'coal', 1)]
    """
    seen: dict[str, int] = {}
    lines = []
    for name, curves in runs.items():
        rule = name.split()[0]
        lines.append(Line(name, band_over(curves, axis, start), inks.RULES.get(rule, inks.TEXT), seen.get(rule, 0)))
        seen[rule] = seen.get(rule, 0) + 1
    return lines


def range_bars(queries: Queries, i: int) -> RangeBars:
    """The bars of example ``i``, in the order of the labels."""
    reasons = queries.reasons[i].tolist()
    asked = queries.mask[i].tolist()
    return RangeBars(
        labels=tuple(str(label) for label in queries.classes.tolist()),
        lowest=queries.ranges.lowest[i],
        highest=queries.ranges.highest[i],
        predicted=queries.predicted[i],
        meanings=tuple("asked" if ask else why for ask, why in zip(asked, reasons, strict=True)),
        guaranteed_cost=float(queries.ranges.guaranteed_cost[i]),
    )


def doublings(spans: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """The marks of a log2 axis that begins with the first of some growing numbers and ends behind the last.

    >>> doublings([np.array([10.0, 35.0]), np.array([20.0, 90.0])]).tolist()
    [10.0, 20.0, 40.0, 80.0, 160.0]
    """
    first, last = min(span[0] for span in spans), max(span[-1] for span in spans)
    return np.asarray(first * 2.0 ** np.arange(int(np.ceil(np.log2(last / first))) + 1))


def draw_curves(panels: Mapping[str, Sequence[Line]], axis: str = "costs_queried") -> str:
    """Test cost against questions on a log2 axis, a panel per entry of ``panels``, as SVG text."""
    with paper((5.4 * len(panels), 3.9), salt=f"curves {axis}") as figure:
        all_axes = figure.subplots(1, len(panels), squeeze=False)[0]
        for axes, (title, lines) in zip(all_axes, panels.items(), strict=True):
            axes.set_title(title, loc="left", fontweight="bold", pad=10)
            axes.set_xlabel(_AXIS_NAMES[axis])
            axes.set_ylabel("test cost")
            for line in lines:
                _draw_line(axes, line)
            _scale_axes(axes, lines)
        handles, names = all_axes[0].get_legend_handles_labels()
        if len(names) > 1:
            figure.legend(handles, names, loc="outside upper center", ncols=min(len(names), 6), handlelength=2.6)
        return svg_of(figure, f"Test cost against {_AXIS_NAMES[axis]}: " + ", ".join(panels))


def draw_ranges(bars: RangeBars, cost_name: str = "cost") -> str:
    """The ranges of one example as horizontal bars, as SVG text."""
    with paper((8.6, 0.4 * len(bars.labels) + 1.3), salt="ranges") as figure:
        axes = figure.subplots()
        places = range(len(bars.labels))
        drawn: set[str] = set()
        for place in places:
            meaning = bars.meanings[place]
            color = inks.marker_of(_BAR_INKS.get(meaning, inks.LEFT_OUT))
            span = [bars.lowest[place], bars.highest[place]]
            axes.plot(
                span,
                [place, place],
                color=color,
                linewidth=9,
                solid_capstyle="butt",
                alpha=0.85 if meaning == "asked" else 0.45,
                label=None if meaning in drawn else meaning,
            )
            drawn.add(meaning)
        shown = np.clip(bars.predicted, bars.lowest, bars.highest)
        dot = inks.marker_of(inks.TEXT)
        axes.plot(shown, places, "o", color=dot, markersize=4.5, label="predicted cost", zorder=4)
        line = inks.marker_of(inks.GUARANTEED)
        axes.axvline(bars.guaranteed_cost, color=line, linewidth=1.6, linestyle=(0, (4, 2)), label="guaranteed cost")
        axes.set_yticks(places, bars.labels)
        axes.invert_yaxis()
        axes.set_xlabel(cost_name)
        axes.set_ylabel("label")
        axes.grid(axis="y", visible=False)
        figure.legend(loc="outside upper center", ncols=5, handlelength=1.6)
        return svg_of(figure, "The range that each label's cost may still have, for one example")


def _draw_line(axes: "Axes", line: Line) -> None:
    color, band = inks.marker_of(line.ink), line.band
    if line.dash == 0:
        axes.fill_between(band.asked, band.lower, band.upper, color=color, alpha=0.14, linewidth=0)
    axes.plot(band.asked, band.median, color=color, linestyle=DASHES[line.dash % len(DASHES)], label=line.name)
    axes.plot(band.asked[-1], band.median[-1], "o", color=color, markersize=5)


def _scale_axes(axes: "Axes", lines: Sequence[Line]) -> None:
    """Doublings on the horizontal axis; also on the vertical one, unless a test cost is 0."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullLocator

    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_locator(FixedLocator(doublings([line.band.asked for line in lines]).tolist()))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axes.xaxis.set_minor_locator(NullLocator())
    if min(line.band.lower.min() for line in lines) <= 0:
        axes.set_ylim(bottom=0)
        return
    axes.set_yscale("log", base=10)
    axes.yaxis.set_major_locator(LogLocator(base=10, subs=(1, 1.5, 2, 3, 5, 7)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_locator(NullLocator())
