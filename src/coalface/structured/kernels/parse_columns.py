"""The features of a parser's state, as hashed columns of one row.

An atom is one observation, such as the tag of the top word of the stack. A template names up to four atoms; its feature
is the hash of their values. Each template has its own block of columns, so that the columns of a row are sorted and
distinct.
"""

from typing import NamedTuple

import numpy as np

from coalface.kernels import GOLDEN_64, I32, I64, called, mix
from coalface.structured.kernels.parse_state import (
    HEADS,
    LABELS,
    LEFT_SET,
    LEFTMOST,
    LENGTH,
    N_LEFT,
    N_RIGHT,
    NEXT,
    NO_WORD,
    PLACES,
    RIGHT_SET,
    RIGHTMOST,
    STACK,
    STACKED,
    U64,
)

# The words that a parser looks at: on the stack (from the top), unread, their outermost dependents, and neighbours.
POSITIONS = (
    *("s0", "s1", "s2", "b0", "b1", "b2", "b3"),
    *("s0l", "s0l2", "s0r", "s0r2", "s1l", "s1l2", "s1r", "s1r2", "s2r", "b0l", "b0l2"),
    *("s0h", "s0-", "s0+", "s1+", "b0-"),
)
# Observations that are not about one word: distances, numbers of dependents, and sets of their labels.
OTHERS = (
    *("s0b0", "s1s0", "s0nl", "s1nl", "b0nl", "s0nr", "s1nr", "b0nr"),
    *("s0sl", "s1sl", "b0sl", "s0sr", "s1sr", "b0sr"),
)
MOST_ATOMS = 4  # of a template
BLOCK_BITS = 24  # of the columns of one template
MOST_TEMPLATES = 1 << (31 - BLOCK_BITS)
_NEAR = 4  # distances up to 4 are exact; there are three classes of longer ones
_MOST_COUNTED = 4  # dependents
_NONE = np.uint64(0)


class Templates(NamedTuple):
    """The features to compute."""

    atoms: I64  # (n, MOST_ATOMS) numbers of atoms, NO_WORD where a template has fewer
    bits: int  # of a hash within the block of its template
    n_attributes: int  # of a word, without its label


class StateRow(NamedTuple):
    """Memory for the features of one state."""

    words: I64  # (positions,)
    atoms: U64
    indptr: I64  # (2,) of the row
    columns: I32  # (templates,)


def new_state_row(templates: Templates) -> StateRow:
    """Memory for these templates."""
    n_atoms = len(POSITIONS) * (templates.n_attributes + 1) + len(OTHERS)
    n_columns = len(templates.atoms)
    return StateRow(
        np.zeros(len(POSITIONS), np.int64),
        np.zeros(n_atoms, np.uint64),
        np.array([0, n_columns]),
        np.zeros(n_columns, np.int32),
    )


@called
def _find_words(partial: I64, words: I64) -> None:
    """Write the word at each of ``POSITIONS``, or ``NO_WORD``."""
    places, stack = partial[PLACES], partial[STACK]
    stacked, coming, n_words = places[STACKED], places[NEXT], places[LENGTH]
    for place in range(3):
        words[place] = stack[stacked - 1 - place] if place < stacked else NO_WORD
    for place in range(4):
        words[3 + place] = coming + place if coming + place <= n_words else NO_WORD
    top, below, third, front = words[0], words[1], words[2], words[3]
    for side in range(4):  # LEFTMOST, INNER_LEFT, RIGHTMOST, INNER_RIGHT
        words[7 + side] = partial[LEFTMOST + side, top]
        words[11 + side] = partial[LEFTMOST + side, below] if below != NO_WORD else NO_WORD
    words[15] = partial[RIGHTMOST, third] if third != NO_WORD else NO_WORD
    for side in range(2):
        words[16 + side] = partial[LEFTMOST + side, front] if front != NO_WORD else NO_WORD
    words[18] = partial[HEADS, top]
    words[19] = top - 1 if top > 0 else NO_WORD
    words[20] = top + 1 if top < n_words else NO_WORD
    words[21] = below + 1 if below != NO_WORD else NO_WORD  # at most the top word
    words[22] = coming - 1


@called
def _distance(first: int, second: int) -> int:
    """The class of the distance between two words, 0 if one of them is missing."""
    if first == NO_WORD or second == NO_WORD:
        return 0
    distance = second - first
    if distance <= _NEAR:
        return distance
    return _NEAR + (1 if distance <= 7 else 2 if distance <= 12 else 3)


@called
def _observe(partial: I64, codes: U64, first: int, words: I64, atoms: U64) -> None:
    """Write the value of each atom; ``codes[first + word]`` are the attributes of a word."""
    _find_words(partial, words)
    n_attributes = codes.shape[1]
    place = 0
    for position in range(words.shape[0]):
        word = words[position]
        for attribute in range(n_attributes):
            atoms[place] = codes[first + word, attribute] if word != NO_WORD else _NONE
            place += 1
        atoms[place] = np.uint64(partial[LABELS, word] + 2) if word != NO_WORD else _NONE
        place += 1
    atoms[place] = np.uint64(_distance(words[0], words[3]))
    atoms[place + 1] = np.uint64(_distance(words[1], words[0]))
    place += 2
    for row in (N_LEFT, N_RIGHT, LEFT_SET, RIGHT_SET):
        for position in (0, 1, 3):  # s0, s1, b0
            word = words[position]
            value = partial[row, word] + 1 if word != NO_WORD else 0
            atoms[place] = np.uint64(min(value, _MOST_COUNTED + 1) if row in (N_LEFT, N_RIGHT) else value)
            place += 1


@called
def write_columns(partial: I64, codes: U64, first: int, templates: Templates, row: StateRow) -> None:
    """Write the columns of a state's features."""
    _observe(partial, codes, first, row.words, row.atoms)
    atoms, of_template, columns = row.atoms, templates.atoms, row.columns
    shift = np.uint64(64 - templates.bits)
    for template in range(of_template.shape[0]):
        hashed = _NONE
        for place in range(MOST_ATOMS):
            atom = of_template[template, place]
            if atom == NO_WORD:
                break
            hashed = mix(hashed * GOLDEN_64 + atoms[atom] + GOLDEN_64)
        columns[template] = np.int32((template << BLOCK_BITS) | np.int64(hashed >> shift))
