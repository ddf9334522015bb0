"""The state of a transition parser: a partial tree, and the moves of the arc-hybrid and the arc-eager system.

Words are numbered from 1; 0 is the root, which lies at the bottom of the stack. Both systems read the words from left
to right, and both give exactly one word, the last one on the stack, the root as its head.

- shift: the next word goes on the stack.
- left: the top word gets the next word as its head and leaves the stack. In arc-eager it must have no head yet.
- right, arc-hybrid: the top word gets the word below it as its head and leaves the stack.
- right, arc-eager: the next word gets the top word as its head and goes on the stack. If no word is left to be read,
  it is the move of arc-hybrid, for words that have no head.
- reduce, arc-eager only: the top word leaves the stack; it must have a head.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coalface.kernels import F64, I32, I64, Bool, called

ARC_HYBRID, ARC_EAGER = range(2)
SHIFT, LEFT, RIGHT, REDUCE, ROOT = range(5)  # ROOT: a right move whose head is the root
N_MOVES = 5
NO_WORD = -1
U64 = NDArray[np.uint64]

# partial[...], a partial tree as one array: the first rows have an entry per word, with room for the longest sentence
HEADS, LABELS = 0, 1  # NO_WORD: none yet
LEFTMOST, INNER_LEFT, RIGHTMOST, INNER_RIGHT = 2, 3, 4, 5  # outermost dependents, and those next to them
N_LEFT, N_RIGHT = 6, 7  # numbers of dependents
LEFT_SET, RIGHT_SET = 8, 9  # sets of the labels of the dependents, one bit each
STACK = 10  # an entry per word on the stack
PLACES = 11  # STACKED, NEXT and LENGTH
N_ROWS = 12
# partial[PLACES, ...]
STACKED, NEXT, LENGTH = range(3)  # words on the stack (with the root), the next word to read, words of the sentence
_SET_BITS = 62


class ParserActions(NamedTuple):
    """The transition system, and what each of the policy's labels does: a move, and the number of its arc's label."""

    system: int
    moves: I64  # (K,)
    labels: I64  # (K,) NO_WORD if the move adds no arc
    of_move: Bool  # (N_MOVES, K) which actions are possible if a move is
    first: I64  # (N_MOVES,) the first of these actions, NO_WORD if there is none
    with_label: I64  # (N_MOVES, labels) the one with each label, NO_WORD if there is none


class Treebank(NamedTuple):
    """Sentences one after another, each preceded by its root; a sentence's words have the numbers 1, 2, ..."""

    starts: I64  # (sentences + 1,) the root of each sentence
    codes: U64  # (words and roots, attributes)
    heads: I32  # (words and roots,) the true heads, without crossing arcs; unused where sentences are parsed
    labels: I32  # (words and roots,) the true labels; NO_WORD if it is not among the known ones
    keys: U64  # (sentences,) equal for equal sentences


def new_partial(longest: int) -> I64:
    """Memory for a partial tree of up to ``longest`` words."""
    return np.zeros((N_ROWS, max(longest + 1, 3)), np.int64)


@called
def begin(partial: I64, n_words: int) -> None:
    """The state in which no word was read."""
    for row in range(N_ROWS):
        none = NO_WORD if row <= INNER_RIGHT else 0
        for word in range(n_words + 1):
            partial[row, word] = none
    partial[PLACES, STACKED], partial[PLACES, NEXT], partial[PLACES, LENGTH] = 1, 1, n_words


@called
def is_done(partial: I64) -> bool:
    """Whether every word has a head."""
    places = partial[PLACES]
    return bool(places[NEXT] > places[LENGTH] and places[STACKED] == 1)


@called
def _is_possible(system: int, partial: I64, move: int) -> bool:
    """Whether a move is possible; ``ROOT`` stands for a right move from the root, ``RIGHT`` for any other."""
    places = partial[PLACES]
    stacked, unread = places[STACKED], places[NEXT] <= places[LENGTH]
    if move == SHIFT:
        return bool(unread)
    if stacked == 1:
        return False
    has_head = partial[HEADS, partial[STACK, stacked - 1]] != NO_WORD  # never in arc-hybrid
    if move == LEFT:
        return bool(unread and not has_head)
    if move == REDUCE:
        return bool(system == ARC_EAGER and has_head)
    if move == ROOT:
        return bool(stacked == 2 and not unread)
    if system == ARC_EAGER and unread:
        return True
    return bool(stacked > 2 and not has_head)


@called
def _arc_head(system: int, partial: I64, move: int) -> int:
    """The head of the arc that a move adds."""
    places, stack = partial[PLACES], partial[STACK]
    stacked = places[STACKED]
    if move == LEFT:
        return int(places[NEXT])
    return int(stack[stacked - 1 if system == ARC_EAGER and places[NEXT] <= places[LENGTH] else stacked - 2])


@called
def _arc_word(system: int, partial: I64, move: int) -> int:
    """The dependent of the arc that a move adds."""
    places = partial[PLACES]
    if move != LEFT and system == ARC_EAGER and places[NEXT] <= places[LENGTH]:
        return int(places[NEXT])
    return int(partial[STACK, places[STACKED] - 1])


