"""The range engines beside ``dual``: enumeration, a closed form, bisection, an ensemble, multiplicative weights."""

import math
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from coalface.paper.engine import ConvexRanges, EndSearch, RangeEngine
from coalface.paper.oracles import Floats, Oracle, Regressor, RidgeOracle
from coalface.paper.schedule import KAPPA
from coalface.paper.version_space import Bracket, Program, Reach, VersionSpace, widened

_CALLS_OF_BISECTION = 100
_FAR_ENOUGH = 1e12  # the largest weight of the imaginary example; the smallest is its inverse
N_MEMBERS = 10
_CHANCES = np.cumsum([0.36788, 0.36788, 0.18394, 0.06131, 0.01533, 0.00307])  # of the weights 0, 1, ... (Poisson)
_CALLS_OF_WEIGHTS = 200_000  # after these, the range is returned as far as it is certified
_SHORTEST_RUN = 16
_LARGEST_STEP = 0.5


class Enumeration(RangeEngine):
    """Exact ranges over a finite class; ``plausible`` marks the functions that meet every constraint.

    >>> from coalface.paper.version_space import LabelAnswers
    >>> from coalface.paper.user_oracles import FiniteOracle
    >>> space = VersionSpace(LabelAnswers(FiniteOracle.of_table([[0.1], [0.3], [0.9]]))).with_answer(np.zeros(1), 0.0)
    >>> Enumeration(space.with_constraint(2, slack=0.1)).plausible
    array([ True,  True, False])
    """

    monotone = True
    needs = "a finite class"

    def __init__(self, space: VersionSpace) -> None:
        super().__init__(space)
        self.oracle: Any = space.answers.oracle  # a finite oracle, which has ``predictions``

    @classmethod
    def suits(cls, oracle: Oracle) -> bool:
        """Finite classes only."""
        return oracle.finite

    @cached_property
    def plausible(self) -> NDArray[np.bool_]:
        """A mask of the functions that meet every constraint."""
        losses = self.space.losses(self.oracle.predictions(self.space.answers.rows))
        return np.asarray((losses <= self.space.constraints.bounds).all(axis=1))

    @property
    def empty(self) -> bool:
        """Whether no function is plausible."""
        return not self.plausible.any()

    def at(self, round_number: int, slack: float) -> "Enumeration":
        """The same ranges: with unchanged answers a later constraint is weaker, so it excludes nothing more."""
        return self

    def reach(self, row: Floats, end: float, tol: float) -> Reach:  # tol is not needed: the result is exact
        """One end of one range."""
        predicted = self.oracle.predictions(row[None, :])[self.plausible, 0]
        return _known_exactly(float(predicted.max() if end else predicted.min()))


def _known_exactly(predicted: float) -> Reach:
    """An end of a range that is known exactly."""
    inside = min(max(predicted, 0.0), 1.0)
    return Reach(inside, inside, 0)


class Ellipsoid(RangeEngine):
    """Exact ranges under the latest constraint alone for ``RidgeOracle``, without oracle calls.

    With the penalty counted as loss, the loss is quadratic around the best regressor. The plausible regressors fill an
    ellipsoid. On a row x their predictions lie within sqrt(slack x' A^-1 x) of the best one's, where A = penalty I +
    sum of x x'.

    >>> from coalface.paper.version_space import LabelAnswers
    >>> space = VersionSpace(LabelAnswers(RidgeOracle(penalty=1.0))).with_answer(np.array([1.0]), 1.0)
    >>> round(Ellipsoid(space.with_constraint(2, slack=0.02)).reach(np.array([1.0]), end=1.0, tol=0.0).limit, 6)
    0.6
    """

    needs = "a RidgeOracle"

    @classmethod
    def suits(cls, oracle: Oracle) -> bool:
        """Ridge regression only."""
        return isinstance(oracle, RidgeOracle)

    @cached_property
    def _factor(self) -> Floats:
        X, _ = self.space.answers.examples(self.space.answers.rows.shape[1])
        # R'R = X'X; with rounding, X'X itself could be indefinite
        return np.asarray(np.linalg.qr(X, mode="r"))

    def reach(self, row: Floats, end: float, tol: float) -> Reach:  # tol is not needed: the result is exact
        """One end of one range."""
        answers = self.space.answers
        known = widened(row[None, :], max(len(row), answers.rows.shape[1]))[0]
        seen, unseen = np.split(known, [answers.rows.shape[1]])
        first, _ = answers.oracle.prior(1)  # an unseen feature has only its penalty
        known_part = solve_triangular(self._factor, seen, trans="T")
        spread = float(known_part @ known_part) + float(unseen @ unseen) / float(first[0, 0] ** 2)
        half = math.sqrt(float(self.space.constraints.slacks[-1]) * spread)
        predicted = float(answers.best.predict(known[None, :])[0])
        return _known_exactly(predicted + half if end else predicted - half)


