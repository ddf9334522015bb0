"""Fitting how a count grows with the number of rounds: like its logarithm, or like a power of it."""

from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from coalface.errors import InputError
from coalface.paper.inputs import as_table


class Growth(NamedTuple):
    """How a count grows: ``slope`` against ln(rounds), and ``power``, the best-fitting exponent of the rounds.

    ``by_log`` and ``by_line`` are the shares of the variance that a straight line against ln(rounds) and against the
    rounds explains. Passive learning has power 1. The power of a logarithm falls towards 0 only slowly, so compare
    ``by_log`` with ``by_line``.

    >>> passive = growth([100, 1_000, 10_000], [300, 3_000, 30_000])
    >>> round(passive.power, 6), passive.by_line > passive.by_log
    (1.0, True)
    """

    slope: float
    by_log: float
    by_line: float
    power: float


def growth(rounds: Any, counts: Any) -> Growth:
    """The growth of ``counts``, one per number of ``rounds``, by least squares.

    >>> n = np.array([100, 1_000, 10_000, 100_000])
    >>> found = growth(n, 50 * np.log(n))
    >>> round(found.slope, 6), round(found.by_log, 6), found.power < 0.15
    (50.0, 1.0, True)
    >>> round(growth(n, 3 * n).power, 6)
    1.0
    """
    n, count = as_table("rounds", rounds, ("checkpoints",)), as_table("counts", counts, ("checkpoints",))
    if len(n) != len(count) or len(np.unique(n)) < 3 or (n < 1).any() or (count < 0).any():
        raise InputError(
            "rounds must be at least three different numbers, none below 1, with a non-negative count each, "
            f"got {n.tolist()[:10]} and {count.tolist()[:10]}."
        )
    if np.ptp(count) == 0:
        return Growth(0.0, 1.0, 1.0, 0.0)  # a straight line, on any axis
    by_log, by_line = stats.linregress(np.log(n), count), stats.linregress(n, count)
    some = count > 0
    power = stats.linregress(np.log(n[some]), np.log(count[some])).slope if some.sum() > 1 else np.nan
    return Growth(float(by_log.slope), float(by_log.rvalue**2), float(by_line.rvalue**2), float(power))
