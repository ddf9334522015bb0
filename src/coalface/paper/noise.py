"""The noise of a problem: how far apart the costs of the best two labels are.

Notation of the paper: f* expected cost, P_zeta noise level, tau margin, (tau_0, alpha, beta) = ``Tsybakov`` (``up_to``,
``exponent``, ``constant``).

All numbers are estimated on a sample, usually from predictions instead of true expected costs. Intervals cover the
sampling error. ``off_by`` is the largest error of a prediction; a margin may then be wrong by twice as much.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from coalface.data import finite_number
from coalface.errors import InputError
from coalface.paper.inputs import Numbers, as_table

_STEEPEST = 100.0  # a larger exponent means a margin, not a power law


class Measured(NamedTuple):
    """An estimate from a sample, with a confidence interval.

    >>> share = noise_level([[0.2, 0.9]] * 30 + [[0.5, 0.6]] * 10, zeta=0.2)
    >>> share.low < share.value == 0.25 < share.high
    True
    """

    value: float
    low: float
    high: float


class Tsybakov(NamedTuple):
    """Small margins are rare: P(margin <= t) <= constant * t**exponent for every t <= ``up_to``.

    >>> noise = Tsybakov(exponent=2.0, constant=1.0, up_to=0.5)
    >>> round(noise.constant * 0.1**noise.exponent, 6)  # the largest share of examples with a margin up to 0.1
    0.01
    """

    exponent: float
    constant: float
    up_to: float


def checked_tsybakov(noise: Tsybakov) -> Tsybakov:
    """The same condition; its three numbers must be above 0 and finite.

    >>> checked_tsybakov(Tsybakov(exponent=1.0, constant=2.0, up_to=0.5)).exponent
    1.0
    """
    return Tsybakov(*(finite_number(name, value, 0.0, above=True) for name, value in noise._asdict().items()))


class TsybakovFit(NamedTuple):
    """The most likely condition, its exponent with an interval, and the number of margins used.

    ``covering_constant`` is the least constant with which the condition holds at every margin of the sample. It often
    depends on the smallest margin alone, so it is larger than necessary, but safe to use in bounds.

    >>> gaps = np.linspace(0.001, 1.0, 1000)  # P(margin <= t) = t
    >>> fit = tsybakov(np.c_[np.zeros(1000), gaps], up_to=0.5)
    >>> round(fit.condition.exponent, 1), fit.n_margins, fit.covering_constant >= fit.condition.constant
    (1.0, 500, True)
    """

    condition: Tsybakov
    exponent: Measured
    covering_constant: float
    n_margins: int


def margins(expected: Any) -> Numbers:
    """The margin of each example: how far the best label beats the second best.

    >>> margins([[0.2, 0.9, 0.5], [0.4, 0.4, 1.0]]).round(6).tolist()
    [0.3, 0.0]
    """
    costs = as_table("expected", expected, ("examples", "labels"))
    if costs.shape[1] < 2:
        raise InputError("expected must have at least two labels, got 1. One label has no margin.")
    best_two = np.partition(costs, 1, axis=1)[:, :2]
    return np.asarray(best_two[:, 1] - best_two[:, 0])


def noise_level(expected: Any, zeta: float, *, off_by: float = 0.0, confidence: float = 0.95) -> Measured:
    """The share of examples whose margin is at most ``zeta``, with an exact binomial interval.

    >>> noise_level([[0.2, 0.9]] * 30 + [[0.5, 0.6]] * 10, zeta=0.2).value
    0.25
    """
    zeta = finite_number("zeta", zeta, 0.0)
    found = margins(expected)
    spread, doubt = 2.0 * finite_number("off_by", off_by, 0.0), 1.0 - _share(confidence)
    n, fewest, most = (len(found), *(int((found <= zeta + shift).sum()) for shift in (-spread, spread)))
    low = stats.beta.ppf(doubt / 2, fewest, n - fewest + 1) if fewest else 0.0
    high = stats.beta.ppf(1 - doubt / 2, most + 1, n - most) if most < n else 1.0
    return Measured(float((found <= zeta).mean()), float(low), float(high))


class _MarginFound(NamedTuple):
    """The least margin of a sample, and the share of the distribution that may have a smaller one."""

    margin: float
    may_be_below: float


def massart_margin(expected: Any, *, off_by: float = 0.0, confidence: float = 0.95) -> _MarginFound:
    """The largest margin with which the Massart condition holds on these examples.

    No sample can prove the condition. With the given confidence, at most the share ``may_be_below`` of all examples has
    a smaller margin.

    >>> found = massart_margin([[0.2, 0.9], [0.5, 0.6]] * 50)
    >>> round(found.margin, 6), round(found.may_be_below, 4)
    (0.1, 0.0295)
    """
    found = margins(expected)
    doubt = 1.0 - _share(confidence)
    return _MarginFound(
        max(float(found.min()) - 2.0 * finite_number("off_by", off_by, 0.0), 0.0),
        float(1.0 - doubt ** (1.0 / len(found))),
    )


def tsybakov(expected: Any, *, up_to: float = 0.2, confidence: float = 0.95) -> TsybakovFit:
    """The Tsybakov condition of a sample: the power law under which its margins up to ``up_to`` are most likely.

    The interval of the exponent is exact if the margins follow such a law. If two labels tie, no exponent above 0 fits.

    >>> rng = np.random.default_rng(0)
    >>> gaps = rng.uniform(0, 1, size=4000) ** (1 / 2)  # P(margin <= t) = t**2
    >>> fit = tsybakov(np.c_[np.zeros(4000), gaps], up_to=0.5)
    >>> fit.exponent.low < 2 < fit.exponent.high, fit.n_margins
    (True, 1014)
    """
    finite_number("up_to", up_to, 0.0, above=True)
    found = np.sort(margins(expected))
    small = found[found <= up_to]
    if len(small) == 0:
        raise InputError(
            f"up_to={up_to:g} is below every margin of these examples: the Massart condition holds on them with "
            f"margin {found[0]:g}. Use massart_margin, or a larger up_to."
        )
    with np.errstate(divide="ignore"):
        total = float(np.log(up_to / small).sum())
    k, doubt = len(small), 1.0 - _share(confidence)
    exponent, low, high = (
        float(np.divide(times, total)) if total > 0 else np.inf
        for times in (k, stats.chi2.ppf(doubt / 2, 2 * k) / 2, stats.chi2.ppf(1 - doubt / 2, 2 * k) / 2)
    )
    if exponent > _STEEPEST:
        raise InputError(
            f"nearly all margins up to up_to={up_to:g} equal it, which fits no exponent. Use a larger up_to."
        )
    shares = np.arange(1, k + 1) / len(found)
    condition = Tsybakov(exponent, float(shares[-1] / up_to**exponent), float(up_to))
    return TsybakovFit(condition, Measured(exponent, low, high), float((shares / small**exponent).max()), k)


def _share(confidence: float) -> float:
    if not 0.0 < confidence < 1.0:
        raise InputError(f"confidence must lie between 0 and 1, got {confidence!r}.")
    return confidence
