"""Charts as SVG text: curves against questions in panels, dots with intervals in columns, bars of cost ranges.

The curves and dots are computed elsewhere.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from coalface.report import figure_style
from coalface.report.figure_style import DASHES, Colour, legend_above, styled_figure, svg_of
from coalface.rounds.queries import Queries

if TYPE_CHECKING:
    from matplotlib.axes import Axes


MARKERS = ("o", "s", "^", "D", "v", "P", "X", "p", "<", ">")
_CLEAR_OF_END = 0.15  # doublings before the end of a line without a marker on the way
_SMALL, _LARGE = 6.2, 8.5  # size of a marker in points: on the way, and at the end of a line
_PER_ROW = 3
_WIDTHS = {1: 8.4, 2: 5.4, 3: 4.1}  # inches of a panel, by panels in a row
_LABELS = {1: 12, 2: 7, 3: 5}  # numbers that fit below it
_HEIGHT = 0.13  # inches per dot
_GAP = 0.16  # inches between two datasets
_BAR_COLOURS = {
    "asked": figure_style.ASKED,
    "cannot be best": figure_style.DOMINATED,
    "already known well enough": figure_style.KNOWN,
    "only contender": figure_style.KNOWN,
}


@dataclass(frozen=True)
class Band:
    """Test cost against the number of questions: the median over runs and its 15th and 85th percentile.

    ``asked`` grows by quarter doublings. It begins where every run has a checkpoint and ends with the longest run; a
    run that ended earlier keeps its final test cost.
    """

    asked: NDArray[np.float64]
    lower: NDArray[np.float64]
    median: NDArray[np.float64]
    upper: NDArray[np.float64]


@dataclass(frozen=True)
class Style:
    """The style of a line: the colour of its rule, a dash for its setting, and a marker of its own."""

    colour: Colour
    dash: int
    marker: int


@dataclass(frozen=True)
class PanelLine:
    """A line: its median at quarter doublings, and its bars near the doublings."""

    name: str
    style: Style
    curve: Band
    bars: Band

    @property
    def markers(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Where the line has markers on the way: at its bars, except those that would hide its end."""
        on_the_way = self.bars.asked < self.curve.asked[-1] / 2**_CLEAR_OF_END
        return self.bars.asked[on_the_way], self.bars.median[on_the_way]


@dataclass(frozen=True)
class Panel:
    """The lines of one dataset; ``target`` is the test cost that savings are counted for, or NaN."""

    title: str
    unit: str
    target: float
    lines: tuple[PanelLine, ...]
    marks: tuple[float, ...]


def styles_for(rules: Sequence[str]) -> list[Style]:
    """One style per line, given the rule of each.

    >>> [(style.colour.name, style.dash, style.marker) for style in styles_for(["passive", "coal", "coal"])]
    [('passive', 0, 0), ('coal', 0, 1), ('coal', 1, 2)]
    """
    return [
        Style(figure_style.RULES.get(rule, figure_style.TEXT), list(rules[:place]).count(rule), place % len(MARKERS))
        for place, rule in enumerate(rules)
    ]


