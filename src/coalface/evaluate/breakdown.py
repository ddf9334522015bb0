"""Rows that can be judged, where their cost comes from, and how far predicted costs and ranges can be trusted."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.data.costs import CostScale, check_cost, check_mask
from coalface.data.frames import by_row
from coalface.data.labels import label_codes, with_abstaining
from coalface.data.targets import given_costs, require_target
from coalface.errors import InputError
from coalface.learner.estimator import CoalClassifier
from coalface.learner.parameters import abstain_of
from coalface.learner.state import scale_of
from coalface.rounds.queries import CostRanges

_MOST_BINS = 10
_ROUNDING = 1e-6  # of the scale: ranges are computed in single precision


@dataclass(frozen=True, eq=False)
class Judged:
    """The judged rows; ``places`` are their numbers in the data.

    ``answers`` and ``truth`` are columns of labels. A learner that abstains answers K, the number of labels. ``cost``
    (n, K) is NaN where a cost is unknown or the label cannot be predicted.
    """

    places: NDArray[np.int64]
    answers: NDArray[np.int64]
    truth: NDArray[np.int64]
    paid: NDArray[np.float64]
    cheapest: NDArray[np.float64]
    cost: NDArray[np.float64]
    allowed: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.places)

    @property
    def extra(self) -> NDArray[np.float64]:
        """How much more each prediction costs than the cheapest one."""
        return np.asarray(self.paid - self.cheapest)

    @property
    def are_of_matrix(self) -> bool:
        """Whether some rows share their cheapest label, and such rows have equal costs, as those of a cost matrix."""
        first = self.cost.argmin(axis=1)
        used, places = np.unique(first, return_index=True)
        rows = np.full((self.cost.shape[1], self.cost.shape[1]), np.nan)
        rows[used] = self.cost[places]
        only_one_is_least = ((rows[used] == self.cheapest[places, np.newaxis]).sum(axis=1) <= 1).all()
        return bool(len(used) < len(self) and only_one_is_least and (rows[first] == self.cost).all())


def judged_rows(learner: CoalClassifier, X: Any, cost: Any, y: Any, candidates: Any) -> tuple[Judged, int]:
    """The rows that can be judged, and the number of all rows; an InputError if no row can be judged."""
    require_target(y, cost)
    cost, candidates, y = by_row(cost, X, "cost"), by_row(candidates, X, "candidates"), by_row(y, X, "y")
    answers = _answers(learner, X, candidates)
    n_rows, labels = len(answers), learner.begin().classes_
    given = _known_costs(learner, n_rows, cost, y)
    shape = (n_rows, len(labels))
    allowed = np.ones(shape, np.bool_) if candidates is None else check_mask(candidates, n_rows, labels, "candidates")
    known = np.where(allowed, given, np.nan)
    abstain = abstain_of(learner.abstain)
    abstain_cost = np.nan if abstain is None else float(abstain.cost)
    paid = np.column_stack([known, np.full(n_rows, abstain_cost)])[np.arange(n_rows), answers]
    places = np.flatnonzero(~np.isnan(paid) & ~np.isnan(known).all(axis=1))
    if not len(places):
        raise InputError(
            f"cost must be known for the predicted label of some row, got NaN for all {n_rows} predictions. Pass data "
            "with known costs or true labels.",
            remedy={"label": None},
        )
    known, paid, answers = known[places], paid[places], answers[places]
    truth = _cheapest_labels(known, answers) if y is None else _true_labels(y, n_rows, labels)[places]
    cheapest = np.fmin(np.nanmin(known, axis=1), abstain_cost)
    return Judged(places, answers, truth, paid, cheapest, known, allowed[places]), n_rows


def _answers(learner: CoalClassifier, X: Any, candidates: Any) -> NDArray[np.int64]:
    """The column of each predicted label; K stands for abstaining."""
    predicted, labels = learner.predict(X, candidates=candidates), learner.classes_
    if not len(predicted):
        raise InputError("X must have at least one row, got none. Pass the rows to evaluate on.")
    abstain = abstain_of(learner.abstain)
    possible = labels if abstain is None else with_abstaining(labels, abstain.label)
    return label_codes(predicted, possible).astype(np.int64)


def _known_costs(learner: CoalClassifier, n_rows: int, cost: Any, y: Any) -> NDArray[np.float64]:
    """The costs (n, K) on the user's scale, NaN where unknown."""
    scale, labels = scale_of(learner), learner.classes_
    given = given_costs(y, cost, n_rows, labels, learner.cost_matrix, scale)
    check_cost(given, n_rows, labels, scale)
    return scale.as_paid(given)


def _true_labels(y: Any, n_rows: int, labels: NDArray[Any]) -> NDArray[np.int64]:
    """The column of each true label."""
    given = np.asarray(y).ravel()
    if len(given) != n_rows:
        raise InputError(f"y must have one label per row of X, {n_rows}, got {len(given)}.")
    return label_codes(given, labels).astype(np.int64)


