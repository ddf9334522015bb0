"""What a learner says about itself: what more questions could save, what audits have measured, and warnings."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.data.costs import CostScale
from coalface.data.label_runs import LabelRuns, cheapest_labels
from coalface.data.numbers import finite_number
from coalface.errors import (
    CollapseWarning,
    DoubtfulDataWarning,
    InputError,
    UnansweredWarning,
    UnlearnedWarning,
    listed,
    warn_user,
)
from coalface.kernels.state import (
    AUDITS,
    EXAMPLES_QUERIED,
    LOG_FACTOR,
    MEAN_COST,
    MEAN_PREDICTED,
    MISSES,
    SILENT_ROUNDS,
    SQUARED_SHARES,
    Counted,
)
from coalface.kernels.stopping import NORMAL_QUANTILE, saving_interval, saving_is_below
from coalface.learner.parameters import audits_of, rule_of
from coalface.learner.state import LearnerState, is_begun, scale_of, settings_of
from coalface.rounds.notebook import html_table

Mask = NDArray[np.bool_]
_OFTEN = 10  # examples on which a label was best; one that was best less often is rare
LEAST_SILENCE = 500  # rounds without a question before the warning is considered
_LARGE_REGRET = 0.25  # mean regret of the latest answered examples, with costs scaled to [0, 1]
_LEARNABLE = 20  # examples with a label, in the later half of what was learned
_RARE = 0.1  # of these examples: a more frequent label that is never predicted may just never be the likeliest one


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

    def _repr_html_(self) -> str:
        """The estimate as a table, for notebooks."""
        rows = {"estimate": self.estimate, "lowest": self.low, "highest": self.high, "answers cost": self.cost}
        rows |= {"at best": self.reachable}
        cells = [(name, f"{number:.3g}") for name, number in rows.items()]
        return html_table(f"Saving per example, from {self.rounds} rounds", ("", "cost"), cells)


def saving_of(learner: LearnerState) -> Saving | None:
    """The estimate from the model's rounds; None if they are too few."""
    if not is_begun(learner):
        return None
    with learner.model_.lock:
        return _saving(learner.model_.state, scale_of(learner))


def _saving(counts: Counted, scale: CostScale) -> Saving | None:
    estimate, half, reachable = saving_interval(counts.saving)
    if not np.isfinite(half):
        return None
    means = scale.from_unit(np.array([counts.saving[MEAN_COST], counts.saving[MEAN_PREDICTED], reachable]))
    return Saving(
        scale.span * estimate,
        scale.span * (estimate - half),
        scale.span * (estimate + half),
        round(1.0 / float(counts.saving[SQUARED_SHARES])),
        *means.tolist(),
    )


def unit_saving(learner: LearnerState, name: str, saving: Any) -> float:
    """A checked saving per example, scaled to costs in [0, 1].

    >>> from coalface import CoalClassifier
    >>> unit_saving(CoalClassifier(cost_bounds=(0, 100)), "saving", 5)
    0.05
    """
    number, rate = finite_number(name, saving, 0.0, above=True), audits_of(learner.audits).rate
    if not rate > 0:
        raise InputError(
            f"{name} needs audits, which measure what answers cost: audits must have a rate above 0, got {rate!r}. "
            "Pass audits='even', for example."
        )
    return number / scale_of(learner).span


def saves_less_than(learner: LearnerState, saving: float) -> bool:
    """Whether further questions would save less per example: the whole interval lies below it."""
    least = unit_saving(learner, "saving", saving)
    return is_begun(learner) and saving_is_below(learner.model_.state.saving, least)


