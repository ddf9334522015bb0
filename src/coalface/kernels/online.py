"""The entry points of the online learner: predict, ask, tell and simulate over rows of a CSR matrix.

``tell`` and ``simulate`` stop early when the model has no room for the features of the next row, and
say where they are; the caller makes room and calls again. All of them walk rows with the same few
functions, so that a simulated run and a row-by-row one cannot drift apart.
"""

import numpy as np

from coalface.kernels.compile import inlined, kernel
from coalface.kernels.costrange import bound_costs
from coalface.kernels.decision import decide
from coalface.kernels.features import claim_slots
from coalface.kernels.pacing import count_row, count_spending, decide_within_budget, set_pace
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
from coalface.kernels.state import (
    ADAX,
    ASKED,
    ASKED_AS_AUDIT,
    AUDIT,
    COSTS_QUERIED,
    EXAMPLES_QUERIED,
    F32,
    F64,
    I8,
    I64,
    NOT_ASKED,
    PASSIVE,
    ROUND,
    SHADOW,
    SILENT_ROUNDS,
    SLOTS_USED,
    UNSEEN,
    Bool,
    Csr,
    Model,
    Scratch,
    Settings,
)

_REGRET_MEMORY = 20.0  # answered examples that the moving average of the regret looks back over


@inlined
def _restrict(settings: Settings, scratch: Scratch, candidates: Bool, row: int) -> None:
    """The candidate labels of a row; an empty array means that all labels are candidates everywhere."""
    allowed = scratch.candidates
    restricted = candidates.shape[0] > 0
    for k in range(settings.n_labels):
        allowed[k] = candidates[row, k] if restricted else True


@inlined
def _look(model: Model, settings: Settings, scratch: Scratch, n: int) -> None:
    """Predictions of the gathered row and what learning needs to know of it."""
    if settings.accumulator == ADAX:
        scan(model, scratch, n)
    else:
        predict(model, scratch, n)


@inlined
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
        shadow_sensitivity(model, settings, scratch)
    bound_costs(model, settings, scratch, round_number)


@inlined
def _decide(model: Model, settings: Settings, scratch: Scratch, n: int, round_number: int, with_ranges: bool) -> int:
    """Choose the costs to ask for, after ``_look``; their number. Ranges that decide nothing are left out if unwanted."""
    paced = settings.budget < np.inf
    set_pace(settings, scratch, round_number)
    if with_ranges or paced or (settings.rule != PASSIVE and round_number > settings.warm_up):
        _bound(model, settings, scratch, n, round_number)
    if paced:
        return decide_within_budget(model, settings, scratch, round_number)
    return decide(model, settings, scratch, round_number)


@inlined
def _best(settings: Settings, scratch: Scratch) -> int:
    """The candidate with the least raw prediction, the first one among equals; -1 if there is none."""
    predicted, candidates = scratch.predicted, scratch.candidates
    best = -1
    for k in range(settings.n_labels):
        if candidates[k] and (best < 0 or predicted[k] < predicted[best]):
            best = k
    return best


@inlined
def _learn(model: Model, settings: Settings, scratch: Scratch, n: int) -> None:
    """Learn the known costs in scratch; a prediction that is exactly right changes nothing."""
    squared_residuals, answered = model.squared_residuals, model.answered
    costs, labels, predicted = scratch.costs, scratch.labels, scratch.predicted
    n_learned = 0
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
    if n_learned > 0:  # a row without features teaches nothing but counts as an update, as in VW
        claim_slots(model, scratch, n)
        learn(model, settings, scratch, n, n_learned)


@inlined
def _close_round(model: Model, settings: Settings, scratch: Scratch, late: bool) -> None:
    """Count what was asked and, unless the answer came late, move to the next round."""
    mask, asked, counters = scratch.mask, model.asked, model.counters
    n_asked = 0
    for k in range(settings.n_labels):
        if mask[k]:
            n_asked += 1
            asked[k] += 1
    counters[COSTS_QUERIED] += n_asked
    if late:
        return
    counters[ROUND] += 1
    counters[EXAMPLES_QUERIED] += n_asked > 0
    counters[SILENT_ROUNDS] = 0 if n_asked > 0 else counters[SILENT_ROUNDS] + 1


