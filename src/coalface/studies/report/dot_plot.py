"""A figure of the savings on many datasets: dots with intervals on a log2 axis, one column per measure."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from coalface.evaluate.panels import MARKERS, Style
from coalface.report import figure_style
from coalface.report.figure_style import legend_above, styled_figure, svg_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_HEIGHT = 0.13  # inches per dot
_GAP = 0.16  # inches between two datasets


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
        named.setdefault(line.name, _draw_line(axes, line, offset, never))
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


def _draw_line(axes: "Axes", line: DotLine, offset: float, never: float) -> Any:
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
