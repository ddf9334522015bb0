"""Finding a regressor well inside a version space, or proving that the version space is empty."""

import numpy as np
from numpy.typing import NDArray

from coalface.paper.cutting_planes import CuttingPlanes
from coalface.paper.oracles import Floats, Regressor
from coalface.paper.program import Average, Candidate, Program
from coalface.paper.version_space import VersionSpace

_DEEP_ENOUGH = -0.2  # in slacks; the best possible depth is -1, that of the best regressor in its own constraint
_OF_THE_DEEPEST = 0.5  # this share of the greatest possible depth is enough
_MOST_CALLS = 200
_TOUCHING = -1e-6  # a smaller depth may be due to rounding


def middle_of(space: VersionSpace) -> Regressor | None:
    """A plausible regressor at some distance from every constraint; None for an empty version space.

    Usually that is the best regressor. If it breaks an earlier constraint, or nearly so, the search minimises the
    excess loss of the worst constraint in units of the slack, again by duality, with multipliers that sum to 1. If 200
    oracle calls find nothing, the version space counts as empty: the latest constraint alone gives wider ranges.
    """
    best = Program(space).candidate(space.answers.best)
    if excess(space, best.losses).max(initial=-1.0) <= _DEEP_ENOUGH:
        return space.answers.best
    return _Deepening(space, best).run()


def excess(space: VersionSpace, losses: Floats) -> Floats:
    """The excess of losses over the bounds, in units of the slack; negative inside."""
    return np.asarray((losses - space.constraints.bounds) / space.constraints.slacks)


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
        value = float(excess(self.space, found.losses) @ of_all)
        if value > self.low:
            self.low, self.planes.centre = value, multipliers
        self.learn(found)

    def learn(self, found: Candidate) -> None:
        """Add the cut of an oracle call; its regressor may be deeper."""
        over = excess(self.space, found.losses)
        self.planes.cut(float(over[-1]), over - over[-1])
        self.seen.append(found)
        self.consider(np.arange(len(self.seen)) == len(self.seen) - 1)

    def consider(self, shares: Floats | NDArray[np.bool_]) -> None:
        """Measure the depth of an average of regressors; bring its worst constraint into use."""
        over = excess(self.space, self.program.losses(shares @ np.array([one.predictions for one in self.seen])))
        worst = int(np.argmax(over))
        if over[worst] < self.high:
            self.high = float(over[worst])
            parts = [(one.regressor, share) for one, share in zip(self.seen, shares, strict=True) if share > 0]
            self.middle = Average(tuple(one for one, _ in parts), np.array([float(share) for _, share in parts]))
        if worst < len(over) - 1 and not self.planes.in_use[worst]:
            self.planes.in_use[worst] = True
            self.ceiling = np.inf
