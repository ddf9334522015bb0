"""Figures of curves: test cost against questions, one panel per dataset, medians with bars at the doublings.

``panel`` and ``rules_panel`` compute the data, ``draw_curves`` draws it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from coalface.evaluate.curve import Curve
from coalface.evaluate.summary import Band, RunPoints, band_at, band_over
from coalface.report import figure_style
from coalface.report.figure_style import DASHES, Colour, legend_above, styled_figure, svg_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

AXIS_LABELS = {
    "costs_queried": "costs asked for",
    "examples_queried": "examples asked about",
    "price": "price in costs, true labels included",
}
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "p", "<", ">")
_CLEAR_OF_END = 0.15  # doublings before the end of a line without a marker on the way
_SMALL, _LARGE = 6.2, 8.5  # size of a marker in points: on the way, and at the end of a line
_PER_ROW = 3
_WIDTHS = {1: 8.4, 2: 5.4, 3: 4.1}  # inches of a panel, by panels in a row
_LABELS = {1: 12, 2: 7, 3: 5}  # numbers that fit below it


@dataclass(frozen=True)
class Style:
    """The style of a line: the colour of its rule, a dash for its setting, and a marker of its own."""

    colour: Colour
    dash: int
    marker: int


@dataclass(frozen=True)
class _PanelLine:
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
    lines: tuple[_PanelLine, ...]
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


def panel(
    title: str,
    unit: str,
    runs: Sequence[tuple[str, Style, Sequence[RunPoints]]],
    axis: str,
    *,
    start: float = 1.0,
    target: float = np.nan,
) -> Panel:
    """The panel of some lines, each with its runs.

    Bars are at the doublings, with an offset per line to avoid overlap.
    """
    curves = [band_over(points, axis, start) for _, _, points in runs]
    marks = doublings([curve.asked for curve in curves])
    step = min(0.06, 0.3 / len(runs))  # in doublings
    lines = []
    for place, ((name, style, points), curve) in enumerate(zip(runs, curves, strict=True)):
        first, last = curve.asked[[0, -1]]
        near = marks[(marks > first * 0.99) & (marks < last * 1.01)] * 2 ** (place * step)
        lines.append(_PanelLine(name, style, curve, bars=band_at(points, axis, near)))
    return Panel(title, unit, target, tuple(lines), tuple(marks.tolist()))


def rules_panel(
    title: str, runs: Mapping[str, Sequence[Curve]], axis: str = "costs_queried", start: float = 1.0
) -> Panel:
    """The panel of some lines whose names begin with their rules, which decide the colours.

    >>> asked, cost = np.array([10, 20]), np.array([0.5, 0.2])
    >>> run = Curve(asked, asked, asked, asked, cost, cost, seconds=0.0)
    >>> lines = rules_panel("digits", {"coal 0.1": [run], "coal 0.01": [run]}).lines
    >>> [(line.name, line.style.colour.name, line.style.dash) for line in lines]
    [('coal 0.1', 'coal', 0), ('coal 0.01', 'coal', 1)]
    """
    styles = styles_for([name.split()[0] for name in runs])
    lines = [(name, style, curves) for (name, curves), style in zip(runs.items(), styles, strict=True)]
    return panel(title, AXIS_LABELS[axis], lines, axis, start=start)


def doublings(spans: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """The marks of a log2 axis: doublings from the smallest of these growing numbers to past the largest.

    >>> doublings([np.array([10.0, 35.0]), np.array([20.0, 90.0])]).tolist()
    [10.0, 20.0, 40.0, 80.0, 160.0]
    """
    first, last = min(span[0] for span in spans), max(span[-1] for span in spans)
    return np.asarray(first * 2.0 ** np.arange(int(np.ceil(np.log2(last / first))) + 1))


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
        named.setdefault(line.name, _draw_line(axes, line))
    _scale(axes, panel, n_labels)


def _draw_line(axes: "Axes", line: _PanelLine) -> Any:
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
