"""The rows whose prediction has a known cost, as arrays: what was predicted, what it cost, and what is cheapest."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.data.costs import CostScale, check_cost, check_mask
from coalface.data.frames import by_row
from coalface.data.labels import label_codes, with_abstaining
from coalface.data.targets import given_costs, require_target
from coalface.errors import InputError
from coalface.learner.estimator import CostClassifier


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


def judged_rows(learner: CostClassifier, X: Any, cost: Any, y: Any, candidates: Any) -> tuple[Judged, int]:
    """The rows that can be judged, and the number of all rows; an InputError if no row can be judged."""
    require_target(y, cost)
    cost, candidates = by_row(cost, X, "cost"), by_row(candidates, X, "candidates")
    answers = _answers(learner, X, candidates)
    n_rows, labels = len(answers), learner.begin().classes_
    given = _known_costs(learner, n_rows, cost, y)
    shape = (n_rows, len(labels))
    allowed = np.ones(shape, np.bool_) if candidates is None else check_mask(candidates, n_rows, labels, "candidates")
    known = np.where(allowed, given, np.nan)
    abstain_cost = np.nan if learner.abstain_cost is None else float(learner.abstain_cost)
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


def _answers(learner: CostClassifier, X: Any, candidates: Any) -> NDArray[np.int64]:
    """The column of each predicted label; K stands for abstaining."""
    predicted, labels = learner.predict(X, candidates=candidates), learner.classes_
    if not len(predicted):
        raise InputError("X must have at least one row, got none. Pass the rows to evaluate on.")
    possible = labels if learner.abstain_cost is None else with_abstaining(labels, learner.abstain_label)
    return label_codes(predicted, possible).astype(np.int64)


def _known_costs(learner: CostClassifier, n_rows: int, cost: Any, y: Any) -> NDArray[np.float64]:
    """The costs (n, K) on the user's scale, NaN where unknown."""
    scale, labels = CostScale.of(learner.cost_bounds), learner.classes_
    given = given_costs(y, cost, n_rows, labels, learner.cost_matrix, scale)
    check_cost(given, n_rows, labels, scale)
    return scale.within(given)


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
