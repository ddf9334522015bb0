"""The range engine ``ellipsoid``: ranges in closed form for ridge regression.

With the penalty counted as loss, the loss is quadratic around the best regressor. The plausible regressors fill an
ellipsoid. On a row x their predictions lie within sqrt(slack x' A^-1 x) of the best one's, where A = penalty I + sum of
x x'.
"""

import math
from functools import cached_property
from typing import ClassVar

import numpy as np
from scipy.linalg import solve_triangular

from coalface.paper.engine import known_exactly
from coalface.paper.oracles import Floats, Oracle, RidgeOracle
from coalface.paper.program import Reach
from coalface.paper.version_space import VersionSpace, widened


class Ellipsoid:
    """Exact ranges under the latest constraint alone for ``RidgeOracle``, without oracle calls.

    >>> from coalface.paper.version_space import Answers
    >>> space = VersionSpace(Answers(RidgeOracle(penalty=1.0))).with_answer(np.array([1.0]), 1.0)
    >>> round(Ellipsoid(space.with_constraint(2, slack=0.02)).reach(np.array([1.0]), end=1.0, tol=0.0).limit, 6)
    0.6
    """

    monotone: ClassVar[bool] = False
    needs: ClassVar[str] = "a RidgeOracle"
    empty = False

    def __init__(self, space: VersionSpace) -> None:
        self.space = space

    @classmethod
    def suits(cls, oracle: Oracle) -> bool:
        """Ridge regression only."""
        return isinstance(oracle, RidgeOracle)

    @cached_property
    def _factor(self) -> Floats:
        X, _ = self.space.answers.examples(self.space.answers.rows.shape[1])
        # R'R = X'X; with rounding, X'X itself could be indefinite
        return np.asarray(np.linalg.qr(X, mode="r"))

    def at(self, round_number: int, slack: float) -> "Ellipsoid":
        """The ranges at a later round, with this slack."""
        return Ellipsoid(self.space.alone(round_number, slack))

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
        return known_exactly(predicted + half if end else predicted - half)
