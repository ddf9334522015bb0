"""The compiled loops of the online model: predict, ask, tell and simulate over the rows of a CSR matrix.

The loops that learn return early if the model has no room for the features of the next row. They return that row's
position; the caller makes room and calls again. All loops share the same functions per row, so a simulated run gives
the same bits as a row-by-row one.
"""

import numpy as np

from coalface.kernels.budgets import count_asked_row, count_spending
from coalface.kernels.calibration import update_calibration
from coalface.kernels.compile import called, inlined, kernel
from coalface.kernels.features import claim_slots
from coalface.kernels.implied import learn_settled
from coalface.kernels.regression import (
    clipped,
    gather,
    learn,
    predict,
)
from coalface.kernels.rounds import (
    close_round,
    close_told,
    copy_decision,
    copy_row,
    forget_known_parts,
    price_paid,
    set_candidates,
    update_regret,
)
from coalface.kernels.row_decisions import decide_row, predict_row, range_row
from coalface.kernels.rules import audit_weight, best_answer, prefer_truth
from coalface.kernels.state import (
    F32,
    F64,
    I64,
    NOT_A_CANDIDATE,
    ROUND,
    SLOTS_USED,
    UNSEEN,
    Bool,
    Csr,
    Model,
    RoundArrays,
    Scratch,
    Settings,
    Told,
    Until,
)
from coalface.kernels.stopping import fill_outlook, reset_saving, saving_is_below, update_saving
from coalface.kernels.turns import answer_in_turn, asks_in_turn, drop_answered, finish_decision, mark_next


@called
def learn_known(model: Model, settings: Settings, scratch: Scratch, n: int, weighted: bool) -> int:
    """Learn the known costs in scratch and return the label with the least one, -1 without any.

    An exact prediction does not change its label's weights.
    """
    squared_residuals, answered = model.squared_residuals, model.answered
    costs, labels, predicted, offset = scratch.costs, scratch.labels, scratch.predicted, scratch.offset
    weights = scratch.weights
    n_learned = 0
    cheapest = -1
    for k in range(settings.n_labels):
        cost = costs[k]
        if np.isnan(cost) or (weighted and weights[k] == 0.0):
            continue
        residual = np.float64(clipped(predicted[k]) - cost)
        squared_residuals[k] += residual * residual
        answered[k] += 1
        if residual != 0.0:
            labels[n_learned] = k
            n_learned += 1
        if cheapest < 0 or cost + offset[k] < costs[cheapest] + offset[cheapest]:
            cheapest = k
    if cheapest < 0:
        return cheapest
    if n_learned > 0:  # a row without features counts as an update too, as in VW
        claim_slots(model, scratch, n)
        learn(model, settings, scratch, n, n_learned, weighted)
    model.row_sizes[0] += np.float64(n)
    model.row_sizes[1] += 1.0
    return cheapest


@inlined
def _count_best(model: Model, label: int) -> None:
    """Count that a label had the least of the answered costs; -1: none was answered."""
    if label >= 0:
        model.was_best[label] += 1


@inlined
def has_room(model: Model, scratch: Scratch, n: int) -> bool:
    """Whether the row's unseen features fit into the model; writes their number to ``scratch.unseen``."""
    slots = scratch.slots
    unseen = 0
    for j in range(n):
        unseen += slots[j] == UNSEEN
    scratch.unseen[0] = unseen
    needed = model.counters[SLOTS_USED] + unseen
    return bool(needed <= model.features.shape[0] and needed * 4 <= model.table.shape[0] * 3)


@kernel
def predict_rows(
    model: Model,
    settings: Settings,
    scratch: Scratch,
    rows: Csr,
    candidates: Bool,
    offsets: F32,
    best: I64,
    predicted: F32,
) -> None:
    """Write the best answer for each row to ``best`` and, if ``predicted`` has rows, the raw predictions."""
    row_predicted = scratch.predicted
    forget_known_parts(scratch)
    for row in range(rows.indptr.shape[0] - 1):
        n = gather(model, settings, scratch, rows, row)
        predict(model, scratch, n)
        set_candidates(settings, scratch, candidates, row)
        copy_row(settings, offsets, row, scratch.offset)
        best[row] = best_answer(settings, scratch.candidates, scratch.predicted, scratch.offset)
        if predicted.shape[0] > 0:
            for k in range(settings.n_labels):
                predicted[row, k] = row_predicted[k]


@kernel
def range_rows(
    model: Model,
    settings: Settings,
    scratch: Scratch,
    rows: Csr,
    first_round: int,
    predicted: F32,
    lowest: F32,
    highest: F32,
) -> None:
    """Write the raw predictions and the ranges of rows, decided ``round_step`` rounds apart; nothing is asked."""
    row_predicted, row_lowest, row_highest = scratch.predicted, scratch.lowest, scratch.highest
    for row in range(rows.indptr.shape[0] - 1):
        n = gather(model, settings, scratch, rows, row)
        predict_row(model, settings, scratch, n)
        range_row(model, settings, scratch, n, first_round + settings.round_step * row)
        for k in range(settings.n_labels):
            predicted[row, k] = row_predicted[k]
            lowest[row, k] = row_lowest[k]
            highest[row, k] = row_highest[k]


