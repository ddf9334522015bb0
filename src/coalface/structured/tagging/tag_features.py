"""Features for tagging a word: the word and its neighbours, and the tags predicted before it.

Word features are hashed to 30 bits, so no dictionary is kept: of a million features, one in a thousand collides. The
history features have the columns after these: one for the last tag, one for the last two, and so on. The last columns
are for conjunctions, hashed to 26 bits each: the last tag with the word, and with the shapes of this and the next word.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from coalface.data import Examples, Rows, check_rows, hashed_tokens, whole_number, word_shape
from coalface.errors import InputError
from coalface.structured.kernels.tagging import CONJUNCTION_BITS, Sentences

_BITS = 30
FIRST_HISTORY = 1 << _BITS  # the first column of the history features
_N_COLUMNS = (1 << 31) - 1
_CONJUNCTIONS = 2  # per word
FIRST_CONJUNCTION = _N_COLUMNS - (_CONJUNCTIONS << CONJUNCTION_BITS)
_64_BITS = (1 << 64) - 1

Keys = NDArray[np.uint64]


def word_rows(sentences: Sequence[Sequence[str]], window: int) -> Examples:
    """One row per word of all sentences: its features and those of ``window`` neighbours on each side.

    >>> word_rows([["The", "cat"], ["It"]], window=1).shape[0]
    3
    """
    return hashed_tokens(sentences, _BITS, window)


def history_columns(previous: Sequence[int], n_tags: int, history: int) -> list[int]:
    """The columns of a word's history features; ``previous`` are the tags before it, in sentence order.

    One is for the last tag, one for the last two together, and so on. Before the first word the tag is ``n_tags``.

    >>> [column - FIRST_HISTORY for column in history_columns([], n_tags=3, history=2)]
    [3, 19]
    >>> [column - FIRST_HISTORY for column in history_columns([0, 2], n_tags=3, history=2)]
    [2, 12]
    """
    columns, column, code, combinations = [], FIRST_HISTORY, 0, 1
    for back in range(1, history + 1):
        code = code * (n_tags + 1) + (previous[-back] if back <= len(previous) else n_tags)
        columns.append(column + code)
        combinations *= n_tags + 1
        column += combinations
    return columns


def conjunction_keys(sentences: Sequence[Sequence[str]]) -> Keys:
    """What each word of all sentences brings to its conjunctions, (n, 2): itself in lower case, and two shapes.

    >>> keys = conjunction_keys([["The", "Cat"], ["the"]])
    >>> bool(keys[0, 0] == keys[2, 0]), bool(keys[0, 1] == keys[2, 1])
    (True, False)
    """
    kinds = {word: number for number, word in enumerate(dict.fromkeys(chain.from_iterable(sentences)))}
    own = np.array([_key(word.lower()) for word in kinds], np.uint64)
    shapes = np.array([*(_key(word_shape(word)) for word in kinds), 0], np.uint64)  # last: after the sentence
    kind = np.array([kinds[word] for words in sentences for word in words], np.int64)
    after = np.append(kind[1:], -1)
    after[np.cumsum([len(words) for words in sentences], dtype=np.int64) - 1] = -1
    return np.stack([own[kind], shapes[kind] << np.uint64(32) | shapes[after]], axis=1)


def conjunction_columns(keys: Sequence[int], last_tag: int) -> list[int]:
    """The columns of a word's conjunctions; written independently of ``structured.kernels.tagging``, as a check of it.

    >>> [column >= FIRST_CONJUNCTION for column in conjunction_columns([7, 8], last_tag=0)]
    [True, True]
    """
    hashes = [_mixed((key + (last_tag + 1) * 0x9E3779B97F4A7C15) & _64_BITS) for key in keys]
    blocks = [FIRST_CONJUNCTION + (kind << CONJUNCTION_BITS) for kind in range(len(keys))]
    return [block + (found >> (64 - CONJUNCTION_BITS)) for block, found in zip(blocks, hashes, strict=True)]


def _key(text: str) -> int:
    return crc32(text.encode("utf-8", "surrogatepass"))


def _mixed(bits: int) -> int:
    """The finaliser of splitmix64."""
    bits = ((bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9) & _64_BITS
    bits = ((bits ^ (bits >> 27)) * 0x94D049BB133111EB) & _64_BITS
    return bits ^ (bits >> 31)


@dataclass(frozen=True, eq=False)
class TokenRows:
    """The words of all sentences as rows; the last entries of each row are reserved for features of earlier tags."""

    rows: Rows
    sentences: Sentences
    starts: NDArray[np.int64]  # (sentences + 1,)

    def __len__(self) -> int:
        return len(self.rows)

    @classmethod
    def of(
        cls,
        X: Examples,
        lengths: Sequence[int] | NDArray[np.int64],
        history: int,
        n_tags: int,
        keys: Keys | None = None,
    ) -> "TokenRows":
        """The rows of ``X``, which belong to sentences of these lengths, with ``history`` more non-zeros each.

        If ``keys`` are given, there is one more for each key of a word.

        >>> tokens = TokenRows.of(word_rows([["The", "cat"], ["It"]], window=0), [2, 1], history=2, n_tags=3)
        >>> tokens.sentences.begins
        array([0, 0, 2])
        """
        given = check_rows(X)
        n_rows, sizes = len(given), np.diff(given.indptr)
        keys = np.zeros((n_rows, 0), np.uint64) if keys is None else keys
        history = check_history(history, n_tags, keys.shape[1] > 0)
        reserved = history + keys.shape[1]
        indptr = np.concatenate([[0], np.cumsum(sizes + reserved)])
        columns = np.full(indptr[-1], FIRST_HISTORY, np.int32)
        values = np.ones(indptr[-1], np.float32)
        places = np.arange(len(given.columns)) + reserved * np.repeat(np.arange(n_rows), sizes)
        columns[places], values[places] = given.columns, given.values
        starts = np.concatenate([[0], np.cumsum(np.asarray(lengths, np.int64))])
        sentence = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        return cls(
            Rows(indptr, columns, values, _N_COLUMNS),
            Sentences(starts[sentence], starts[sentence + 1], history, FIRST_HISTORY, keys, FIRST_CONJUNCTION),
            starts,
        )

    def in_order(self, sentences: NDArray[np.int64]) -> NDArray[np.int64]:
        """The rows of these sentences, one sentence after the other.

        >>> tokens = TokenRows.of(word_rows([["The", "cat"], ["It"]], window=0), [2, 1], history=1, n_tags=3)
        >>> tokens.in_order(np.array([1, 0]))
        array([2, 0, 1])
        """
        first, lengths = self.starts[sentences], self.starts[sentences + 1] - self.starts[sentences]
        ends = np.cumsum(lengths)
        return np.asarray(np.repeat(first - (ends - lengths), lengths) + np.arange(lengths.sum()))


def check_history(history: Any, n_tags: int, conjunctions: bool) -> int:
    """The number of previous tags to use; an InputError if there are not enough columns for their combinations.

    >>> check_history(2, n_tags=9, conjunctions=True)
    2
    """
    wanted = whole_number("history", history)
    room = (FIRST_CONJUNCTION if conjunctions else _N_COLUMNS) - FIRST_HISTORY
    most, combinations, n_columns = 0, n_tags + 1, 0
    while most < wanted and n_columns + combinations <= room:
        most, n_columns, combinations = most + 1, n_columns + combinations, combinations * (n_tags + 1)
    if wanted > most:
        raise InputError(f"history must be at most {most} with {n_tags} tags, got {history}.")
    return wanted
