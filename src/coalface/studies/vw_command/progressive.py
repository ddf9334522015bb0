"""Progressive validation: each example is predicted before it is learned, and the loss of the predictions is VW's."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from coalface.data.costs import CostScale, check_cost
from coalface.data.dataset import CostDataset
from coalface.data.rows import check_rows
from coalface.kernels.state import NO_ROUNDS
from coalface.learner.classifiers import CoalClassifier


@dataclass(frozen=True, eq=False)
class Predictions:
    """The predicted costs of examples (n, K), and what the predicted labels cost.

    >>> dataset = CostDataset([[1.0], [2.0]], [[0.25, 0.5], [np.nan, 1.0]])
    >>> found = Predictions(np.array([[0.3, 0.2], [0.1, 0.2]]), dataset)
    >>> found.chosen, found.loss
    (array([1, 0]), array([0.25,  nan]))
    """

    raw: NDArray[np.floating]
    dataset: CostDataset

    @cached_property
    def listed(self) -> NDArray[np.bool_]:
        """The labels that may be predicted."""
        listed = self.dataset.candidates
        return np.ones(self.raw.shape, np.bool_) if listed is None else listed

    @cached_property
    def chosen(self) -> NDArray[np.int64]:
        """The column of the predicted label: the least predicted cost, the first of equals."""
        return np.asarray(np.argmin(np.where(self.listed, self.raw, np.inf), axis=1))

    @cached_property
    def loss(self) -> NDArray[np.float64]:
        """The cost of each prediction minus the least cost; NaN where it is unknown."""
        cost = np.where(self.listed, self.dataset.cost, np.nan).astype(np.float64)
        least = np.where(np.isnan(cost), np.inf, cost).min(axis=1)
        return np.asarray(cost[np.arange(len(cost)), self.chosen] - least)

    def part(self, rows: slice) -> "Predictions":
        """The predictions of some examples."""
        return Predictions(self.raw[rows], self.dataset.subset(rows))


def average(loss: NDArray[np.float64]) -> float:
    """The mean of the known losses; NaN without any.

    >>> average(np.array([1.0, np.nan, 0.5]))
    0.75
    """
    known = loss[~np.isnan(loss)]
    return float(known.mean()) if len(known) else float("nan")


def labelled_rows(dataset: CostDataset) -> NDArray[np.int64]:
    """The examples with a known cost; VW only predicts the others.

    >>> labelled_rows(CostDataset([[1.0], [2.0]], [[np.nan, np.nan], [0.0, 1.0]]))
    array([1])
    """
    return np.flatnonzero(~np.isnan(dataset.cost).all(axis=1))


def predict_then_learn(
    learner: CoalClassifier, dataset: CostDataset, done: Callable[[Predictions, int], None]
) -> Predictions:
    """The costs predicted for each example before it is learned, (n, K); calls ``done(predictions, n)`` after each."""
    scale = CostScale.of(learner.cost_bounds)
    rows = check_rows(dataset.X, allow_empty=False)
    given = NO_ROUNDS._replace(costs=check_cost(dataset.cost, len(rows), dataset.classes, scale))
    if dataset.candidates is not None:
        given = given._replace(candidates=dataset.candidates)
    order = labelled_rows(dataset)
    run = learner.start_run(dataset.X, rows, dataset.classes, dataset.cost, given, order)
    raw = np.empty(dataset.cost.shape, np.float64)
    predictions = Predictions(raw, dataset)
    learned = set(order.tolist())
    for row in range(len(rows)):
        with learner.model_.lock:
            unit = learner.model_.predictions(rows.take(np.array([row])))
        raw[row] = scale.from_unit(unit[0])
        if row in learned:
            learner.play(run, 1)
        done(predictions, row + 1)
    return predictions
