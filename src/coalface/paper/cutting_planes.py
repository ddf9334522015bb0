"""Cutting planes: maximise a concave function of the multipliers by a bundle method.

Each oracle call at some multipliers gives a cut, ``height + slopes . multipliers``; the function lies below it
everywhere. The next multipliers are the nearest to the best ones so far at which no cut rules out a given level
(Lemarechal's level method, centred at the best multipliers). If the cuts rule out every point, the shares of the cuts
prove it: the average of their regressors with these shares is plausible and has at most that level on average.

Only a few multipliers are ever positive. The others stay out of use until a candidate breaks their constraint.
"""

import numpy as np
from numpy.typing import NDArray

from coalface.paper.bounded_linear import least_distance
from coalface.paper.oracles import Floats


class CuttingPlanes:
    """Cuts of a concave function of non-negative multipliers, of which only those ``in_use`` may be positive."""

    def __init__(self, centre: Floats, in_use: NDArray[np.bool_], *, most: float = np.inf) -> None:
        self.centre = centre
        self.in_use = in_use
        self.most = most  # upper bound on the sum of the multipliers
        self.heights: list[float] = []
        self.slopes: list[Floats] = []

    def cut(self, height: float, slopes: Floats) -> None:
        """Add a plane that the function never exceeds."""
        self.heights.append(height)
        self.slopes.append(slopes)

    def at_level(self, level: float) -> tuple[Floats | None, Floats]:
        """The nearest multipliers at which no cut is below the level, or None; and the share of each cut."""
        used = self.in_use
        if not used.any():  # no multiplier may change
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
