"""Serves one label per example and learns the cost of that label alone (contextual bandits).

Notation, per row, as in SquareCB (Foster and Rakhlin, 2020): the contenders are the labels whose range reaches below
the least highest cost, m is their number, and gap(y) is how much more than the best of them y is predicted to cost.
Label y is served with probability 1 / (m + gamma gap(y)), and the best one with the rest. So the smaller the gap, the
likelier the label.

gamma is m t / exploration at round t. So round t explores with a probability of about exploration / (t gap), which adds
up to a logarithm of the number of rounds if the best label is better by a margin. The schedule for the worst case, the
root of t, explores more; see docs/bandit.md for a comparison. Predictions are used as if one more cost of the label had
been seen, a cost of nothing. So each label is served early, and one that was first served in the wrong places, and so
is predicted to be costly everywhere, is served again.
"""

import numpy as np

from coalface.kernels.compile import called, inlined, kernel
from coalface.kernels.draws import uniform
from coalface.kernels.implied import learn_settled
from coalface.kernels.online import has_room, learn_known
from coalface.kernels.regression import clipped, gather
from coalface.kernels.rounds import close_served, forget_known_parts, set_candidates
from coalface.kernels.row_decisions import predict_row, range_row
from coalface.kernels.state import (
    F32,
    F64,
    I64,
    NOT_A_CANDIDATE,
    ROUND,
    SETTLED,
    Bool,
    Counted,
    Csr,
    Model,
    RoundArrays,
    Scratch,
    Settings,
)
from coalface.kernels.stopping import reset_saving

_DRAW = 3  # of a round's random numbers; audits and turns use those before it
_ONE = np.float32(1.0)


@inlined
def _expected(counts: Counted, scratch: Scratch, label: int) -> np.float32:
    """The cost that serving expects of a label: its prediction, with one more seen cost, of nothing."""
    seen = np.float32(counts.answered[label])
    return clipped(scratch.predicted[label]) * (seen / (seen + _ONE))


@inlined
def _is_contender(counts: Counted, scratch: Scratch, label: int, guaranteed_cost: np.float32) -> bool:
    """Whether a label could be best; one without any seen cost always could."""
    could_be = scratch.lowest[label] <= guaranteed_cost or counts.answered[label] == 0
    return bool(scratch.candidates[label] and could_be)


@called
def _choose_label(counts: Counted, settings: Settings, scratch: Scratch, round_number: int, exploration: float) -> int:
    """The label to serve, drawn with the chances written to ``propensity``; -1 if there is no candidate.

    The predictions, ranges and candidates of the row must be in scratch.
    """
    candidates, highest, chance = scratch.candidates, scratch.highest, scratch.propensity
    guaranteed_cost = np.float32(np.inf)
    for k in range(settings.n_labels):
        chance[k] = 0.0
        if candidates[k] and counts.answered[k] > 0:
            guaranteed_cost = min(guaranteed_cost, highest[k])
    best, n_contenders = -1, 0
    for k in range(settings.n_labels):
        if _is_contender(counts, scratch, k, guaranteed_cost):
            n_contenders += 1
            if best < 0 or _expected(counts, scratch, k) < _expected(counts, scratch, best):
                best = k
    if best < 0:
        return best
    least, rest = np.float64(_expected(counts, scratch, best)), 1.0
    for k in range(settings.n_labels):
        if k != best and _is_contender(counts, scratch, k, guaranteed_cost):
            gap = np.float64(_expected(counts, scratch, k)) - least
            chance[k] = exploration / (n_contenders * (exploration + round_number * gap)) if exploration > 0.0 else 0.0
            rest -= chance[k]
    chance[best] = rest
    left = uniform(settings.seed, round_number, _DRAW)
    for k in range(settings.n_labels):
        left -= chance[k]
        if left < 0.0 and chance[k] > 0.0:
            return k
    return best


