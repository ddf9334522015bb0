"""The dependency parser's loops: parse sentences, or learn from the costs of moves in the states that the policy meets.

The dynamic oracle gives the cost of every action in closed form, so that no tree is completed. Asking and learning are
those of ``kernels.online``; states with a single possible action are skipped.
"""

from typing import NamedTuple

import numpy as np

from coalface.kernels.compile import called, kernel
from coalface.kernels.features import INTERCEPT, find_slot
from coalface.kernels.online import decide_and_answer, learn_row
from coalface.kernels.paid_costs import PaidCosts, can_store, pay, state_key
from coalface.kernels.parse_columns import StateRow, Templates, write_columns
from coalface.kernels.parse_state import (
    HEADS,
    LABELS,
    LEFT,
    N_MOVES,
    NO_WORD,
    RIGHT,
    ROOT,
    U64,
    Actions,
    arc_head,
    arc_word,
    arcs_lost,
    begin,
    is_done,
    is_possible,
    take,
)
from coalface.kernels.prefetch import AHEAD, LINE, prefetch
from coalface.kernels.regression import gather
from coalface.kernels.rounds import forget_known_parts
from coalface.kernels.rules import best_answer
from coalface.kernels.state import F32, F64, I32, I64, SLOTS_USED, Csr, Model, Scratch, Settings


class Treebank(NamedTuple):
    """Sentences one after another, each preceded by its root; a sentence's words have the numbers 1, 2, ..."""

    starts: I64  # (sentences + 1,) the root of each sentence
    codes: U64  # (words and roots, attributes)
    heads: I32  # (words and roots,) the true heads, without crossing arcs; unused by ``parse_sentences``
    labels: I32  # (words and roots,) the true labels; NO_WORD if it is not among the known ones
    keys: U64  # (sentences,) equal for equal sentences


class Losses(NamedTuple):
    """What mistakes lose: a wrong head 1, a wrong label ``wrong_label``; ``scale`` is the loss that costs 1.

    With ``imitates``, costs say no more than whether an action is the reference's own: 0 if it is, 1 if not.
    """

    wrong_label: float
    scale: float
    imitates: bool = False


class ParsingMemory(NamedTuple):
    """Working memory."""

    partial: I64
    row: StateRow
    values: F32  # (templates,) ones
    added: F64  # (K,) the loss that each action adds
    costs: F32  # (K,)


@called
def _find_candidates(system: int, partial: I64, actions: Actions, scratch: Scratch, n_actions: int) -> int:
    """Make the possible actions the candidates; returns the only one, or -1 if there are several."""
    candidates, of_move = scratch.candidates, actions.of_move
    for k in range(n_actions):
        candidates[k] = False
    n_found, last = 0, NO_WORD
    for move in range(N_MOVES):
        if is_possible(system, partial, move):
            possible = of_move[move]
            for k in range(n_actions):
                if possible[k]:
                    candidates[k] = True
                    n_found += 1
                    last = k
    return last if n_found == 1 else NO_WORD


@called
def _find_losses(
    system: int, partial: I64, actions: Actions, treebank: Treebank, first: int, wrong_label: float, added: F64
) -> None:
    """Write the loss that each action adds; those of impossible actions are not used."""
    moves, labels, of_move = actions.moves, actions.labels, actions.of_move
    for move in range(ROOT):
        kind = ROOT if move == RIGHT and is_possible(system, partial, ROOT) else move
        if not is_possible(system, partial, kind):
            continue
        lost = np.float64(arcs_lost(system, partial, move, treebank.heads, first))
        charge, truth = 0.0, NO_WORD
        if move in (LEFT, RIGHT):
            word = first + arc_word(system, partial, move)
            truth = treebank.labels[word]
            # where the true label cannot be given, all labels are equally wrong
            chargeable = treebank.heads[word] == arc_head(system, partial, move)
            for k in range(moves.shape[0]):
                chargeable |= of_move[kind, k] and labels[k] == truth
            charge = wrong_label if chargeable else 0.0
        for k in range(moves.shape[0]):
            if moves[k] == move:
                added[k] = lost + (charge if labels[k] != truth else 0.0)


@called
def _find_costs(added: F64, before: float, scale: float, costs: F32) -> None:
    """Write the costs of actions that add these losses; rounded as in ``coalface.search.rollouts``."""
    for k in range(added.shape[0]):
        costs[k] = np.float32(min(max(((before + added[k]) - before) / scale, 0.0), 1.0))


