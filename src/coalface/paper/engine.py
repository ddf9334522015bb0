"""The interface of range engines: how low and how high the cost of a row may be, given a version space.

An engine for convex classes starts from a regressor well inside the version space, or proves that the space is empty,
and maximises concave functions of the multipliers by cutting planes.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coalface.paper.oracles import Floats, Oracle, Regressor, least_distance
from coalface.paper.version_space import Bracket, Candidate, Program, Reach, VersionSpace

_DEEP_ENOUGH = -0.2  # in slacks; the best possible depth is -1, that of the best regressor in its own constraint
_OF_THE_DEEPEST = 0.5  # this share of the greatest possible depth is enough
_MOST_CALLS = 200
_TOUCHING = -1e-6  # a smaller depth may be due to rounding


class CuttingPlanes:
    """Cuts of a concave function of non-negative multipliers, of which only those ``in_use`` may be positive.

    Each oracle call at some multipliers gives a cut, ``height + slopes . multipliers``; the function lies below it
    everywhere. The next multipliers are the nearest to the best ones so far at which no cut rules out a given level
    (Lemarechal's level method, centred at the best multipliers). If the cuts rule out every point, the shares of the
    cuts prove it: the average of their regressors with these shares is plausible and has at most that level on average.

    Only a few multipliers are ever positive. The others stay out of use until a candidate breaks their constraint.
    """

    def __init__(self, centre: Floats, in_use: NDArray[np.bool_], *, most: float = np.inf) -> None:
        self.centre = centre
        self.in_use = in_use
        self.most = most  # upper bound on the sum of the multipliers
        self.heights: list[float] = []
        self.slopes: list[Floats] = []

    def cut(self, height: float, slopes: Floats) -> None:
        """Add a plane that the function never exceeds."""
        self.heights.append(height)
        self.slopes.append(slopes)

    def at_level(self, level: float) -> tuple[Floats | None, Floats]:
        """The nearest multipliers at which no cut is below the level, or None; and the share of each cut."""
        used = self.in_use
        if not used.any():  # no multiplier may change
            heights = np.array(self.heights)
            return (None if heights.min() < level else self.centre), (heights == heights.min()) / 1.0
        slopes, start = np.array(self.slopes)[:, used], self.centre[used]
        normals, offsets = [slopes, np.eye(len(start))], [level - np.array(self.heights) - slopes @ start, -start]
        if self.most < np.inf:
            normals.append(-np.ones((1, len(start))))
            offsets.append(np.array([start.sum() - self.most]))
        step, shares = least_distance(np.vstack(normals), np.concatenate(offsets))
        shares = shares[: len(slopes)]
        total = shares.sum()
        shares = shares / total if total > 0.0 else shares
        if step is None:
            return None, shares
        multipliers = np.zeros(len(self.centre))
        multipliers[used] = np.maximum(start + step, 0.0)
        return multipliers, shares


def middle_of(space: VersionSpace) -> Regressor | None:
    """A plausible regressor at some distance from every constraint; None for an empty version space.

    Usually that is the best regressor. If it breaks an earlier constraint, or nearly so, the search minimises the
    excess loss of the worst constraint in units of the slack, again by duality, with multipliers that sum to 1. If 200
    oracle calls find nothing, the version space counts as empty: the latest constraint alone gives wider ranges.
    """
    best = Program(space).candidate(space.answers.best)
    if _excess(space, best.losses).max(initial=-1.0) <= _DEEP_ENOUGH:
        return space.answers.best
    return _Deepening(space, best).run()


def _excess(space: VersionSpace, losses: Floats) -> Floats:
    """The excess of losses over the bounds, in units of the slack; negative inside."""
    return np.asarray((losses - space.constraints.bounds) / space.constraints.slacks)


@dataclass(frozen=True)
class _Average:
    """The weighted average of regressors, itself a regressor of a convex class.

    >>> from coalface.paper.oracles import Linear
    >>> _Average((Linear(np.array([0.0])), Linear(np.array([1.0]))), np.array([0.25, 0.75])).predict(np.array([[2.0]]))
    array([1.5])
    """

    regressors: tuple[Regressor, ...]
    weights: Floats

    def predict(self, X: Floats) -> Floats:
        """The predicted cost of each row."""
        return np.asarray(self.weights @ np.stack([regressor.predict(X) for regressor in self.regressors]))


class _Deepening:
    """The search for a regressor whose worst constraint is as far away as possible."""

    def __init__(self, space: VersionSpace, best: Candidate) -> None:
        self.space, self.program = space, Program(space)
        n_constraints = len(space.constraints)
        self.seen: list[Candidate] = []
        self.low, self.high = -1.0, np.inf  # no regressor is deeper than 1 slack
        self.middle: Regressor = best.regressor
        # the multiplier of the latest constraint is 1 minus the sum of the others
        self.planes = CuttingPlanes(np.zeros(n_constraints), np.zeros(n_constraints, np.bool_), most=1.0)
        self.learn(best)
        self.ceiling = self.high

    def run(self) -> Regressor | None:
        while not self.done:
            level = (self.low + min(self.high, self.ceiling)) / 2
            multipliers, shares = self.planes.at_level(level)
            if multipliers is None:
                self.ceiling = level
            else:
                self.look(multipliers)
                shares = np.append(shares, 0.0)
            if shares.any():  # may bring another multiplier into use and raise the ceiling
                self.consider(shares)
        return self.middle if self.high < _TOUCHING else None

    @property
    def done(self) -> bool:
        found = self.high < 0.0 and self.high <= _OF_THE_DEEPEST * self.low
        hopeless = self.low > _TOUCHING or min(self.high, self.ceiling) - self.low < -_TOUCHING
        return found or hopeless or self.program.oracle_calls >= _MOST_CALLS

    def look(self, multipliers: Floats) -> None:
        """One oracle call at these multipliers."""
        of_all = multipliers.copy()
        of_all[-1] = max(1.0 - multipliers.sum(), 0.0)
        found = self.program.call(of_all / self.space.constraints.slacks)
        value = float(_excess(self.space, found.losses) @ of_all)
        if value > self.low:
            self.low, self.planes.centre = value, multipliers
        self.learn(found)

    def learn(self, found: Candidate) -> None:
        """Add the cut of an oracle call; its regressor may be deeper."""
        over = _excess(self.space, found.losses)
        self.planes.cut(float(over[-1]), over - over[-1])
        self.seen.append(found)
        self.consider(np.arange(len(self.seen)) == len(self.seen) - 1)

    def consider(self, shares: Floats | NDArray[np.bool_]) -> None:
        """Measure the depth of an average of regressors; bring its worst constraint into use."""
        over = _excess(self.space, self.program.losses(shares @ np.array([one.predictions for one in self.seen])))
        worst = int(np.argmax(over))
        if over[worst] < self.high:
            self.high = float(over[worst])
            parts = [(one.regressor, share) for one, share in zip(self.seen, shares, strict=True) if share > 0]
            self.middle = _Average(tuple(one for one, _ in parts), np.array([float(share) for _, share in parts]))
        if worst < len(over) - 1 and not self.planes.in_use[worst]:
            self.planes.in_use[worst] = True
            self.ceiling = np.inf


class RangeEngine(ABC):
    """The ranges that one version space allows; by default under its latest constraint alone.

    A range is conservative: its ``limit`` is never short of the true end. Certifying engines go beyond the true end by
    at most ``tol``.
    """

    monotone: ClassVar[bool] = False  # whether earlier constraints count
    needs: ClassVar[str] = "any class"  # the class of regressors that the engine needs, in words

    def __init__(self, space: VersionSpace) -> None:
        self.space = space

    @classmethod
    def suits(cls, oracle: Oracle) -> bool:  # noqa: ARG003 - most need a certain class
        """Whether the engine can work with this class."""
        return True

    @property
    def empty(self) -> bool:
        """Whether no regressor is plausible."""
        return False

    def at(self, round_number: int, slack: float) -> "RangeEngine":
        """The ranges at a later round, with this slack and no new answer.

        Slack only grows, so with all constraints the ranges stay the same: a later constraint is weaker.
        """
        return self if self.monotone else type(self)(self.space.alone(round_number, slack))

    @abstractmethod
    def reach(self, row: Floats, end: float, tol: float) -> Reach:
        """How near a plausible cost of the row comes to this end of the scale, 0 or 1."""


class CertifiedRange(NamedTuple):
    """The range of a cost, and how exactly each end is known.

    The lowest plausible cost lies between ``low.limit`` and ``low.reached``, the highest between ``high.reached`` and
    ``high.limit``.
    """

    low: Reach
    high: Reach

    @property
    def lowest(self) -> float:
        """The lowest cost, conservatively."""
        return self.low.limit

    @property
    def highest(self) -> float:
        """The highest cost, conservatively."""
        return self.high.limit

    @property
    def oracle_calls(self) -> int:
        """The oracle calls for both ends."""
        return self.low.oracle_calls + self.high.oracle_calls


def certified_range(engine: RangeEngine, row: Floats, tol: float) -> CertifiedRange:
    """Both ends of the range of a row.

    >>> import numpy as np
    >>> from coalface.paper.engines import Enumeration
    >>> from coalface.paper.version_space import LabelAnswers
    >>> from coalface.paper.user_oracles import FiniteOracle
    >>> space = VersionSpace(LabelAnswers(FiniteOracle.of_table([[0.1], [0.3], [0.9]]))).with_answer(np.zeros(1), 0.0)
    >>> found = certified_range(Enumeration(space.with_constraint(2, slack=0.1)), np.zeros(1), tol=0.0)
    >>> found.lowest, found.highest
    (0.1, 0.3)
    """
    return CertifiedRange(engine.reach(row, 0.0, tol), engine.reach(row, 1.0, tol))


class EndSearch(ABC):
    """The search for one end of one range over a convex class, from a plausible regressor ``middle``."""

    def __init__(self, space: VersionSpace, middle: Regressor, row: Floats, end: float) -> None:
        self.program, self.end = Program(space, row), end
        self.inside = self.program.candidate(middle).predictions
        self.bracket = Bracket(end, float(self.inside[-1]))

    @abstractmethod
    def run(self, tol: float) -> Reach:
        """Search until the end of the range is known to ``tol``."""

    def move_inside(self, predictions: Floats) -> None:
        """Note how far an average of regressors reaches, after moving it inwards until it is plausible."""
        share = self.program.share_needed(predictions, self.inside)
        self.bracket.found(float((1.0 - share) * predictions[-1] + share * self.inside[-1]))


class ConvexRanges(RangeEngine):
    """The common part of the engines for convex classes, which use all constraints."""

    monotone = True
    needs = "a convex class"
    search: ClassVar[type[EndSearch]]  # each engine has its own

    @classmethod
    def suits(cls, oracle: Oracle) -> bool:
        """Whether averages of regressors belong to the class."""
        return oracle.convex

    @cached_property
    def middle(self) -> Regressor | None:
        """A regressor well inside the version space, from which the search starts."""
        return middle_of(self.space)

    @property
    def empty(self) -> bool:
        """Whether the constraints contradict each other."""
        return self.middle is None

    def reach(self, row: Floats, end: float, tol: float) -> Reach:
        """One end of one range."""
        if self.middle is None:
            raise ValueError("an empty version space has no ranges")
        return self.search(self.space, self.middle, row, end).run(tol)
