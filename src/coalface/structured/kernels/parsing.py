"""The dependency parser's loops: parse sentences, or learn from the costs of moves in the states that the policy meets.

The dynamic oracle gives the cost of every action in closed form, so that no tree is completed. Asking and learning are
those of ``kernels.online``; states with a single possible action are skipped.
"""

from typing import NamedTuple

import numpy as np

from coalface.kernels import (
    F32,
    F64,
    I32,
    I64,
    INTERCEPT,
    SLOTS_USED,
    Bool,
    Model,
    Scratch,
    Settings,
    best_answer,
    called,
    decide_and_answer,
    find_slot_from,
    first_place,
    forget_known_parts,
    kernel,
    learn_row,
    prefetch_ahead,
)
from coalface.kernels.prefetch import prefetch
from coalface.structured.kernels.paid_costs import PaidCosts, can_store, pay, state_key
from coalface.structured.kernels.parse_columns import StateRow, Templates, write_columns
from coalface.structured.kernels.parse_state import (
    HEADS,
    LABELS,
    N_MOVES,
    NO_WORD,
    ParserActions,
    Treebank,
    begin,
    find_losses,
    find_reference,
    is_done,
    possible_kinds,
    take,
)


class Losses(NamedTuple):
    """What mistakes lose: a wrong head 1, a wrong label ``wrong_label``.

    With ``imitates``, costs say no more than whether an action is the reference's own: 0 if it is, 1 if not.
    """

    wrong_label: float
    imitates: bool = False


class ParsingMemory(NamedTuple):
    """Working memory."""

    partial: I64
    row: StateRow
    arcs: I64  # (N_MOVES,) the true arcs that each move loses
    added: F64  # (K,) what each action adds to the loss
    costs: F32  # (K,)


@called
def _find_candidates(kinds: int, actions: ParserActions, candidates: Bool, n_actions: int) -> int:
    """Make the actions of some moves the candidates; returns the only one, or -1 if there are several."""
    of_move = actions.of_move
    for k in range(n_actions):
        candidates[k] = False
    n_found, last = 0, NO_WORD
    for move in range(N_MOVES):
        if kinds >> move & 1:
            possible = of_move[move]
            for k in range(n_actions):
                if possible[k]:
                    candidates[k] = True
                    n_found += 1
                    last = k
    return last if n_found == 1 else NO_WORD


@called
def _find_costs(added: F64, before: float, costs: F32) -> None:
    """Write the costs of all possible actions by what they add; rounded as in ``coalface.structured.rollouts``."""
    for k in range(costs.shape[0]):
        costs[k] = np.float32(min(max((before + added[k]) - before, 0.0), 1.0))


@called
def _find_disagreement(reference: int, costs: F32) -> None:
    """Write the cost 0 for the reference's action and 1 for all others."""
    for k in range(costs.shape[0]):
        costs[k] = np.float32(k != reference)


@called
def _gather(model: Model, settings: Settings, scratch: Scratch, given: I32) -> int:
    """Copy the columns of a row of ones to scratch, with their slots; returns their number, with the intercept.

    The places in the table are requested before any of them is read, which hides most of the wait for memory.
    """
    table, features, slots, columns = model.table, model.features, scratch.slots, scratch.columns
    n, size = given.shape[0], table.shape[0]
    for j in range(n):
        columns[j] = given[j]
        slots[j] = first_place(given[j], size)
        prefetch(table, slots[j])
    if settings.intercept:
        columns[n] = INTERCEPT
        slots[n] = first_place(INTERCEPT, size)
        n += 1
    for j in range(n):
        slots[j] = find_slot_from(table, features, columns[j], slots[j])
    return int(n)


@called
def _begin_rows(scratch: Scratch) -> None:
    """Begin a call in which all rows consist of ones."""
    forget_known_parts(scratch)
    for j in range(scratch.values.shape[0]):
        scratch.values[j] = np.float32(1.0)
        scratch.sizes[j] = np.float32(1.0)


