"""Remembers which costs were paid for, so that a second pass over the same sentences does not pay for them again.

A table with open addressing maps the key of a state to the set of the actions whose costs are known there.
"""

from typing import NamedTuple

import numpy as np

from coalface.kernels import GOLDEN_64, I64, Bool, called, kernel, mix
from coalface.structured.kernels.parse_state import HEADS, NEXT, NO_WORD, PLACES, STACK, STACKED, U64

_EMPTY = np.uint64(0)
_BITS_PER_WORD = 64
PAID, STATES = range(2)  # of counts
_HAS_HEAD = 1 << 32  # in arc-eager, a word on the stack may have a head; that decides on its moves
_FINENESS = 1048576.0  # losses in a key are rounded to 2^-20


class PaidCosts(NamedTuple):
    """The costs paid for so far."""

    keys: U64  # (size,) 0 = empty
    actions: U64  # (size, words) one bit per action
    counts: I64  # (2,) costs paid for, states in the table


def new_paid_costs(n_actions: int, size: int = 1024) -> PaidCosts:
    """An empty table."""
    n_words = -(-n_actions // _BITS_PER_WORD)
    return PaidCosts(np.zeros(size, np.uint64), np.zeros((size, n_words), np.uint64), np.zeros(2, np.int64))


@called
def state_key(partial: I64, sentence: np.uint64, lost: float) -> np.uint64:
    """The key of a state: the sentence, the stack and which of its words have heads, the next word, the loss so far."""
    places, stack, heads = partial[PLACES], partial[STACK], partial[HEADS]
    key = mix(sentence + np.uint64(places[NEXT]) * GOLDEN_64)
    key = mix(key + np.uint64(np.int64(lost * _FINENESS + 0.5)) * GOLDEN_64)
    for place in range(1, places[STACKED]):
        word = stack[place]
        key = mix(key * GOLDEN_64 + np.uint64(word if heads[word] == NO_WORD else word + _HAS_HEAD))
    return key | np.uint64(1)


@called
def _find(keys: U64, key: np.uint64) -> int:
    """The place of a key, or the empty place where it belongs; the size is a power of two."""
    mask = keys.shape[0] - 1
    place = np.int64(key >> np.uint64(20)) & mask
    while keys[place] != _EMPTY and keys[place] != key:
        place = (place + 1) & mask
    return int(place)


@called
def pay(paid: PaidCosts, key: np.uint64, asked: Bool, n_actions: int) -> None:
    """Count the asked costs that were not paid for before."""
    keys, actions, counts = paid.keys, paid.actions, paid.counts
    place = _find(keys, key)
    if keys[place] == _EMPTY:
        keys[place] = key
        counts[STATES] += 1
    for action in range(n_actions):
        if asked[action]:
            word, bit = action >> 6, np.uint64(1) << np.uint64(action & 63)
            if actions[place, word] & bit == _EMPTY:
                actions[place, word] |= bit
                counts[PAID] += 1


@called
def can_store(paid: PaidCosts, n_states: int) -> bool:
    """Whether the table stays at most half full with this many more states."""
    return bool(2 * (paid.counts[STATES] + n_states) <= paid.keys.shape[0])


@kernel
def _copy(paid: PaidCosts, larger: PaidCosts) -> None:
    """Copy a table to an empty, larger one."""
    for old in range(paid.keys.shape[0]):
        if paid.keys[old] != _EMPTY:
            place = _find(larger.keys, paid.keys[old])
            larger.keys[place] = paid.keys[old]
            for word in range(paid.actions.shape[1]):
                larger.actions[place, word] = paid.actions[old, word]
    for count in range(2):
        larger.counts[count] = paid.counts[count]


def with_room(paid: PaidCosts, n_states: int, n_actions: int) -> PaidCosts:
    """The same paid costs in a table with room for this many more states."""
    while not can_store(paid, n_states):
        larger = new_paid_costs(n_actions, 2 * len(paid.keys))
        _copy(paid, larger)
        paid = larger
    return paid