@called
def _add_arc(partial: I64, head: int, word: int, label: int) -> None:
    partial[HEADS, word], partial[LABELS, word] = head, label
    # dependents come from the inside out, so the latest is the outermost
    side = 0 if word < head else 1
    partial[INNER_LEFT + 2 * side, head] = partial[LEFTMOST + 2 * side, head]
    partial[LEFTMOST + 2 * side, head] = word
    partial[N_LEFT + side, head] += 1
    partial[LEFT_SET + side, head] |= 1 << (label % _SET_BITS)


@called
def take(system: int, partial: I64, move: int, label: int) -> None:
    """Make a move."""
    places, stack = partial[PLACES], partial[STACK]
    reads = move == SHIFT
    if move in (LEFT, RIGHT, ROOT):
        head, word = _arc_head(system, partial, move), _arc_word(system, partial, move)
        _add_arc(partial, head, word, label)
        reads = word == places[NEXT]
    if reads:
        stack[places[STACKED]] = places[NEXT]
        places[STACKED] += 1
        places[NEXT] += 1
    else:
        places[STACKED] -= 1


@called
def _arcs_lost(system: int, partial: I64, move: int, truth: I32, first: int) -> int:
    """How many arcs of the true tree are reachable before a move but not after it.

    ``truth[first + word]`` is the true head of a word. The count is exact for trees without crossing arcs. For
    arc-eager, an arc to a word that was read without its head counts as lost, though a later ``right`` may add it.
    """
    places, stack, heads = partial[PLACES], partial[STACK], partial[HEADS]
    stacked, coming, n_words = places[STACKED], places[NEXT], places[LENGTH]
    top = stack[stacked - 1]
    eager = system == ARC_EAGER
    lost = 0
    if move == SHIFT or (eager and move == RIGHT and coming <= n_words):
        true_head = truth[first + coming]
        if move == RIGHT:
            lost += true_head > coming or true_head == 0
        if true_head > 0 or not eager:
            kept = 1 if move == RIGHT or not eager else 0  # an arc from the top word stays possible, or is added
            for place in range(stacked - kept):
                lost += stack[place] == true_head
        elif move == SHIFT:
            lost += stacked > 1  # the root's word must lie directly above it
        for place in range(1, stacked):
            lost += heads[stack[place]] == NO_WORD and truth[first + stack[place]] == coming
        return lost
    if eager and coming > n_words:
        return 0  # there is only one move
    for word in range(coming, n_words + 1):
        lost += truth[first + word] == top
    true_head = truth[first + top]
    if move == LEFT:
        below = stack[stacked - 2] if not eager else 0
        lost += true_head > coming or (true_head == below and (not eager or stacked == 2))
    elif move != REDUCE:
        lost += true_head >= coming
    return lost


@called
def possible_kinds(system: int, partial: I64) -> int:
    """The set of possible moves, one bit each."""
    kinds = 0
    for move in range(N_MOVES):
        kinds |= int(_is_possible(system, partial, move)) << move
    return kinds


@called
def _kind_of(move: int, kinds: int) -> int:
    """The kind of a move, which decides what labels its arc may have; NO_WORD if the move is not possible."""
    kind = ROOT if move == RIGHT and kinds >> ROOT & 1 else move
    return kind if kinds >> kind & 1 else NO_WORD


@called
def find_losses(
    partial: I64,
    kinds: int,
    actions: ParserActions,
    treebank: Treebank,
    first: int,
    wrong_label: float,
    arcs: I64,
    added: F64,
) -> None:
    """Write how many true arcs each possible move loses, and what each possible action adds to the loss.

    A wrong label of a wrong arc adds nothing if no label of it would be right.
    """
    system, moves, labels = actions.system, actions.moves, actions.labels
    for move in range(ROOT):
        kind = _kind_of(move, kinds)
        if kind == NO_WORD:
            continue
        arcs[move] = _arcs_lost(system, partial, move, treebank.heads, first)
        lost, charge, truth = np.float64(arcs[move]), 0.0, NO_WORD
        if move in (LEFT, RIGHT):
            word = first + _arc_word(system, partial, move)
            truth = treebank.labels[word]
            can_be_right = truth != NO_WORD and actions.with_label[kind, truth] != NO_WORD
            if can_be_right or treebank.heads[word] == _arc_head(system, partial, move):
                charge = wrong_label
        for k in range(moves.shape[0]):
            if moves[k] == move:
                added[k] = lost + (charge if labels[k] != truth else 0.0)


@called
def find_reference(partial: I64, kinds: int, actions: ParserActions, treebank: Treebank, first: int, arcs: I64) -> int:
    """The reference's action: it loses the fewest arcs, and has the true label or, where that cannot be, the first.

    In a tie an arc goes before a shift, as in ``coalface.structured.parsing.task``.
    """
    chosen, chosen_kind = NO_WORD, NO_WORD
    for move in range(ROOT):
        kind = _kind_of(move, kinds)
        if kind != NO_WORD and (chosen == NO_WORD or arcs[move] <= arcs[chosen]):
            chosen, chosen_kind = move, kind
    truth = treebank.labels[first + _arc_word(actions.system, partial, chosen)] if chosen in (LEFT, RIGHT) else NO_WORD
    labelled = actions.with_label[chosen_kind, truth] if truth != NO_WORD else NO_WORD
    return int(labelled if labelled != NO_WORD else actions.first[chosen_kind])
