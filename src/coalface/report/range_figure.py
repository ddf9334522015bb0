"""The figure of one example's cost ranges: a bar per label, as SVG text."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coalface.report import figure_style
from coalface.report.figure_style import styled_figure, svg_of
from coalface.rounds.queries import Queries

_BAR_COLOURS = {
    "asked": figure_style.ASKED,
    "cannot be best": figure_style.DOMINATED,
    "already known well enough": figure_style.KNOWN,
    "only contender": figure_style.KNOWN,
}


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
