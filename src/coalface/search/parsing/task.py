"""Dependency parsing as a search task: labelled arc-hybrid moves, with the dynamic oracle as reference."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from coalface.data.formats.conllu import Tree
from coalface.errors import InputError
from coalface.search.parsing.arc_hybrid import LEFT, NO_WORD, RIGHT, SHIFT, Parse, arcs_lost, check_tree, projectivize
from coalface.search.parsing.parse_features import parse_features
from coalface.search.task import Action, SearchTask


@dataclass(frozen=True)
class _ParseState:
    """A partial tree of a sentence, the true heads if known, and the loss so far."""

    tree: Tree
    parse: Parse
    heads: tuple[int, ...] | None  # the true ones, projectivized, by word; index 0 for the root
    lost: float = 0.0


class ParsingTask(SearchTask[Tree, _ParseState]):
    """Builds a dependency tree by the moves "shift", "left:LABEL" and "right:LABEL".

    A wrong head costs 1, a wrong label costs ``wrong_label``. That holds at a wrong head too, if the true label can be
    given there: a wrong label that costs nothing would be learned as a good one. Roll-outs are cheap: the dynamic
    oracle says what a move loses, without completing the tree. Trees with crossing arcs are projectivized first.

    >>> tree = Tree(("cats", "sleep"), ("NOUN", "VERB"), heads=(2, 0), labels=("nsubj", "root"))
    >>> task = ParsingTask.of([tree])
    >>> task.actions
    ['shift', 'left:nsubj', 'right:nsubj', 'right:root']
    >>> after_shift = task.step(task.start(tree), "shift")
    >>> task.reference(after_shift), task.rollout(after_shift, "shift")
    ('left:nsubj', 2.0)
    """

    def __init__(
        self,
        labels: Sequence[str],
        root_labels: Sequence[str] = ("root",),
        wrong_label: float = 0.5,
        scale: float = 2.0,
    ) -> None:
        self.scale, self.wrong_label = scale, wrong_label
        lefts, rights = ([f"{move}:{label}" for label in labels] for move in (LEFT, RIGHT))
        roots = [f"{RIGHT}:{label}" for label in root_labels]
        actions = list(dict.fromkeys([SHIFT, *lefts, *rights, *roots]))
        self.actions = actions
        self._of_move = {SHIFT: [SHIFT], LEFT: lefts, RIGHT: rights, "root": roots}
        self._labelled = {kind: frozenset(found) for kind, found in self._of_move.items()}
        self._parts: dict[Action, tuple[str, str]] = {action: _parts_of(action) for action in actions}

    @classmethod
    def of(cls, trees: Iterable[Tree], wrong_label: float = 0.5, scale: float = 2.0) -> "ParsingTask":
        """The task for a treebank, with its labels."""
        labels: set[str] = set()
        root_labels: set[str] = set()
        for number, tree in enumerate(trees):
            try:
                check_tree(tree)
            except InputError as problem:
                raise InputError(f"Tree {number}: {problem}") from None
            for head, label in zip(tree.heads, tree.labels, strict=True):
                (labels if head else root_labels).add(label)
        if not root_labels:
            raise InputError("trees must contain at least one tree, got none.")
        return cls(sorted(labels), sorted(root_labels), wrong_label, scale)

    def start(self, example: Tree) -> _ParseState:
        """The state before any word has a head."""
        if not len(example) or len(example.tags) != len(example):
            n_tags = len(example.tags)
            raise InputError(f"a sentence must have words and one tag per word, got {len(example)} and {n_tags}.")
        heads = None
        if example.heads or example.labels:
            check_tree(example)
            heads = tuple(projectivize((NO_WORD, *example.heads)))
        return _ParseState(example, Parse.empty(len(example)), heads)

    def finished(self, state: _ParseState) -> bool:
        """Whether every word has a head."""
        return state.parse.done

    def allowed(self, state: _ParseState) -> list[str]:
        """The possible moves with their labels."""
        found: list[str] = []
        for move in state.parse.moves():
            found += self._of_move[SHIFT if move == SHIFT else _kind(move, state.parse.arc(move)[0])]
        return found

    def step(self, state: _ParseState, action: Action) -> _ParseState:
        """The partial tree after a move."""
        lost = state.lost if state.heads is None else self.rollout(state, action)
        return replace(state, parse=state.parse.after(*self._parts[action]), lost=lost)

    def features(self, state: _ParseState) -> dict[str, float]:
        """Words and tags at the top of the stack and the next words, and their dependents."""
        return dict.fromkeys(parse_features(state.tree, state.parse), 1.0)

    def reference(self, state: _ParseState) -> str:
        """A move that loses the fewest true arcs, with its true label."""
        heads = _true_heads(state)
        losses = {move: arcs_lost(state.parse, move, heads) for move in reversed(state.parse.moves())}
        move = min(losses, key=losses.__getitem__)  # in a tie, an arc before a shift
        return SHIFT if move == SHIFT else self._with_true_label(state, move)

    def loss(self, state: _ParseState) -> float:
        """The cost of all wrong heads and wrong labels."""
        _true_heads(state)
        return state.lost

    def rollout(self, state: _ParseState, action: Action) -> float:
        """The loss after a move if every arc that is still reachable is found."""
        heads, (move, label) = _true_heads(state), self._parts[action]
        lost = float(arcs_lost(state.parse, move, heads))
        if move != SHIFT:
            head, word = state.parse.arc(move)
            truth = state.tree.labels[word - 1]
            lost += self.wrong_label * (label != truth and (heads[word] == head or self._can_be(move, head, truth)))
        return state.lost + lost

    def reference_loss(self, state: _ParseState) -> float:
        """The loss so far: the reference loses nothing more."""
        return state.lost

    def output(self, state: _ParseState) -> Tree:
        """The sentence with predicted heads and labels."""
        return replace(state.tree, heads=state.parse.heads[1:], labels=state.parse.labels[1:])

    def _with_true_label(self, state: _ParseState, move: str) -> str:
        """The move with the word's true label, or with any label if the true one does not go with this move."""
        head, word = state.parse.arc(move)
        truth = state.tree.labels[word - 1]
        return f"{move}:{truth}" if self._can_be(move, head, truth) else self._of_move[_kind(move, head)][0]

    def _can_be(self, move: str, head: int, label: str) -> bool:
        """Whether an arc of this move may have this label."""
        return f"{move}:{label}" in self._labelled[_kind(move, head)]