class Bisection(RangeEngine):
    """Ranges under the latest constraint alone, for any class; certified to ``tol`` if the class is convex.

    It bisects on the weight of an imaginary example, as in the 2017 paper: the row in question with an end of the scale
    as its cost. The larger its weight, the nearer the best regressor comes to that end, and the larger its loss on the
    real examples. The range ends where the excess loss reaches the slack. The weight is the inverse of the multiplier
    of the single constraint, so the regressors found on the way certify both sides, as with ``dual``.

    >>> from coalface.paper.version_space import LabelAnswers
    >>> from coalface.paper.oracles import BallOracle
    >>> space = VersionSpace(LabelAnswers(BallOracle(radius=2.0))).with_answer(np.array([1.0]), 0.5)
    >>> high = Bisection(space.with_constraint(2, slack=0.04)).reach(np.array([1.0]), end=1.0, tol=1e-6)
    >>> round(high.limit, 6)
    0.7
    """

    def __init__(self, space: VersionSpace) -> None:
        super().__init__(space.latest_alone())

    def reach(self, row: Floats, end: float, tol: float) -> Reach:
        """One end of one range."""
        program = Program(self.space, row)
        bracket = Bracket(end, float(program.candidate(self.space.answers.best).predictions[-1]))
        bound, light, heavy = self.space.constraints.bounds[0], 1.0 / _FAR_ENOUGH, _FAR_ENOUGH
        while bracket.gap > tol and program.oracle_calls < _CALLS_OF_BISECTION and heavy > light * (1.0 + 1e-12):
            weight = float(np.sqrt(light * heavy))
            found = program.call(np.ones(1), weight, end)
            loss, predicted = float(found.losses[0]), float(found.predictions[-1])
            bracket.nothing_below((predicted - end) ** 2 + (loss - bound) / weight, 1.0 + (loss + bound) / weight)
            if loss <= bound:
                light = weight
                bracket.found(predicted)
            else:
                heavy = weight
        return bracket.reach(program.oracle_calls)


class Ensemble(RangeEngine):
    """The least and the largest prediction of bootstrap members and of the best regressor, for any class.

    Nothing is certified: the ``limit`` of a range is what the members reach; the true end may lie beyond it.

    >>> from coalface.paper.version_space import LabelAnswers
    >>> from coalface.paper.oracles import RidgeOracle
    >>> space = VersionSpace(LabelAnswers(RidgeOracle(0.1)))
    >>> for cost in (0.4, 0.5, 0.6):
    ...     space = space.with_answer(np.array([1.0]), cost)
    >>> engine = Ensemble(space)
    >>> engine.reach(np.array([1.0]), 0.0, tol=0.1).limit < 0.48 < engine.reach(np.array([1.0]), 1.0, tol=0.1).limit
    True
    """

    @cached_property
    def members(self) -> list[Regressor]:
        """The best regressor, and one regressor per resampling of the answers."""
        answers = self.space.answers
        X, targets = answers.examples(answers.rows.shape[1])
        found = [answers.best]
        for member in range(N_MEMBERS):
            # one draw per answer that later answers do not change: members change only as much as the data
            draws = np.random.Generator(np.random.Philox(key=member)).random(len(answers))
            weights = np.ones(len(X))
            weights[len(X) - len(answers) :] = np.searchsorted(_CHANCES, draws, side="right")
            found.append(answers.oracle.solve(X, targets, weights))
        return found

    def at(self, round_number: int, slack: float) -> "Ensemble":
        """The same ranges: members do not depend on the slack."""
        return self

    def reach(self, row: Floats, end: float, tol: float) -> Reach:  # tol is not needed: members predict exactly
        """One end of one range: the most extreme prediction of a member."""
        predicted = np.clip([member.predict(row[None, :])[0] for member in self.members], 0.0, 1.0)
        reached = float(predicted.max() if end else predicted.min())
        return Reach(reached, reached, 0)


