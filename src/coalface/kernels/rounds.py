"""The bookkeeping of a round, the same for every model: its candidates, its counts and the regret of its prediction."""

import numpy as np

from coalface.kernels.calibration import set_audited, update_calibration
from coalface.kernels.compile import inlined, kernel
from coalface.kernels.history import note_counts
from coalface.kernels.rules import best_answer
from coalface.kernels.state import (
    COSTS_QUERIED,
    COSTS_SEEN,
    EXAMPLES_QUERIED,
    F32,
    I64,
    ROUND,
    SILENT_ROUNDS,
    TRUTHS_QUERIED,
    Bool,
    Counted,
    RoundArrays,
    Scratch,
    Settings,
    Told,
)
from coalface.kernels.stopping import update_saving_from

_REGRET_MEMORY = 20.0  # answered examples: the window of the moving average of the regret


@inlined
def set_candidates(settings: Settings, scratch: Scratch, candidates: Bool, row: int) -> None:
    """Copy the candidate labels of a row to scratch; an empty array makes every label a candidate."""
    allowed = scratch.candidates
    restricted = candidates.shape[0] > 0
    for k in range(settings.n_labels):
        allowed[k] = candidates[row, k] if restricted else True


@inlined
def forget_known_parts(scratch: Scratch) -> None:
    """Begin a call without known parts of costs and with the same price for all questions."""
    for k in range(scratch.offset.shape[0]):
        scratch.offset[k] = np.float32(0.0)
        scratch.prices[k] = np.float32(0.0)


@inlined
def copy_row(settings: Settings, given: F32, row: int, target: F32) -> None:
    """Copy the known parts of a row's costs, or its prices, to scratch; an empty array has none: see above."""
    if given.shape[0] > 0:
        for k in range(settings.n_labels):
            target[k] = given[row, k]


@inlined
def copy_decision(settings: Settings, scratch: Scratch, rounds: RoundArrays, row: int) -> None:
    """Copy what was decided about a row from scratch memory to its round."""
    mask, first, reasons, propensity = rounds.mask, rounds.next, rounds.reasons, rounds.propensity
    own_mask, own_next, own_reasons, own_propensity = scratch.mask, scratch.next, scratch.reasons, scratch.propensity
    for k in range(settings.n_labels):
        mask[row, k] = own_mask[k]
        first[row, k] = own_next[k]
        reasons[row, k] = own_reasons[k]
        propensity[row, k] = own_propensity[k]
    rounds.truth[row] = scratch.truth[0]


@inlined
def close_round(counts: Counted, settings: Settings, scratch: Scratch, late: bool) -> None:
    """Count the costs, or the true label, asked for and, unless the answers are late, move to the next round."""
    mask, asked, counters = scratch.mask, counts.asked, counts.counters
    n_asked = 0
    for k in range(settings.n_labels):
        if mask[k]:
            n_asked += 1
            asked[k] += 1
    if scratch.truth[0]:
        counters[TRUTHS_QUERIED] += n_asked > 0
    else:
        counters[COSTS_QUERIED] += n_asked
    if late:
        return
    counters[ROUND] += 1
    counters[EXAMPLES_QUERIED] += n_asked > 0
    counters[SILENT_ROUNDS] = 0 if n_asked > 0 else counters[SILENT_ROUNDS] + 1
    note_counts(counters)


@inlined
def close_told(counts: Counted, settings: Settings, scratch: Scratch, told: Told, late: bool, row: int) -> None:
    """Update what audits and savings are estimated from, then close the round of a row whose answers were learned."""
    if not late:
        update_saving_from(counts, settings, scratch, told.outlook, row)
        if told.outlook.shape[0] > 0 and told.audited.shape[0] > 0:
            set_audited(settings, scratch, told.audited, row)
            update_calibration(counts, settings, scratch)
    scratch.truth[0] = told.truth.shape[0] > 0 and told.truth[row]
    close_round(counts, settings, scratch, late)


@inlined
def close_served(counters: I64) -> None:
    """Count the cost of a served label, which was seen and not asked for, and move to the next round."""
    counters[COSTS_SEEN] += 1
    counters[ROUND] += 1
    counters[SILENT_ROUNDS] = 0  # nothing was asked because nothing had to be


@kernel
def price_paid(counters: I64, price_of_truth: float) -> float:
    """The price of all questions so far, in costs: a true label counts as ``price_of_truth`` of them."""
    paid = np.float64(counters[COSTS_QUERIED])
    if price_of_truth < np.inf:
        paid += price_of_truth * counters[TRUTHS_QUERIED]
    return paid


@inlined
def _some_known(settings: Settings, costs: F32) -> bool:
    for k in range(settings.n_labels):  # noqa: SIM110 (a generator would not compile)
        if not np.isnan(costs[k]):
            return True
    return False


@inlined
def update_regret(counts: Counted, settings: Settings, scratch: Scratch) -> None:
    """Update the moving average of the regret: the cost of the prediction minus that of the best known answer."""
    costs, offset, recent = scratch.costs, scratch.offset, counts.recent_regret
    best = best_answer(settings, scratch.candidates, scratch.predicted, offset)
    if best < 0:
        return
    abstain_cost, abstains = np.float32(settings.abstain_cost), best == settings.n_labels
    paid = abstain_cost if abstains else costs[best] + offset[best]
    if np.isnan(paid) or (abstains and not _some_known(settings, costs)):
        return
    least = min(paid, abstain_cost)
    for k in range(settings.n_labels):
        if costs[k] + offset[k] < least:
            least = costs[k] + offset[k]
    regret = np.float64(paid - least)
    recent[1] = min(recent[1] + 1.0, _REGRET_MEMORY)
    recent[0] += (regret - recent[0]) / recent[1]
