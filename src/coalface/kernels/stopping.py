"""What more asking could still save, kept up to date round by round.

Notation, per round, on the inner scale of costs:

- p, ``PREDICTED``: the clipped prediction for the answer that the learner would give before it learns
- q, ``CHANCE``: with which this answer's cost c is asked for: 1 if the rule asks for it, else that of an audit
- v = p + (c - p)/q where c was asked for and told, else p: what the answer costs, without bias whatever p is
- b, ``REACHABLE``: the least that any answer may still cost

If the ranges are honest, the mean of v - b bounds what any amount of further asking could save per example. Two
guards are for ranges that are not. Predictions of the best label tend to be too high as long as little was learned, and
the ranges around them with them: the mean of p - b counts where it is larger, up to the whole of what answers cost. And
where answers cost less than what is said to be reachable, the ranges are refuted: then only the end of the scale is
known to be out of reach.
"""

import numpy as np

from coalface.kernels.answer import best_answer
from coalface.kernels.compile import inlined, kernel
from coalface.kernels.regression import clipped
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

MEMORY = 2000.0  # rounds: the means are plain ones up to here, and forget exponentially from then on
FEWEST = 100.0  # rounds that an estimate rests on
_Z = 1.959963984540054  # of the normal distribution, for a two-sided interval of 95 %


@inlined
def foresee(settings: Settings, candidates: Bool, predicted: F32, lowest: F32, propensity: F64, outlook: F64) -> None:
    """What a round looks like before its answers come; a chance of 0 where there is nothing to estimate from."""
    answer = best_answer(settings, candidates, predicted)
    if answer < 0:
        for i in range(outlook.shape[0]):
            outlook[i] = 0.0
        return
    reachable = settings.abstain_cost
    for k in range(settings.n_labels):
        if candidates[k]:
            reachable = min(reachable, np.float64(lowest[k]))
    outlook[ANSWER] = np.float64(answer)
    outlook[REACHABLE] = reachable
    if answer < settings.n_labels:
        outlook[PREDICTED] = np.float64(clipped(predicted[answer]))
        outlook[CHANCE] = propensity[answer]
    else:
        outlook[PREDICTED] = settings.abstain_cost
        outlook[CHANCE] = 1.0


@kernel
def foresee_rows(
    settings: Settings, candidates: Bool, predicted: F32, lowest: F32, propensity: F64, outlook: F64
) -> None:
    """``foresee`` for decided rows, (n, K) each."""
    for row in range(outlook.shape[0]):
        foresee(settings, candidates[row], predicted[row], lowest[row], propensity[row], outlook[row])


@inlined
def forget_saving(saving: F64) -> None:
    """Start anew."""
    if saving[ROUNDS] > 0.0:
        for i in range(saving.shape[0]):
            saving[i] = 0.0


@inlined
def note_saving(counts: Counted, settings: Settings, scratch: Scratch) -> None:
    """Take the round at hand into the means; start anew if the chance of its question is not known.

    Leaving such a round out would not do: whether what was asked is what was decided may hang on an audit.
    """
    saving, outlook = counts.saving, scratch.outlook
    chance, predicted, reachable = outlook[CHANCE], outlook[PREDICTED], outlook[REACHABLE]
    if chance == 0.0:
        forget_saving(saving)
        return
    answer = int(outlook[ANSWER])
    cost = predicted
    if answer < settings.n_labels and scratch.mask[answer] and not np.isnan(scratch.costs[answer]):
        cost += (np.float64(scratch.costs[answer]) - predicted) / chance
    saving[ROUNDS] = min(saving[ROUNDS] + 1.0, MEMORY)
    share = 1.0 / saving[ROUNDS]
    rest = 1.0 - share
    surprise = (cost - reachable) - (saving[MEAN_COST] - saving[MEAN_REACHABLE])
    saving[MEAN_COST] += share * (cost - saving[MEAN_COST])
    saving[MEAN_PREDICTED] += share * (predicted - saving[MEAN_PREDICTED])
    saving[MEAN_REACHABLE] += share * (reachable - saving[MEAN_REACHABLE])
    saving[VARIANCE] = rest * (saving[VARIANCE] + share * surprise * surprise)
    saving[SQUARED_SHARES] = rest * rest * saving[SQUARED_SHARES] + share * share
    saving[STEP] = max((1.0 - 1.0 / MEMORY) * saving[STEP], (1.0 - 2.0 * predicted) / chance)


@inlined
def _half_width(saving: F64) -> float:
    """Half of the 95 % interval of the mean of v - b; infinite as long as there are too few rounds.

    The terms are skewed: a rare one is as large as 1/q, and as long as few of those were seen, their variance is
    underestimated together with their mean. As in Wilson's interval, the variance is therefore that of a mean at the
    end of the interval. A cost of 0 or 1 with mean p, asked for with chance q, has a variance of p (1 - p)/q; if p is
    larger by h, that is larger by h STEP with STEP = (1 - 2 p)/q. So h^2 = z^2 (variance + h STEP)/n.
    """
    if saving[ROUNDS] < FEWEST:
        return np.inf
    per_round = _Z * _Z * saving[SQUARED_SHARES]
    skewed = 0.5 * per_round * saving[STEP]
    spread = per_round * saving[VARIANCE] / (1.0 - saving[SQUARED_SHARES])
    return float(skewed + np.sqrt(skewed * skewed + spread))


@kernel
def saving_interval(saving: F64) -> tuple[float, float, float]:
    """What can be saved, half the width of its interval, and what can be reached."""
    half, cost, reachable = _half_width(saving), saving[MEAN_COST], saving[MEAN_REACHABLE]
    if cost + half < reachable:
        return cost, half, 0.0
    return min(max(cost, saving[MEAN_PREDICTED]) - reachable, cost), half, reachable


@kernel
def saves_less(saving: F64, least: float) -> bool:
    """Whether the whole interval lies below ``least``."""
    estimate, half, _ = saving_interval(saving)
    return bool(estimate + half < least)
