"""The optimisation problem that defines one end of a range: how near plausible costs come to an end of the scale.

Every oracle call certifies something. For any multipliers of the constraints, the regressor that the oracle returns
gives a *lower bound*: no plausible regressor comes nearer to the end. An average of regressors, moved towards the
middle of the version space until every constraint holds, is plausible: it has *reached* its own prediction.
"""

from dataclasses import dataclass

import numpy as np

from coalface.paper.oracles import Floats, Regressor
from coalface.paper.version_space import VersionSpace, widened

_ROUNDING = 1e-12  # relative rounding error of the terms of a lower bound


@dataclass(frozen=True)
class Reach:
    """One end of a range: a plausible regressor ``reached`` this cost, and none goes beyond the ``limit``."""

    reached: float
    limit: float
    oracle_calls: int


@dataclass(frozen=True)
class Average:
    """The weighted average of regressors, itself a regressor of a convex class.

    >>> from coalface.paper.oracles import Linear
    >>> Average((Linear(np.array([0.0])), Linear(np.array([1.0]))), np.array([0.25, 0.75])).predict(np.array([[2.0]]))
    array([1.5])
    """

    regressors: tuple[Regressor, ...]
    weights: Floats

    def predict(self, X: Floats) -> Floats:
        """The predicted cost of each row."""
        return np.asarray(self.weights @ np.stack([regressor.predict(X) for regressor in self.regressors]))


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
