"""The entry points of the online learner: predict, ask, tell and simulate over rows of a CSR matrix.

``tell`` and ``simulate`` stop early when the model has no room for the features of the next row, and
say where they are; the caller makes room and calls again. All of them walk rows with the same few
functions, so that a simulated run and a row-by-row one cannot drift apart.
"""

import numpy as np

from coalface.kernels.answer import best_answer
from coalface.kernels.budgets import count_row, count_spending, decide_within_budget, set_pace
from coalface.kernels.compile import called, inlined, kernel
from coalface.kernels.features import claim_slots
from coalface.kernels.implied import learn_settled
from coalface.kernels.near_duplicates import NO_TWIN, withdraw_repeated
from coalface.kernels.ranges import bound_costs
from coalface.kernels.regression import (
    clipped,
    gather,
    learn,
    measure,
    predict,
    scan,
    seen_only_sensitivity,
    shadow_sensitivity,
)
from coalface.kernels.rounds import close_round, note_regret, restrict, strike
from coalface.kernels.rules import decide, in_warm_up
from coalface.kernels.state import (
    ADAX,
    ASKED,
    ASKED_AS_AUDIT,
    AUDIT,
    COSTS_QUERIED,
    F32,
    F64,
    I8,
    I64,
    NOT_A_CANDIDATE,
    NOT_ASKED,
    PASSIVE,
    ROUND,
    SHADOW,
    SLOTS_USED,
    UNSEEN,
    Bool,
    Csr,
    Model,
    Scratch,
    Settings,
)
from coalface.kernels.stopping import foresee, forget_saving, note_saving, saves_less
from coalface.kernels.turns import answer_in_turn, asks_in_turn, mark_next


@inlined
def _look(model: Model, settings: Settings, scratch: Scratch, n: int) -> None:
    """Predictions of the gathered row and what learning needs to know of it."""
    if settings.accumulator == ADAX:
        scan(model, scratch, n)
    else:
        predict(model, scratch, n)


@called
def _bound(model: Model, settings: Settings, scratch: Scratch, n: int, round_number: int) -> None:
    """The range of every cost, after ``_look``."""
    predicted, gradient = scratch.predicted, scratch.gradient
    if settings.sensitivity != SHADOW:
        seen_only_sensitivity(model, settings, scratch, n)
    else:
        if settings.accumulator != ADAX:
            for k in range(gradient.shape[0]):
                p = clipped(predicted[k])
                gradient[k] = np.float32(4.0) * p * p
            measure(model, scratch, n)
        shadow_sensitivity(model, settings, scratch, n)
    bound_costs(model, settings, scratch, round_number)


@called
def _decide(model: Model, settings: Settings, scratch: Scratch, n: int, round_number: int, with_ranges: bool) -> int:
    """Choose the costs to ask for, after ``_look``; their number. Ranges that decide nothing only if wanted."""
    paced = settings.budget < np.inf
    set_pace(settings, scratch, round_number)
    if with_ranges or paced or (settings.rule != PASSIVE and not in_warm_up(model, settings, round_number)):
        _bound(model, settings, scratch, n, round_number)
    if paced:
        return decide_within_budget(model, settings, scratch, round_number)
    return decide(model, settings, scratch, round_number)


@called
def _learn(model: Model, settings: Settings, scratch: Scratch, n: int) -> None:
    """Learn the known costs in scratch; a prediction that is exactly right changes nothing."""
    squared_residuals, answered = model.squared_residuals, model.answered
    costs, labels, predicted = scratch.costs, scratch.labels, scratch.predicted
    n_learned = 0
    cheapest = -1
    for k in range(settings.n_labels):
        cost = costs[k]
        if np.isnan(cost):
            continue
        residual = np.float64(clipped(predicted[k]) - cost)
        squared_residuals[k] += residual * residual
        answered[k] += 1
        if residual != 0.0:
            labels[n_learned] = k
            n_learned += 1
        if cheapest < 0 or cost < costs[cheapest]:
            cheapest = k
    if cheapest < 0:
        return
    model.was_best[cheapest] += 1
    if n_learned > 0:  # a row without features teaches nothing but counts as an update, as in VW
        claim_slots(model, scratch, n)
        learn(model, settings, scratch, n, n_learned)
    model.row_sizes[0] += np.float64(n)
    model.row_sizes[1] += 1.0


