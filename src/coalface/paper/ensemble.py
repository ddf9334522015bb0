"""The range engine ``ensemble``: how far regressors fitted to resampled answers disagree; no guarantee."""

from functools import cached_property
from typing import ClassVar

import numpy as np

from coalface.paper.oracles import Floats, Oracle, Regressor
from coalface.paper.program import Reach
from coalface.paper.version_space import VersionSpace

N_MEMBERS = 10
_CHANCES = np.cumsum([0.36788, 0.36788, 0.18394, 0.06131, 0.01533, 0.00307])  # of the weights 0, 1, ... (Poisson)


class Ensemble:
    """The least and the largest prediction of bootstrap members and of the best regressor, for any class.

    Nothing is certified: the ``limit`` of a range is what the members reach; the true end may lie beyond it.

    >>> from coalface.paper.version_space import Answers
    >>> from coalface.paper.oracles import RidgeOracle
    >>> space = VersionSpace(Answers(RidgeOracle(0.1)))
    >>> for cost in (0.4, 0.5, 0.6):
    ...     space = space.with_answer(np.array([1.0]), cost)
    >>> engine = Ensemble(space)
    >>> engine.reach(np.array([1.0]), 0.0, tol=0.1).limit < 0.48 < engine.reach(np.array([1.0]), 1.0, tol=0.1).limit
    True
    """

    monotone: ClassVar[bool] = False
    needs: ClassVar[str] = "any class"
    empty = False

    def __init__(self, space: VersionSpace) -> None:
        self.space = space

    @classmethod
    def suits(cls, oracle: Oracle) -> bool:  # noqa: ARG003 - every class is suitable
        """Any class."""
        return True

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
