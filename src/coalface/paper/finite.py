"""``FiniteCoal``: Algorithm 1 over a finite class by enumeration, exactly as in the paper; slow, for small problems.

A regressor is plausible for a label if, at every round so far, its mean squared error on that label's answers exceeded
the least one by at most the slack. The predictions of plausible regressors for an example are its cost range.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from coalface.data import one_of
from coalface.paper.inputs import Numbers
from coalface.paper.schedule import width_threshold

Predictor = Callable[[Any], Numbers]
RULES = ("coal", "all-or-none", "no-domination", "passive")


class _Asked(NamedTuple):
    """The costs to ask for, and the ranges that decided, (n, K) each."""

    mask: NDArray[np.bool_]
    lowest: Numbers
    highest: Numbers


class FiniteCoal:
    """The learner of Algorithm 1 for a class given as a function from examples to (members, n, K) predictions.

    ``slack`` returns the slack of a round on the scale of mean losses; see ``Schedule.loss_slack``. With a slack below
    the theorem's, a version space can become empty. It then restarts with the constraint of that round alone.

    >>> from coalface.paper.schedule import Schedule
    >>> schedule = Schedule(n_labels=2, class_size=2, constant=0.01)
    >>> either = np.array([[[0.2, 0.8]], [[0.8, 0.2]]])  # two members with constant predictions
    >>> learner = FiniteCoal(lambda X: either.repeat(len(X), axis=1), lambda i: float(schedule.loss_slack(i, 100)))
    >>> for _ in range(100):
    ...     queries = learner.ask([[0.0]])
    ...     _ = learner.tell([[0.0]], np.where(queries.mask, [[0.2, 0.8]], np.nan))
    >>> learner.costs_queried_, learner.predict([[0.0]]).tolist()
    (4, [0])
    """

    def __init__(self, predictions: Predictor, slack: Callable[[int], float], rule: str = "coal") -> None:
        self.predictions, self.slack, self.rule = predictions, slack, one_of("rule", rule, RULES)
        self.round_ = 1
        self.examples_queried_ = self.costs_queried_ = 0

    def ask(self, X: Any) -> _Asked:
        """The costs worth asking for; the learner does not change."""
        predicted = self.predictions(X)
        _, plausible = self._state(predicted)
        lowest = np.where(plausible[:, None], predicted, np.inf).min(axis=0)
        highest = np.where(plausible[:, None], predicted, -np.inf).max(axis=0)
        rounds = self.round_ + np.arange(predicted.shape[1])
        return _Asked(asked_for(self.rule, lowest, highest, width_threshold(rounds)[:, None]), lowest, highest)

    def tell(self, X: Any, cost: Any, asked: Any = None) -> Self:
        """Learn the known costs, NaN elsewhere, and close one round per row."""
        predicted, costs = self.predictions(X), np.asarray(cost, np.float64)
        losses, plausible = self._state(predicted)
        mask = ~np.isnan(costs) if asked is None else np.asarray(getattr(asked, "mask", asked))
        for row in range(len(costs)):
            error = (predicted[:, row] - costs[row]) ** 2
            losses = losses + np.where(np.isnan(error), 0.0, error)
            self.round_ += 1
            plausible = self._still_plausible(losses, plausible)
        self._losses, self._plausible = losses, plausible
        self.costs_queried_ += int(mask.sum())
        self.examples_queried_ += int(mask.any(axis=1).sum())
        return self

    def predict(self, X: Any) -> NDArray[np.intp]:
        """The label with the least cost, predicted by the regressors with the least loss."""
        predicted = self.predictions(X)
        losses, _ = self._state(predicted)
        best = losses.argmin(axis=0)
        return np.asarray(predicted[best, :, np.arange(predicted.shape[2])].argmin(axis=0))

    def _state(self, predicted: Numbers) -> tuple[Numbers, NDArray[np.bool_]]:
        """Summed losses and plausibility, (members, K); all members are plausible before the first answer."""
        if not hasattr(self, "_losses"):
            shape = (predicted.shape[0], predicted.shape[2])
            return np.zeros(shape), np.ones(shape, bool)
        return self._losses, self._plausible

    def _still_plausible(self, losses: Numbers, plausible: NDArray[np.bool_]) -> NDArray[np.bool_]:
        within = losses - losses.min(axis=0) <= self.slack(self.round_) * (self.round_ - 1)
        both = plausible & within
        return np.asarray(np.where(both.any(axis=0), both, within))


def asked_for(rule: str, lowest: Numbers, highest: Numbers, threshold: Numbers | float) -> NDArray[np.bool_]:
    """The costs that a rule asks for, given their ranges, (n, K).

    >>> asked_for("coal", np.array([[0.1, 0.2, 0.7]]), np.array([[0.5, 0.9, 0.9]]), 0.1).tolist()
    [[True, True, False]]
    """
    wide = np.asarray(highest - lowest > threshold)
    if rule == "passive":
        return np.ones_like(wide)
    if rule == "no-domination":
        return wide
    contenders = lowest <= highest.min(axis=1, keepdims=True)
    asked = wide & contenders & (contenders.sum(axis=1, keepdims=True) > 1)
    return np.broadcast_to(asked.any(axis=1, keepdims=True), asked.shape).copy() if rule == "all-or-none" else asked