@inlined
def _note_regret(model: Model, settings: Settings, scratch: Scratch) -> None:
    """Keep a moving average of what the prediction cost in excess of the best answer, where that is known."""
    costs, recent = scratch.costs, model.recent_regret
    best = _best(settings, scratch)
    if best < 0 or np.isnan(costs[best]):
        return
    least = costs[best]
    for k in range(settings.n_labels):
        if costs[k] < least:
            least = costs[k]
    regret = np.float64(costs[best] - least)
    recent[1] = min(recent[1] + 1.0, _REGRET_MEMORY)
    recent[0] += (regret - recent[0]) / recent[1]


@inlined
def _has_room(model: Model, scratch: Scratch, n: int) -> bool:
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
    """The best label of each row and, if ``predicted`` has rows, the raw predictions."""
    for row in range(rows.indptr.shape[0] - 1):
        n = gather(model, settings, scratch, rows, row)
        predict(model, scratch, n)
        _restrict(settings, scratch, candidates, row)
        best[row] = _best(settings, scratch)
        if predicted.shape[0] > 0:
            for k in range(settings.n_labels):
                predicted[row, k] = scratch.predicted[k]


@kernel
def ask_rows(
    model: Model,
    settings: Settings,
    scratch: Scratch,
    rows: Csr,
    candidates: Bool,
    mask: Bool,
    reasons: I8,
    propensity: F64,
    lowest: F32,
    highest: F32,
    predicted: F32,
) -> None:
    """Decide on each row, the first at the model's round, the next ones at the following rounds."""
    count_spending(model, settings, scratch)
    for row in range(rows.indptr.shape[0] - 1):
        round_number = model.counters[ROUND] + row
        n = gather(model, settings, scratch, rows, row)
        _look(model, settings, scratch, n)
        _restrict(settings, scratch, candidates, row)
        count_row(scratch, _decide(model, settings, scratch, n, round_number, True))
        for k in range(settings.n_labels):
            mask[row, k] = scratch.mask[k]
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
    late: bool,
    start: int,
) -> int:
    """Learn the known costs of the rows from ``start`` on; the first row not learned for want of room."""
    n_rows = rows.indptr.shape[0] - 1
    for row in range(start, n_rows):
        n = gather(model, settings, scratch, rows, row)
        if not _has_room(model, scratch, n):
            return row
        _restrict(settings, scratch, candidates, row)
        n_known = 0
        for k in range(settings.n_labels):
            allowed = scratch.candidates[k]
            scratch.mask[k] = allowed and asked[row, k]
            scratch.costs[k] = costs[row, k] if allowed else np.float32(np.nan)
            n_known += not np.isnan(scratch.costs[k])
        if n_known > 0:
            _look(model, settings, scratch, n)
            if not late:
                _note_regret(model, settings, scratch)
            _learn(model, settings, scratch, n)
        _close_round(model, settings, scratch, late)
    return int(n_rows)


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
    asked: I8,
    propensity: F64,
) -> int:
    """Ask, answer and tell for ``order[start:stop]``, until the budget of costs is reached.

    Comes back with the first position not done: ``stop``, or earlier when the budget is reached or
    there is no room. If ``asked`` has rows, what was asked at each position is written there.
    """
    for position in range(start, stop):
        if model.counters[COSTS_QUERIED] >= budget:
            return position
        row = order[position]
        n = gather(model, settings, scratch, rows, row)
        if not _has_room(model, scratch, n):
            return position
        round_number = model.counters[ROUND]
        _restrict(settings, scratch, candidates, row)
        _look(model, settings, scratch, n)
        count_spending(model, settings, scratch)
        n_asked = _decide(model, settings, scratch, n, round_number, False)
        if asked.shape[0] > 0:
            for k in range(settings.n_labels):
                asked[position, k] = NOT_ASKED
                if scratch.mask[k]:
                    asked[position, k] = ASKED_AS_AUDIT if scratch.reasons[k] == AUDIT else ASKED
                propensity[position, k] = scratch.propensity[k]
        if n_asked > 0:
            for k in range(settings.n_labels):
                scratch.costs[k] = costs[row, k] if scratch.mask[k] else np.float32(np.nan)
            _note_regret(model, settings, scratch)
            _learn(model, settings, scratch, n)
        _close_round(model, settings, scratch, False)
    return stop
