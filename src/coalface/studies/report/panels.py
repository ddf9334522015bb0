"""Test cost against what was asked for, a panel per dataset: medians, with bars and markers at the doublings.

``panel_line`` and ``panel`` make the data, ``draw_panels`` draws it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from coalface.studies.report import colours as inks
from coalface.studies.report import ticks
from coalface.studies.report.colours import Ink
from coalface.studies.report.figure_style import DASHES, legend_above, paper, svg_of
from coalface.studies.report.figures import doublings
from coalface.studies.summary import Band, Checkpoints, band_at, band_over

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "p", "<", ">")
_CLEAR_OF_END = 0.15  # doublings before the end of a line that have no marker but the last
_SMALL, _LARGE = 6.2, 8.5  # points of a marker: on the way, and at the end of a line
_PER_ROW = 3
_WIDTHS = {1: 8.4, 2: 5.4, 3: 4.1}  # inches of a panel, by panels in a row
_LABELS = {1: 12, 2: 7, 3: 5}  # numbers that fit below it


@dataclass(frozen=True)
class Style:
    """How a line looks: the colour of its rule, a dash for its setting, and a marker of its own."""

    ink: Ink
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
        """Where the line shows its marker on the way: on its bars, but for those that hide its end."""
        on_the_way = self.bars.asked < self.curve.asked[-1] / 2**_CLEAR_OF_END
        return self.bars.asked[on_the_way], self.bars.median[on_the_way]


@dataclass(frozen=True)
class Panel:
    """The lines of one dataset; ``target`` is the test cost that savings are counted for, NaN for none."""

    title: str
    unit: str
    target: float
    lines: tuple[PanelLine, ...]
    marks: tuple[float, ...]


def styles_for(rules: Sequence[str]) -> list[Style]:
    """A style per line, given the rule of each.

    >>> [(style.ink.name, style.dash, style.marker) for style in styles_for(["passive", "coal", "coal"])]
    [('passive', 0, 0), ('coal', 0, 1), ('coal', 1, 2)]
    """
    return [
        Style(inks.RULES.get(rule, inks.TEXT), list(rules[:place]).count(rule), place % len(MARKERS))
        for place, rule in enumerate(rules)
    ]


def panel(
    title: str,
    unit: str,
    runs: Sequence[tuple[str, Style, Sequence[Checkpoints]]],
    axis: str,
    *,
    start: float = 1.0,
    target: float = np.nan,
) -> Panel:
    """The panel of some lines, each with its runs.

    Bars are read off a little behind the doublings, elsewhere for each line, so that none hides another.
    """
    curves = [band_over(points, axis, start) for _, _, points in runs]
    marks = doublings([curve.asked for curve in curves])
    step = min(0.06, 0.3 / len(runs))  # in doublings
    lines = []
    for place, ((name, style, points), curve) in enumerate(zip(runs, curves, strict=True)):
        first, last = curve.asked[[0, -1]]
        near = marks[(marks > first * 0.99) & (marks < last * 1.01)] * 2 ** (place * step)
        lines.append(PanelLine(name, style, curve, bars=band_at(points, axis, near)))
    return Panel(title, unit, target, tuple(lines), tuple(marks.tolist()))


def draw_panels(panels: Sequence[Panel], what: str) -> str:
    """The panels in rows of at most three, with one legend, as SVG text; ``what`` says what is shown."""
    columns = min(len(panels), _PER_ROW)
    rows = -(-len(panels) // columns)
    with paper((columns * _WIDTHS[columns], 3.5 * rows + 0.8), salt=f"panels {what}") as figure:
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
        axes.axhline(panel.target, color=inks.marker_of(inks.TEXT), linewidth=0.9, linestyle=(0, (1, 2)), zorder=1)
    for line in panel.lines:
        named.setdefault(line.name, _draw_line(axes, line))
    _scale(axes, panel, n_labels)


def _draw_line(axes: "Axes", line: PanelLine) -> Any:
    color = inks.marker_of(line.style.ink)
    marker = MARKERS[line.style.marker]
    axes.vlines(line.bars.asked, line.bars.lower, line.bars.upper, color=color, linewidth=1.3, alpha=0.75)
    outline: dict[str, Any] = {"markeredgecolor": inks.marker_of(inks.PAGE), "markeredgewidth": 0.8}
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
    axes.xaxis.set_major_locator(FixedLocator(ticks.thinned(list(panel.marks), n_labels)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: ticks.short(value)))
    axes.xaxis.set_minor_locator(FixedLocator(list(panel.marks)))
    axes.xaxis.set_minor_formatter(NullFormatter())
    low = min(min(line.curve.median.min(), line.bars.lower.min(initial=np.inf)) for line in panel.lines)
    if low <= 0:
        axes.set_ylim(bottom=0)
        return
    axes.set_yscale("log", base=10)
    axes.yaxis.set_major_locator(FixedLocator(ticks.round_numbers(*axes.get_ylim())))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_locator(NullLocator())