@inlined
def has_room(model: Model, scratch: Scratch, n: int) -> bool:
    """Whether the row's unseen features fit into the model; their number is left in scratch."""
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
    best: I64,
    predicted: F32,
) -> None:
    """The best answer to each row and, if ``predicted`` has rows, the raw predictions."""
    for row in range(rows.indptr.shape[0] - 1):
        n = gather(model, settings, scratch, rows, row)
        predict(model, scratch, n)
        restrict(settings, scratch, candidates, row)
        best[row] = best_answer(settings, scratch.candidates, scratch.predicted)
        if predicted.shape[0] > 0:
            for k in range(settings.n_labels):
                predicted[row, k] = scratch.predicted[k]


@called
def _recall_settled(model: Model, settings: Settings, scratch: Scratch, n: int, known: F32, asked: Bool) -> None:
    """Find out again, from the state before learning, which questions the known costs have settled."""
    n_unknown = 0
    for k in range(settings.n_labels):
        scratch.reasons[k] = NOT_A_CANDIDATE
        n_unknown += scratch.candidates[k] and np.isnan(known[k])
    round_number = model.counters[ROUND]
    if n_unknown > 0 and asks_in_turn(model, settings, round_number):
        count_spending(model, settings, scratch)
        _decide(model, settings, scratch, n, round_number, True)
        strike(settings, scratch, known, asked, True)