@kernel
def learn_sentences(
    model: Model,
    settings: Settings,
    scratch: Scratch,
    treebank: Treebank,
    actions: ParserActions,
    templates: Templates,
    losses: Losses,
    memory: ParsingMemory,
    paid: PaidCosts,
    order: I64,
    done: I64,
    stop: int,
) -> None:
    """Roll in, ask and learn for the sentences ``order[done[0]:stop]``.

    ``done[0]`` is always the first position not done. It ends at ``stop``, or earlier before a sentence for which the
    model or the table of paid costs has no room.
    """
    partial, arcs, added, costs, n_actions = memory.partial, memory.arcs, memory.added, memory.costs, settings.n_labels
    candidates, kinds, only = scratch.candidates, 0, NO_WORD
    _begin_rows(scratch)
    for position in range(done[0], stop):
        sentence = order[position]
        first = treebank.starts[sentence]
        n_words = treebank.starts[sentence + 1] - first - 1
        if not _has_room(model, scratch, 2 * n_words * (templates.atoms.shape[0] + 1)):
            return
        if not can_store(paid, 2 * n_words):
            return
        begin(partial, n_words)
        lost = 0.0
        while not is_done(partial):
            before, kinds = kinds, possible_kinds(actions.system, partial)
            if kinds != before:
                only = _find_candidates(kinds, actions, candidates, n_actions)
            action = only
            find_losses(partial, kinds, actions, treebank, first, losses.wrong_label, arcs, added)
            if action == NO_WORD:
                write_columns(partial, treebank.codes, first, templates, memory.row)
                n = _gather(model, settings, scratch, memory.row.columns)
                if losses.imitates:
                    _find_disagreement(find_reference(partial, kinds, actions, treebank, first, arcs), costs)
                else:
                    _find_costs(added, lost, costs)
                n_asked = decide_and_answer(model, settings, scratch, n, costs)
                # as predicted before learning
                action = best_answer(settings, candidates, scratch.predicted, scratch.offset)
                learn_row(model, settings, scratch, n, costs, n_asked)
                if n_asked > 0:
                    pay(paid, state_key(partial, treebank.keys[sentence], lost), scratch.mask, n_actions)
            lost += added[action]
            take(actions.system, partial, actions.moves[action], actions.labels[action])
        done[0] = position + 1


@called
def _has_room(model: Model, scratch: Scratch, n_features: int) -> bool:
    """Whether this many unseen features fit into the model; writes their number to ``scratch.unseen``."""
    scratch.unseen[0] = n_features
    needed = model.counters[SLOTS_USED] + n_features
    return bool(needed <= model.features.shape[0] and needed * 4 <= model.table.shape[0] * 3)


@called
def _predict(weights: F32, slots: I64, n: int, predicted: F32) -> None:
    """Compute the raw predictions of all actions, where every feature has the value 1."""
    lanes = predicted.shape[0]
    for k in range(lanes):
        predicted[k] = np.float32(0.0)
    for j in range(n):
        prefetch_ahead(weights, slots, j, n, lanes, lanes)
        weight = weights[slots[j]]
        for k in range(lanes):
            predicted[k] += weight[k]


@kernel
def parse_sentences(
    model: Model,
    weights: F32,
    settings: Settings,
    scratch: Scratch,
    treebank: Treebank,
    actions: ParserActions,
    templates: Templates,
    memory: ParsingMemory,
    heads: I32,
    labels: I32,
) -> None:
    """Write the predicted head and label of every word; ``weights`` (slots, lanes) replace those of the model."""
    partial, n_actions = memory.partial, settings.n_labels
    candidates, kinds, only = scratch.candidates, 0, NO_WORD
    _begin_rows(scratch)
    for sentence in range(treebank.starts.shape[0] - 1):
        first = treebank.starts[sentence]
        n_words = treebank.starts[sentence + 1] - first - 1
        begin(partial, n_words)
        while not is_done(partial):
            before, kinds = kinds, possible_kinds(actions.system, partial)
            if kinds != before:
                only = _find_candidates(kinds, actions, candidates, n_actions)
            action = only
            if action == NO_WORD:
                write_columns(partial, treebank.codes, first, templates, memory.row)
                n = _gather(model, settings, scratch, memory.row.columns)
                _predict(weights, scratch.slots, n, scratch.predicted)
                action = best_answer(settings, candidates, scratch.predicted, scratch.offset)
            take(actions.system, partial, actions.moves[action], actions.labels[action])
        for word in range(1, n_words + 1):
            heads[first + word] = partial[HEADS, word]
            labels[first + word] = partial[LABELS, word]