@kernel
def choose_rows(
    counts: Counted,
    settings: Settings,
    scratch: Scratch,
    first_round: int,
    rounds: RoundArrays,
    exploration: float,
    labels: I64,
) -> None:
    """Write the label to serve on each row to ``labels``; reads predictions, ranges and candidates of ``rounds``.

    Writes the chance of every label to ``rounds.propensity``.
    """
    for row in range(labels.shape[0]):
        set_candidates(settings, scratch, rounds.candidates, row)
        for k in range(settings.n_labels):
            scratch.predicted[k] = rounds.predicted[row, k]
            scratch.lowest[k] = rounds.lowest[row, k]
            scratch.highest[k] = rounds.highest[row, k]
        labels[row] = _choose_label(counts, settings, scratch, first_round + row, exploration)
        for k in range(settings.n_labels):
            rounds.propensity[row, k] = scratch.propensity[k]


@kernel
def close_served_rows(counts: Counted, n_rows: int) -> None:
    """Count served labels and close their rounds, for models that have learned their costs already."""
    for _ in range(n_rows):
        close_served(counts.counters)
    reset_saving(counts.saving)


@inlined
def _can_imply(model: Model) -> bool:
    """Whether bought costs have tested what an answer implies for other labels: see ``kernels.implied``."""
    if model.implied.shape[0] == 0:
        return False
    for tests in model.trust.flat:  # noqa: SIM110 (a generator would not compile)
        if tests > 0.0:
            return True
    return False


@called
def _observe_row(model: Model, settings: Settings, scratch: Scratch, n: int, label: int, cost: np.float32) -> None:
    """Learn the cost of the served label of a predicted row, and what it implies, then close the round.

    One cost does not show which label is best, so that the counts of best labels stay as they are.
    """
    costs, reasons = scratch.costs, scratch.reasons
    for k in range(settings.n_labels):
        costs[k] = np.float32(np.nan)
        reasons[k] = NOT_A_CANDIDATE
    costs[label] = cost
    if _can_imply(model):
        range_row(model, settings, scratch, n, model.counters[ROUND])
        for k in range(settings.n_labels):
            if k != label and scratch.candidates[k] and scratch.lowest[k] >= cost:
                reasons[k] = SETTLED
        learn_settled(model, settings, scratch, n)
    learn_known(model, settings, scratch, n, False)
    reset_saving(model.saving)
    close_served(model.counters)


@kernel
def observe_rows(
    model: Model, settings: Settings, scratch: Scratch, rows: Csr, candidates: Bool, labels: I64, costs: F32, start: int
) -> int:
    """Learn the cost (n,) of the served label of each row, beginning at row ``start``, and close its round.

    Returns the first row that the model has no room for, or the number of rows.
    """
    n_rows = rows.indptr.shape[0] - 1
    forget_known_parts(scratch)
    for row in range(start, n_rows):
        n = gather(model, settings, scratch, rows, row)
        if not has_room(model, scratch, n):
            return row
        set_candidates(settings, scratch, candidates, row)
        predict_row(model, settings, scratch, n)
        _observe_row(model, settings, scratch, n, labels[row], costs[row])
    return int(n_rows)


@kernel
def serve_rows(
    model: Model,
    settings: Settings,
    scratch: Scratch,
    rows: Csr,
    given: RoundArrays,
    order: I64,
    span: tuple[int, int],
    exploration: float,
    labels: I64,
    chances: F64,
) -> int:
    """Choose a label and learn its cost for the rows of ``order`` in ``span``; returns the first position not done.

    Writes the served labels and their chances by position. A row that the model has no room for ends the loop.
    """
    candidates, costs = given.candidates, given.costs
    forget_known_parts(scratch)
    for position in range(span[0], span[1]):
        row = order[position]
        n = gather(model, settings, scratch, rows, row)
        if not has_room(model, scratch, n):
            return position
        set_candidates(settings, scratch, candidates, row)
        predict_row(model, settings, scratch, n)
        round_number = model.counters[ROUND]
        range_row(model, settings, scratch, n, round_number)
        label = _choose_label(model, settings, scratch, round_number, exploration)
        labels[position] = label
        chances[position] = scratch.propensity[label]
        _observe_row(model, settings, scratch, n, label, costs[row, label])
    return span[1]
