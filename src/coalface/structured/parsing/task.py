"""Dependency parsing as a search task: the moves, features and costs of ``DependencyParser``."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.data import Tree, finite_number
from coalface.errors import InputError
from coalface.structured.kernels.paid_costs import state_key
from coalface.structured.kernels.parse_columns import new_state_row, write_columns
from coalface.structured.kernels.parse_state import (
    HEADS,
    LABELS,
    N_MOVES,
    Treebank,
    begin,
    find_losses,
    find_reference,
    is_done,
    new_partial,
    possible_kinds,
    take,
)
from coalface.structured.parsing.grammar import Grammar, labels_of
from coalface.structured.parsing.treebank import check_sentence, checked_trees, treebank_of
from coalface.structured.task import Action, RollOut, SearchTask

_UNITS = float(1 << 20)  # of losses, as in coalface.structured.kernels.paid_costs


@dataclass(frozen=True, eq=False)
class _ParseState:
    """A partial tree of a sentence, as the kernels write it, and the loss so far."""

    tree: Tree
    sentence: Treebank  # of this sentence alone; without true heads, it has no key
    partial: NDArray[np.int64]
    lost: float = 0.0


class ParsingTask(SearchTask[Tree, _ParseState]):
    """Builds a dependency tree by the moves "shift", "left:LABEL" and "right:LABEL", and "reduce" in arc-eager.

    A wrong head costs 1, a wrong label costs ``wrong_label``. That holds at a wrong head too, if the true label can be
    given there: a wrong label that costs nothing would be learned as a good one. Roll-outs are cheap: the dynamic
    oracle says what a move loses, without completing the tree. Trees with crossing arcs are projectivized first.

    >>> tree = Tree(("cats", "sleep"), ("NOUN", "VERB"), heads=(2, 0), labels=("nsubj", "root"))
    >>> task = ParsingTask.of([tree])
    >>> task.actions
    ['shift', 'left:nsubj', 'right:nsubj', 'right:root', 'reduce']
    >>> after_shift = task.step(task.start(tree), "shift")
    >>> task.reference(after_shift), task.rollout(after_shift, "shift")
    ('left:nsubj', 2.0)
    """

    charges_every_mistake = True

    def __init__(
        self,
        labels: Sequence[str],
        root_labels: Sequence[str] = ("root",),
        wrong_label: float = 1.0,
        scale: float = 1.0,
        system: str = "arc-eager",
        hash_bits: int = 14,
    ) -> None:
        self.scale, self.wrong_label, self._charge = scale, wrong_label, loss_of_label(wrong_label)
        self.roll_out = best_roll_out(wrong_label, scale)
        self._grammar = Grammar.checked(system, labels, root_labels, hash_bits)
        self.system, self.hash_bits = self._grammar.system, self._grammar.bits
        self._moves, self._templates = self._grammar.actions, self._grammar.templates
        self.actions = self._grammar.names
        self._number: dict[Action, int] = {action: number for number, action in enumerate(self.actions)}
        self._allowed: dict[int, list[Action]] = {}  # by the possible moves

    @classmethod
    def of(
        cls,
        trees: Iterable[Tree],
        wrong_label: float = 1.0,
        scale: float = 1.0,
        system: str = "arc-eager",
        hash_bits: int = 14,
    ) -> "ParsingTask":
        """The task for a treebank, with its labels."""
        return cls(*labels_of(checked_trees(trees, with_heads=True)), wrong_label, scale, system, hash_bits)

    def start(self, example: Tree) -> _ParseState:
        """The state before any word has a head."""
        check_sentence(example)
        sentence = treebank_of([example], self._grammar.all_labels, learned=len(example.heads) > 0)
        partial = new_partial(len(example))
        begin(partial, len(example))
        return _ParseState(example, sentence, partial)

    def finished(self, state: _ParseState) -> bool:
        """Whether every word has a head."""
        return is_done(state.partial)

    def allowed(self, state: _ParseState) -> list[Action]:
        """The possible moves with their labels."""
        kinds = possible_kinds(self._moves.system, state.partial)
        if kinds not in self._allowed:
            of_move = self._moves.of_move[[bool(kinds >> move & 1) for move in range(N_MOVES)]]
            self._allowed[kinds] = [self.actions[k] for k in np.flatnonzero(of_move.any(axis=0)).tolist()]
        return self._allowed[kinds]

    def step(self, state: _ParseState, action: Action) -> _ParseState:
        """The partial tree after a move."""
        lost = self.rollout(state, action) if len(state.sentence.keys) else state.lost
        number, partial = self._number[action], state.partial.copy()
        take(self._moves.system, partial, int(self._moves.moves[number]), int(self._moves.labels[number]))
        return replace(state, partial=partial, lost=lost)

    def features(self, state: _ParseState) -> dict[int, float]:
        """The features of ``DependencyParser``: words, tags, dependents and more at the stack and the next words."""
        row = new_state_row(self._templates)
        write_columns(state.partial, state.sentence.codes, 0, self._templates, row)
        return dict.fromkeys(row.columns.tolist(), 1.0)

    def reference(self, state: _ParseState) -> Action:
        """A move that loses the fewest true arcs, with its true label."""
        return self.actions[self._oracle(state)[1]]

    def loss(self, state: _ParseState) -> float:
        """The cost of all wrong heads and wrong labels."""
        _check_learned(state)
        return state.lost

    def rollout(self, state: _ParseState, action: Action) -> float:
        """The loss after a move if every arc that is still reachable is found."""
        return state.lost + float(self._oracle(state)[0][self._number[action]])

    def reference_loss(self, state: _ParseState) -> float:
        """The loss so far: the reference loses nothing more."""
        return state.lost

    def key(self, state: _ParseState) -> Hashable:
        """What the losses of all actions depend on, so that later passes use the roll-outs of earlier ones."""
        keys = state.sentence.keys
        return int(state_key(state.partial, keys[0], state.lost)) if len(keys) else None

    def output(self, state: _ParseState) -> Tree:
        """The sentence with predicted heads and labels."""
        words, names = slice(1, len(state.tree) + 1), self._grammar.all_labels
        labels = tuple(names[number] for number in state.partial[LABELS, words])
        return replace(state.tree, heads=tuple(state.partial[HEADS, words].tolist()), labels=labels)

    def _oracle(self, state: _ParseState) -> tuple[NDArray[np.float64], int]:
        """What each possible action adds to the loss, and the reference's action."""
        _check_learned(state)
        arcs, added = np.zeros(N_MOVES, np.int64), np.zeros(len(self.actions))
        kinds = possible_kinds(self._moves.system, state.partial)
        where = (state.partial, kinds, self._moves, state.sentence, 0)
        find_losses(*where, self._charge, arcs, added)
        return added, find_reference(*where, arcs)


def loss_of_label(wrong_label: Any, most: float = inf) -> float:
    """What a wrong label loses, as a multiple of 2^-20: sums are then exact, so equal losses make equal keys of states.

    >>> loss_of_label(0.3) + 0.3 == loss_of_label(0.3) * 2, 3 * loss_of_label(0.3) + 1 - 1 == 3 * loss_of_label(0.3)
    (False, True)
    """
    return round(finite_number("wrong_label", wrong_label, 0.0, most) * _UNITS) / _UNITS


def best_roll_out(wrong_label: float, scale: float = 1.0) -> RollOut:
    """What a parser learns from: whether an action is the reference's own, unless mistakes have different costs.

    Often several moves lose nothing, and the policy parses better if it learns one of them: see ``docs/parsing.md``.

    >>> best_roll_out(wrong_label=1.0), best_roll_out(wrong_label=0.5)
    ('none', 'reference')
    """
    return "none" if wrong_label == scale == 1.0 else "reference"


def _check_learned(state: _ParseState) -> None:
    if not len(state.sentence.keys):
        raise InputError("a tree must have heads to be learned or scored, got only words. Pass heads and labels.")
