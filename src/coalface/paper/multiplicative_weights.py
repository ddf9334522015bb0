"""The range engine ``multiplicative-weights``: Algorithm 2 of the paper.

It bisects on the squared distance c between the end of the scale and the nearest plausible cost. Whether c is feasible
is decided with weights: each constraint has one, and (g(row) - end)^2 <= c is one of the constraints. The oracle finds
the best regressor for the weighted sum, and the weights of broken constraints grow. If even that regressor violates the
weighted sum, c is too small. If the average of the regressors so far is plausible, c is large enough.

The paper runs T = ln(i + 1) (8 kappa^2 / Delta)^2 / tol^4 steps, which is the cap here. Runs of growing length, each
with its own step size, stop as soon as one of the two answers is certain. The widths that scale the steps, kappa in the
proof, are the largest violations so far, which are smaller.
"""

import math

import numpy as np

from coalface.paper.engine import ConvexRanges
from coalface.paper.oracles import Floats, Regressor
from coalface.paper.program import Bracket, Program, Reach
from coalface.paper.schedule import KAPPA
from coalface.paper.version_space import VersionSpace

_MOST_CALLS = 200_000  # after these, the range is returned as far as it is certified
_SHORTEST_RUN = 16
_LARGEST_STEP = 0.5


def theoretical_cap(n_constraints: int, slack: float, tol: float) -> float:
    """The number of steps after which the proof shows that c is nearly feasible; ``slack`` is an average.

    >>> f"{theoretical_cap(100, slack=0.1, tol=0.1):.1e}"
    '2.4e+10'
    """
    return math.log(n_constraints + 1) * (8 * KAPPA**2 / min(slack, 1.0)) ** 2 / tol**4


class MultiplicativeWeights(ConvexRanges):
    """Ranges over a convex class as the paper computes them; for small problems and coarse tolerances.

    >>> from coalface.paper.version_space import Answers
    >>> from coalface.paper.oracles import BallOracle
    >>> space = VersionSpace(Answers(BallOracle(radius=2.0))).with_answer(np.array([1.0]), 0.5)
    >>> engine = MultiplicativeWeights(space.with_constraint(2, slack=0.04))
    >>> high = engine.reach(np.array([1.0]), end=1.0, tol=0.1)
    >>> 0.7 <= high.limit <= 0.8
    True
    """

    def search(self, middle: Regressor, row: Floats, end: float, tol: float) -> Reach:
        """One end of one range."""
        return _Search(self.space, middle, row, end).run(tol)


class _Search:
    """The search for one end of one range; constraint 0 is the one on the distance."""

    def __init__(self, space: VersionSpace, middle: Regressor, row: Floats, end: float) -> None:
        self.program, self.end = Program(space, row), end
        self.inside = self.program.candidate(middle).predictions
        self.bracket = Bracket(end, float(self.inside[-1]))
        constraints = space.constraints
        self.divisors = constraints.divisors
        self.bounds = np.append(0.0, constraints.bounds / self.divisors)
        self.widths = np.append(1.0, constraints.slacks / self.divisors)
        self.weights = np.ones(len(self.bounds))
        self.latest_slack = float(constraints.slacks[-1] / self.divisors[-1])

    def run(self, tol: float) -> Reach:
        """Bisect until the end is known to ``tol``."""
        cap = theoretical_cap(len(self.divisors), self.latest_slack, tol)
        low, high = self.bracket.low, self.bracket.high
        while self.bracket.gap > tol and high - low > tol**2 / 2 and self.program.oracle_calls < _MOST_CALLS:
            distance = (low + high) / 2
            self.decide(distance, cap)
            low = max(low, self.bracket.low)
            high = min(distance, self.bracket.high) if self.bracket.low < distance else self.bracket.high
            low = min(low, high)
        return self.bracket.reach(self.program.oracle_calls)

    def decide(self, distance: float, cap: float) -> None:
        """Decide whether this squared distance is feasible, in runs of growing length up to the cap."""
        length = _SHORTEST_RUN
        self.bounds[0] = distance
        while self.bracket.low < distance < self.bracket.high and self.program.oracle_calls < _MOST_CALLS:
            self.play(int(min(length, cap)), distance)
            if length >= cap:
                return  # the full run of the proof: the distance is feasible within the tolerance
            length *= 4

    def play(self, length: int, distance: float) -> None:
        """One run, starting with the weights of the previous run."""
        step = min(math.sqrt(math.log(len(self.weights)) / length), _LARGEST_STEP)
        total = np.zeros_like(self.inside)
        for turn in range(1, length + 1):
            weights = self.weights / self.weights.sum()
            found = self.program.call(weights[1:] / self.divisors, float(weights[0]), self.end)
            risks = np.append((found.predictions[-1] - self.end) ** 2, found.losses / self.divisors)
            self.note_bound(weights, risks)
            total += found.predictions
            self.consider(total / turn)
            if not self.bracket.low < distance < self.bracket.high or self.program.oracle_calls >= _MOST_CALLS:
                return
            room = self.bounds - risks
            self.widths = np.maximum(self.widths, np.abs(room))
            self.weights = weights * (1.0 - step * room / self.widths)

    def note_bound(self, weights: Floats, risks: Floats) -> None:
        """Note that no plausible regressor is below the least value of the weighted sum."""
        pull, others = weights[0], weights[1:]
        value = risks[0] + others @ (risks[1:] - self.bounds[1:]) / pull
        self.bracket.nothing_below(float(value), float(risks[0] + others @ (risks[1:] + self.bounds[1:]) / pull))

    def consider(self, average: Floats) -> None:
        """Move the average inwards until it is plausible."""
        share = self.program.share_needed(average, self.inside)
        self.bracket.found(float((1.0 - share) * average[-1] + share * self.inside[-1]))
