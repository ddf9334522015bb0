"""Transition systems, their dynamic oracles and the features of a parser, written plainly to check the kernels.

**Arc-hybrid.** Unread words are in a buffer; words read but without a head are on a stack, whose bottom is the root 0.
``shift`` moves the next word to the stack. ``left`` and ``right`` take the top word off the stack: its head becomes the
next word (``left``) or the word below it (``right``). Only one word, the last, may have the root as its head.

**Arc-eager.** ``shift`` and ``left`` are those of arc-hybrid, but ``left`` needs a top word without a head. ``right``
gives the next word the top word as its head, and puts it on the stack; ``reduce`` takes a top word with a head off the
stack. If no word is left, ``right`` gives a top word without a head the word below it.

The oracle knows how many true arcs a move makes unreachable (Goldberg and Nivre, 2013).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

from coalface.data.formats.conllu import Tree
from coalface.structured.kernels.parse_columns import BLOCK_BITS
from coalface.structured.parsing.grammar import ATTRIBUTES, template_names
from coalface.structured.parsing.treebank import code_of

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
        """The initial state: no word has a head."""
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
        """The partial tree after a move."""
        if move == SHIFT:
            return replace(self, stack=(*self.stack, self.next), next=self.next + 1)
        return replace(self._with_arc(*self.arc(move), label), stack=self.stack[:-1])

    def arcs_lost(self, move: str, heads: Sequence[int]) -> int:
        """How many arcs of the true tree are reachable before the move but not after it.

        ``heads`` are the true heads by word, index 0 for the root.
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


def is_tree(heads):
    """Whether exactly one word has the root as its head, and every other word descends from it."""
    below = {0}
    for _ in heads:
        below |= {word for word, head in enumerate(heads, start=1) if head in below}
    return len(below) == len(heads) + 1 and heads.count(0) == 1


def projectivize(heads: Sequence[int]) -> list[int]:
    """The tree without crossing arcs: each crossing arc is lifted to its head's head until none crosses.

    ``heads`` are by word, index 0 for the root. The shortest crossing arc is lifted first.
    """
    found = list(heads)
    while crossing := [word for word in range(1, len(found)) if not _is_projective(found, word)]:
        word = min(crossing, key=lambda each: (abs(found[each] - each), each))
        found[word] = found[found[word]]
    return found


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


REDUCE = "reduce"


@dataclass(frozen=True)
class EagerParse(Parse):
    """A partial tree of the arc-eager system."""

    @property
    def named_stack(self) -> tuple[int, ...]:
        """The stack; a word that has a head is written as a negative number."""
        return tuple(word if self.heads[word] == NO_WORD else -word for word in self.stack)

    def moves(self) -> list[str]:
        """The possible moves."""
        if len(self.stack) == 1:
            return [SHIFT] if self.has_next else []
        has_head = self.heads[self.stack[-1]] != NO_WORD
        if not self.has_next:
            return [REDUCE] if has_head else [RIGHT]
        return [SHIFT, RIGHT, REDUCE] if has_head else [SHIFT, LEFT, RIGHT]

    def arc(self, move: str) -> tuple[int, int]:
        """The head and the dependent of the arc that ``left`` or ``right`` adds."""
        return (self.stack[-1], self.next) if move == RIGHT and self.has_next else super().arc(move)

    def after(self, move: str, label: str = "") -> Self:
        """The partial tree after a move."""
        if move == REDUCE:
            return replace(self, stack=self.stack[:-1])
        if move == RIGHT and self.has_next:
            added = self._with_arc(*self.arc(move), label)
            return replace(added, stack=(*self.stack, self.next), next=self.next + 1)
        return super().after(move, label)

    def arcs_lost(self, move: str, heads: Sequence[int]) -> int:
        """How many arcs of the true tree can be added before the move but not after it.

        An arc to a word that was read without its head counts as lost, though a last ``right`` may add it.
        """
        stack, next_word = self.stack, self.next
        if not self.has_next:
            return 0
        if move in (SHIFT, RIGHT):
            return self._heads_lost(move, heads) + sum(
                heads[word] == next_word and self.heads[word] == NO_WORD for word in stack[1:]
            )
        top = stack[-1]
        to_come = sum(heads[word] == top for word in range(next_word, len(heads)))
        if move == REDUCE:
            return to_come
        return to_come + (heads[top] > next_word or (heads[top] == 0 and len(stack) == 2))

    def _heads_lost(self, move: str, heads: Sequence[int]) -> int:
        """Whether the next word loses its true head."""
        truth, stack = heads[self.next], self.stack
        if truth == 0:
            return int(move == RIGHT or len(stack) > 1)  # the root's word must lie directly above it
        return int(truth in (stack if move == SHIFT else stack[:-1]) or (move == RIGHT and truth > self.next))


