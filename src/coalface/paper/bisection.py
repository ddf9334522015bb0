"""The range engine ``bisection``: bisection on the weight of an imaginary example, as in the 2017 paper.

The imaginary example is the row in question with an end of the scale as its cost. The larger its weight, the nearer the
best regressor comes to that end, and the larger its loss on the real examples. The range ends where the excess loss
reaches the slack. The weight is the inverse of the multiplier of the single constraint, so the regressors found on the
way certify both sides, as with ``dual``. Earlier constraints are ignored.
"""

from typing import ClassVar

import numpy as np

from coalface.paper.oracles import Floats, Oracle
from coalface.paper.program import Bracket, Program, Reach
from coalface.paper.version_space import VersionSpace

_MOST_CALLS = 100
_FAR_ENOUGH = 1e12  # the largest weight of the imaginary example; the smallest is its inverse


class Bisection:
    """Ranges under the latest constraint alone, for any class; certified to ``tol`` if the class is convex.

    >>> from coalface.paper.version_space import Answers
    >>> from coalface.paper.oracles import BallOracle
    >>> space = VersionSpace(Answers(BallOracle(radius=2.0))).with_answer(np.array([1.0]), 0.5)
    >>> high = Bisection(space.with_constraint(2, slack=0.04)).reach(np.array([1.0]), end=1.0, tol=1e-6)
    >>> round(high.limit, 6)
    0.7
    """

    monotone: ClassVar[bool] = False
    needs: ClassVar[str] = "any class"
    empty = False

    def __init__(self, space: VersionSpace) -> None:
        self.space = space.latest_alone()

    @classmethod
    def suits(cls, oracle: Oracle) -> bool:  # noqa: ARG003 - every class is suitable
        """Any class."""
        return True

    def at(self, round_number: int, slack: float) -> "Bisection":
        """The ranges at a later round, with this slack."""
        return Bisection(self.space.alone(round_number, slack))

    def reach(self, row: Floats, end: float, tol: float) -> Reach:
        """One end of one range."""
        program = Program(self.space, row)
        bracket = Bracket(end, float(program.candidate(self.space.answers.best).predictions[-1]))
        bound, light, heavy = self.space.constraints.bounds[0], 1.0 / _FAR_ENOUGH, _FAR_ENOUGH
        while bracket.gap > tol and program.oracle_calls < _MOST_CALLS and heavy > light * (1.0 + 1e-12):
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
