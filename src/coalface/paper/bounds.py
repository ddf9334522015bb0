"""The paper's bounds on excess cost, on oracle calls and on deviations (Theorems 1 and 2, and the deviation bound).

The bounds on the cost hold for all rounds of a run at once, with probability 1 - ``failure_probability``, if the true
expected costs are in the class. Costs lie in [0, 1], so a bound above 1 is vacuous; it is returned as it is.
"""

from typing import Any, NamedTuple

import numpy as np

from coalface.data import finite_number, whole_number
from coalface.errors import InputError
from coalface.paper.inputs import Numbers, as_table, check_margin
from coalface.paper.noise import Tsybakov, checked_tsybakov
from coalface.paper.schedule import KAPPA, Schedule, width_threshold


def excess_cost(schedule: Schedule, rounds: Any, *, horizon: Any = None, margins: Any = None) -> Numbers:
    """The bound after ``rounds`` rounds for a problem with these margins (Theorem 2); without margins, the worst case.

    ``horizon`` is the length of the whole run, by default ``rounds``. The bound uses the best threshold between small
    and large margins.

    >>> schedule = Schedule(n_labels=3, dimension=5, constant=1)
    >>> worst, easy = excess_cost(schedule, 10**6), excess_cost(schedule, 10**6, margins=[0.3] * 100)
    >>> round(float(worst), 2), round(float(easy), 3)
    (0.2, 0.034)
    """
    return _least_sum(_price(schedule, rounds, horizon), margins)


def regret_radius(schedule: Schedule, round_number: Any, *, horizon: Any = None, margins: Any = None) -> Numbers:
    """The radius r_i of the ball that holds the version space: the excess cost of a plausible classifier at most.

    It is the least zeta P_zeta + 44 K Delta_i / zeta (the lemma before the bounds on label effort). Without margins,
    the worst case, P_zeta = 1.

    >>> schedule = Schedule(n_labels=3, dimension=5, constant=1)
    >>> [float(regret_radius(schedule, i, horizon=10**6, margins=[0.3] * 9).round(2)) for i in (10**4, 10**6)]
    [4.09, 0.14]
    """
    i = np.asarray(round_number, np.float64)
    slack = schedule.loss_slack(i, i if horizon is None else horizon)
    return _least_sum(44.0 * schedule.n_labels * slack, margins)


def _least_sum(price: Numbers, margins: Any) -> Numbers:
    """The least zeta * (share of margins up to zeta) + price / zeta; without margins, the share is 1."""
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


def total_oracle_calls(schedule: Schedule, n_rounds: int) -> float:
    """The oracle calls of a whole run of Algorithm 1 (the corollary of Theorem 1).

    Every round has one call per label for its best regressor, and ``oracle_calls`` for both ends of its range.

    >>> few, many = (total_oracle_calls(Schedule(n_labels=3, dimension=2, constant=0.01), n) for n in (1_000, 10_000))
    >>> 10**4.5 < many / few < 10**5.5  # K n^5, and logarithms
    True
    """
    i = np.arange(1, whole_number("n_rounds", n_rounds, least=1) + 1)
    ends = 2.0 * float(oracle_calls(schedule, i, horizon=n_rounds).sum())
    return schedule.n_labels * (ends + n_rounds)


def massart_width(margin: float) -> float:
    """A width threshold psi for a known margin, for Algorithm 1 in place of 1 / sqrt(i).

    The paper says that psi may depend on tau and leaves open how. A quarter of the margin is small enough: of a label
    that a plausible regressor prefers and the best one, at least one has a wider range, because twice a quarter is
    less than the margin. So each error shows in a question. ``effort_massart_width`` has the bound that follows.

    >>> massart_width(0.2)
    0.05
    """
    return check_margin(margin) / 4.0


class Deviation(NamedTuple):
    """Bounds on a sum that hold with high probability.

    >>> bounds = excess_loss(Schedule(n_labels=2, class_size=10, constant=1), 100.0, horizon=1000)
    >>> float(bounds.low.round()), float(bounds.high.round())
    (27.0, 173.0)
    """

    low: Numbers
    high: Numbers


def excess_loss(schedule: Schedule, expected: Any, *, horizon: Any) -> Deviation:
    """The excess squared losses of a regressor, summed over any rounds, given their summed expectations.

    The uniform Freedman bound: with probability 1 - ``failure_probability``, for every regressor, label and run of
    rounds within the ``horizon`` at once, the sum lies between expected / 2 - nu_n and 3/2 expected + nu_n.

    >>> low, high = excess_loss(Schedule(n_labels=2, class_size=10, constant=1), [0.0, 100.0], horizon=1000)
    >>> low.round().tolist(), high.round().tolist()
    ([-23.0, 27.0], [23.0, 173.0])
    """
    sums, nu = np.asarray(expected, np.float64), schedule.log_factor(horizon)
    if (sums < 0).any():
        raise InputError(f"expected must be non-negative sums of squared deviations, got {sums.min():g}.")
    return Deviation(np.asarray(sums / 2.0 - nu), np.asarray(1.5 * sums + nu))


def freedman(expected: Any, largest: float, failure_probability: float) -> Numbers:
    """A bound on a sum of non-negative terms of at most ``largest`` whose conditional means sum to ``expected``.

    It holds with probability 1 - ``failure_probability``: 2 expected + 3 largest ln(1 / failure_probability), as the
    bounds on label effort use it.

    >>> float(freedman(100.0, 1.0, 0.05).round(1))
    209.0
    """
    log = np.log(1.0 / finite_number("failure_probability", failure_probability, 0.0, 1.0, above=True))
    return np.asarray(2.0 * np.asarray(expected, np.float64) + 3.0 * finite_number("largest", largest, 0.0) * log)


def _price(schedule: Schedule, rounds: Any, horizon: Any) -> Numbers:
    """The numerator of the bound, to be divided by the threshold between small and large margins."""
    i = np.asarray(rounds, np.float64)
    return np.asarray(32.0 * schedule.n_labels * schedule.log_factor(i if horizon is None else horizon) / i)