def word_codes(tree: Tree) -> list[tuple[int, ...]]:
    """The attributes of the root and of each word, as hashes in the order of ``ATTRIBUTES``."""
    missing = ("_",) * len(tree)
    lowered = [word.lower() for word in tree.words]
    columns = (lowered, tree.tags, tree.fine_tags or missing, tree.morphology or missing)
    hashed = [
        [code_of(attribute, value) for value in values] for attribute, values in zip(ATTRIBUTES, columns, strict=True)
    ]
    return [tuple(code_of(attribute, "\0root") for attribute in ATTRIBUTES), *zip(*hashed, strict=True)]


_64_BITS = (1 << 64) - 1
_GOLDEN = 0x9E3779B97F4A7C15


def parse_columns(
    parse: Parse,
    codes: Sequence[Sequence[int]],
    labels: Sequence[str],
    system: str,
    bits: int,
) -> list[int]:
    """The columns of a state's features; ``codes`` are the attributes of the root and of each word."""
    atoms = _atoms(parse, codes, labels)
    columns = []
    for number, names in enumerate(template_names(system)):
        hashed = 0
        for name in names:
            hashed = _mixed((hashed * _GOLDEN + atoms[name] + _GOLDEN) & _64_BITS)
        columns.append(number << BLOCK_BITS | hashed >> (64 - bits))
    return columns


def _atoms(parse: Parse, codes: Sequence[Sequence[int]], labels: Sequence[str]) -> dict[str, int]:
    """The value of every observation."""
    found = {}
    numbers = {label: number for number, label in enumerate(labels)}
    places = _positions(parse)
    for position, word in places.items():
        for attribute, name in enumerate(ATTRIBUTES):
            found[f"{position}.{name}"] = 0 if word == NO_WORD else codes[word][attribute]
        found[f"{position}.d"] = 0 if word == NO_WORD else numbers.get(parse.labels[word], -1) + 2
    found["s0b0"] = _distance(places["s0"], places["b0"])
    found["s1s0"] = _distance(places["s1"], places["s0"])
    for position in ("s0", "s1", "b0"):
        word = places[position]
        for side, children in zip("lr", parse.dependents(word) if word != NO_WORD else ((), ()), strict=True):
            bits = sum({1 << (numbers[parse.labels[child]] % 62) for child in children})
            found[f"{position}n{side}"] = 0 if word == NO_WORD else min(len(children), 4) + 1
            found[f"{position}s{side}"] = 0 if word == NO_WORD else bits + 1
    return found


def _positions(parse: Parse) -> dict[str, int]:
    """The word at each position, ``NO_WORD`` if there is none."""
    n_words = len(parse.heads) - 1
    stack = (NO_WORD, NO_WORD, *parse.stack)
    places = {f"s{depth}": stack[-1 - depth] for depth in range(3)}
    ahead = range(parse.next, parse.next + 4)
    places |= {f"b{number}": word if word <= n_words else NO_WORD for number, word in enumerate(ahead)}
    for position in ("s0", "s1", "s2", "b0"):
        word = places[position]
        sides = parse.dependents(word) if word != NO_WORD else ([], [])
        for side, children in zip("lr", sides, strict=True):
            places[f"{position}{side}"], places[f"{position}{side}2"] = (*children, NO_WORD, NO_WORD)[:2]
    top, below = places["s0"], places["s1"]
    places["s0h"] = parse.heads[top]
    places["s0-"] = top - 1 if top > 0 else NO_WORD
    places["s0+"] = top + 1 if top < n_words else NO_WORD
    places["s1+"] = below + 1 if below != NO_WORD else NO_WORD
    places["b0-"] = parse.next - 1
    return places


def _distance(first: int, second: int) -> int:
    """The distance of two words up to 4, then classes of longer distances; 0 if there is no such pair."""
    if NO_WORD in (first, second):
        return 0
    distance = second - first
    return distance if distance <= 4 else 5 if distance <= 7 else 6 if distance <= 12 else 7


def _mixed(bits: int) -> int:
    """The finaliser of splitmix64."""
    bits = ((bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9) & _64_BITS
    bits = ((bits ^ (bits >> 27)) * 0x94D049BB133111EB) & _64_BITS
    return bits ^ (bits >> 31)
