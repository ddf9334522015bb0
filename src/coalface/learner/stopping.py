"""When to stop asking: what more of it could still save, estimated from what was asked."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from coalface.data.costs import CostScale
from coalface.errors import InputError
from coalface.kernels.state import MEAN_COST, MEAN_PREDICTED, SQUARED_SHARES, Counted
from coalface.kernels.stopping import saves_less, saving_interval


@dataclass(frozen=True)
class Saving:
    """What more asking could still save per example, at most, with a 95 % interval; in the unit of ``cost_bounds``.

    ``cost`` is the mean cost of the learner's answers over recent rounds, each given before the round was learned. It
    is estimated without bias: an answer whose cost the rule asked for counts with that cost, and one that an audit
    asked for stands for those that no audit asked for, in inverse proportion to its chance. ``expected`` is what the
    learner believed these answers to cost, ``reachable`` the mean of the least cost that the ranges allowed any answer.

    ``estimate`` is ``cost`` or ``expected``, whichever is more, minus ``reachable``, but never more than the whole
    ``cost`` above the least there can be. As long as the ranges hold the
    true expected costs, no amount of further asking brings the mean cost down by more. Where answers turn out to cost
    less than the ranges allow, these are refuted: ``reachable`` is then the least cost there can be, and ``estimate``
    the whole ``cost`` above it. ``rounds`` is the number of rounds behind it; older ones count for less.

    >>> print(Saving(estimate=0.03, low=0.01, high=0.05, rounds=2000, cost=0.12, expected=0.11, reachable=0.09))
    at most 0.03 per example (95 % interval 0.01 to 0.05, from 2000 rounds): answers cost 0.12 and could cost 0.09
    """

    estimate: float
    low: float
    high: float
    rounds: int
    cost: float
    expected: float
    reachable: float

    def __str__(self) -> str:
        return (
            f"at most {self.estimate:.3g} per example (95 % interval {self.low:.3g} to {self.high:.3g}, from "
            f"{self.rounds} rounds): answers cost {self.cost:.3g} and could cost {self.reachable:.3g}"
        )


def saving_of(counts: Counted, scale: CostScale) -> Saving | None:
    """What the model's rounds say; None as long as they say too little."""
    estimate, half, reachable = saving_interval(counts.saving)
    if not np.isfinite(half):
        return None
    span = scale.ceiling - scale.floor
    means = scale.from_unit(np.array([counts.saving[MEAN_COST], counts.saving[MEAN_PREDICTED], reachable]))
    return Saving(
        span * estimate,
        span * (estimate - half),
        span * (estimate + half),
        round(1.0 / float(counts.saving[SQUARED_SHARES])),
        *means.tolist(),
    )


def saves_less_than(counts: Counted, saving: float) -> bool:
    """Whether more asking would save less than this per example, on the inner scale, as far as one can tell."""
    return bool(saves_less(counts.saving, saving))


def checked_saving(name: str, saving: Any, scale: CostScale, audit_rate: float) -> float:
    """A saving per example on the inner scale.

    >>> checked_saving("saving", 5, CostScale(0, 100), audit_rate=0.1)
    0.05
    """
    try:
        number = float(saving)
    except (TypeError, ValueError):
        number = float("nan")
    if not (np.isfinite(number) and number > 0):
        raise InputError(f"{name} must be a finite number greater than 0, a cost per example, got {saving!r}.")
    if not audit_rate > 0:
        raise InputError(
            f"{name} needs audits, without which nobody knows what answers cost: audit_rate must be above 0, got "
            f"{audit_rate!r}. Set it to 0.1, say."
        )
    return number / (scale.ceiling - scale.floor)
