"""The arc-eager transition system with its dynamic oracle.

``shift`` and ``left`` are those of arc-hybrid, but ``left`` needs a top word without a head. ``right`` gives the next
word the top word as its head, and puts it on the stack; ``reduce`` takes a top word with a head off the stack. So a
word gets its head as soon as both were read. If no word is left, ``right`` gives a top word without a head the word
below it. The last one of these gets the root.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

from coalface.structured.parsing.arc_hybrid import LEFT, NO_WORD, RIGHT, SHIFT, Parse

REDUCE = "reduce"


@dataclass(frozen=True)
class EagerParse(Parse):
    """A partial tree of the arc-eager system.

    >>> EagerParse.empty(2).after(SHIFT).moves()
    ['shift', 'left', 'right']
    """

    @property
    def named_stack(self) -> tuple[int, ...]:
        """The stack; a word that has a head is written as a negative number.

        >>> EagerParse.empty(2).after(SHIFT).after(RIGHT, "obj").named_stack
        (0, 1, -2)
        """
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
        """The partial tree after a move.

        >>> EagerParse.empty(2).after(SHIFT).after(RIGHT, "obj").heads
        (-1, -1, 1)
        """
        if move == REDUCE:
            return replace(self, stack=self.stack[:-1])
        if move == RIGHT and self.has_next:
            added = self._with_arc(*self.arc(move), label)
            return replace(added, stack=(*self.stack, self.next), next=self.next + 1)
        return super().after(move, label)

    def arcs_lost(self, move: str, heads: Sequence[int]) -> int:
        """How many arcs of the true tree can be added before the move but not after it.

        An arc to a word that was read without its head counts as lost, though a last ``right`` may add it.

        >>> EagerParse.empty(2).after(SHIFT).arcs_lost(SHIFT, heads=[-1, 0, 1])
        1
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
