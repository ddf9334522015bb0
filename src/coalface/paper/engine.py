"""The interface of range engines: how low and how high the cost of a row may be, given a version space."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Protocol, Self

from coalface.paper.interior import middle_of
from coalface.paper.oracles import Floats, Oracle, Regressor
from coalface.paper.program import Reach
from coalface.paper.version_space import VersionSpace


class RangeEngine(Protocol):
    """The ranges that one version space allows.

    A range is conservative: its ``limit`` is never short of the true end. Certifying engines go beyond the true end by
    at most ``tol``.
    """

    monotone: ClassVar[bool]  # whether earlier constraints count
    needs: ClassVar[str]  # the class of regressors that the engine needs, in words

    def __init__(self, space: VersionSpace) -> None: ...

    @classmethod
    def suits(cls, oracle: Oracle) -> bool:
        """Whether the engine can work with this class."""
        ...

    @property
    def empty(self) -> bool:
        """Whether no regressor is plausible."""
        ...

    def at(self, round_number: int, slack: float) -> "RangeEngine":
        """The ranges at a later round, with this slack and no new answer."""
        ...

    def reach(self, row: Floats, end: float, tol: float) -> Reach:
        """How near a plausible cost of the row comes to this end of the scale, 0 or 1."""
        ...


@dataclass(frozen=True)
class CertifiedRange:
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
    >>> from coalface.paper.enumeration import Enumeration
    >>> from coalface.paper.version_space import Answers
    >>> from coalface.paper.user_oracles import FiniteOracle
    >>> space = VersionSpace(Answers(FiniteOracle.of_table([[0.1], [0.3], [0.9]]))).with_answer(np.zeros(1), 0.0)
    >>> found = certified_range(Enumeration(space.with_constraint(2, slack=0.1)), np.zeros(1), tol=0.0)
    >>> found.lowest, found.highest
    (0.1, 0.3)
    """
    return CertifiedRange(engine.reach(row, 0.0, tol), engine.reach(row, 1.0, tol))


def known_exactly(predicted: float, calls: int = 0) -> Reach:
    """An end of a range that is known exactly."""
    inside = min(max(predicted, 0.0), 1.0)
    return Reach(inside, inside, calls)


class ConvexRanges(ABC):
    """The common part of the engines for convex classes, which use all constraints."""

    monotone: ClassVar[bool] = True
    needs: ClassVar[str] = "a convex class"

    def __init__(self, space: VersionSpace) -> None:
        self.space = space

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

    def at(self, round_number: int, slack: float) -> Self:
        """The same ranges: slack only grows, so a later constraint on the same answers excludes nothing more."""
        return self

    def reach(self, row: Floats, end: float, tol: float) -> Reach:
        """One end of one range."""
        if self.middle is None:
            raise ValueError("an empty version space has no ranges")
        return self.search(self.middle, row, end, tol)

    @abstractmethod
    def search(self, middle: Regressor, row: Floats, end: float, tol: float) -> Reach:
        """One end of one range; each engine implements its own search."""
