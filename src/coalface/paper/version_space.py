"""The version space of one label: the regressors that were nearly as good as the best at every round so far.

Notation: at round j the paper keeps the g with R_j(g) <= R_j(g_j) + Delta_j, where R_j is the squared error on the
costs asked before, divided by j - 1. Here both sides are multiplied by j - 1: ``losses`` are sums, ``bounds`` are their
limits, and ``slacks`` are the (j - 1) Delta_j. In this form three facts are plain, and the code uses all of them:

- In rounds without an answer the sum stays the same and the slack does not shrink, so only the first of them counts.
- Sums only grow. A later constraint with the same or a smaller bound implies an earlier one, which is dropped.
- A weighted sum of losses is one weighted sum of squares. The weight of an example is the total weight of the
  constraints that include it.

``Program`` is the optimisation problem that defines one end of a range: how near plausible costs come to an end of the
scale. Every oracle call certifies something. For any multipliers of the constraints, the regressor that the oracle
returns gives a *lower bound*: no plausible regressor comes nearer to the end. An average of regressors, moved towards
the middle of the version space until every constraint holds, is plausible: it has *reached* its own prediction.
"""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coalface.paper.oracles import Floats, Oracle, Regressor

_LEAST_SLACK = 1e-9  # summed; with less slack, rounding would decide which regressors are plausible
_ROUNDING = 1e-12  # relative rounding error of the terms of a lower bound


@dataclass(frozen=True)
class LabelAnswers:
    """The answered costs of one label, in order, and the regressor that fits them best.

    >>> from coalface.paper.oracles import BallOracle
    >>> row, none = np.array([1.0]), LabelAnswers(BallOracle(radius=2.0))
    >>> answers = none.with_answer(row, 0.4).with_answer(row, 0.6)
    >>> answers.best.predict(np.array([[1.0]])).round(3), round(answers.least_loss, 3)
    (array([0.5]), 0.02)
    """

    oracle: Oracle
    rows: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    costs: Floats = field(default_factory=lambda: np.zeros(0))
    weights: Floats = field(default_factory=lambda: np.zeros(0))

    def with_answer(self, row: Floats, cost: float, weight: float = 1.0) -> "LabelAnswers":
        """One answer more."""
        width = max(len(row), self.rows.shape[1])
        rows = np.vstack([widened(self.rows, width), widened(row[None, :], width)])
        return LabelAnswers(self.oracle, rows, np.append(self.costs, cost), np.append(self.weights, weight))

    def __len__(self) -> int:
        return len(self.costs)

    def examples(self, width: int) -> tuple[Floats, Floats]:
        """The prior examples of the class followed by the answered rows, at this width, and their targets."""
        X, targets = self.oracle.prior(width)
        return np.vstack([X, widened(self.rows, width)]), np.concatenate([targets, self.costs])

    @cached_property
    def best(self) -> Regressor:
        """The regressor of least loss."""
        X, targets = self.examples(self.rows.shape[1])
        return self.oracle.solve(X, targets, self.weights_after(len(X) - len(self)))

    @cached_property
    def least_loss(self) -> float:
        """The summed loss of the best regressor, including the prior."""
        X, targets = self.examples(self.rows.shape[1])
        return float((self.weights_after(len(X) - len(self)) * (self.best.predict(X) - targets) ** 2).sum())

    def weights_after(self, n_prior: int) -> Floats:
        """What each of the ``examples`` counts, the prior's rows first."""
        return np.concatenate([np.ones(n_prior), self.weights])


@dataclass(frozen=True)
class Constraints:
    """Limits of the summed loss, one constraint per entry, each covering more answers than the one before."""

    counts: NDArray[np.int64]  # answers that each constraint covers
    bounds: Floats  # the largest loss allowed on them
    slacks: Floats  # how far each bound exceeds the best regressor's loss
    divisors: NDArray[np.int64]  # j - 1, by which sums become averages

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
        """The selected constraints."""
        return Constraints(self.counts[which], self.bounds[which], self.slacks[which], self.divisors[which])

    def and_then(self, later: "Constraints") -> "Constraints":
        """These constraints and a later one, without those that another one implies."""
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
    """The regressors of one label that the answers leave plausible.

    >>> from coalface.paper.oracles import BallOracle
    >>> space = VersionSpace(LabelAnswers(BallOracle(radius=2.0)))
    >>> for round_number, cost in enumerate([0.4, 0.6], start=1):
    ...     space = space.with_answer(np.array([1.0]), cost).with_constraint(round_number + 1, slack=0.1)
    >>> space.constraints.counts, space.constraints.bounds.round(3)  # the second reads: loss <= 0.02 + 0.1
    (array([1, 2]), array([0.1 , 0.12]))
    """

    answers: LabelAnswers
    constraints: Constraints = field(default_factory=Constraints.none)

    def with_answer(self, row: Floats, cost: float, weight: float = 1.0) -> "VersionSpace":
        """One answer more, and no constraint about it yet."""
        return replace(self, answers=self.answers.with_answer(row, cost, weight))

    def with_constraint(self, round_number: int, slack: float) -> "VersionSpace":
        """Only regressors whose loss before this round is at most ``slack`` above the least one."""
        return replace(self, constraints=self.constraints.and_then(self._constraint(round_number, slack)))

    def alone(self, round_number: int, slack: float) -> "VersionSpace":
        """The same constraint alone, without earlier ones."""
        return replace(self, constraints=self._constraint(round_number, slack))

    def latest_alone(self) -> "VersionSpace":
        """The latest constraint alone, without earlier ones."""
        return replace(self, constraints=self.constraints.take(slice(-1, None)))

    def with_oracle(self, oracle: Oracle) -> "VersionSpace":
        """The same answers and constraints for another class; in a larger class they leave more, never less."""
        return replace(self, answers=replace(self.answers, oracle=oracle))

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
        """The weight of each of the ``examples`` in the sum of multipliers times losses."""
        weights = np.zeros(n_prior + len(self.answers))
        weights[self._ends(n_prior)] = multipliers
        return np.asarray(np.cumsum(weights[::-1])[::-1]) * self.answers.weights_after(n_prior)

    def _ends(self, n_prior: int) -> NDArray[np.int64]:
        """The position of the last example that each constraint covers."""
        return self.constraints.counts + (n_prior - 1)


