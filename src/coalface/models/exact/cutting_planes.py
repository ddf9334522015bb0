"""A bundle: what oracle calls have taught about a concave function of the multipliers, and where to look next.

Each call at some multipliers gives a cut, ``height + slopes . multipliers``, below which the function lies everywhere.
The next multipliers are the nearest to the best ones so far at which no cut rules out a given level (Lemarechal's level
method, with the best multipliers for a centre). Where every point is ruled out, the cuts in proportion to their shares
say so: the same average of their regressors has, on average, at most that level for its value, and is plausible.

Only a few multipliers are ever positive: the others wait outside until a candidate breaks their constraint.
"""

import numpy as np
from numpy.typing import NDArray

from coalface.models.exact.least_distance import least_distance
from coalface.models.exact.oracles import Floats


class CuttingPlanes:
    """Cuts of a concave function of non-negative multipliers, of which only those ``in_use`` may be positive."""

    def __init__(self, centre: Floats, in_use: NDArray[np.bool_], *, most: float = np.inf) -> None:
        self.centre = centre
        self.in_use = in_use
        self.most = most  # that the multipliers may add up to
        self.heights: list[float] = []
        self.slopes: list[Floats] = []

    def cut(self, height: float, slopes: Floats) -> None:
        """The function is nowhere above this plane."""
        self.heights.append(height)
        self.slopes.append(slopes)

    def at_level(self, level: float) -> tuple[Floats | None, Floats]:
        """The nearest multipliers that no cut keeps below the level, None if there are none; the share of each cut."""
        used = self.in_use
        if not used.any():  # nothing to vary
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