def draw_curves(panels: Sequence[Panel], what: str) -> str:
    """The panels in rows of at most three, with one legend, as SVG text; ``what`` describes the figure."""
    columns = min(len(panels), _PER_ROW)
    rows = -(-len(panels) // columns)
    with styled_figure((columns * _WIDTHS[columns], 3.5 * rows + 0.8), salt=f"panels {what}") as figure:
        grid = figure.subplots(rows, columns, squeeze=False)
        named: dict[str, Any] = {}
        for place, axes in enumerate(grid.flat):
            if place >= len(panels):
                axes.set_visible(False)
                continue
            _draw_panel(axes, panels[place], _LABELS[columns], named)
            if place % columns == 0:
                axes.set_ylabel("test cost")
        legend_above(figure, named, handlelength=3.4)
        return svg_of(figure, f"{what}: " + ", ".join(panel.title for panel in panels))


def _draw_panel(axes: "Axes", panel: Panel, n_labels: int, named: dict[str, Any]) -> None:
    axes.set_title(panel.title, loc="left", fontweight="bold", pad=8)
    axes.set_xlabel(panel.unit)
    if not np.isnan(panel.target):
        axes.axhline(
            panel.target,
            color=figure_style.placeholder_for(figure_style.TEXT),
            linewidth=0.9,
            linestyle=(0, (1, 2)),
            zorder=1,
        )
    for line in panel.lines:
        named.setdefault(line.name, _draw_curve(axes, line))
    _scale(axes, panel, n_labels)


def _draw_curve(axes: "Axes", line: PanelLine) -> Any:
    color = figure_style.placeholder_for(line.style.colour)
    marker = MARKERS[line.style.marker]
    axes.vlines(line.bars.asked, line.bars.lower, line.bars.upper, color=color, linewidth=1.3, alpha=0.75)
    outline: dict[str, Any] = {
        "markeredgecolor": figure_style.placeholder_for(figure_style.PAGE),
        "markeredgewidth": 0.8,
    }
    axes.plot(*line.markers, marker, color=color, markersize=_SMALL, zorder=3, **outline)
    (curve,) = axes.plot(
        line.curve.asked,
        line.curve.median,
        color=color,
        linestyle=DASHES[line.style.dash % len(DASHES)],
        marker=marker,
        markevery=[len(line.curve.asked) - 1],
        markersize=_LARGE,
        **outline,
    )
    return curve


def _scale(axes: "Axes", panel: Panel, n_labels: int) -> None:
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter, NullLocator

    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_locator(FixedLocator(figure_style.thinned(list(panel.marks), n_labels)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: figure_style.short(value)))
    axes.xaxis.set_minor_locator(FixedLocator(list(panel.marks)))
    axes.xaxis.set_minor_formatter(NullFormatter())
    low = min(min(line.curve.median.min(), line.bars.lower.min(initial=np.inf)) for line in panel.lines)
    if low <= 0:
        axes.set_ylim(bottom=0)
        return
    axes.set_yscale("log", base=10)
    axes.yaxis.set_major_locator(FixedLocator(figure_style.round_numbers(*axes.get_ylim())))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_locator(NullLocator())


@dataclass(frozen=True)
class DotLine:
    """One line: a factor and its interval per row; 0 means never, NaN unknown."""

    name: str
    style: Style
    factor: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]


@dataclass(frozen=True)
class DotColumn:
    """The dots of one measure, which ``title`` names."""

    title: str
    lines: tuple[DotLine, ...]


@dataclass(frozen=True)
class DotPlot:
    """Named rows, of which the last ``n_means`` are means, in columns."""

    rows: tuple[str, ...]
    n_means: int
    columns: tuple[DotColumn, ...]
    beside: str  # the line that all factors are relative to


def axis_of(column: DotColumn) -> tuple[list[float], float]:
    """The marks of a column's axis, and the position left of them for "never".

    >>> one = np.array([4.0])
    >>> line = DotLine("coal", Style(figure_style.TEXT, 0, 0), one, one * 0, one * 2)
    >>> axis_of(DotColumn("costs", (line,)))
    ([1.0, 2.0, 4.0, 8.0], 0.5)
    """
    values = np.concatenate([np.concatenate([line.factor, line.low, line.high]) for line in column.lines])
    shown = values[np.isfinite(values) & (values > 0)]
    marks = figure_style.powers_of_two(min(1.0, shown.min(initial=1.0)), max(2.0, shown.max(initial=2.0)))
    return marks, marks[0] / 2 ** max(1.0, len(marks) / 10)


def draw_dots(plot: DotPlot, what: str) -> str:
    """The dots as SVG text; ``what`` describes the figure."""
    n_lines = max(len(column.lines) for column in plot.columns)
    height = len(plot.rows) * (n_lines * _HEIGHT + _GAP) + 1.3
    with styled_figure((10.4, height), salt=f"dots {what}") as figure:
        all_axes = figure.subplots(1, len(plot.columns), squeeze=False, sharey=True)[0]
        named: dict[str, Any] = {}
        for axes, column in zip(all_axes, plot.columns, strict=True):
            _draw_column(axes, column, plot, named)
        all_axes[0].set_yticks(range(len(plot.rows)), plot.rows)
        all_axes[0].set_ylim(len(plot.rows) - 0.5, -0.5)
        legend_above(figure, named, handlelength=1.2)
        return svg_of(figure, f"{what}: " + ", ".join(column.title for column in plot.columns))