@dataclass(frozen=True)
class Calibration:
    """How often the best label was neither predicted nor asked about, as full audits measure it.

    ``stated`` is the rate that the learner keeps to, ``measured`` the share of ``audits`` in which the best label was
    missed, with a 95 % interval (Wilson's). ``slack_factor`` multiplies ``mellowness``: it grows with every miss, and
    shrinks again, down to 1, while there is none.

    >>> print(Calibration.of(stated=0.1, audits=200, misses=16, slack_factor=1.5))
    the best label was missed in 8.0 % of 200 audits (95 % interval 5.0 to 12.6 %, stated 10.0 %); slack x 1.5
    """

    stated: float
    measured: float
    low: float
    high: float
    audits: int
    slack_factor: float

    @classmethod
    def of(cls, stated: float, audits: int, misses: int, slack_factor: float) -> "Calibration":
        """The calibration after so many audits and misses; nothing is known before the first audit."""
        if not audits:
            return cls(stated, 0.0, 0.0, 1.0, 0, slack_factor)
        share, extra = misses / audits, NORMAL_QUANTILE * NORMAL_QUANTILE / audits
        middle = (share + extra / 2) / (1 + extra)
        half = NORMAL_QUANTILE / (1 + extra) * float(np.sqrt(share * (1 - share) / audits + extra / audits / 4))
        return cls(stated, share, max(middle - half, 0.0), min(middle + half, 1.0), audits, slack_factor)

    def __str__(self) -> str:
        if not self.audits:
            return f"no audits yet, so how often the best label is missed is unknown (stated {100 * self.stated:.1f} %)"
        measured, low, high, stated = (
            f"{100 * rate:.1f}" for rate in (self.measured, self.low, self.high, self.stated)
        )
        return (
            f"the best label was missed in {measured} % of {self.audits} audits (95 % interval {low} to {high} %, "
            f"stated {stated} %); slack x {self.slack_factor:.3g}"
        )


def calibration_of(learner: LearnerState) -> Calibration | None:
    """How often the best label was missed; None if the slack does not follow audits."""
    if not is_begun(learner):
        return None
    with learner.model_.lock:
        stated, facts = learner.model_.resolved(settings_of(learner)).miss_rate, learner.model_.state.calibration
        if stated > 1.0:
            return None
        return Calibration.of(stated, int(facts[AUDITS]), int(facts[MISSES]), float(np.exp(facts[LOG_FACTOR])))


def rare_labels(learner: LearnerState) -> dict[Any, int]:
    """The labels in use that were best of fewer than 10 answered examples, with how often; the rarest come first."""
    if not is_begun(learner):
        return {}
    labels, often = learner.classes_.tolist(), learner.model_.state.was_best[: len(learner.classes_)]
    order = [k for k in np.argsort(often, kind="stable").tolist() if often[k] < _OFTEN and learner.model_.active[k]]
    return {labels[k]: int(often[k]) for k in order}


# -- warnings -------------------------------------------------------------------------------------


def first_time(learner: LearnerState, what: str) -> bool:
    """Whether this is said for the first time."""
    is_first = what not in learner._said
    learner._said = learner._said | {what}
    return is_first


def warn_if_collapsed(learner: LearnerState) -> None:
    """Warn once if the learner has stopped asking although the latest answers show errors."""
    counts = learner.model_.state
    silent, regret = int(counts.counters[SILENT_ROUNDS]), float(counts.recent_regret[0])
    if silent < LEAST_SILENCE or learner.budget is not None or regret < _LARGE_REGRET:
        return
    if silent >= 5 * int(counts.counters[EXAMPLES_QUERIED]) and first_time(learner, "collapsed"):
        warn_user(
            f"Nothing was asked in the last {silent} rounds, although the last answered examples cost {regret:.2f} of "
            f"the scale more than their best label. Raise mellowness (now {learner.mellowness:g}) or warm_up (now "
            f"{rule_of(learner.rule).warm_up}), or set audits.",
            CollapseWarning,
        )


def warn_of_clipping(learner: LearnerState, scale: CostScale) -> None:
    """Warn once if a cost beyond bounds that cannot widen any more is learned as the nearest bound."""
    if first_time(learner, "clipping"):
        warn_user(
            f"A cost outside [{scale.floor:g}, {scale.ceiling:g}] was learned as the nearest bound, because earlier "
            "answers are not kept in files or by simulate_serving. Use CoalClassifier.from_ledger, which has them, or "
            "call fit.",
            UserWarning,
        )


