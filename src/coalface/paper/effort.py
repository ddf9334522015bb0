"""The paper's bounds on label effort: how many examples and costs a run asks about, at most.

The constants are those of the proofs, with slips corrected; ``docs/theory.md`` lists the corrections. A bound above
"every cost is asked for" is vacuous; it is returned as it is, for drawing.

``growth`` fits how a count grows with the rounds.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from coalface.errors import InputError
from coalface.paper.bounds import massart_width
from coalface.paper.inputs import Numbers, as_table, check_margin
from coalface.paper.noise import Tsybakov, checked_tsybakov
from coalface.paper.schedule import KAPPA, Schedule, least_whole

Factor = float | None  # a coefficient of disagreement: see ``difficulty``


class Effort(NamedTuple):
    """Upper bounds on the examples with a question and on the costs asked for.

    >>> examples, costs = effort_massart(Schedule(n_labels=3, dimension=5), 1e9, 0.2, by_examples=2.0)
    >>> round(float(costs / examples))  # no more than every label of these examples
    3
    """

    examples: Numbers
    costs: Numbers


def effort_any_noise(schedule: Schedule, n_rounds: Any, *, by_examples: float, by_costs: float) -> Effort:
    """Without any assumption about the noise (Theorem 3): linear in the rounds.

    >>> effort = effort_any_noise(Schedule(n_labels=3, dimension=5), 1e6, by_examples=1e-5, by_costs=2e-5)
    >>> bool(effort.examples < 1e6), bool(effort.costs < 3 * effort.examples)
    (True, True)
    """
    n = np.asarray(n_rounds, np.float64)
    each = 8.0 * n * np.sqrt(88.0 * schedule.n_labels * KAPPA * schedule.log_factor(n))
    return _by_disagreement(schedule, 0.0, each, by_examples, by_costs)


def effort_massart(
    schedule: Schedule, n_rounds: Any, margin: float, *, by_examples: Factor = None, by_labels: Factor = None
) -> Effort:
    """Where the best label always beats the others by ``margin``: the squared logarithm of the rounds.

    Pass one coefficient: ``by_examples`` for Theorem 4, ``by_labels`` for the first half of Proposition 1.

    >>> schedule = Schedule(n_labels=3, dimension=5)
    >>> few, many = (float(effort_massart(schedule, n, 0.2, by_examples=2.0).examples) for n in (1e6, 1e12))
    >>> 3.5 < many / few < 4
    True
    """
    check_margin(margin)
    n, labels = np.asarray(n_rounds, np.float64), schedule.n_labels
    radii = 44.0 * labels * _total_slack(schedule, n) / margin
    doubt = _one_of(by_examples, by_labels, 8.0 / margin, 2.0 / margin)
    return _with_every_label(schedule, np.ceil(1.0 / margin**2) + doubt * radii)


def effort_massart_width(
    schedule: Schedule, n_rounds: Any, margin: float, *, by_examples: float, by_costs: float
) -> Effort:
    """The same with the width threshold ``massart_width``: the costs grow with theta_2 instead of K theta_1.

    The paper names this remedy without a bound. Its proof for any noise gives one: a cost is asked for where its range
    in the ball of radius r_i = 44 K Delta_i / margin is wider than half the threshold.

    >>> schedule = Schedule(n_labels=100, dimension=5)
    >>> plain = effort_massart(schedule, 1e9, 0.2, by_examples=2.0)
    >>> own = effort_massart_width(schedule, 1e9, 0.2, by_examples=2.0, by_costs=4.0)  # two labels are in doubt
    >>> round(float(plain.costs / own.costs))
    25
    """
    n, labels = np.asarray(n_rounds, np.float64), schedule.n_labels
    radii = 44.0 * labels * _total_slack(schedule, n) / check_margin(margin)
    return _by_disagreement(schedule, 1.0, 4.0 * radii / massart_width(margin), by_examples, by_costs)


def effort_tsybakov(
    schedule: Schedule, n_rounds: Any, noise: Tsybakov, *, by_examples: Factor = None, by_labels: Factor = None
) -> Effort:
    """Where small margins are rare: the rounds to a power below 1.

    Pass one coefficient: ``by_examples`` for Theorem 5, ``by_labels`` for the second half of Proposition 1.

    >>> noise, schedule = Tsybakov(exponent=2.0, constant=1.0, up_to=1.0), Schedule(n_labels=3, dimension=5)
    >>> few, many = (float(effort_tsybakov(schedule, n, noise, by_examples=2.0).examples) for n in (1e16, 1e20))
    >>> 1e2 < many / few < 2e2  # the square root of the rounds, and a logarithm
    True
    """
    alpha, beta, up_to = checked_tsybakov(noise)
    n = np.asarray(n_rounds, np.float64)
    amount = 44.0 * schedule.n_labels * KAPPA * schedule.log_factor(n)
    # Summed radii of the version spaces: r_i is at most 2 beta^(1/(alpha+2)) (amount / (i-1))^((alpha+1)/(alpha+2)).
    radii = 2 * (alpha + 2) * amount ** ((alpha + 1) / (alpha + 2)) * (beta * n) ** (1 / (alpha + 2))
    scale = (amount / (beta * n)) ** (1 / (alpha + 2))
    coefficient = _one_of(by_examples, by_labels, 8.0, 4.0)
    # Any margin gives a bound. The theorem balances its two largest terms. The proposition takes the largest margin for
    # which good classifiers differ no more than its proof allows.
    balance = 2.0 if by_examples is None else max((alpha + 2) * coefficient, 1.0)
    margin = np.minimum(balance ** (1 / (alpha + 1)) * scale, up_to)
    early = np.ceil(1 + amount / (beta * up_to ** (alpha + 2)))  # rounds before the radii are that small
    rare = 2 * n * beta * margin**alpha
    return _with_every_label(schedule, early + np.ceil(1 / margin**2) + coefficient * radii / margin + rare)


def effort_multiclass(schedule: Schedule, n_rounds: Any, *, error: float, by_labels: float) -> Effort:
    """Where one label costs 0 and all others 1, and the best classifier has this error rate (Proposition 2).

    >>> effort = effort_multiclass(Schedule(n_labels=3, dimension=5), 1e14, error=0.01, by_labels=2.0)
    >>> bool(4 * 2.0 * 0.01 < effort.examples / 1e14 < 0.1)
    True
    """
    if not 0 <= error <= 1:
        raise InputError(f"error must be a share of examples between 0 and 1, got {error!r}.")
    n, labels = np.asarray(n_rounds, np.float64), schedule.n_labels
    amount = labels * KAPPA * schedule.log_factor(n)
    radii = 2.0 * np.sqrt(704.0 * amount * error * n) + 176.0 * labels * _total_slack(schedule, n)
    return _with_every_label(schedule, 1.0 + _coefficient("by_labels", by_labels) * (4.0 * n * error + 2.0 * radii))


def begins_to_save(effort: Callable[[int], Effort], n_labels: int) -> int:
    """The least number of rounds for which a bound is below asking for every cost.

    >>> schedule = Schedule(n_labels=3, dimension=5)
    >>> begins_to_save(lambda n: effort_massart(schedule, n, 0.2, by_examples=2.0), 3) > 10**10
    True
    """
    return least_whole(lambda n: bool(effort(n).costs < n * n_labels))


def begins_to_save_linear(schedule: Schedule, n_features: int, margin: float) -> int:
    """A rough estimate of the least horizon within which Algorithm 1 rules out labels of a linear problem.

    While every cost is asked for and the features are spread evenly, each direction is known to within
    sqrt(slack * n_features / rounds). A label is ruled out once twice that is below the margin.

    >>> begins_to_save_linear(Schedule(n_labels=3, dimension=5), 5, 0.2) // 10**6
    65
    """
    check_margin(margin)
    return least_whole(lambda n: bool(n > 4 * KAPPA * schedule.log_factor(n) * n_features / margin**2))


def _total_slack(schedule: Schedule, n: Numbers) -> Numbers:
    """An upper bound on the slack summed over rounds 2 to n: 1 + 1/2 + ... + 1/(n-1) is at most 1 + ln n."""
    return np.asarray(KAPPA * schedule.log_factor(n) * (1.0 + np.log(n)))


def _by_disagreement(schedule: Schedule, early: float, each: Numbers, by_examples: float, by_costs: float) -> Effort:
    """The effort of ``early`` rounds in full, and of the others by a coefficient for examples and one for costs."""
    luck, labels = _luck(schedule), schedule.n_labels
    examples = early + each * _coefficient("by_examples", by_examples) + luck
    costs = labels * early + each * _coefficient("by_costs", by_costs) + labels * luck
    return Effort(np.asarray(examples), np.asarray(costs))


def _one_of(by_examples: Factor, by_labels: Factor, first: float, second: float) -> float:
    """The given coefficient times its factor."""
    if (by_examples is None) == (by_labels is None):
        raise InputError(f"pass exactly one of by_examples and by_labels, got {by_examples!r} and {by_labels!r}.")
    if by_examples is not None:
        return first * _coefficient("by_examples", by_examples)
    return second * _coefficient("by_labels", by_labels)


def _coefficient(name: str, value: Factor) -> float:
    if value is None or not value >= 0:
        raise InputError(f"{name} must be a non-negative disagreement coefficient, got {value!r}. See difficulty.")
    return float(value)


def _with_every_label(schedule: Schedule, examples: Numbers) -> Effort:
    """Bound the costs by K per example; for low noise the proofs give nothing better."""
    most = np.asarray(examples + _luck(schedule))
    return Effort(most, schedule.n_labels * most)


def _luck(schedule: Schedule) -> float:
    return float(3.0 * np.log(2.0 / schedule.failure_probability))


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
