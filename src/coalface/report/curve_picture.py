"""A curve as a small picture for notebooks, without matplotlib: where its points are, and how they are drawn."""

import html
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

WIDTH, HEIGHT, MARGIN = 360, 140, 36


class _PicturePoints(NamedTuple):
    """The places of the points in the picture, and the numbers at the ends of both axes."""

    x: NDArray[np.float64]
    y: NDArray[np.float64]
    costs: tuple[int, int]
    test_costs: tuple[float, float]


def _points_of(costs: NDArray[np.int64], test_cost: NDArray[np.float64]) -> _PicturePoints | None:
    """The points of a curve, the costs on a log axis; None without a measured point after the first question.

    >>> _points_of(np.array([10, 20, 40]), np.array([0.5, 0.3, 0.1])).x.round(6).tolist()
    [36.0, 180.0, 324.0]
    >>> _points_of(np.array([10]), np.array([np.nan])) is None
    True
    """
    shown = np.isfinite(test_cost) & (costs > 0)
    if not shown.any():
        return None
    costs, test_cost = costs[shown], test_cost[shown]
    x = _stretched(np.log2(costs.astype(np.float64)), MARGIN, WIDTH - MARGIN)
    y = _stretched(-test_cost, MARGIN / 2, HEIGHT - MARGIN)
    return _PicturePoints(x, y, (int(costs.min()), int(costs.max())), (float(test_cost.min()), float(test_cost.max())))


def _stretched(values: NDArray[np.float64], low: float, high: float) -> NDArray[np.float64]:
    """Values spread over an interval; equal values lie in its middle."""
    span = values.max() - values.min()
    share = (values - values.min()) / span if span > 0 else np.full(len(values), 0.5)
    return np.asarray(low + share * (high - low))


def picture_of(
    costs: NDArray[np.int64],
    values: NDArray[np.float64],
    caption: str,
    across: str = "costs asked for",
    up: str = "test cost",
) -> str:
    """A curve as SVG in the text's own colour, with the names of both axes and the caption below.

    Without a point that can be drawn, it is the caption alone.

    >>> print(picture_of(np.array([10, 20]), np.array([0.5, 0.25]), "20 costs")[:31])
    <figure style="margin:0"><svg w
    """
    points = _points_of(costs, values)
    if points is None:
        return html.escape(caption)
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in zip(points.x, points.y, strict=True))
    dots = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3"/>' for x, y in zip(points.x, points.y, strict=True))
    bottom = HEIGHT - MARGIN + 18
    labels = (
        _text(points.x.min(), bottom, f"{points.costs[0]:,}")
        + _text(points.x.max(), bottom, f"{points.costs[1]:,}")
        + _text(WIDTH / 2, HEIGHT - 2, across)
        + _text(MARGIN / 2, points.y.min() + 4, f"{points.test_costs[1]:.3g}")
        + _text(MARGIN / 2, points.y.max() + 4, f"{points.test_costs[0]:.3g}")
    )
    return (
        f'<figure style="margin:0"><svg width="{WIDTH}" height="{HEIGHT}" role="img" fill="currentColor" '
        f'font-size="11"><title>{up} against {across}</title><polyline points="{path}" fill="none" '
        f'stroke="currentColor"/>{dots}{labels}</svg><figcaption>{html.escape(caption)}</figcaption></figure>'
    )


def _text(x: float, y: float, text: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="middle">{text}</text>'