def _cheapest_labels(known: NDArray[np.float64], answers: NDArray[np.int64]) -> NDArray[np.int64]:
    """The label of least known cost in each row; of equals, the predicted one, otherwise the first."""
    first = np.nanargmin(known, axis=1)
    rows, n_labels = np.arange(len(known)), known.shape[1]
    of_answers = known[rows, np.minimum(answers, n_labels - 1)]
    as_cheap = (answers < n_labels) & (of_answers == known[rows, first])
    return np.where(as_cheap, answers, first)


@dataclass(frozen=True)
class Mistake:
    """All rows of one true label for which one other label was predicted, at a higher cost than the cheapest label.

    ``extra_cost`` is their total cost minus that of the cheapest labels; equal to ``total_cost`` if those cost nothing.
    """

    truth: str
    predicted: str
    rows: int
    mean_cost: float
    total_cost: float
    extra_cost: float


@dataclass(frozen=True)
class LabelCost:
    """The rows of one true label; ``share`` is of the total cost, None if that is 0 or a cost is negative."""

    label: str
    rows: int
    mean_cost: float
    total_cost: float
    share: float | None


def mistakes_of(judged: Judged, names: list[str]) -> tuple[Mistake, ...]:
    """The mistakes, those with the largest extra cost first; ``names`` are the labels, then that of abstaining."""
    wrong = (judged.answers != judged.truth) & (judged.extra > 0)
    pairs = judged.truth[wrong] * len(names) + judged.answers[wrong]
    kinds, place = np.unique(pairs, return_inverse=True)
    rows, total = _sums(place, judged.paid[wrong], len(kinds))
    _, extra = _sums(place, judged.extra[wrong], len(kinds))
    order = np.lexsort((kinds, -extra))
    return tuple(
        Mistake(
            names[kinds[i] // len(names)],
            names[kinds[i] % len(names)],
            int(rows[i]),
            float(total[i] / rows[i]),
            float(total[i]),
            float(extra[i]),
        )
        for i in order.tolist()
    )


def label_costs(judged: Judged, names: list[str]) -> tuple[LabelCost, ...]:
    """The true labels that occur, those with the largest total cost first."""
    rows, total = _sums(judged.truth, judged.paid, len(names))
    whole = float(judged.paid.sum())
    shares = whole > 0 and float(judged.paid.min()) >= 0
    order = [i for i in np.lexsort((np.arange(len(names)), -total)).tolist() if rows[i]]
    return tuple(
        LabelCost(
            names[i],
            int(rows[i]),
            float(total[i] / rows[i]),
            float(total[i]),
            float(total[i] / whole) if shares else None,
        )
        for i in order
    )


def _sums(
    place: NDArray[np.int64], values: NDArray[np.float64], n: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """How many values there are at each of ``n`` places, and their sums."""
    sums = np.zeros(n)
    np.add.at(sums, place, values)
    return np.bincount(place, minlength=n).astype(np.int64), sums


@dataclass(frozen=True)
class CalibrationBin:
    """Known costs with similar predictions: their number, and the means of predictions, costs and ends of ranges."""

    costs: int
    predicted: float
    cost: float
    lowest: float
    highest: float


@dataclass(frozen=True)
class CostCalibration:
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
) -> tuple[CostCalibration, Coverage]:
    """Calibration and coverage of the judged rows; a prediction beyond the bounds counts as the bound."""
    known = ~np.isnan(judged.cost)
    inside = scale.within(predicted)
    rounding = _ROUNDING * (scale.ceiling - scale.floor)
    cost, of_known = judged.cost[known], CostRanges(ranges.lowest[known], ranges.highest[known])
    bins = _calibration_bins(inside[known], cost, of_known)
    labelled = np.flatnonzero(judged.answers < judged.cost.shape[1])
    answered = inside[labelled, judged.answers[labelled]]
    mean_gap = sum(one.costs * abs(one.predicted - one.cost) for one in bins) / len(cost)
    calibration = CostCalibration(bins, mean_gap, float(answered.mean()) if len(labelled) else None)
    covered = (of_known.lowest - rounding <= cost) & (cost <= of_known.highest + rounding)
    means = sum(one.costs for one in bins if one.lowest - rounding <= one.cost <= one.highest + rounding)
    return calibration, Coverage(float(covered.mean()), means / len(cost), _ruled_out(judged, ranges))


def _calibration_bins(
    predicted: NDArray[np.float64], cost: NDArray[np.float64], ranges: CostRanges
) -> tuple[CalibrationBin, ...]:
    """At most ten bins of about equal size; equal predictions share a bin.

    >>> one, other = _calibration_bins(np.array([0.2, 0.9]), np.array([0.0, 1.0]), CostRanges(np.zeros(2), np.ones(2)))
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


def _ruled_out(judged: Judged, ranges: CostRanges) -> float:
    """The share of rows of which no cheapest label is a contender."""
    guaranteed = np.where(judged.allowed, ranges.highest, np.inf).min(axis=1, keepdims=True)
    is_cheapest = judged.cost == np.nanmin(judged.cost, axis=1, keepdims=True)
    return float((~(is_cheapest & (ranges.lowest <= guaranteed)).any(axis=1)).mean())