@called
def _recompute_settled(model: Model, settings: Settings, scratch: Scratch, n: int, known: F32, asked: Bool) -> None:
    """Decide again, before the answers are learned, to find the labels that the known costs rule out."""
    n_unknown, candidates, reasons = 0, scratch.candidates, scratch.reasons
    for k in range(settings.n_labels):
        reasons[k] = NOT_A_CANDIDATE
        n_unknown += candidates[k] and np.isnan(known[k])
    round_number = model.counters[ROUND]
    if n_unknown > 0 and asks_in_turn(model, settings, round_number):
        count_spending(model, settings, scratch)
        decide_row(model, settings, scratch, n, round_number, True)
        scratch.truth[0] = False
        drop_answered(settings, scratch, known, asked, True)


@kernel
def ask_rows(
    model: Model,
    settings: Settings,
    scratch: Scratch,
    rows: Csr,
    first_round: int,
    rounds: RoundArrays,
    groups: I64,
    already_asked: Bool,
) -> None:
    """Decide which costs to ask for on each row; row r is decided ``round_step`` x r rounds after the first.

    Reads ``candidates``, ``costs`` and ``asked`` of ``rounds`` and writes the other arrays. If ``groups`` has entries,
    rows of the same group are near-duplicates, and ``already_asked`` has a row for each group.
    """
    candidates, known, asked = rounds.candidates, rounds.costs, rounds.asked
    lowest, highest, predicted = rounds.lowest, rounds.highest, rounds.predicted
    row_lowest, row_highest, row_predicted = scratch.lowest, scratch.highest, scratch.predicted
    forget_known_parts(scratch)
    count_spending(model, settings, scratch)
    for row in range(rows.indptr.shape[0] - 1):
        round_number = first_round + settings.round_step * row
        n = gather(model, settings, scratch, rows, row)
        predict_row(model, settings, scratch, n)
        set_candidates(settings, scratch, candidates, row)
        copy_row(settings, rounds.offsets, row, scratch.offset)
        copy_row(settings, rounds.prices, row, scratch.prices)
        n_asked = decide_row(model, settings, scratch, n, round_number, True)
        n_asked = finish_decision(settings, scratch, groups, already_asked, row, n_asked)
        count_asked_row(settings, scratch, n_asked)
        in_turn = asks_in_turn(model, settings, round_number)
        if known.shape[0] > 0:
            drop_answered(settings, scratch, known[row], asked[row], in_turn)
        mark_next(settings, scratch, in_turn)
        copy_decision(settings, scratch, rounds, row)
        for k in range(settings.n_labels):
            lowest[row, k] = row_lowest[k]
            highest[row, k] = row_highest[k]
            predicted[row, k] = row_predicted[k]


@kernel
def tell_rows(
    model: Model,
    settings: Settings,
    scratch: Scratch,
    rows: Csr,
    told: Told,
    late: bool,
    start: int,
) -> int:
    """Learn the known costs, beginning at row ``start``, and close a round per row unless ``late``.

    Returns the first row that the model has no room for, or the number of rows.
    """
    candidates, costs, asked = told.candidates, told.costs, told.asked
    weights, weighted = told.weights, told.weights.shape[0] > 0
    row_candidates, row_mask, row_costs, row_weights = (
        scratch.candidates,
        scratch.mask,
        scratch.costs,
        scratch.weights,
    )
    n_rows = rows.indptr.shape[0] - 1
    forget_known_parts(scratch)
    for row in range(start, n_rows):
        n = gather(model, settings, scratch, rows, row)
        if not has_room(model, scratch, n):
            return row
        set_candidates(settings, scratch, candidates, row)
        copy_row(settings, told.offsets, row, scratch.offset)
        n_known = 0
        for k in range(settings.n_labels):
            n_known += row_candidates[k] and not np.isnan(costs[row, k])
        if n_known > 0:
            predict_row(model, settings, scratch, n)
            if not late:
                _recompute_settled(model, settings, scratch, n, costs[row], asked[row])
        for k in range(settings.n_labels):
            allowed = row_candidates[k]
            row_mask[k] = allowed and asked[row, k]
            row_costs[k] = costs[row, k] if allowed else np.float32(np.nan)
            row_weights[k] = weights[row, k] if weighted else np.float32(1.0)
        if n_known > 0:
            if not late:
                update_regret(model, settings, scratch)
                learn_settled(model, settings, scratch, n)
            _count_best(model, learn_known(model, settings, scratch, n, weighted))
        close_told(model, settings, scratch, told, late, row)
    return int(n_rows)


