"""The paper's bounds on excess cost and on oracle calls (Theorems 1 and 2).

The bounds on the cost hold for all rounds of a run at once, with probability 1 - ``failure_probability``, if the true
expected costs are in the class. Costs lie in [0, 1], so a bound above 1 is vacuous; it is returned as it is.
"""

from typing import Any

import numpy as np

from coalface.errors import InputError
from coalface.models.exact.schedule import KAPPA, Schedule, width_threshold
from coalface.theory.inputs import Numbers, as_table, check_margin
from coalface.theory.noise import Tsybakov, checked_tsybakov


def excess_cost(schedule: Schedule, rounds: Any, *, horizon: Any = None, margins: Any = None) -> Numbers:
    """The bound after ``rounds`` rounds for a problem with these margins (Theorem 2); without margins, the worst case.

    ``horizon`` is the length of the whole run, by default ``rounds``. The bound uses the best threshold between small
    and large margins.

    >>> schedule = Schedule(n_labels=3, dimension=5, constant=1)
    >>> worst, easy = excess_cost(schedule, 10**6), excess_cost(schedule, 10**6, margins=[0.3] * 100)
    >>> round(float(worst), 2), round(float(easy), 3)
    (0.2, 0.034)
    """
    price = _price(schedule, rounds, horizon)
    if margins is None:
        return np.asarray(2.0 * np.sqrt(price))
    found = np.sort(as_table("margins", margins, ("examples",)))
    if found[0] < 0:
        raise InputError(f"margins must be at least 0, got {found[0]:g}.")
    # Between neighbouring margins the share below is constant; the least value is there or at an end.
    share = np.arange(len(found) + 1) / len(found)
    each = np.atleast_1d(price)[:, None]
    with np.errstate(divide="ignore", over="ignore"):
        zeta = np.clip(np.sqrt(each / share), np.r_[0.0, found], np.r_[found, np.inf])
        value = zeta * share + each / zeta
    return np.asarray(value.min(axis=1).reshape(np.shape(price)))


def excess_cost_massart(schedule: Schedule, rounds: Any, margin: float, *, horizon: Any = None) -> Numbers:
    """The bound where the best label always beats the others by ``margin`` (a corollary of Theorem 2).

    >>> float(excess_cost_massart(Schedule(n_labels=3, dimension=5, constant=1), 10**6, 0.3).round(3))
    0.034
    """
    return np.asarray(_price(schedule, rounds, horizon) / check_margin(margin))


def excess_cost_tsybakov(schedule: Schedule, rounds: Any, noise: Tsybakov, *, horizon: Any = None) -> Numbers:
    """The bound where small margins are rare (a corollary of Theorem 2).

    In rounds that are too early for the corollary, it is the theorem's bound with the largest threshold allowed.

    >>> noise = Tsybakov(exponent=1.0, constant=2.0, up_to=0.5)
    >>> schedule = Schedule(n_labels=3, dimension=5, constant=1)
    >>> float(excess_cost_tsybakov(schedule, 10**6, noise).round(3))
    0.118
    """
    price, noise = _price(schedule, rounds, horizon), checked_tsybakov(noise)
    zeta = np.minimum((price / noise.constant) ** (1.0 / (noise.exponent + 2.0)), noise.up_to)
    return np.asarray(noise.constant * zeta ** (noise.exponent + 1.0) + price / zeta)


def oracle_calls(schedule: Schedule, round_number: Any, *, horizon: Any = None, tolerance: Any = None) -> Numbers:
    """The oracle calls that multiplicative weights may need for one end of one range (Theorem 1).

    By default, ``tolerance`` is a quarter of the width threshold, as in Algorithm 1.

    >>> calls = oracle_calls(Schedule(n_labels=3, dimension=5), [10, 100])
    >>> [f"{value:.0e}" for value in calls]
    ['3e+08', '8e+10']
    """
    i = np.asarray(round_number, np.float64)
    near = np.asarray(width_threshold(i) / 4.0 if tolerance is None else tolerance, np.float64)
    slack = schedule.loss_slack(i, i if horizon is None else horizon)
    steps = np.ceil(np.log(i + 1.0) * (8.0 * KAPPA**2 / slack) ** 2 / near**4)
    return np.asarray(np.ceil(np.log2(2.0 / near**2)) * steps)


def _price(schedule: Schedule, rounds: Any, horizon: Any) -> Numbers:
    """The numerator of the bound, to be divided by the threshold between small and large margins."""
    i = np.asarray(rounds, np.float64)
    return np.asarray(32.0 * schedule.n_labels * schedule.log_factor(i if horizon is None else horizon) / i)
