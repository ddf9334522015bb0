"""Summaries over permutations: several runs as a median curve with a band, a panel of a figure, a row of a table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from coalface.errors import InputError
from coalface.evaluate.curve import Curve
from coalface.report.charts import Band, Panel, PanelLine, Style, styles_for

PERCENTILES = (15.0, 50.0, 85.0)  # percentiles of the band's lower edge, its line and its upper edge
_PER_DOUBLING = 4
AXES = ("costs_queried", "examples_queried", "spent", "price")
AXIS_LABELS = {
    "costs_queried": "costs asked for",
    "examples_queried": "examples asked about",
    "price": "price in costs, true labels included",
}


class _RunPoints(Protocol):
    """A run at its checkpoints, the last one its end: a ``Curve``, or another object with these arrays.

    It may also have ``spent``, the price of the answers so far.
    """

    @property
    def costs_queried(self) -> NDArray[np.int64]: ...
    @property
    def examples_queried(self) -> NDArray[np.int64]: ...
    @property
    def test_cost(self) -> NDArray[np.float64]: ...


@dataclass(frozen=True)
class Summary:
    """One rule in numbers, all medians over runs; NaN where it never reaches passive's test cost.

    ``fewer_costs`` is passive's costs asked divided by this rule's, both at the end of their runs.
    ``costs_to_match`` is where the median curve falls to passive's final test cost for good, and
    ``match_saving`` is how many times more costs passive needs to get there.
    """

    name: str
    costs_asked: float
    examples_asked: float
    test_cost: float
    test_cost_band: tuple[float, float]
    auc: float
    fewer_costs: float
    fewer_examples: float
    costs_to_match: float
    match_saving: float


def band_over(curves: Sequence[_RunPoints], axis: str = "costs_queried", start: float = 1.0) -> Band:
    """The median curve of some runs and its band, on a log2 axis of costs or examples not below ``start``.

    >>> def run(*points: tuple[int, float]) -> Curve:
    ...     asked, cost = map(np.array, zip(*points))
    ...     return Curve(asked, asked, asked, asked, cost, cost, seconds=0.0)
    >>> band = band_over([run((8, 0.8), (16, 0.4)), run((8, 0.6), (16, 0.2)), run((8, 0.7), (16, 0.3))])
    >>> band.asked.round(1).tolist(), band.median.round(3).tolist()
    ([8.0, 9.5, 11.3, 13.5, 16.0], [0.7, 0.6, 0.5, 0.4, 0.3])
    """
    return _band_at(curves, axis, common_axis(curves, axis, start))


def _band_at(curves: Sequence[_RunPoints], axis: str, asked: NDArray[np.float64]) -> Band:
    """The median of some runs and its band at these numbers of costs or examples."""
    values = read_off(curves, axis, asked)
    lower, upper = np.percentile(values, PERCENTILES[::2], axis=0)
    return Band(asked, lower, np.median(values, axis=0), upper)


def common_axis(curves: Sequence[_RunPoints], axis: str, start: float = 1.0) -> NDArray[np.float64]:
    """Quarter doublings from where every run has a checkpoint to the end of the longest run."""
    if not curves:
        raise InputError("A band needs at least one curve, got none. Simulate at least one run.")
    known = [name for name in AXES if getattr(curves[0], name, None) is not None]
    if axis not in known:
        raise InputError(f"axis must be one of {', '.join(map(repr, known))}, got {axis!r}.")
    first = max(start, *(float(getattr(curve, axis)[0]) for curve in curves))
    last = max(first, *(float(getattr(curve, axis)[-1]) for curve in curves))
    return _quarter_doublings(first, last)


def read_off(curves: Sequence[_RunPoints], axis: str, asked: NDArray[np.float64]) -> NDArray[np.float64]:
    """The test costs of the runs, one row per run, at these numbers of costs or examples.

    Between two checkpoints they are interpolated in log2; a run that ended earlier keeps its final test cost.
    """
    least = float(np.min(asked, initial=1.0))  # a log axis has no 0; prices may be below 1
    rows = []
    for curve in curves:
        seen = np.maximum(np.asarray(getattr(curve, axis), np.float64), least)
        rows.append(np.interp(np.log2(asked), np.log2(seen), curve.test_cost))
    return np.array(rows)


def questions_needed(band: Band, test_cost: float) -> float:
    """The number of questions after which the median stays at or below ``test_cost``; NaN if it never does.

    The last crossing is interpolated in log2 between two points of the band.

    >>> line = np.array([0.4, 0.1, 0.3, 0.1])
    >>> questions_needed(Band(np.array([10.0, 20.0, 40.0, 80.0]), line, line, line), 0.2).__round__(2)
    56.57
    """
    return float(last_crossings(band.asked, band.median[None, :], np.array([test_cost]))[0])


def last_crossings(
    asked: NDArray[np.float64], medians: NDArray[np.float64], test_costs: NDArray[np.float64]
) -> NDArray[np.float64]:
    """``questions_needed`` for many medians (one per row) and as many test costs at once."""
    above = ~(medians <= test_costs[:, None])
    last = len(asked) - 1 - np.argmax(above[:, ::-1], axis=1)  # the last point above, where there is one
    rows, left, right = np.arange(len(medians)), last, np.minimum(last + 1, len(asked) - 1)
    fall = medians[rows, left] - medians[rows, right]
    crossed = above.any(axis=1) & ~above[:, -1]
    share = (medians[rows, left] - test_costs) / np.where(crossed, fall, 1.0)
    place = np.log2(asked)
    needed = 2 ** (place[left] + np.where(crossed, share, 0.0) * (place[right] - place[left]))
    needed[~above.any(axis=1)] = asked[0]
    needed[above[:, -1]] = np.nan
    return np.asarray(needed)


def summarize(runs: Mapping[str, Sequence[Curve]], baseline: str = "passive") -> list[Summary]:
    """One row per rule, in the order given, compared with the ``baseline``.

    >>> def run(*points: tuple[int, float]) -> Curve:
    ...     asked, cost = map(np.array, zip(*points))
    ...     return Curve(asked, asked, asked, asked, cost, cost, seconds=0.0)
    >>> rows = summarize({"passive": [run((8, 0.5), (64, 0.2))], "coal": [run((8, 0.5), (16, 0.2))]})
    >>> rows[1].fewer_costs, round(rows[1].costs_to_match)
    (4.0, 16)
    """
    if baseline not in runs:
        raise InputError(f"baseline must be one of {', '.join(map(repr, runs))}, got {baseline!r}.")
    against = runs[baseline]
    target = _median_of(against, "test_cost")
    needed = {name: questions_needed(band_over(curves), target) for name, curves in runs.items()}
    return [
        Summary(
            name=name,
            costs_asked=_median_of(curves, "costs_queried"),
            examples_asked=_median_of(curves, "examples_queried"),
            test_cost=_median_of(curves, "test_cost"),
            test_cost_band=tuple(np.percentile([curve.test_cost[-1] for curve in curves], PERCENTILES[::2]).tolist()),
            auc=float(np.median([curve.auc for curve in curves])),
            fewer_costs=_median_of(against, "costs_queried") / _median_of(curves, "costs_queried"),
            fewer_examples=_median_of(against, "examples_queried") / _median_of(curves, "examples_queried"),
            costs_to_match=needed[name],
            match_saving=needed[baseline] / needed[name],
        )
        for name, curves in runs.items()
    ]


def _quarter_doublings(first: float, last: float) -> NDArray[np.float64]:
    steps = np.arange(int(np.floor(np.log2(last / first) * _PER_DOUBLING + 1e-9)) + 1)
    asked = first * 2 ** (steps / _PER_DOUBLING)
    # The axis ends exactly where the longest run does: its final test cost must not be missed by a rounding error.
    return np.append(asked[:-1] if np.isclose(asked[-1], last) else asked, last)


def _median_of(curves: Sequence[Curve], field: str) -> float:
    return float(np.median([getattr(curve, field)[-1] for curve in curves]))


def panel(
    title: str,
    unit: str,
    runs: Sequence[tuple[str, Style, Sequence[_RunPoints]]],
    axis: str,
    *,
    start: float = 1.0,
    target: float = np.nan,
) -> Panel:
    """The panel of some lines, each with its runs.

    Bars are at the doublings, with an offset per line to avoid overlap.
    """
    curves = [band_over(points, axis, start) for _, _, points in runs]
    marks = _doublings([curve.asked for curve in curves])
    step = min(0.06, 0.3 / len(runs))  # in doublings
    lines = []
    for place, ((name, style, points), curve) in enumerate(zip(runs, curves, strict=True)):
        first, last = curve.asked[[0, -1]]
        near = marks[(marks > first * 0.99) & (marks < last * 1.01)] * 2 ** (place * step)
        lines.append(PanelLine(name, style, curve, bars=_band_at(points, axis, near)))
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


def _doublings(spans: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """The marks of a log2 axis: doublings from the smallest of these growing numbers to past the largest.

    >>> _doublings([np.array([10.0, 35.0]), np.array([20.0, 90.0])]).tolist()
    [10.0, 20.0, 40.0, 80.0, 160.0]
    """
    first, last = min(span[0] for span in spans), max(span[-1] for span in spans)
    return np.asarray(first * 2.0 ** np.arange(int(np.ceil(np.log2(last / first))) + 1))