@called
def decide_and_answer(model: Model, settings: Settings, scratch: Scratch, n: int, costs: F32) -> int:
    """Decide which costs of the gathered row to ask for and answer them from ``costs``; returns how many were asked.

    The candidates of the row must be in scratch.
    """
    round_number, audited = model.counters[ROUND], settings.audit_rate > 0.0
    predict_row(model, settings, scratch, n)
    count_spending(model, settings, scratch)
    n_asked = prefer_truth(settings, scratch, decide_row(model, settings, scratch, n, round_number, audited))
    if audited:
        candidates, predicted, lowest = scratch.candidates, scratch.predicted, scratch.lowest
        fill_outlook(settings, candidates, predicted, lowest, scratch.offset, scratch.propensity, scratch.outlook)
    if n_asked > 0 and not scratch.truth[0] and asks_in_turn(model, settings, round_number):
        n_asked = answer_in_turn(settings, scratch, costs)
    return n_asked


@called
def learn_row(model: Model, settings: Settings, scratch: Scratch, n: int, costs: F32, n_asked: int) -> None:
    """Learn the costs that ``decide_and_answer`` has asked for, and close the round."""
    if n_asked > 0:
        known, mask, weights, propensity = scratch.costs, scratch.mask, scratch.weights, scratch.propensity
        for k in range(settings.n_labels):
            known[k] = costs[k] if mask[k] else np.float32(np.nan)
        update_regret(model, settings, scratch)
        learn_settled(model, settings, scratch, n)
        if settings.audits_by_loss:
            for k in range(settings.n_labels):
                weights[k] = audit_weight(propensity[k])
        _count_best(model, learn_known(model, settings, scratch, n, settings.audits_by_loss))
    if settings.audit_rate > 0.0:
        update_saving(model, settings, scratch)
        update_calibration(model, settings, scratch)
    else:
        reset_saving(model.saving)
    close_round(model, settings, scratch, False)


@kernel
def weigh_answers(propensity: F64, weights: F32) -> None:
    """Write how many answers each counts as: see ``audit_weight``."""
    for row in range(weights.shape[0]):
        for k in range(weights.shape[1]):
            weights[row, k] = audit_weight(propensity[row, k])


@kernel
def learn_rows(
    model: Model, settings: Settings, scratch: Scratch, rows: Csr, costs: F32, weights: F32, start: int
) -> int:
    """Learn the known costs as ``tell_rows`` does, but close no rounds; empty ``weights`` count every cost once."""
    n_rows, weighted = rows.indptr.shape[0] - 1, weights.shape[0] > 0
    row_costs, row_weights = scratch.costs, scratch.weights
    forget_known_parts(scratch)
    for row in range(start, n_rows):
        n = gather(model, settings, scratch, rows, row)
        if not has_room(model, scratch, n):
            return row
        predict_row(model, settings, scratch, n)
        for k in range(settings.n_labels):
            row_costs[k] = costs[row, k]
            row_weights[k] = weights[row, k] if weighted else np.float32(1.0)
        _count_best(model, learn_known(model, settings, scratch, n, weighted))
    return int(n_rows)


@kernel
def simulate_rows(
    model: Model,
    settings: Settings,
    scratch: Scratch,
    rows: Csr,
    given: RoundArrays,
    record: RoundArrays,
    order: I64,
    start: int,
    until: Until,
) -> int:
    """Ask, answer and tell for the rows of ``order``, beginning at position ``start``; returns the first one not done.

    ``given`` has the candidates and all costs of every row. The run pauses where ``until`` says, or where the model has
    no room for a row. If ``record`` has rows, the questions at each position are written to it.
    """
    candidates, costs, saving = given.candidates, given.costs, model.saving
    mask, reasons, propensity, outlook, truth = (
        record.mask,
        record.reasons,
        record.propensity,
        record.outlook,
        record.truth,
    )
    may_stop, audited = until.saving > -np.inf, settings.audit_rate > 0.0
    forget_known_parts(scratch)
    for position in range(start, until.position):
        paid = price_paid(model.counters, settings.price_of_truth)
        if paid >= until.costs or (may_stop and saving_is_below(saving, until.saving)):
            return position
        row = order[position]
        n = gather(model, settings, scratch, rows, row)
        if not has_room(model, scratch, n):
            return position
        set_candidates(settings, scratch, candidates, row)
        copy_row(settings, given.offsets, row, scratch.offset)
        copy_row(settings, given.prices, row, scratch.prices)
        n_asked = decide_and_answer(model, settings, scratch, n, costs[row])
        if mask.shape[0] > 0:
            truth[position] = scratch.truth[0]
            for i in range(outlook.shape[1] if audited else 0):
                outlook[position, i] = scratch.outlook[i]
            for k in range(settings.n_labels):
                mask[position, k] = scratch.mask[k]
                reasons[position, k] = scratch.reasons[k]
                propensity[position, k] = scratch.propensity[k]
        learn_row(model, settings, scratch, n, costs[row], n_asked)
    return until.position
