"""How far predicted costs and their ranges can be trusted: predicted against known costs, in bins."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coalface.data.costs import CostScale
from coalface.evaluate.judged import Judged
from coalface.rounds.queries import CostRanges

_MOST_BINS = 10
_ROUNDING = 1e-6  # of the scale: ranges are computed in single precision


@dataclass(frozen=True)
class CalibrationBin:
    """Known costs with similar predictions: their number, and the means of predictions, costs and ends of ranges."""

    costs: int
    predicted: float
    cost: float
    lowest: float
    highest: float


@dataclass(frozen=True)
class Calibration:
    """Bins of about equal size, and the mean absolute gap between predicted and known cost, bins weighted by size.

    ``answers_predicted`` is the mean predicted cost of the predicted labels, to compare with the mean cost. It tends to
    be too low, because the predicted label is the one that seems cheapest. None if the learner always abstained.
    """

    bins: tuple[CalibrationBin, ...]
    mean_gap: float
    answers_predicted: float | None


@dataclass(frozen=True)
class Coverage:
    """How often ranges hold. They are about the mean cost of alike examples; single costs vary more.

    ``costs`` is the share of known costs within their ranges. ``means`` is the same share for the mean costs of the
    calibration bins. ``ruled_out`` is the share of judged rows whose cheapest label is not a contender: the rule would
    never ask about it.
    """

    costs: float
    means: float
    ruled_out: float


def calibration_of(
    judged: Judged, predicted: NDArray[np.float64], ranges: CostRanges, scale: CostScale
) -> tuple[Calibration, Coverage]:
    """Calibration and coverage of the judged rows; a prediction beyond the bounds counts as the bound."""
    known = ~np.isnan(judged.cost)
    inside = scale.within(predicted)
    rounding = _ROUNDING * (scale.ceiling - scale.floor)
    cost, of_known = judged.cost[known], CostRanges(ranges.lowest[known], ranges.highest[known])
    bins = calibration_bins(inside[known], cost, of_known)
    labelled = np.flatnonzero(judged.answers < judged.cost.shape[1])
    answered = inside[labelled, judged.answers[labelled]]
    calibration = Calibration(bins, _mean_gap(bins), float(answered.mean()) if len(labelled) else None)
    covered = (of_known.lowest - rounding <= cost) & (cost <= of_known.highest + rounding)
    means = sum(one.costs for one in bins if one.lowest - rounding <= one.cost <= one.highest + rounding)
    return calibration, Coverage(float(covered.mean()), means / len(cost), _ruled_out(judged, ranges))


def calibration_bins(
    predicted: NDArray[np.float64], cost: NDArray[np.float64], ranges: CostRanges
) -> tuple[CalibrationBin, ...]:
    """At most ten bins of about equal size; equal predictions share a bin.

    >>> one, other = calibration_bins(np.array([0.2, 0.9]), np.array([0.0, 1.0]), CostRanges(np.zeros(2), np.ones(2)))
    >>> one
    CalibrationBin(costs=1, predicted=0.2, cost=0.0, lowest=0.0, highest=1.0)
    """
    edges = np.unique(np.quantile(predicted, np.linspace(0, 1, _MOST_BINS + 1)[1:-1]))
    place = np.searchsorted(edges, predicted, side="right")
    counts = np.bincount(place)
    filled = np.flatnonzero(counts)
    parts = (predicted, cost, ranges.lowest, ranges.highest)
    means = np.array([np.bincount(place, part)[filled] / counts[filled] for part in parts])
    return tuple(
        CalibrationBin(n, *column) for n, column in zip(counts[filled].tolist(), means.T.tolist(), strict=True)
    )


def _mean_gap(bins: tuple[CalibrationBin, ...]) -> float:
    return sum(one.costs * abs(one.predicted - one.cost) for one in bins) / sum(one.costs for one in bins)


def _ruled_out(judged: Judged, ranges: CostRanges) -> float:
    """The share of rows of which no cheapest label is a contender."""
    guaranteed = np.where(judged.allowed, ranges.highest, np.inf).min(axis=1, keepdims=True)
    is_cheapest = judged.cost == np.nanmin(judged.cost, axis=1, keepdims=True)
    return float((~(is_cheapest & (ranges.lowest <= guaranteed)).any(axis=1)).mean())
