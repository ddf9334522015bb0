"""Dependency parsing as a search task: the moves, features and costs of ``DependencyParser``."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Any

from coalface.data.formats.conllu import Tree
from coalface.data.numbers import finite_number
from coalface.errors import InputError
from coalface.structured.parsing.arc_eager import REDUCE, EagerParse
from coalface.structured.parsing.arc_hybrid import LEFT, NO_WORD, RIGHT, SHIFT, Parse, check_tree, projectivize
from coalface.structured.parsing.grammar import Grammar, check_bits, check_system, labels_of
from coalface.structured.parsing.parse_features import parse_columns
from coalface.structured.parsing.treebank import check_sentence, sentence_key, word_codes
from coalface.structured.task import Action, SearchTask

_UNITS = float(1 << 20)  # of losses, as in coalface.structured.kernels.paid_costs
_STARTS: dict[str, type[Parse]] = {"arc-hybrid": Parse, "arc-eager": EagerParse}


@dataclass(frozen=True)
class _ParseState:
    """A partial tree of a sentence, its features, the true heads if known, and the loss so far."""

    tree: Tree
    codes: tuple[tuple[int, ...], ...]
    parse: Parse
    heads: tuple[int, ...] | None  # the true ones, projectivized, by word; index 0 for the root
    key: int = 0  # of the sentence and its tree
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
        self.system, self.hash_bits = check_system(system), check_bits(hash_bits)
        grammar = Grammar(system, tuple(labels), tuple(root_labels), hash_bits)
        self.actions = grammar.names
        self._labels = grammar.all_labels
        lefts, rights = ([f"{move}:{label}" for label in labels] for move in (LEFT, RIGHT))
        roots = [f"{RIGHT}:{label}" for label in root_labels]
        self._of_move = {SHIFT: [SHIFT], LEFT: lefts, RIGHT: rights, "root": roots, REDUCE: [REDUCE]}
        self._labelled = {kind: frozenset(found) for kind, found in self._of_move.items()}
        self._parts: dict[Action, tuple[str, str]] = {action: _parts_of(action) for action in grammar.names}

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
        given = list(trees)
        if not given:
            raise InputError("trees must contain at least one tree, got none.")
        for number, tree in enumerate(given):
            try:
                check_tree(tree)
            except InputError as problem:
                raise InputError(f"Tree {number}: {problem}") from None
        return cls(*labels_of(given), wrong_label, scale, system, hash_bits)

    def start(self, example: Tree) -> _ParseState:
        """The state before any word has a head."""
        check_sentence(example)
        heads = tuple(projectivize((NO_WORD, *example.heads))) if len(example.heads) else None
        parse, key = _STARTS[self.system].empty(len(example)), 0 if heads is None else sentence_key(example)
        return _ParseState(example, tuple(word_codes(example)), parse, heads, key)

    def finished(self, state: _ParseState) -> bool:
        """Whether every word has a head."""
        return state.parse.done

    def allowed(self, state: _ParseState) -> list[str]:
        """The possible moves with their labels."""
        found: list[str] = []
        for move in state.parse.moves():
            found += self._of_move[self._kind(state.parse, move)]
        return found

    def step(self, state: _ParseState, action: Action) -> _ParseState:
        """The partial tree after a move."""
        lost = state.lost if state.heads is None else self.rollout(state, action)
        return replace(state, parse=state.parse.after(*self._parts[action]), lost=lost)

    def features(self, state: _ParseState) -> dict[int, float]:
        """The features of ``DependencyParser``: words, tags, dependents and more at the stack and the next words."""
        columns = parse_columns(state.parse, state.codes, self._labels, self.system, self.hash_bits)
        return dict.fromkeys(columns, 1.0)

    def reference(self, state: _ParseState) -> str:
        """A move that loses the fewest true arcs, with its true label."""
        heads = _true_heads(state)
        losses = {move: state.parse.arcs_lost(move, heads) for move in reversed(state.parse.moves())}
        move = min(losses, key=losses.__getitem__)  # in a tie, an arc before a shift
        return move if move in (SHIFT, REDUCE) else self._with_true_label(state, move)

    def loss(self, state: _ParseState) -> float:
        """The cost of all wrong heads and wrong labels."""
        _true_heads(state)
        return state.lost

    def rollout(self, state: _ParseState, action: Action) -> float:
        """The loss after a move if every arc that is still reachable is found."""
        heads, (move, label) = _true_heads(state), self._parts[action]
        lost = float(state.parse.arcs_lost(move, heads))
        if move in (LEFT, RIGHT):
            head, word = state.parse.arc(move)
            truth = state.tree.labels[word - 1]
            given = heads[word] == head or self._can_be(state.parse, move, truth)
            lost += self._charge * (label != truth and given)
        return state.lost + lost

    def reference_loss(self, state: _ParseState) -> float:
        """The loss so far: the reference loses nothing more."""
        return state.lost

    def key(self, state: _ParseState) -> Hashable:
        """What the losses of all actions depend on, so that later passes use the roll-outs of earlier ones."""
        return None if state.heads is None else (state.key, state.parse.named_stack, state.parse.next, state.lost)

    def output(self, state: _ParseState) -> Tree:
        """The sentence with predicted heads and labels."""
        return replace(state.tree, heads=state.parse.heads[1:], labels=state.parse.labels[1:])

    def _with_true_label(self, state: _ParseState, move: str) -> str:
        """The move with the word's true label, or with any label if the true one does not go with this move."""
        _, word = state.parse.arc(move)
        truth = state.tree.labels[word - 1]
        possible = self._of_move[self._kind(state.parse, move)]
        return f"{move}:{truth}" if self._can_be(state.parse, move, truth) else possible[0]

    def _can_be(self, parse: Parse, move: str, label: str) -> bool:
        """Whether an arc of this move may have this label."""
        return f"{move}:{label}" in self._labelled[self._kind(parse, move)]

    def _kind(self, parse: Parse, move: str) -> str:
        """The kind of a move, which decides what labels its arc may have."""
        return "root" if move == RIGHT and parse.arc(move)[0] == 0 else move


def loss_of_label(wrong_label: Any, most: float = inf) -> float:
    """What a wrong label loses, as a multiple of 2^-20: sums are then exact, so equal losses make equal keys of states.

    >>> loss_of_label(0.3) + 0.3 == loss_of_label(0.3) * 2, 3 * loss_of_label(0.3) + 1 - 1 == 3 * loss_of_label(0.3)
    (False, True)
    """
    return round(finite_number("wrong_label", wrong_label, 0.0, most) * _UNITS) / _UNITS


def best_roll_out(wrong_label: float, scale: float = 1.0) -> str:
    """What a parser learns from: whether an action is the reference's own, unless mistakes have different costs.

    Often several moves lose nothing, and the policy parses better if it learns one of them: see ``docs/parsing.md``.

    >>> best_roll_out(wrong_label=1.0), best_roll_out(wrong_label=0.5)
    ('none', 'reference')
    """
    return "none" if wrong_label == scale == 1.0 else "reference"


def _parts_of(action: str) -> tuple[str, str]:
    move, _, label = action.partition(":")
    return move, label


def _true_heads(state: _ParseState) -> tuple[int, ...]:
    if state.heads is None:
        raise InputError("a tree must have heads to be learned or scored, got only words. Pass heads and labels.")
    return state.heads
