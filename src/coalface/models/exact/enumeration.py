"""Ranges by looking at every function of a finite class: ``enumeration``."""

from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from coalface.models.exact.engine import known_exactly
from coalface.models.exact.oracles import Floats, Oracle
from coalface.models.exact.program import Reach
from coalface.models.exact.version_space import VersionSpace


class Enumeration:
    """Ranges over a finite class, exactly; no other engine knows which functions are still plausible.

    >>> from coalface.models.exact.version_space import Answers
    >>> from coalface.models.exact.user_oracles import FiniteOracle
    >>> space = VersionSpace(Answers(FiniteOracle.of_table([[0.1], [0.3], [0.9]]))).with_answer(np.zeros(1), 0.0)
    >>> Enumeration(space.with_constraint(2, slack=0.1)).plausible
    array([ True,  True, False])
    """

    monotone: ClassVar[bool] = True
    needs: ClassVar[str] = "a finite class"

    def __init__(self, space: VersionSpace) -> None:
        self.space = space
        self.oracle: Any = space.answers.oracle  # one with ``predictions``: it is finite

    @classmethod
    def suits(cls, oracle: Oracle) -> bool:
        """Classes that can be listed."""
        return oracle.finite

    @cached_property
    def plausible(self) -> NDArray[np.bool_]:
        """Which functions meet every constraint."""
        losses = self.space.losses(self.oracle.predictions(self.space.answers.rows))
        return np.asarray((losses <= self.space.constraints.bounds).all(axis=1))

    @property
    def empty(self) -> bool:
        """Whether none does."""
        return not self.plausible.any()

    def at(self, round_number: int, slack: float) -> "Enumeration":  # noqa: ARG002 - see below
        """The same: slack only grows, so that a later constraint on the same answers excludes nothing more."""
        return self

    def reach(self, row: Floats, end: float, tol: float) -> Reach:  # noqa: ARG002 - nothing is left open
        """One end of one range."""
        predicted = self.oracle.predictions(row[None, :])[self.plausible, 0]
        return known_exactly(float(predicted.max() if end else predicted.min()))