@kernel
def ask_rows(
    model: Model,
    settings: Settings,
    scratch: Scratch,
    rows: Csr,
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
    """Decide on each row, the first at the model's round, the next ones at the following rounds.

    If ``known`` and ``asked`` have rows, they hold what was answered already and what was asked for. If ``twins`` has
    entries, rows with the same number there are twins, and ``taken`` has a row for each number.
    """
    count_spending(model, settings, scratch)
    for row in range(rows.indptr.shape[0] - 1):
        round_number = model.counters[ROUND] + row
        n = gather(model, settings, scratch, rows, row)
        _look(model, settings, scratch, n)
        restrict(settings, scratch, candidates, row)
        n_asked = _decide(model, settings, scratch, n, round_number, True)
        if twins.shape[0] > 0 and twins[row] != NO_TWIN:
            n_asked = withdraw_repeated(settings, scratch, taken[twins[row]])
        count_row(scratch, n_asked)
        in_turn = asks_in_turn(model, settings, round_number)
        if known.shape[0] > 0:
            strike(settings, scratch, known[row], asked[row], in_turn)
        mark_next(settings, scratch, in_turn)
        for k in range(settings.n_labels):
            mask[row, k] = scratch.mask[k]
            first[row, k] = scratch.next[k]
            reasons[row, k] = scratch.reasons[k]
            propensity[row, k] = scratch.propensity[k]
            lowest[row, k] = scratch.lowest[k]
            highest[row, k] = scratch.highest[k]
            predicted[row, k] = scratch.predicted[k]


@kernel
def tell_rows(
    model: Model,
    settings: Settings,
    scratch: Scratch,
    rows: Csr,
    candidates: Bool,
    costs: F32,
    asked: Bool,
    outlook: F64,
    late: bool,
    start: int,
) -> int:
    """Learn the known costs of the rows from ``start`` on; the first row not learned for want of room.

    ``outlook`` is what the rows looked like when they were asked about, and has no rows where that is not known.
    """
    n_rows = rows.indptr.shape[0] - 1
    for row in range(start, n_rows):
        n = gather(model, settings, scratch, rows, row)
        if not has_room(model, scratch, n):
            return row
        restrict(settings, scratch, candidates, row)
        n_known = 0
        for k in range(settings.n_labels):
            n_known += scratch.candidates[k] and not np.isnan(costs[row, k])
        if n_known > 0:
            _look(model, settings, scratch, n)
            if not late:
                _recall_settled(model, settings, scratch, n, costs[row], asked[row])
        for k in range(settings.n_labels):
            allowed = scratch.candidates[k]
            scratch.mask[k] = allowed and asked[row, k]
            scratch.costs[k] = costs[row, k] if allowed else np.float32(np.nan)
        if n_known > 0:
            if not late:
                note_regret(model, settings, scratch)
                learn_settled(model, settings, scratch, n)
            _learn(model, settings, scratch, n)
        if not late and outlook.shape[0] > 0:
            for i in range(outlook.shape[1]):
                scratch.outlook[i] = outlook[row, i]
            note_saving(model, settings, scratch)
        elif not late:
            forget_saving(model.saving)
        close_round(model, settings, scratch, late)
    return int(n_rows)


@called
def question_row(model: Model, settings: Settings, scratch: Scratch, n: int, costs: F32) -> int:
    """Decide on the gathered and restricted row and put the questions to its costs; how many were put."""
    round_number, audited = model.counters[ROUND], settings.audit_rate > 0.0
    _look(model, settings, scratch, n)
    count_spending(model, settings, scratch)
    n_asked = _decide(model, settings, scratch, n, round_number, audited)
    if audited:
        candidates, predicted, lowest = scratch.candidates, scratch.predicted, scratch.lowest
        foresee(settings, candidates, predicted, lowest, scratch.propensity, scratch.outlook)
    if n_asked > 0 and asks_in_turn(model, settings, round_number):
        n_asked = answer_in_turn(settings, scratch, costs)
    return n_asked


@called
def learn_row(model: Model, settings: Settings, scratch: Scratch, n: int, costs: F32, n_asked: int) -> None:
    """Learn the costs that ``question_row`` asked for and close the round."""
    if n_asked > 0:
        for k in range(settings.n_labels):
            scratch.costs[k] = costs[k] if scratch.mask[k] else np.float32(np.nan)
        note_regret(model, settings, scratch)
        learn_settled(model, settings, scratch, n)
        _learn(model, settings, scratch, n)
    if settings.audit_rate > 0.0:
        note_saving(model, settings, scratch)
    else:
        forget_saving(model.saving)
    close_round(model, settings, scratch, False)


@kernel
def simulate_rows(
    model: Model,
    settings: Settings,
    scratch: Scratch,
    rows: Csr,
    candidates: Bool,
    costs: F32,
    order: I64,
    start: int,
    stop: int,
    budget: int,
    stop_saving: float,
    asked: I8,
    propensity: F64,
    outlook: F64,
) -> int:
    """Ask, answer and tell for ``order[start:stop]``, until the budget of costs is reached.

    Comes back with the first position not done: ``stop``, or earlier when the budget is reached, when more asking
    would save less than ``stop_saving`` or there is no room. If ``asked`` has rows, what was asked at each position
    is written there.
    """
    saving = model.saving
    may_stop, audited = stop_saving > -np.inf, settings.audit_rate > 0.0
    for position in range(start, stop):
        if model.counters[COSTS_QUERIED] >= budget or (may_stop and saves_less(saving, stop_saving)):
            return position
        row = order[position]
        n = gather(model, settings, scratch, rows, row)
        if not has_room(model, scratch, n):
            return position
        restrict(settings, scratch, candidates, row)
        n_asked = question_row(model, settings, scratch, n, costs[row])
        if asked.shape[0] > 0:
            for i in range(outlook.shape[1] if audited else 0):
                outlook[position, i] = scratch.outlook[i]
            for k in range(settings.n_labels):
                asked[position, k] = NOT_ASKED
                if scratch.mask[k]:
                    asked[position, k] = ASKED_AS_AUDIT if scratch.reasons[k] == AUDIT else ASKED
                propensity[position, k] = scratch.propensity[k]
        learn_row(model, settings, scratch, n, costs[row], n_asked)
    return stop
