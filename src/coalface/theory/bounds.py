"""What the theorems promise about the expected cost: by how much it exceeds the best possible one, at most.

The bounds hold for every round of a run at once, with probability 1 - ``failure_probability``, if the true expected
costs are in the class. Costs lie in [0, 1], so a bound above 1 says nothing; it is given as it is, for drawing.
"""

from typing import Any

import numpy as np

from coalface.theory.given import Numbers, as_table, within
from coalface.theory.noise import Tsybakov
from coalface.theory.schedule import Schedule


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
    # Between two neighbouring margins the share below is constant; the least value there is inside or at an end.
    share = np.arange(len(found) + 1) / len(found)
    each = np.atleast_1d(price)[:, None]
    with np.errstate(divide="ignore", over="ignore"):
        zeta = np.clip(np.sqrt(each / share), np.r_[0.0, found], np.r_[found, np.inf])
        value = zeta * share + each / zeta
    return np.asarray(value.min(axis=1).reshape(np.shape(price)))


def excess_cost_massart(schedule: Schedule, rounds: Any, margin: float, *, horizon: Any = None) -> Numbers:
    """The bound where the best label always beats the others by ``margin`` (Corollary 1).

    >>> float(excess_cost_massart(Schedule(n_labels=3, dimension=5, constant=1), 10**6, 0.3).round(3))
    0.034
    """
    return np.asarray(_price(schedule, rounds, horizon) / within("margin", margin, 0.0, 1.0))


def excess_cost_tsybakov(schedule: Schedule, rounds: Any, noise: Tsybakov, *, horizon: Any = None) -> Numbers:
    """The bound where small margins are rare (Corollary 2); before it begins to hold, that with the largest threshold.

    >>> noise = Tsybakov(exponent=1.0, constant=2.0, up_to=0.5)
    >>> schedule = Schedule(n_labels=3, dimension=5, constant=1)
    >>> float(excess_cost_tsybakov(schedule, 10**6, noise).round(3))
    0.118
    """
    price = _price(schedule, rounds, horizon)
    zeta = np.minimum((price / noise.constant) ** (1.0 / (noise.exponent + 2.0)), noise.up_to)
    return np.asarray(noise.constant * zeta ** (noise.exponent + 1.0) + price / zeta)


def _price(schedule: Schedule, rounds: Any, horizon: Any) -> Numbers:
    """What the bound has to divide by the threshold between small margins and large ones."""
    i = np.asarray(rounds, np.float64)
    return np.asarray(32.0 * schedule.n_labels * schedule.log_factor(i if horizon is None else horizon) / i)
