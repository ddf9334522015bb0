"""The range engine ``enumeration``: exact ranges by checking every function of a finite class."""

from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from coalface.paper.engine import known_exactly
from coalface.paper.oracles import Floats, Oracle
from coalface.paper.program import Reach
from coalface.paper.version_space import VersionSpace


class Enumeration:
    """Exact ranges over a finite class; ``plausible`` marks the functions that meet every constraint.

    >>> from coalface.paper.version_space import Answers
    >>> from coalface.paper.user_oracles import FiniteOracle
    >>> space = VersionSpace(Answers(FiniteOracle.of_table([[0.1], [0.3], [0.9]]))).with_answer(np.zeros(1), 0.0)
    >>> Enumeration(space.with_constraint(2, slack=0.1)).plausible
    array([ True,  True, False])
    """

    monotone: ClassVar[bool] = True
    needs: ClassVar[str] = "a finite class"

    def __init__(self, space: VersionSpace) -> None:
        self.space = space
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
        """The same ranges: slack only grows, so a later constraint on the same answers excludes nothing more."""
        return self

    def reach(self, row: Floats, end: float, tol: float) -> Reach:  # tol is not needed: the result is exact
        """One end of one range."""
        predicted = self.oracle.predictions(row[None, :])[self.plausible, 0]
        return known_exactly(float(predicted.max() if end else predicted.min()))