def widened(rows: Floats, width: int) -> Floats:
    """The rows padded with zeros to this width."""
    if rows.shape[1] == width:
        return rows
    wide = np.zeros((len(rows), width))
    wide[:, : rows.shape[1]] = rows
    return wide


class Reach(NamedTuple):
    """One end of a range: a plausible regressor ``reached`` this cost, and none goes beyond the ``limit``."""

    reached: float
    limit: float
    oracle_calls: int


@dataclass(frozen=True)
class Candidate:
    """A regressor that the oracle returned, with its predictions and losses."""

    regressor: Regressor
    predictions: Floats  # for the examples and, last, for the row in question if there is one
    losses: Floats  # those that the constraints limit


class Program:
    """The constraints of a version space and optionally the row in question, ready for oracle calls."""

    def __init__(self, space: VersionSpace, row: Floats | None = None) -> None:
        self.space = space
        width = max(space.answers.rows.shape[1], 0 if row is None else len(row))
        self.X, self.targets = space.answers.examples(width)
        self.n_prior = len(self.X) - len(space.answers)
        self.row = row
        if row is not None:
            self.X = np.vstack([self.X, widened(row[None, :], width)])
        self.oracle_calls = 0

    def call(self, multipliers: Floats, pull: float = 0.0, end: float = 0.0) -> Candidate:
        """The regressor of least pull * (g(row) - end)^2 + sum of multipliers * losses: one weighted data set."""
        weights, targets = self.space.weights(multipliers, self.n_prior), self.targets
        if self.row is not None:
            weights, targets = np.append(weights, pull), np.append(targets, end)
        self.oracle_calls += 1
        return self.candidate(self.space.answers.oracle.solve(self.X, targets, weights))

    def candidate(self, regressor: Regressor) -> Candidate:
        """A regressor with its predictions and losses."""
        predictions = regressor.predict(self.X)
        return Candidate(regressor, predictions, self.losses(predictions))

    def losses(self, predictions: Floats) -> Floats:
        """The losses of predictions in the form of ``Candidate.predictions``."""
        return self.space.losses(predictions if self.row is None else predictions[..., :-1])

    def share_needed(self, outside: Floats, inside: Floats) -> float:
        """The least share of ``inside``, which is plausible, that makes an average with ``outside`` plausible.

        Losses are quadratic in the share, so each violated constraint has a root; the largest root counts.
        """
        start = self.losses(outside) - self.space.constraints.bounds
        if (start <= 0.0).all():
            return 0.0
        last = len(self.X) if self.row is None else len(self.X) - 1
        residuals, step = outside[:last] - self.targets, inside[:last] - outside[:last]
        ends = self.space.constraints.counts + (self.n_prior - 1)
        violated = start > 0.0
        half_slope = np.cumsum(residuals * step)[ends][violated]
        curvature = np.cumsum(step * step)[ends][violated]
        discriminant = np.maximum(half_slope**2 - curvature * start[violated], 0.0)
        # the smaller root, in a form without cancellation, as the slope there is negative
        roots = start[violated] / np.maximum(np.sqrt(discriminant) - half_slope, 1e-300)
        return min(float(roots.max()), 1.0)


class Bracket:
    """Certified bounds on the squared distance between an end of the scale and the nearest plausible cost.

    >>> bracket = Bracket(end=1.0, start=0.5)  # some plausible regressor predicts 0.5
    >>> bracket.nothing_below(0.04)  # none comes nearer than 0.2
    >>> bracket.reach(calls=7)
    Reach(reached=0.5, limit=0.80000..., oracle_calls=7)
    """

    def __init__(self, end: float, start: float) -> None:
        self.end = end
        self.low = 0.0
        self.high = self.distance(start)

    def distance(self, predicted: float) -> float:
        """The squared distance of a prediction from the end; 0 for a prediction beyond it."""
        short = 1.0 - predicted if self.end else predicted
        return max(short, 0.0) ** 2

    def nothing_below(self, bound: float, summed: float = 1.0) -> None:
        """Note a certified lower bound, reduced by the rounding error of terms of this ``summed`` size."""
        self.low = min(max(self.low, bound - _ROUNDING * summed), self.high)

    def found(self, predicted: float) -> bool:
        """Note the prediction of a plausible regressor; return whether it is the nearest so far."""
        nearer = self.distance(predicted) < self.high
        self.high = min(self.high, self.distance(predicted))
        self.low = min(self.low, self.high)
        return nearer

    @property
    def gap(self) -> float:
        """The uncertainty about the end of the range, on the scale of costs."""
        return float(np.sqrt(self.high) - np.sqrt(self.low))

    def reach(self, calls: int) -> Reach:
        """The end of the range."""
        near, far = (min(float(np.sqrt(distance)), 1.0) for distance in (self.low, self.high))  # the scale ends there
        return Reach(1.0 - far, 1.0 - near, calls) if self.end else Reach(far, near, calls)
