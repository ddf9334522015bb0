"""Rounds over predictions and ranges that a model computed beforehand, whatever that model is."""

import numpy as np

from coalface.kernels.answer import best_answer
from coalface.kernels.compile import kernel
from coalface.kernels.near_duplicates import ALONE, withdraw_repeated
from coalface.kernels.rounds import close_round, restrict, strike
from coalface.kernels.rules import decide
from coalface.kernels.state import F32, I64, Bool, Counted, RoundArrays, Scratch, Settings
from coalface.kernels.stopping import forget_saving, note_saving
from coalface.kernels.turns import asks_in_turn, mark_next


@kernel
def best_answers(settings: Settings, scratch: Scratch, candidates: Bool, predicted: F32, best: I64) -> None:
    """The best answer to each row, by its predictions."""
    for row in range(predicted.shape[0]):
        restrict(settings, scratch, candidates, row)
        best[row] = best_answer(settings, scratch.candidates, predicted[row])


@kernel
def decide_rows(
    counts: Counted,
    settings: Settings,
    scratch: Scratch,
    first_round: int,
    rounds: RoundArrays,
    groups: I64,
    taken: Bool,
) -> None:
    """As ``online.ask_rows``, with predictions and ranges given; before the first round, any cost is possible."""
    candidates, known, asked = rounds.candidates, rounds.costs, rounds.asked
    mask, first, reasons, propensity = rounds.mask, rounds.next, rounds.reasons, rounds.propensity
    lowest, highest, predicted = rounds.lowest, rounds.highest, rounds.predicted
    for row in range(predicted.shape[0]):
        round_number = first_round + row
        if round_number == 1:
            lowest[row] = np.float32(0.0)
            highest[row] = np.float32(1.0)
        restrict(settings, scratch, candidates, row)
        for k in range(settings.n_labels):
            scratch.predicted[k] = predicted[row, k]
            scratch.lowest[k] = lowest[row, k]
            scratch.highest[k] = highest[row, k]
        decide(counts, settings, scratch, round_number)
        if groups.shape[0] > 0 and groups[row] != ALONE:
            withdraw_repeated(settings, scratch, taken[groups[row]])
        in_turn = asks_in_turn(counts, settings, round_number)
        if known.shape[0] > 0:
            strike(settings, scratch, known[row], asked[row], in_turn)
        mark_next(settings, scratch, in_turn)
        for k in range(settings.n_labels):
            mask[row, k] = scratch.mask[k]
            first[row, k] = scratch.next[k]
            reasons[row, k] = scratch.reasons[k]
            propensity[row, k] = scratch.propensity[k]


@kernel
def close_rows(counts: Counted, settings: Settings, scratch: Scratch, rounds: RoundArrays, late: bool) -> None:
    """Count the rows that were learned and, unless their answers came late, close their rounds."""
    candidates, costs, asked, outlook = rounds.candidates, rounds.costs, rounds.asked, rounds.outlook
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
            counts.was_best[cheapest] += 1
        if not late and outlook.shape[0] > 0:
            for i in range(outlook.shape[1]):
                scratch.outlook[i] = outlook[row, i]
            note_saving(counts, settings, scratch)
        elif not late:
            forget_saving(counts.saving)
        close_round(counts, settings, scratch, late)
