"""The plausible regressors of one label: all that were, at every round so far, nearly as good as the best.

Notation: at round j the paper keeps the g with R_j(g) <= R_j(g_j) + Delta_j, R_j being the squared error on the costs
asked before, divided by j - 1. Here both sides are multiplied by j - 1: ``losses`` are sums, ``bounds`` their limits
and ``slacks`` the (j - 1) Delta_j. Nothing else changes, and three facts become visible, all used below:

- In rounds without an answer the sum is the same and the slack no smaller: the first of them says all.
- Sums only grow. A later constraint with no larger bound says more than an earlier one, which is dropped.
- A weighted sum of losses is one weighted sum of squares: an example counts with the weights of the later constraints.
"""

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from coalface.models.exact.oracles import Floats, Oracle, Regressor

_LEAST_SLACK = 1e-9  # summed; where there is less, rounding would decide what is plausible


@dataclass(frozen=True)
class Answers:
    """The costs answered about one label, in order, and the regressor that fits them best.

    >>> from coalface.models.exact.oracles import BallOracle
    >>> answers = Answers(BallOracle(radius=2.0)).with_answer(np.array([1.0]), 0.4).with_answer(np.array([1.0]), 0.6)
    >>> answers.best.predict(np.array([[1.0]])).round(3), round(answers.least_loss, 3)
    (array([0.5]), 0.02)
    """

    oracle: Oracle
    rows: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    costs: Floats = field(default_factory=lambda: np.zeros(0))
    weights: Floats = field(default_factory=lambda: np.zeros(0))

    def with_answer(self, row: Floats, cost: float, weight: float = 1.0) -> "Answers":
        """One answer more."""
        width = max(len(row), self.rows.shape[1])
        rows = np.vstack([widened(self.rows, width), widened(row[None, :], width)])
        return Answers(self.oracle, rows, np.append(self.costs, cost), np.append(self.weights, weight))

    def __len__(self) -> int:
        return len(self.costs)

    def examples(self, width: int) -> tuple[Floats, Floats]:
        """The answered rows, this wide, behind the prior of the class, and their targets."""
        X, targets = self.oracle.prior(width)
        return np.vstack([X, widened(self.rows, width)]), np.concatenate([targets, self.costs])

    @cached_property
    def best(self) -> Regressor:
        """The regressor of least loss."""
        X, targets = self.examples(self.rows.shape[1])
        return self.oracle.solve(X, targets, self.weights_after(len(X) - len(self)))

    @cached_property
    def least_loss(self) -> float:
        """The loss of the best regressor, summed; a prior counts."""
        X, targets = self.examples(self.rows.shape[1])
        return float((self.weights_after(len(X) - len(self)) * (self.best.predict(X) - targets) ** 2).sum())

    def weights_after(self, n_prior: int) -> Floats:
        """What each of the ``examples`` counts, the prior's rows first."""
        return np.concatenate([np.ones(n_prior), self.weights])


@dataclass(frozen=True)
class Constraints:
    """Limits of the summed loss, a constraint per entry, each about more answers than the one before."""

    counts: NDArray[np.int64]  # answers that it is about
    bounds: Floats  # the loss allowed on them
    slacks: Floats  # of which in excess of the best regressor's
    divisors: NDArray[np.int64]  # j - 1, which makes averages of the sums

    @classmethod
    def one(cls, count: int, bound: float, slack: float, divisor: int) -> "Constraints":
        """A single constraint."""
        return cls(np.array([count]), np.array([bound]), np.array([slack]), np.array([divisor]))

    @classmethod
    def none(cls) -> "Constraints":
        """No constraint yet."""
        return cls(np.zeros(0, np.int64), np.zeros(0), np.zeros(0), np.zeros(0, np.int64))

    def __len__(self) -> int:
        return len(self.counts)

    def take(self, which: NDArray[np.bool_] | slice) -> "Constraints":
        """Some of them."""
        return Constraints(self.counts[which], self.bounds[which], self.slacks[which], self.divisors[which])

    def and_then(self, later: "Constraints") -> "Constraints":
        """These, as far as a later one does not say more; the later one, unless one of these says as much."""
        if len(self) and self.counts[-1] == later.counts[0] and self.bounds[-1] <= later.bounds[0]:
            return self
        kept = self.take((self.bounds < later.bounds[0]) & (self.counts < later.counts[0]))
        return Constraints(
            np.append(kept.counts, later.counts),
            np.append(kept.bounds, later.bounds),
            np.append(kept.slacks, later.slacks),
            np.append(kept.divisors, later.divisors),
        )


@dataclass(frozen=True)
class VersionSpace:
    """Which regressors the answers about one label leave plausible.

    >>> from coalface.models.exact.oracles import BallOracle
    >>> space = VersionSpace(Answers(BallOracle(radius=2.0)))
    >>> for round_number, cost in enumerate([0.4, 0.6], start=1):
    ...     space = space.with_answer(np.array([1.0]), cost).with_constraint(round_number + 1, slack=0.1)
    >>> space.constraints.counts, space.constraints.bounds.round(3)  # the second reads: loss <= 0.02 + 0.1
    (array([1, 2]), array([0.1 , 0.12]))
    """

    answers: Answers
    constraints: Constraints = field(default_factory=Constraints.none)

    def with_answer(self, row: Floats, cost: float, weight: float = 1.0) -> "VersionSpace":
        """One answer more, and no constraint about it yet."""
        return replace(self, answers=self.answers.with_answer(row, cost, weight))

    def with_constraint(self, round_number: int, slack: float) -> "VersionSpace":
        """Only regressors whose loss, before this round, is at most ``slack`` above the least one."""
        return replace(self, constraints=self.constraints.and_then(self._constraint(round_number, slack)))

    def alone(self, round_number: int, slack: float) -> "VersionSpace":
        """The same, whatever was excluded before."""
        return replace(self, constraints=self._constraint(round_number, slack))

    def latest_alone(self) -> "VersionSpace":
        """The latest constraint, whatever was excluded before."""
        return replace(self, constraints=self.constraints.take(slice(-1, None)))

    def _constraint(self, round_number: int, slack: float) -> Constraints:
        slack = max(slack, _LEAST_SLACK)
        bound = self.answers.least_loss + slack
        return Constraints.one(len(self.answers), bound, slack, max(round_number - 1, 1))

    def losses(self, predictions: Floats) -> Floats:
        """The loss that each constraint limits, (..., constraints), of predictions for the ``examples``."""
        n_prior = predictions.shape[-1] - len(self.answers)
        targets = np.concatenate([np.zeros(n_prior), self.answers.costs])
        squares = self.answers.weights_after(n_prior) * (predictions - targets) ** 2
        return np.asarray(np.cumsum(squares, axis=-1)[..., self._ends(n_prior)])

    def weights(self, multipliers: Floats, n_prior: int) -> Floats:
        """What each of the ``examples`` weighs in the sum of the losses, each times its multiplier."""
        weights = np.zeros(n_prior + len(self.answers))
        weights[self._ends(n_prior)] = multipliers
        return np.asarray(np.cumsum(weights[::-1])[::-1]) * self.answers.weights_after(n_prior)

    def _ends(self, n_prior: int) -> NDArray[np.int64]:
        """Where among the ``examples`` the last one stands that each constraint is about."""
        return self.constraints.counts + (n_prior - 1)


def widened(rows: Floats, width: int) -> Floats:
    """The rows with zeros for the features that they do not have."""
    if rows.shape[1] == width:
        return rows
    wide = np.zeros((len(rows), width))
    wide[:, : rows.shape[1]] = rows
    return wide
