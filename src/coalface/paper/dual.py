"""The range engine ``dual``: the end of a range by maximising the Lagrangian dual.

For given multipliers, the least value of squared distance + multipliers . (losses - bounds) is a lower bound on what
plausible regressors reach; one oracle call computes it. The largest such bound is the end of the range. Cutting planes
search for it, and averages of the regressors found on the way bound it from the other side.
"""

import numpy as np

from coalface.paper.engine import ConvexRanges, CuttingPlanes, EndSearch
from coalface.paper.oracles import Floats, Regressor
from coalface.paper.version_space import Candidate, Reach, VersionSpace

_MOST_CALLS = 1000
_FIRST_GUESS = 0.2  # the first multiplier of the latest constraint, relative to the distance at the middle


class _DualSearch(EndSearch):
    """The search for one end of one range."""

    def __init__(self, space: VersionSpace, middle: Regressor, row: Floats, end: float) -> None:
        super().__init__(space, middle, row, end)
        # in units of the middle's distance from each constraint, the multipliers sum to at most the first distance
        self.margins = space.constraints.bounds - self.program.losses(self.inside)
        self.seen = [self.inside]
        n_constraints = len(space.constraints)
        self.planes = CuttingPlanes(np.zeros(n_constraints), np.arange(n_constraints) == n_constraints - 1)
        self.planes.cut(self.bracket.high, -np.ones(n_constraints))
        self.ceiling = self.bracket.high  # upper bound over the multipliers in use

    def run(self, tol: float) -> Reach:
        """Search until the end of the range is known to ``tol``."""
        guess = np.zeros(len(self.margins))
        guess[-1] = _FIRST_GUESS * self.bracket.high
        multipliers: Floats | None = guess
        while self.bracket.gap > tol and self.program.oracle_calls < _MOST_CALLS:
            if multipliers is not None:
                self.look(multipliers)
            level = ((np.sqrt(self.bracket.low) + np.sqrt(min(self.bracket.high, self.ceiling))) / 2) ** 2
            multipliers, shares = self.planes.at_level(level)
            if multipliers is None:
                self.ceiling = min(self.ceiling, level)
            if shares.any():  # may bring another multiplier into use and raise the ceiling
                self.consider(shares @ np.array(self.seen))
            if self.ceiling - self.bracket.low < 1e-14:
                break
        return self.bracket.reach(self.program.oracle_calls)

    def look(self, multipliers: Floats) -> None:
        """One oracle call: it gives a cut, a lower bound, and a regressor that may extend the range."""
        found: Candidate = self.program.call(multipliers / self.margins, 1.0, self.end)
        height = float((found.predictions[-1] - self.end) ** 2)
        slopes = (found.losses - self.program.space.constraints.bounds) / self.margins
        value = height + float(slopes @ multipliers)
        if value > self.bracket.low:
            self.planes.centre = multipliers
        scale = height + float((found.losses + self.program.space.constraints.bounds) / self.margins @ multipliers)
        self.bracket.nothing_below(value, scale)
        self.planes.cut(height, slopes)
        self.seen.append(found.predictions)
        self.consider(found.predictions)

    def consider(self, predictions: Floats) -> None:
        """Move an average of regressors inwards until it is plausible; bring the worst broken constraint into use."""
        self.move_inside(predictions)
        broken = (self.program.losses(predictions) - self.program.space.constraints.bounds) / self.margins
        worst = int(np.argmax(broken))
        if broken[worst] > 0.0 and not self.planes.in_use[worst]:
            self.planes.in_use[worst] = True
            self.ceiling = self.bracket.high


class Dual(ConvexRanges):
    """Ranges over a convex class, certified to ``tol`` with few oracle calls.

    >>> from coalface.paper.version_space import LabelAnswers
    >>> from coalface.paper.oracles import BallOracle
    >>> space = VersionSpace(LabelAnswers(BallOracle(radius=2.0))).with_answer(np.array([1.0]), 0.5)
    >>> high = Dual(space.with_constraint(2, slack=0.04)).reach(np.array([1.0]), end=1.0, tol=0.001)
    >>> 0.7 <= high.limit <= 0.701
    True
    """

    search = _DualSearch