def _draw_column(axes: "Axes", column: DotColumn, plot: DotPlot, named: dict[str, Any]) -> None:
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    marks, never = axis_of(column)
    text, faint = figure_style.placeholder_for(figure_style.TEXT), figure_style.placeholder_for(figure_style.FAINT)
    axes.set_xscale("log", base=2)
    axes.set_title(column.title, loc="left", fontweight="bold", pad=8)
    axes.set_xlabel(f"times fewer than {plot.beside}")
    axes.axvline(1.0, color=text, linewidth=0.9, linestyle=(0, (1, 2)), zorder=1)
    if plot.n_means:
        axes.axhline(len(plot.rows) - plot.n_means - 0.5, color=text, linewidth=0.9)
    for boundary in range(1, len(plot.rows)):
        axes.axhline(boundary - 0.5, color=faint, linewidth=0.5)
    for place, line in enumerate(column.lines):
        offset = (place - (len(column.lines) - 1) / 2) * 0.72 / max(len(column.lines), 2)
        named.setdefault(line.name, _draw_dots(axes, line, offset, never))
    numbers = [
        1.0,
        *figure_style.thinned([mark for mark in marks if mark > 1], 6),
        *[mark for mark in marks if mark < 1][-2:],
    ]
    axes.xaxis.set_major_locator(FixedLocator([never, *numbers]))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: "never" if value <= never else f"{value:g}"))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlim(never / 1.3, marks[-1] * 1.1)
    axes.grid(axis="y", visible=False)


def _draw_dots(axes: "Axes", line: DotLine, offset: float, never: float) -> Any:
    color, marker = figure_style.placeholder_for(line.style.colour), MARKERS[line.style.marker]
    rows = np.arange(len(line.factor)) + offset
    known, reached = ~np.isnan(line.factor), line.factor > 0
    spans = known & ~np.isnan(line.low) & (line.high > 0)
    axes.hlines(
        rows[spans], np.maximum(line.low[spans], never), line.high[spans], color=color, linewidth=1.5, alpha=0.75
    )
    missed = known & ~reached
    axes.plot(np.full(missed.sum(), never), rows[missed], marker, color=color, fillstyle="none", markersize=5)
    (dots,) = axes.plot(
        line.factor[reached], rows[reached], marker, color=color, markersize=5.5, markeredgewidth=0, linestyle="none"
    )
    return dots


@dataclass(frozen=True)
class _RangeBars:
    """The cost ranges of one example, a bar per label; ``meanings`` says why each is asked for or not."""

    labels: tuple[str, ...]
    lowest: NDArray[np.float64]
    highest: NDArray[np.float64]
    predicted: NDArray[np.float64]
    meanings: tuple[str, ...]
    guaranteed_cost: float


def range_bars(queries: Queries, i: int) -> _RangeBars:
    """The bars of example ``i``, in the order of the labels."""
    reasons = queries.reasons[i].tolist()
    asked = queries.mask[i].tolist()
    return _RangeBars(
        labels=tuple(str(label) for label in queries.classes.tolist()),
        lowest=queries.ranges.lowest[i],
        highest=queries.ranges.highest[i],
        predicted=queries.predicted[i],
        meanings=tuple("asked" if ask else why for ask, why in zip(asked, reasons, strict=True)),
        guaranteed_cost=float(queries.ranges.guaranteed_cost[i]),
    )


def draw_ranges(bars: _RangeBars, cost_name: str = "cost") -> str:
    """The ranges of one example as horizontal bars, as SVG text."""
    with styled_figure((8.6, 0.4 * len(bars.labels) + 1.3), salt="ranges") as figure:
        axes = figure.subplots()
        places = range(len(bars.labels))
        drawn: set[str] = set()
        for place in places:
            meaning = bars.meanings[place]
            color = figure_style.placeholder_for(_BAR_COLOURS.get(meaning, figure_style.LEFT_OUT))
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
        dot = figure_style.placeholder_for(figure_style.TEXT)
        axes.plot(shown, places, "o", color=dot, markersize=4.5, label="predicted cost", zorder=4)
        line = figure_style.placeholder_for(figure_style.GUARANTEED)
        axes.axvline(bars.guaranteed_cost, color=line, linewidth=1.6, linestyle=(0, (4, 2)), label="guaranteed cost")
        axes.set_yticks(places, bars.labels)
        axes.invert_yaxis()
        axes.set_xlabel(cost_name)
        axes.set_ylabel("label")
        axes.grid(axis="y", visible=False)
        figure.legend(loc="outside upper center", ncols=5, handlelength=1.6)
        return svg_of(figure, "The range that each label's cost may still have, for one example")