def warn_if_unanswered(learner: LearnerState, among: Mask | None = None) -> None:
    """Warn once, when predictions are made, if some labels have no answered cost and others have.

    ``among`` (n, K) are the labels that can be predicted; None: all.
    """
    unanswered = learner.model_.unanswered()
    if not unanswered.any() or unanswered.all():
        return
    silent = unanswered & learner.model_.active & (True if among is None else among.any(axis=0))
    if silent.any() and first_time(learner, "unanswered"):
        warn_user(
            f"No cost of {listed(learner.classes_[silent].tolist())} was ever answered, so it counts as the middle of "
            "cost_bounds in predictions. Tell the learner some of these costs.",
            UnansweredWarning,
        )


def warn_of_long_run(learner: LearnerState, known: NDArray[np.float32]) -> None:
    """Warn once if the same label was best in a longer run of rows than chance; ``known`` are the next costs told.

    >>> from coalface import CoalClassifier
    >>> learner = CoalClassifier(["walk", "fly"]).begin()
    >>> warn_of_long_run(learner, np.tile(np.array([[0.0, 1.0]], np.float32), (30, 1)))
    """
    learner._labels = runs = learner._labels or LabelRuns()
    runs.add(cheapest_labels(known))
    if (run := runs.long_run()) is not None and first_time(learner, "long run"):
        warn_user(
            f"{run.length:,} rows in a row had the best label {learner.classes_[run.label].item()!r}, so the learner "
            "may forget the others meanwhile. Shuffle the rows, or call fit, which does.",
            DoubtfulDataWarning,
        )


def warn_of_labels_alone(learner: LearnerState, cost: Any, remedy: str) -> None:
    """Warn once if ``fit`` learned costs and ``score`` gets labels without their costs."""
    if cost is None and learner.cost_matrix is None and learner._learned_costs and first_time(learner, "labels alone"):
        warn_user(
            "score counts errors as 0 and 1 here, because it got labels without costs, but the learner learned "
            f"costs. Pass cost=...; {remedy}.",
            UserWarning,
        )


def warn_of_unlearned(
    classes: NDArray[Any],
    truth: NDArray[np.integer[Any]],
    predicted: Callable[[NDArray[np.int64]], NDArray[np.integer[Any]]],
    *,
    on_budget: bool,
    audits: Any,
) -> None:
    """Warn of rare labels that are not predicted anywhere in the later half of the examples where they are right.

    ``predicted`` returns the predicted label of some rows; it is asked only about rows with a rare label.
    """
    rare = _labels_seldom_right(truth, len(classes))
    rows = np.flatnonzero(np.isin(truth, rare))
    rows = rows[rows >= len(truth) // 2]
    if not len(rows):
        return
    right = truth[rows][predicted(rows) == truth[rows]]
    unlearned = {classes[k].item(): int((truth[rows] == k).sum()) for k in rare if k not in right}
    if unlearned:
        counts = ", ".join(f"{label!r} ({number} examples)" for label, number in unlearned.items())
        more = "raise mellowness or the rate of audits"
        remedy = more if audits_of(audits).by == "loss" else f"pass audits='loss', or {more}"
        remedy = "raise the budget" if on_budget else remedy
        warn_user(
            f"The learner never predicted {listed(list(unlearned))} in the second half of the data for the examples "
            f"where it is right: {counts}. {remedy[0].upper()}{remedy[1:]}.",
            UnlearnedWarning,
        )


def _labels_seldom_right(truth: NDArray[np.integer[Any]], n_labels: int) -> NDArray[np.int64]:
    """The labels that are right on some examples of the later half, but on less than a tenth of them.

    >>> _labels_seldom_right(np.tile([0] * 19 + [1], 100), n_labels=3)
    array([1])
    """
    later = truth[len(truth) // 2 :]
    often = np.bincount(later, minlength=n_labels)
    return np.flatnonzero((often >= _LEARNABLE) & (often < _RARE * len(later)))
