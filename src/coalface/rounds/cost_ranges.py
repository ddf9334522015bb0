"""``CostRanges``: the lowest and highest plausible cost of each label."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coalface.kernels.ranges import pull_each


@dataclass(frozen=True)
class CostRanges:
    """The lowest and the highest cost that plausible regressors predict, (n, K) each.

    >>> CostRanges(np.array([[0.1, 0.5]]), np.array([[0.4, 1.0]])).width
    array([[0.3, 0.5]])
    """

    lowest: NDArray[np.float64]
    highest: NDArray[np.float64]

    @property
    def width(self) -> NDArray[np.float64]:
        """The width of each range."""
        return self.highest - self.lowest

    @property
    def guaranteed_cost(self) -> NDArray[np.float64]:
        """The least highest cost of each example: one of its labels costs no more."""
        return np.asarray(self.highest.min(axis=1))


def pull_weight(gap: ArrayLike, sensitivity: ArrayLike, loss_slack: ArrayLike) -> NDArray[Any]:
    """The largest weight that the slack allows for an imaginary example whose cost is ``gap`` away from its prediction.

    That is the largest w <= gap / sensitivity with w (gap^2 - (gap - sensitivity w)^2) <= loss_slack, where the slack
    is on the scale of summed losses.

    >>> float(pull_weight(1.0, 0.5, 100.0)), round(float(pull_weight(1.0, 0.5, 0.125)), 4)
    (2.0, 0.3712)
    """
    gaps, rates, slacks = np.broadcast_arrays(
        np.asarray(gap, np.float32), np.asarray(sensitivity, np.float32), np.asarray(loss_slack, np.float32)
    )
    moves = np.empty(gaps.size, np.float32)
    pull_each(np.ascontiguousarray(gaps).ravel(), np.ascontiguousarray(slacks * rates).ravel(), moves)
    return np.asarray(moves.reshape(gaps.shape) / rates)