class Attachment(NamedTuple):
    """The share of words with the right head, and with the right head and label."""

    unlabelled: float
    labelled: float


def attachment_scores(truth: Iterable[Tree], predicted: Iterable[Tree]) -> Attachment:
    """The attachment scores UAS and LAS; punctuation counts.

    >>> tree = Tree(("cats", "sleep"), ("NOUN", "VERB"), heads=(2, 0), labels=("nsubj", "root"))
    >>> attachment_scores([tree], [replace(tree, labels=("obj", "root"))])
    Attachment(unlabelled=1.0, labelled=0.5)
    """
    n_words = n_heads = n_both = 0
    for wanted, got in zip(truth, predicted, strict=True):
        right = [mine == theirs for mine, theirs in zip(wanted.heads, got.heads, strict=True)]
        labels = zip(right, wanted.labels, got.labels, strict=True)
        n_words += len(right)
        n_heads += sum(right)
        n_both += sum(head and mine == theirs for head, mine, theirs in labels)
    if not n_words:
        raise InputError("attachment scores need at least one word, got none.")
    return Attachment(n_heads / n_words, n_both / n_words)


def _kind(move: str, head: int) -> str:
    """The kind of an arc, which decides what labels it may have."""
    return move if head else "root"


def _parts_of(action: str) -> tuple[str, str]:
    move, _, label = action.partition(":")
    return move, label


def _true_heads(state: _ParseState) -> tuple[int, ...]:
    if state.heads is None:
        raise InputError("a tree must have heads to be learned or scored, got only words. Pass heads and labels.")
    return state.heads
