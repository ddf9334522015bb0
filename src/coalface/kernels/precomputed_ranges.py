"""The same rounds over ranges that were found elsewhere, for learners whose regressors are no kernels."""

import numpy as np

from coalface.kernels.answer import best_answer
from coalface.kernels.compile import kernel
from coalface.kernels.near_duplicates import NO_TWIN, withdraw_repeated
from coalface.kernels.rounds import close_round, restrict, strike
from coalface.kernels.rules import decide
from coalface.kernels.state import F32, F64, I8, I64, ROUND, Bool, Model, Scratch, Settings
from coalface.kernels.stopping import forget_saving, note_saving
from coalface.kernels.turns import asks_in_turn, mark_next


@kernel
def answer_given(settings: Settings, scratch: Scratch, candidates: Bool, predicted: F32, best: I64) -> None:
    """The best answer to each row, by its predictions."""
    for row in range(predicted.shape[0]):
        restrict(settings, scratch, candidates, row)
        best[row] = best_answer(settings, scratch.candidates, predicted[row])


@kernel
def decide_given(
    model: Model,
    settings: Settings,
    scratch: Scratch,
    candidates: Bool,
    known: F32,
    asked: Bool,
    twins: I64,
    taken: Bool,
    mask: Bool,
    first: Bool,
    reasons: I8,
    propensity: F64,
    lowest: F32,
    highest: F32,
    predicted: F32,
) -> None:
    """As ``online.ask_rows``, but the last three arrays are given; before the first round, any cost is possible."""
    for row in range(predicted.shape[0]):
        round_number = model.counters[ROUND] + row
        if round_number == 1:
            lowest[row] = np.float32(0.0)
            highest[row] = np.float32(1.0)
        restrict(settings, scratch, candidates, row)
        for k in range(settings.n_labels):
            scratch.predicted[k] = predicted[row, k]
            scratch.lowest[k] = lowest[row, k]
            scratch.highest[k] = highest[row, k]
        decide(model, settings, scratch, round_number)
        if twins.shape[0] > 0 and twins[row] != NO_TWIN:
            withdraw_repeated(settings, scratch, taken[twins[row]])
        in_turn = asks_in_turn(model, settings, round_number)
        if known.shape[0] > 0:
            strike(settings, scratch, known[row], asked[row], in_turn)
        mark_next(settings, scratch, in_turn)
        for k in range(settings.n_labels):
            mask[row, k] = scratch.mask[k]
            first[row, k] = scratch.next[k]
            reasons[row, k] = scratch.reasons[k]
            propensity[row, k] = scratch.propensity[k]


@kernel
def count_given(
    model: Model,
    settings: Settings,
    scratch: Scratch,
    candidates: Bool,
    costs: F32,
    asked: Bool,
    outlook: F64,
    late: bool,
) -> None:
    """Count the rows that were learned and, unless their answers came late, close their rounds."""
    for row in range(costs.shape[0]):
        restrict(settings, scratch, candidates, row)
        cheapest = -1
        for k in range(settings.n_labels):
            allowed = scratch.candidates[k]
            scratch.mask[k] = allowed and asked[row, k]
            scratch.costs[k] = costs[row, k] if allowed else np.float32(np.nan)
            if not np.isnan(scratch.costs[k]) and (cheapest < 0 or scratch.costs[k] < scratch.costs[cheapest]):
                cheapest = k
        if cheapest >= 0:
            model.was_best[cheapest] += 1
        if not late and outlook.shape[0] > 0:
            for i in range(outlook.shape[1]):
                scratch.outlook[i] = outlook[row, i]
            note_saving(model, settings, scratch)
        elif not late:
            forget_saving(model.saving)
        close_round(model, settings, scratch, late)
