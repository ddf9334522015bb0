"""Decides and closes rounds for models that compute their predictions and cost ranges themselves."""

import numpy as np

from coalface.kernels.compile import kernel
from coalface.kernels.implied_costs import Implications
from coalface.kernels.rounds import (
    close_told,
    copy_decision,
    copy_row,
    forget_known_parts,
    set_candidates,
)
from coalface.kernels.rules import best_answer, decide, is_new
from coalface.kernels.state import F32, I64, Bool, Counted, RoundArrays, Scratch, Settings, Told
from coalface.kernels.turns import asks_in_turn, drop_answered, drop_implied, finish_decision, mark_next


@kernel
def best_answers(
    settings: Settings, scratch: Scratch, candidates: Bool, offsets: F32, predicted: F32, best: I64
) -> None:
    """Write the best answer for each row, given its predictions, to ``best``."""
    forget_known_parts(scratch)
    for row in range(predicted.shape[0]):
        set_candidates(settings, scratch, candidates, row)
        copy_row(settings, offsets, row, scratch.offset)
        best[row] = best_answer(settings, scratch.candidates, predicted[row], scratch.offset)


@kernel
def decide_rows(
    counts: Counted,
    settings: Settings,
    scratch: Scratch,
    first_round: int,
    rounds: RoundArrays,
    groups: I64,
    already_asked: Bool,
    implications: Implications,
) -> None:
    """Like ``online.ask_rows``, but with predictions and ranges given; in round 1, any cost is possible."""
    candidates, known, asked = rounds.candidates, rounds.costs, rounds.asked
    lowest, highest, predicted = rounds.lowest, rounds.highest, rounds.predicted
    of_row, low_of_row, high_of_row = scratch.predicted, scratch.lowest, scratch.highest
    since = counts.since
    forget_known_parts(scratch)
    for row in range(predicted.shape[0]):
        round_number = first_round + settings.round_step * row
        for k in range(settings.n_labels):
            if round_number == 1 or (since[k] > 0 and is_new(counts, settings, k, round_number)):
                lowest[row, k] = np.float32(0.0)
                highest[row, k] = np.float32(1.0)
        set_candidates(settings, scratch, candidates, row)
        copy_row(settings, rounds.offsets, row, scratch.offset)
        copy_row(settings, rounds.prices, row, scratch.prices)
        for k in range(settings.n_labels):
            of_row[k] = predicted[row, k]
            low_of_row[k] = lowest[row, k]
            high_of_row[k] = highest[row, k]
        n_asked = decide(counts, settings, scratch, round_number)
        finish_decision(settings, scratch, groups, already_asked, row, n_asked)
        in_turn = asks_in_turn(counts, settings, round_number)
        if known.shape[0] > 0:
            drop_answered(settings, scratch, known[row], asked[row], in_turn)
            if in_turn:
                drop_implied(settings, scratch, implications)
        mark_next(settings, scratch, in_turn)
        copy_decision(settings, scratch, rounds, row)


@kernel
def close_rows(counts: Counted, settings: Settings, scratch: Scratch, told: Told, late: bool) -> None:
    """Update the counts for rows that were learned and, unless their answers are late, close their rounds."""
    candidates, costs, asked, offset = told.candidates, told.costs, told.asked, scratch.offset
    forget_known_parts(scratch)
    for row in range(costs.shape[0]):
        set_candidates(settings, scratch, candidates, row)
        copy_row(settings, told.offsets, row, scratch.offset)
        cheapest = -1
        for k in range(settings.n_labels):
            allowed = scratch.candidates[k]
            scratch.mask[k] = allowed and asked[row, k]
            scratch.costs[k] = costs[row, k] if allowed else np.float32(np.nan)
            total = scratch.costs[k] + offset[k]
            if not np.isnan(total) and (cheapest < 0 or total < scratch.costs[cheapest] + offset[cheapest]):
                cheapest = k
        if cheapest >= 0:
            counts.was_best[cheapest] += 1
        close_told(counts, settings, scratch, told, late, row)
