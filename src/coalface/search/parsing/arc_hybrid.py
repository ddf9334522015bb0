"""The arc-hybrid transition system with its dynamic oracle: a dependency tree from 2 n moves.

Words wait in a row; those begun lie on a stack whose bottom is the root 0. ``shift`` puts the next word on the stack,
``left`` hangs the top of the stack on the next word, ``right`` on the one below it; both take it off. Only one word may
hang on the root, at the very end. The oracle knows, in any state, how many true arcs a move puts out of reach (Goldberg
and Nivre, 2013): that is exact where the true tree is projective, that is, drawn above the words without crossings.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from coalface.data.formats.conllu import Tree, reaches_root
from coalface.errors import InputError

SHIFT, LEFT, RIGHT = "shift", "left", "right"
NO_WORD = -1


@dataclass(frozen=True)
class Parse:
    """A partial tree: the stack, the next word (from 1), and of each word its head, label and outermost dependents."""

    stack: tuple[int, ...]
    next: int
    heads: tuple[int, ...]  # by word, place 0 for the root; NO_WORD where there is none yet
    labels: tuple[str, ...]
    leftmost: tuple[int, ...]
    rightmost: tuple[int, ...]

    @classmethod
    def of(cls, n_words: int) -> "Parse":
        """Nothing is decided yet.

        >>> Parse.of(3).moves()
        ['shift']
        """
        none = (NO_WORD,) * (n_words + 1)
        return cls((0,), 1, none, ("",) * (n_words + 1), none, none)

    @property
    def waiting(self) -> bool:
        """Whether there is a next word."""
        return self.next < len(self.heads)

    @property
    def done(self) -> bool:
        """Whether every word has its head."""
        return not self.waiting and len(self.stack) == 1

    def moves(self) -> list[str]:
        """The moves that are possible."""
        on_word = len(self.stack) > 2
        possible = [(SHIFT, self.waiting), (LEFT, self.waiting and len(self.stack) > 1)]
        possible += [(RIGHT, on_word or (len(self.stack) == 2 and not self.waiting))]
        return [move for move, can in possible if can]

    def arc(self, move: str) -> tuple[int, int]:
        """The head and the dependent that ``left`` or ``right`` joins."""
        return (self.next if move == LEFT else self.stack[-2]), self.stack[-1]

    def after(self, move: str, label: str = "") -> "Parse":
        """The partial tree after a move.

        >>> Parse.of(2).after(SHIFT).after(LEFT, "nsubj").heads
        (-1, 2, -1)
        """
        if move == SHIFT:
            return replace(self, stack=(*self.stack, self.next), next=self.next + 1)
        head, word = self.arc(move)
        return Parse(
            stack=self.stack[:-1],
            next=self.next,
            heads=_put(self.heads, word, head),
            labels=(*self.labels[:word], label, *self.labels[word + 1 :]),
            leftmost=_put(self.leftmost, head, word) if move == LEFT else self.leftmost,  # the last is the outermost
            rightmost=_put(self.rightmost, head, word) if move == RIGHT else self.rightmost,
        )


def arcs_lost(parse: Parse, move: str, heads: Sequence[int]) -> int:
    """How many arcs of the true tree could still be found before the move and cannot afterwards.

    ``heads`` are the true ones by word, place 0 for the root.

    >>> arcs_lost(Parse.of(2).after(SHIFT), LEFT, heads=[-1, 0, 1])  # 1 is the root, 2 hangs on it
    2
    """
    stack, next_word = parse.stack, parse.next
    if move == SHIFT:
        return int(heads[next_word] in stack[:-1]) + sum(heads[word] == next_word for word in stack[1:])
    top = stack[-1]
    later = next_word + 1 if move == LEFT else next_word
    lost_head = heads[top] >= later or (move == LEFT and heads[top] == stack[-2])
    return int(lost_head) + sum(heads[word] == top for word in range(next_word, len(heads)))


def projective(heads: Sequence[int]) -> list[int]:
    """The true tree without crossings: words are hung on their head's head until their arcs cross no other.

    ``heads`` are by word, place 0 for the root; of the arcs that cross others, the shortest is lifted first.

    >>> projective([-1, 2, 0, 1])  # the arc from 1 to 3 goes over the root, 2
    [-1, 2, 0, 2]
    """
    found = list(heads)
    while crossing := [word for word in range(1, len(found)) if _covers_stranger(found, word)]:
        word = min(crossing, key=lambda each: (abs(found[each] - each), each))
        found[word] = found[found[word]]
    return found


def check_tree(tree: Tree) -> None:
    """Raise an InputError unless every word has a head and a label, and hangs on the root by way of one word.

    >>> check_tree(Tree(("cats", "sleep"), ("NOUN", "VERB"), heads=(2, 0), labels=("nsubj", "root")))
    """
    n_words, heads = len(tree), tree.heads
    for name, values in (("heads", heads), ("labels", tree.labels)):
        if len(values) != n_words:
            raise InputError(f"{name} of a tree must be one per word, got {len(values)} for {n_words} words.")
    for word, head in enumerate(heads, start=1):
        if not isinstance(head, int | np.integer) or not 0 <= head <= n_words:
            raise InputError(f"a head must be a number from 0 to {n_words}, got {head!r} for word {word}.")
    roots = sum(head == 0 for head in heads)
    if roots != 1:
        raise InputError(f"one word must hang on the root, got {roots}. Repair the tree or leave it out.")
    for word in range(1, n_words + 1):
        if not reaches_root(heads, word):
            raise InputError(f"every word must hang on the root, the heads of word {word} run in a circle.")


def _covers_stranger(heads: list[int], word: int) -> bool:
    """Whether there is a word under the arc of this one that does not hang, directly or not, on the arc's head."""
    head = heads[word]
    for between in range(min(head, word) + 1, max(head, word)):
        above = between
        while above not in (0, head, NO_WORD):
            above = heads[above]
        if above != head:
            return True
    return False


def _put(values: tuple[int, ...], place: int, value: int) -> tuple[int, ...]:
    return (*values[:place], value, *values[place + 1 :])
