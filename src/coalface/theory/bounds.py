"""What the theorems promise about the expected cost, by how much it exceeds the best at most, and about computing.

The bounds on the cost hold for every round of a run at once, with probability 1 - ``failure_probability``, if the true
expected costs are in the class. Costs lie in [0, 1], so a bound above 1 says nothing; it is given all the same.
"""

from typing import Any

import numpy as np

from coalface.errors import InputError
from coalface.models.exact.schedule import KAPPA, Schedule, width_threshold
from coalface.theory.inputs import Numbers, as_table, check_margin
from coalface.theory.noise import Tsybakov, checked_tsybakov


def excess_cost(schedule: Schedule, rounds: Any, *, horizon: Any = None, margins: Any = None) -> Numbers:
    """The bound after so many rounds, for a problem with these margins (Theorem 2); the worst case without them.

    ``horizon`` is the length of the whole run, by default ``rounds``. The best threshold between small and large
    margins is found exactly.

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
    # Between two neighbouring margins the share below is constant; the least value there is inside or at an end.
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

    In rounds that are too early for the corollary, it is that of the theorem with the largest threshold allowed.

    >>> noise = Tsybakov(exponent=1.0, constant=2.0, up_to=0.5)
    >>> schedule = Schedule(n_labels=3, dimension=5, constant=1)
    >>> float(excess_cost_tsybakov(schedule, 10**6, noise).round(3))
    0.118
    """
    price, noise = _price(schedule, rounds, horizon), checked_tsybakov(noise)
    zeta = np.minimum((price / noise.constant) ** (1.0 / (noise.exponent + 2.0)), noise.up_to)
    return np.asarray(noise.constant * zeta ** (noise.exponent + 1.0) + price / zeta)


def oracle_calls(schedule: Schedule, round_number: Any, *, horizon: Any = None, tolerance: Any = None) -> Numbers:
    """Calls of the least-squares oracle that one end of one range may need by multiplicative weights (Theorem 1).

    ``tolerance`` is that of Algorithm 1 by default, a quarter of the width threshold.

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
    """What the bound has to divide by the threshold between small margins and large ones."""
    i = np.asarray(rounds, np.float64)
    return np.asarray(32.0 * schedule.n_labels * schedule.log_factor(i if horizon is None else horizon) / i)
