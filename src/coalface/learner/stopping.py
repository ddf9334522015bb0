"""When to stop asking: what more questions could still save, labels hardly seen, and a warning of an early stop."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from coalface.data.costs import CostScale
from coalface.data.numbers import finite_number
from coalface.errors import CollapseWarning, InputError, UnansweredWarning, listed
from coalface.kernels.state import EXAMPLES_QUERIED, MEAN_COST, MEAN_PREDICTED, SILENT_ROUNDS, SQUARED_SHARES, Counted
from coalface.kernels.stopping import saving_interval


@dataclass(frozen=True)
class Saving:
    """The most that further questions could save per example, with a 95 % interval, in the unit of ``cost_bounds``.

    With class labels, whose costs are 0 and 1, a saving of 0.02 is two wrong labels in 100 examples. The price of the
    questions is not part of it.

    ``cost`` is the mean cost of the learner's answers in recent rounds, each chosen before the round was learned. It is
    an unbiased inverse-propensity estimate from the costs that the rule and the audits asked for. ``expected`` is the
    mean predicted cost of these answers, ``reachable`` the mean of the lowest cost that the ranges allowed any answer.

    ``estimate`` is the larger of ``cost`` and ``expected``, minus ``reachable``, and at most ``cost`` minus the lower
    cost bound. As long as the ranges contain the true expected costs, further questions cannot reduce the mean cost by
    more. If answers cost less than the ranges allow, the ranges are refuted: ``reachable`` is then the lower bound.
    ``rounds`` is the effective number of rounds in the means; older ones count less.

    ``low``, the lower end of the interval, may be below 0, which no saving is: ``str`` shows 0 instead.

    >>> print(Saving(estimate=0.03, low=0.01, high=0.05, rounds=2000, cost=0.12, expected=0.11, reachable=0.09))
    0.03 per example (95 % interval 0.01 to 0.05, from 2000 rounds): answers cost 0.12, and 0.09 at best
    """

    estimate: float
    low: float
    high: float
    rounds: int
    cost: float
    expected: float
    reachable: float

    def __str__(self) -> str:
        estimate, low, high = (max(0.0, number) for number in (self.estimate, self.low, self.high))
        return (
            f"{estimate:.3g} per example (95 % interval {low:.3g} to {high:.3g}, from {self.rounds} rounds): answers "
            f"cost {self.cost:.3g}, and {self.reachable:.3g} at best"
        )


def saving_of(counts: Counted, scale: CostScale) -> Saving | None:
    """The estimate from the model's rounds; None if they are too few."""
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


def checked_saving(name: str, saving: Any, scale: CostScale, audits: float) -> float:
    """A checked saving per example, scaled to costs in [0, 1].

    >>> checked_saving("saving", 5, CostScale(0, 100), audits=0.1)
    0.05
    """
    number = finite_number(name, saving, 0.0, above=True)
    if not audits > 0:
        raise InputError(
            f"{name} needs audits, which measure what answers cost: the audits rate must be above 0, got {audits!r}. "
            "Pass audits='even', for example."
        )
    return number / (scale.ceiling - scale.floor)


_OFTEN = 10  # examples on which a label was best; one that was best less often is rare


def rare_labels(counts: Counted, labels: Sequence[Any]) -> dict[Any, int]:
    """The labels that were hardly ever best of an answered example, with how often, the rarest first.

    >>> from coalface.kernels.state import new_counts
    >>> counts = new_counts(3)
    >>> counts.was_best[:3] = [40, 0, 3]
    >>> rare_labels(counts, ["billing", "legal", "refund"])
    {'legal': 0, 'refund': 3}
    """
    often = counts.was_best[: len(labels)].tolist()
    return {labels[k]: often[k] for k in np.argsort(often, kind="stable") if often[k] < _OFTEN}


LEAST_SILENCE = 500  # rounds without a question before the warning is considered
_LARGE_REGRET = 0.25  # mean regret of the latest answered examples, with costs scaled to [0, 1]


def warns_of_collapse(counts: Counted, mellowness: float, warm_up: int | str) -> bool:
    """Warn if needed; returns whether it did."""
    silent, regret = int(counts.counters[SILENT_ROUNDS]), float(counts.recent_regret[0])
    if silent < max(LEAST_SILENCE, 5 * int(counts.counters[EXAMPLES_QUERIED])) or regret < _LARGE_REGRET:
        return False
    warnings.warn(
        f"Nothing was asked in the last {silent} rounds, although the last answered examples cost {regret:.2f} of "
        f"the scale more than their best label. Raise mellowness (now {mellowness:g}) or warm_up (now {warm_up}), "
        "or set audits.",
        CollapseWarning,
        stacklevel=4,
    )
    return True


def warn_of_unanswered(labels: list[Any]) -> None:
    """Warn that predictions know nothing about some labels."""
    warnings.warn(
        f"No cost of {listed(labels)} was ever answered, so it counts as the middle of cost_bounds in predictions. "
        "Tell the learner some of these costs.",
        UnansweredWarning,
        stacklevel=4,
    )
