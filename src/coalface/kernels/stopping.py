"""Estimates, round by round, how much cost per example further questions could still save.

Notation, per round, with costs in [0, 1]:

- p, ``PREDICTED``: the clipped prediction for the learner's answer, before the round is learned
- q, ``CHANCE``: the probability that this answer's cost c is asked for; 1 if the rule asks for it, else an audit's
- v = p + (c - p)/q if c was asked for and answered, else p: the inverse-propensity estimate of c, unbiased for any p
- b, ``REACHABLE``: the least lowest cost of any answer

All are total costs: they include the known part of a cost, if it has one.

If the ranges contain the true expected costs, the mean of v - b bounds the saving of any number of further questions.
Two rules guard against ranges that do not. Early predictions of the best label tend to be too high, and so are the
ranges around them: the mean of p - b is used if it is larger, up to the mean cost of the answers. If answers cost less
than the ranges allow, the ranges are refuted: ``REACHABLE`` then counts as 0.
"""

import numpy as np

from coalface.kernels.compile import inlined, kernel
from coalface.kernels.regression import clipped
from coalface.kernels.rules import best_answer
from coalface.kernels.state import (
    ANSWER,
    CHANCE,
    F32,
    F64,
    MEAN_COST,
    MEAN_PREDICTED,
    MEAN_REACHABLE,
    PREDICTED,
    REACHABLE,
    ROUNDS,
    SQUARED_SHARES,
    STEP,
    VARIANCE,
    Bool,
    Counted,
    Scratch,
    Settings,
)

MEMORY = 2000.0  # rounds: up to here the means are arithmetic, later exponentially weighted
MIN_ROUNDS = 100.0  # rounds that an estimate needs
NORMAL_QUANTILE = 1.959963984540054  # 97.5 %


@inlined
def fill_outlook(
    settings: Settings, candidates: Bool, predicted: F32, lowest: F32, offset: F32, propensity: F64, outlook: F64
) -> None:
    """Write a round's outlook, as known before its answers; a chance of 0 means that there is nothing to estimate."""
    answer = best_answer(settings, candidates, predicted, offset)
    if answer < 0:
        for i in range(outlook.shape[0]):
            outlook[i] = 0.0
        return
    reachable = settings.abstain_cost
    for k in range(settings.n_labels):
        if candidates[k]:
            reachable = min(reachable, np.float64(lowest[k] + offset[k]))
    outlook[ANSWER] = np.float64(answer)
    outlook[REACHABLE] = reachable
    if answer < settings.n_labels:
        outlook[PREDICTED] = np.float64(clipped(predicted[answer]) + offset[answer])
        outlook[CHANCE] = propensity[answer]
    else:
        outlook[PREDICTED] = settings.abstain_cost
        outlook[CHANCE] = 1.0


@kernel
def fill_outlooks(
    settings: Settings, candidates: Bool, predicted: F32, lowest: F32, offset: F32, propensity: F64, outlook: F64
) -> None:
    """Write the outlooks of decided rows; the arrays are (n, K) each, ``outlook`` is (n, N_OUTLOOK)."""
    for row in range(outlook.shape[0]):
        fill_outlook(settings, candidates[row], predicted[row], lowest[row], offset[row], propensity[row], outlook[row])


@inlined
def reset_saving(saving: F64) -> None:
    """Discard the estimate and begin again."""
    if saving[ROUNDS] > 0.0:
        for i in range(saving.shape[0]):
            saving[i] = 0.0


@inlined
def update_saving(counts: Counted, settings: Settings, scratch: Scratch) -> None:
    """Add the round in scratch to the means; begin again if the chance of its question is unknown.

    Skipping such a round would bias the means, because whether its chance is known may depend on an audit.
    """
    saving, outlook = counts.saving, scratch.outlook
    chance, predicted, reachable = outlook[CHANCE], outlook[PREDICTED], outlook[REACHABLE]
    if chance == 0.0:
        reset_saving(saving)
        return
    answer = int(outlook[ANSWER])
    cost = predicted
    known_part = np.float64(scratch.offset[answer]) if answer < settings.n_labels else 0.0
    if answer < settings.n_labels and scratch.mask[answer] and not np.isnan(scratch.costs[answer]):
        cost += (np.float64(scratch.costs[answer] + scratch.offset[answer]) - predicted) / chance
    saving[ROUNDS] = min(saving[ROUNDS] + 1.0, MEMORY)
    share = 1.0 / saving[ROUNDS]
    rest = 1.0 - share
    surprise = (cost - reachable) - (saving[MEAN_COST] - saving[MEAN_REACHABLE])
    saving[MEAN_COST] += share * (cost - saving[MEAN_COST])
    saving[MEAN_PREDICTED] += share * (predicted - saving[MEAN_PREDICTED])
    saving[MEAN_REACHABLE] += share * (reachable - saving[MEAN_REACHABLE])
    saving[VARIANCE] = rest * (saving[VARIANCE] + share * surprise * surprise)
    saving[SQUARED_SHARES] = rest * rest * saving[SQUARED_SHARES] + share * share
    saving[STEP] = max((1.0 - 1.0 / MEMORY) * saving[STEP], (1.0 - 2.0 * (predicted - known_part)) / chance)


@inlined
def update_saving_from(counts: Counted, settings: Settings, scratch: Scratch, outlook: F64, row: int) -> None:
    """Update the saving with a given outlook, a row of ``outlook``; begin again if this array is empty."""
    if outlook.shape[0] == 0:
        reset_saving(counts.saving)
        return
    for i in range(outlook.shape[1]):
        scratch.outlook[i] = outlook[row, i]
    update_saving(counts, settings, scratch)


@inlined
def _half_width(saving: F64) -> float:
    """Half the width of the 95 % interval of the mean of v - b; infinite if there are too few rounds.

    The terms are skewed: rare ones are as large as 1/q. While few of these were seen, both mean and variance are
    underestimated. As in Wilson's interval, the variance is therefore taken at the end of the interval. A cost of 0 or
    1 with mean p, asked for with chance q, has variance p (1 - p)/q. If p grows by h, the variance grows by h STEP with
    STEP = (1 - 2 p)/q. So h^2 = z^2 (variance + h STEP)/n.
    """
    if saving[ROUNDS] < MIN_ROUNDS:
        return np.inf
    per_round = NORMAL_QUANTILE * NORMAL_QUANTILE * saving[SQUARED_SHARES]
    skewed = 0.5 * per_round * saving[STEP]
    spread = per_round * saving[VARIANCE] / (1.0 - saving[SQUARED_SHARES])
    return float(skewed + np.sqrt(skewed * skewed + spread))


@kernel
def saving_interval(saving: F64) -> tuple[float, float, float]:
    """The estimated saving, half the width of its 95 % interval, and the reachable cost."""
    half, cost, reachable = _half_width(saving), saving[MEAN_COST], saving[MEAN_REACHABLE]
    if cost + half < reachable:
        return cost, half, 0.0
    return min(max(cost, saving[MEAN_PREDICTED]) - reachable, cost), half, reachable


@kernel
def saving_is_below(saving: F64, least: float) -> bool:
    """Whether the whole 95 % interval of the saving lies below ``least``."""
    estimate, half, _ = saving_interval(saving)
    return bool(estimate + half < least)
