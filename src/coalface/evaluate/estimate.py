"""A mean with a 95 % interval, for numbers between known bounds.

The interval is Wilson's, as surveys use it for means: with the number of 0/1 answers whose mean would vary as much as
the mean of these numbers. For 0/1 costs it is Wilson's interval itself. Unlike a normal interval, it stays within the
bounds, and is not too short if large costs are rare. With few rows, Student's quantile widens it.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coalface.data.costs import CostScale

METHOD = "Wilson's interval"
_UPPER_TAIL = 0.975
_EQUAL = 1e-9  # smaller differences are rounding


@dataclass(frozen=True)
class Estimate:
    """A mean over some rows, and the ends of its 95 % interval; both ends are the mean if it is exact."""

    mean: float
    low: float
    high: float
    rows: int

    @property
    def is_exact(self) -> bool:
        """Whether all other rows have this mean too."""
        return self.low == self.high


def estimated_mean(values: NDArray[np.float64], bounds: CostScale) -> Estimate:
    """The mean of at least one number between these bounds, with its interval.

    >>> estimated_mean(np.array([0.0, 1.0] * 50), CostScale(0.0, 1.0))
    Estimate(mean=0.5, low=0.402..., high=0.597..., rows=100)
    >>> estimated_mean(np.zeros(100), CostScale(0.0, 1.0)).high < 0.04  # no mistake in 100 rows is not "never"
    True
    """
    n, unit = len(values), np.asarray(bounds.to_unit(values), np.float64)
    low, high = _unit_interval(unit) if n > 1 else (0.0, 1.0)
    ends = bounds.from_unit(np.array([low, high])).tolist()
    return Estimate(float(np.mean(values)), ends[0], ends[1], n)


def exact_mean(values: NDArray[np.float64]) -> Estimate:
    """The mean of numbers that are equal by construction.

    >>> exact_mean(np.zeros(3))
    Estimate(mean=0.0, low=0.0, high=0.0, rows=3)
    """
    mean = float(values[0])
    return Estimate(mean, mean, mean, len(values))


def _unit_interval(values: NDArray[np.float64]) -> tuple[float, float]:
    """The interval of a mean of at least two numbers between 0 and 1."""
    from scipy.special import stdtrit

    n, mean = len(values), float(values.mean())
    squared = float(stdtrit(n - 1, _UPPER_TAIL)) ** 2
    if np.ptp(values) < _EQUAL:  # a share of up to this size may differ, as in Wilson's interval of 0 in n
        share = squared / (n + squared)
        return mean - share * mean, mean + share * (1.0 - mean)
    weight = squared * float(values.var(ddof=1)) / (n * mean * (1.0 - mean))  # Wilson's z^2 / n
    middle = (mean + weight / 2) / (1 + weight)
    half = (weight * mean * (1.0 - mean) + weight * weight / 4) ** 0.5 / (1 + weight)
    return max(middle - half, 0.0), min(middle + half, 1.0)