def theoretical_cap(n_constraints: int, slack: float, tol: float) -> float:
    """The number of steps after which the proof shows that c is nearly feasible; ``slack`` is an average.

    >>> f"{theoretical_cap(100, slack=0.1, tol=0.1):.1e}"
    '2.4e+10'
    """
    return math.log(n_constraints + 1) * (8 * KAPPA**2 / min(slack, 1.0)) ** 2 / tol**4


class _WeightedSearch(EndSearch):
    """The search for one end of one range; constraint 0 is the one on the distance."""

    def __init__(self, space: VersionSpace, middle: Regressor, row: Floats, end: float) -> None:
        super().__init__(space, middle, row, end)
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
        while self.bracket.gap > tol and high - low > tol**2 / 2 and self.program.oracle_calls < _CALLS_OF_WEIGHTS:
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
        while self.bracket.low < distance < self.bracket.high and self.program.oracle_calls < _CALLS_OF_WEIGHTS:
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
            self.move_inside(total / turn)
            if not self.bracket.low < distance < self.bracket.high or self.program.oracle_calls >= _CALLS_OF_WEIGHTS:
                return
            room = self.bounds - risks
            self.widths = np.maximum(self.widths, np.abs(room))
            self.weights = weights * (1.0 - step * room / self.widths)

    def note_bound(self, weights: Floats, risks: Floats) -> None:
        """Note that no plausible regressor is below the least value of the weighted sum."""
        pull, others = weights[0], weights[1:]
        value = risks[0] + others @ (risks[1:] - self.bounds[1:]) / pull
        self.bracket.nothing_below(float(value), float(risks[0] + others @ (risks[1:] + self.bounds[1:]) / pull))


class MultiplicativeWeights(ConvexRanges):
    """Ranges over a convex class as the paper computes them; for small problems and coarse tolerances.

    This is Algorithm 2. It bisects on the squared distance c between the end of the scale and the nearest plausible
    cost. Whether c is feasible is decided with weights: each constraint has one, and (g(row) - end)^2 <= c is one of
    the constraints. The oracle finds the best regressor for the weighted sum, and the weights of broken constraints
    grow. If even that regressor violates the weighted sum, c is too small. If the average of the regressors so far is
    plausible, c is large enough.

    The paper runs T = ln(i + 1) (8 kappa^2 / Delta)^2 / tol^4 steps, which is the cap here. Runs of growing length,
    each with its own step size, stop as soon as one of the two answers is certain. The widths that scale the steps,
    kappa in the proof, are the largest violations so far, which are smaller.

    >>> from coalface.paper.version_space import LabelAnswers
    >>> from coalface.paper.oracles import BallOracle
    >>> space = VersionSpace(LabelAnswers(BallOracle(radius=2.0))).with_answer(np.array([1.0]), 0.5)
    >>> engine = MultiplicativeWeights(space.with_constraint(2, slack=0.04))
    >>> high = engine.reach(np.array([1.0]), end=1.0, tol=0.1)
    >>> 0.7 <= high.limit <= 0.8
    True
    """

    search = _WeightedSearch
