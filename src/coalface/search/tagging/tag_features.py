"""Features for tagging a word: the word and its neighbours, and the tags predicted before it.

Word features are hashed to 30 bits, so no dictionary is kept: of a million features, one in a thousand collides. The
history features have the columns after these: one for the last tag, one for the last two, and so on.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.data.dataset_fields import Examples
from coalface.data.encoders import hashed_tokens
from coalface.data.numbers import whole_number
from coalface.data.rows import Rows, check_rows
from coalface.errors import InputError
from coalface.kernels.tagging import Sentences

_BITS = 30
FIRST_HISTORY = 1 << _BITS  # the first column of the history features
_HISTORY_COLUMNS = (1 << 31) - 1 - FIRST_HISTORY


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


@dataclass(frozen=True, eq=False)
class TokenRows:
    """The words of all sentences as rows; the last entries of each row are reserved for history features."""

    rows: Rows
    sentences: Sentences
    starts: NDArray[np.int64]  # (sentences + 1,)

    def __len__(self) -> int:
        return len(self.rows)

    @classmethod
    def of(cls, X: Examples, lengths: Sequence[int] | NDArray[np.int64], history: int, n_tags: int) -> "TokenRows":
        """The rows of ``X``, which belong to sentences of these lengths, with ``history`` more non-zeros each.

        >>> tokens = TokenRows.of(word_rows([["The", "cat"], ["It"]], window=0), [2, 1], history=2, n_tags=3)
        >>> tokens.sentences.begins
        array([0, 0, 2])
        """
        history = check_history(history, n_tags)
        given = check_rows(X)
        n_rows, sizes = len(given), np.diff(given.indptr)
        indptr = np.concatenate([[0], np.cumsum(sizes + history)])
        columns = np.full(indptr[-1], FIRST_HISTORY, np.int32)
        values = np.ones(indptr[-1], np.float32)
        places = np.arange(len(given.columns)) + history * np.repeat(np.arange(n_rows), sizes)
        columns[places], values[places] = given.columns, given.values
        starts = np.concatenate([[0], np.cumsum(np.asarray(lengths, np.int64))])
        sentence = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        return cls(
            Rows(indptr, columns, values, (1 << 31) - 1),
            Sentences(starts[sentence], starts[sentence + 1], history, FIRST_HISTORY),
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


def check_history(history: Any, n_tags: int) -> int:
    """The number of previous tags to use; an InputError if there are not enough columns for their combinations.

    >>> check_history(2, n_tags=9)
    2
    """
    wanted = whole_number("history", history)
    most, combinations, n_columns = 0, n_tags + 1, 0
    while most < wanted and n_columns + combinations <= _HISTORY_COLUMNS:
        most, n_columns, combinations = most + 1, n_columns + combinations, combinations * (n_tags + 1)
    if wanted > most:
        raise InputError(f"history must be at most {most} with {n_tags} tags, got {history}.")
    return wanted
