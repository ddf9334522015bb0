"""What every range engine offers: for one version space, how far the cost of a row may reach in either direction."""

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Protocol, Self

from coalface.models.exact.interior import middle_of
from coalface.models.exact.oracles import Floats, Oracle, Regressor
from coalface.models.exact.program import Reach
from coalface.models.exact.version_space import VersionSpace


class RangeEngine(Protocol):
    """The ranges that one version space allows.

    A range is on the safe side: its ``limit`` lies no nearer than the true end, and beyond it by at most ``tol`` where
    the engine certifies that.
    """

    monotone: ClassVar[bool]  # earlier constraints count
    needs: ClassVar[str]  # of the class of regressors, in words

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
        """The ranges at a later round, with this slack and no answer more."""
        ...

    def reach(self, row: Floats, end: float, tol: float) -> Reach:
        """How near a plausible cost of the row comes to this end of the scale, 0 or 1."""
        ...


@dataclass(frozen=True)
class CertifiedRange:
    """What a cost may still be, and how sure that is.

    The lowest plausible cost lies between ``low.limit`` and ``low.reached``, the highest between ``high.reached`` and
    ``high.limit``.
    """

    low: Reach
    high: Reach

    @property
    def lowest(self) -> float:
        """The lowest cost, on the safe side."""
        return self.low.limit

    @property
    def highest(self) -> float:
        """The highest cost, on the safe side."""
        return self.high.limit

    @property
    def oracle_calls(self) -> int:
        """What it took."""
        return self.low.oracle_calls + self.high.oracle_calls


def certified_range(engine: RangeEngine, row: Floats, tol: float) -> CertifiedRange:
    """Both ends.

    >>> import numpy as np
    >>> from coalface.models.exact.enumeration import Enumeration
    >>> from coalface.models.exact.version_space import Answers
    >>> from coalface.models.exact.user_oracles import FiniteOracle
    >>> space = VersionSpace(Answers(FiniteOracle.of_table([[0.1], [0.3], [0.9]]))).with_answer(np.zeros(1), 0.0)
    >>> found = certified_range(Enumeration(space.with_constraint(2, slack=0.1)), np.zeros(1), tol=0.0)
    >>> found.lowest, found.highest
    (0.1, 0.3)
    """
    return CertifiedRange(engine.reach(row, 0.0, tol), engine.reach(row, 1.0, tol))


def known_exactly(predicted: float, calls: int = 0) -> Reach:
    """An end of a range without a doubt about it."""
    inside = min(max(predicted, 0.0), 1.0)
    return Reach(inside, inside, calls)


class ConvexRanges:
    """What the engines for convex classes and all constraints share."""

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
        """A regressor well inside, from which ranges are explored."""
        return middle_of(self.space)

    @property
    def empty(self) -> bool:
        """Whether the constraints contradict each other."""
        return self.middle is None

    def at(self, round_number: int, slack: float) -> Self:  # noqa: ARG002 - see below
        """The same: slack only grows, so that a later constraint on the same answers excludes nothing more."""
        return self

    def reach(self, row: Floats, end: float, tol: float) -> Reach:
        """One end of one range."""
        if self.middle is None:
            raise ValueError("An empty version space has no ranges.")
        return self.search(self.middle, row, end, tol)

    def search(self, middle: Regressor, row: Floats, end: float, tol: float) -> Reach:
        """What the engines do each in their way."""
        raise NotImplementedError
