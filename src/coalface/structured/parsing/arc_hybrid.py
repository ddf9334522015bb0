"""The arc-hybrid transition system with its dynamic oracle: a dependency tree of n words takes 2 n moves.

Unread words are in a buffer; words read but without a head are on a stack, whose bottom is the root 0. ``shift`` moves
the next word to the stack. ``left`` and ``right`` take the top word off the stack: its head becomes the next word
(``left``) or the word below it (``right``). Only one word, the last, may have the root as its head.

In any state the oracle knows how many true arcs a move makes unreachable (Goldberg and Nivre, 2013). It is exact if the
true tree is projective: its arcs, drawn above the words, do not cross.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from coalface.data.formats.conllu import Tree, reaches_root
from coalface.errors import InputError

SHIFT, LEFT, RIGHT = "shift", "left", "right"
NO_WORD = -1


@dataclass(frozen=True)
class Parse:
    """A partial tree: the stack, the next word (from 1), and each word's head and label."""

    stack: tuple[int, ...]
    next: int
    heads: tuple[int, ...]  # by word, index 0 for the root; NO_WORD where there is none yet
    labels: tuple[str, ...]

    @classmethod
    def empty(cls, n_words: int) -> Self:
        """The initial state: no word has a head.

        >>> Parse.empty(3).moves()
        ['shift']
        """
        return cls((0,), 1, (NO_WORD,) * (n_words + 1), ("",) * (n_words + 1))

    @property
    def has_next(self) -> bool:
        """Whether there is a next word."""
        return self.next < len(self.heads)

    @property
    def done(self) -> bool:
        """Whether every word has a head."""
        return not self.has_next and len(self.stack) == 1

    @property
    def named_stack(self) -> tuple[int, ...]:
        """The stack as it decides on the moves and what they lose."""
        return self.stack

    def moves(self) -> list[str]:
        """The possible moves."""
        on_word = len(self.stack) > 2
        possible = [(SHIFT, self.has_next), (LEFT, self.has_next and len(self.stack) > 1)]
        possible += [(RIGHT, on_word or (len(self.stack) == 2 and not self.has_next))]
        return [move for move, can in possible if can]

    def arc(self, move: str) -> tuple[int, int]:
        """The head and the dependent of the arc that ``left`` or ``right`` adds."""
        return (self.next if move == LEFT else self.stack[-2]), self.stack[-1]

    def after(self, move: str, label: str = "") -> Self:
        """The partial tree after a move.

        >>> Parse.empty(2).after(SHIFT).after(LEFT, "nsubj").heads
        (-1, 2, -1)
        """
        if move == SHIFT:
            return replace(self, stack=(*self.stack, self.next), next=self.next + 1)
        return replace(self._with_arc(*self.arc(move), label), stack=self.stack[:-1])

    def arcs_lost(self, move: str, heads: Sequence[int]) -> int:
        """How many arcs of the true tree are reachable before the move but not after it.

        ``heads`` are the true heads by word, index 0 for the root.

        >>> Parse.empty(2).after(SHIFT).arcs_lost(LEFT, heads=[-1, 0, 1])  # the root's word is 1, the head of 2
        2
        """
        stack, next_word = self.stack, self.next
        if move == SHIFT:
            return int(heads[next_word] in stack[:-1]) + sum(heads[word] == next_word for word in stack[1:])
        top = stack[-1]
        later = next_word + 1 if move == LEFT else next_word
        lost_head = heads[top] >= later or (move == LEFT and heads[top] == stack[-2])
        return int(lost_head) + sum(heads[word] == top for word in range(next_word, len(heads)))

    def dependents(self, word: int) -> tuple[list[int], list[int]]:
        """The words whose head is this one, on the left and on the right, the outermost first."""
        found = [child for child, head in enumerate(self.heads) if head == word]
        return [child for child in found if child < word], [child for child in reversed(found) if child > word]

    def _with_arc(self, head: int, word: int, label: str) -> Self:
        heads = (*self.heads[:word], head, *self.heads[word + 1 :])
        return replace(self, heads=heads, labels=(*self.labels[:word], label, *self.labels[word + 1 :]))


def projectivize(heads: Sequence[int]) -> list[int]:
    """The tree without crossing arcs: each crossing arc is lifted to its head's head until none crosses.

    ``heads`` are by word, index 0 for the root. The shortest crossing arc is lifted first.

    >>> projectivize([-1, 2, 0, 1])  # the arc from 1 to 3 crosses the arc from the root to 2
    [-1, 2, 0, 2]
    """
    found = list(heads)
    while crossing := [word for word in range(1, len(found)) if not _is_projective(found, word)]:
        word = min(crossing, key=lambda each: (abs(found[each] - each), each))
        found[word] = found[found[word]]
    return found


def check_tree(tree: Tree) -> None:
    """Raise an InputError unless the heads form one tree with one word at its root, and every word has a label.

    >>> check_tree(Tree(("cats", "sleep"), ("NOUN", "VERB"), heads=(2, 0), labels=("nsubj", "root")))
    """
    n_words, heads = len(tree), tree.heads
    for name, values in (("heads", heads), ("labels", tree.labels)):
        if len(values) != n_words:
            raise InputError(f"{name} of a tree must be one per word: {n_words} needed, got {len(values)}.")
    for word, head in enumerate(heads, start=1):
        if not isinstance(head, int | np.integer) or not 0 <= head <= n_words:
            raise InputError(f"a head must be a number from 0 to {n_words}, got {head!r} for word {word}.")
    for word, label in enumerate(tree.labels, start=1):
        if not is_text(label) or not label or "\0" in label:
            raise InputError(f"a label must be a text in Unicode, and not empty, got {label!r} for word {word}.")
    roots = sum(head == 0 for head in heads)
    if roots != 1:
        raise InputError(f"exactly one word must have head 0, got {roots}. Correct the tree or leave it out.")
    for word in range(1, n_words + 1):
        if not reaches_root(heads, word):
            raise InputError(f"heads must lead from every word to the root, those of word {word} form a cycle.")


def is_text(value: object) -> bool:
    """Whether a value is a text without half a surrogate pair, which could not be hashed."""
    if not isinstance(value, str):
        return False
    return value.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in value)


def _is_projective(heads: list[int], word: int) -> bool:
    """Whether all words under this word's arc descend from the arc's head."""
    head = heads[word]
    for between in range(min(head, word) + 1, max(head, word)):
        above = between
        while above not in (0, head, NO_WORD):
            above = heads[above]
        if above != head:
            return False
    return True