@called
def _find_reference(system: int, partial: I64, actions: Actions, treebank: Treebank, first: int) -> int:
    """The reference's action: it loses the fewest arcs, and has the true label or, where that cannot be, the first.

    In a tie an arc goes before a shift, as in ``coalface.search.parsing.task``.
    """
    chosen, chosen_kind, least = NO_WORD, NO_WORD, 0
    for move in range(ROOT):
        kind = ROOT if move == RIGHT and is_possible(system, partial, ROOT) else move
        if is_possible(system, partial, kind):
            lost = arcs_lost(system, partial, move, treebank.heads, first)
            if chosen == NO_WORD or lost <= least:
                chosen, chosen_kind, least = move, kind, lost
    truth = treebank.labels[first + arc_word(system, partial, chosen)] if chosen in (LEFT, RIGHT) else NO_WORD
    found = NO_WORD
    for k in range(actions.moves.shape[0]):
        if actions.of_move[chosen_kind, k] and (found == NO_WORD or actions.labels[k] == truth):
            found = k
    return found


@called
def _find_disagreement(reference: int, costs: F32) -> None:
    """Write the cost 0 for the reference's action and 1 for all others."""
    for k in range(costs.shape[0]):
        costs[k] = np.float32(k != reference)


@kernel
def learn_sentences(
    model: Model,
    settings: Settings,
    scratch: Scratch,
    treebank: Treebank,
    system: int,
    actions: Actions,
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
    partial, n_actions = memory.partial, settings.n_labels
    row = Csr(memory.row.indptr, memory.row.columns, memory.values)
    forget_known_parts(scratch)
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
            action = _find_candidates(system, partial, actions, scratch, n_actions)
            _find_losses(system, partial, actions, treebank, first, losses.wrong_label, memory.added)
            if action == NO_WORD:
                write_columns(partial, treebank.codes, first, templates, memory.row)
                n = gather(model, settings, scratch, row, 0)
                if losses.imitates:
                    _find_disagreement(_find_reference(system, partial, actions, treebank, first), memory.costs)
                else:
                    _find_costs(memory.added, lost, losses.scale, memory.costs)
                n_asked = decide_and_answer(model, settings, scratch, n, memory.costs)
                # as predicted before learning
                action = best_answer(settings, scratch.candidates, scratch.predicted, scratch.offset)
                learn_row(model, settings, scratch, n, memory.costs, n_asked)
                if n_asked > 0:
                    pay(paid, state_key(partial, treebank.keys[sentence], lost), scratch.mask, n_actions)
            lost += memory.added[action]
            take(system, partial, actions.moves[action], actions.labels[action])
        done[0] = position + 1


@called
def _has_room(model: Model, scratch: Scratch, n_features: int) -> bool:
    """Whether this many unseen features fit into the model; writes their number to ``scratch.unseen``."""
    scratch.unseen[0] = n_features
    needed = model.counters[SLOTS_USED] + n_features
    return bool(needed <= model.features.shape[0] and needed * 4 <= model.table.shape[0] * 3)


@called
def _predict(model: Model, weights: F32, settings: Settings, columns: I32, slots: I64, predicted: F32) -> None:
    """Compute the raw predictions of all actions, where every feature has the value 1."""
    table, features, lanes = model.table, model.features, predicted.shape[0]
    n = columns.shape[0]
    for j in range(n):
        slots[j] = find_slot(table, features, columns[j])
    if settings.intercept:
        slots[n] = find_slot(table, features, INTERCEPT)
        n += 1
    for k in range(lanes):
        predicted[k] = np.float32(0.0)
    for j in range(n):
        if j + AHEAD < n:
            ahead = slots[j + AHEAD] * lanes
            for offset in range(0, lanes, LINE):
                prefetch(weights, ahead + offset)
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
    system: int,
    actions: Actions,
    templates: Templates,
    memory: ParsingMemory,
    heads: I32,
    labels: I32,
) -> None:
    """Write the predicted head and label of every word; ``weights`` (slots, lanes) replace those of the model."""
    partial, n_actions = memory.partial, settings.n_labels
    forget_known_parts(scratch)
    for sentence in range(treebank.starts.shape[0] - 1):
        first = treebank.starts[sentence]
        n_words = treebank.starts[sentence + 1] - first - 1
        begin(partial, n_words)
        while not is_done(partial):
            action = _find_candidates(system, partial, actions, scratch, n_actions)
            if action == NO_WORD:
                write_columns(partial, treebank.codes, first, templates, memory.row)
                _predict(model, weights, settings, memory.row.columns, scratch.slots, scratch.predicted)
                action = best_answer(settings, scratch.candidates, scratch.predicted, scratch.offset)
            take(system, partial, actions.moves[action], actions.labels[action])
        for word in range(1, n_words + 1):
            heads[first + word] = partial[HEADS, word]
            labels[first + word] = partial[LABELS, word]
