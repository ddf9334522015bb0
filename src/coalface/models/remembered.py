"""Rows that a committee remembers: a sample of all answered rows, on which its members are compared again."""

from collections.abc import Mapping
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coalface.data.rows import Rows, stacked
from coalface.errors import FileFormatError
from coalface.models.model_arrays import copy_saved, widened
from coalface.models.values import Costs, Mask

_CAPACITY = 256
_AGAIN = 32  # rows that are compared at a time
_DAMAGED = "The rows that the committee remembers are damaged. Restore a copy."
_ARRAYS = ("answers", "candidates", "chances", "offsets", "costs")


class Judged(NamedTuple):
    """Rows with their answers, and what the members' answers cost before the rows were learned."""

    rows: Rows
    answers: Costs  # (n, K), NaN where unknown
    candidates: Mask  # (n, K)
    chances: NDArray[np.float64]  # (n, K) with which each answer was asked for
    offsets: NDArray[np.float32]  # (n, K)
    costs: NDArray[np.float64]  # (n, M)


class RememberedRows:
    """A uniform sample of the answered rows; which ones depends on their number alone, so a replay has the same."""

    def __init__(self, n_members: int, n_labels: int) -> None:
        self.seen = 0
        self._rows: list[Rows] = []
        shape = (_CAPACITY, n_labels)
        self.arrays: dict[str, NDArray[Any]] = {
            "answers": np.full(shape, np.nan, np.float32),
            "candidates": np.ones(shape, np.bool_),
            "chances": np.ones(shape),
            "offsets": np.zeros(shape, np.float32),
            "costs": np.zeros((_CAPACITY, n_members)),
        }

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, row: Rows, *values: NDArray[Any]) -> None:
        """Remember a row, with the values of ``Judged``, with the probability that keeps the sample uniform."""
        place = self.seen if self.seen < _CAPACITY else _random_below(self.seen + 1, self.seen)
        self.seen += 1
        if place >= _CAPACITY:
            return
        self._rows[place : place + 1] = [row.take(np.zeros(1, np.int64))]  # a copy, not a view of a large batch
        for name, value in zip(_ARRAYS, values, strict=True):
            self.arrays[name][place] = value

    def some(self) -> Judged:
        """Some of the rows; in turn, they are all."""
        start = _random_below(max(len(self) - _AGAIN, 0) + 1, self.seen)
        return self._between(start, min(start + _AGAIN, len(self)))

    def all(self) -> Judged:
        """All remembered rows."""
        return self._between(0, len(self))

    def _between(self, start: int, stop: int) -> Judged:
        return Judged(stacked(self._rows[start:stop]), *(self.arrays[name][start:stop] for name in _ARRAYS))

    def add_label(self) -> None:
        """Make room for one more label, of which no remembered row has an answer."""
        n_labels = self.arrays["answers"].shape[1] + 1
        for name, fill in (("answers", np.nan), ("candidates", True), ("chances", 1.0), ("offsets", 0.0)):
            self.arrays[name] = widened(self.arrays[name], n_labels, 1, fill=fill)

    def saved(self) -> dict[str, NDArray[Any]]:
        """The arrays of a file."""
        rows = stacked(self._rows)
        parts: dict[str, NDArray[Any]] = {"indptr": rows.indptr, "columns": rows.columns, "values": rows.values}
        facts = np.array([self.seen, rows.width], np.int64)
        return {"facts": facts, **parts, **{name: array[: len(self)] for name, array in self.arrays.items()}}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Restore what ``saved`` returned; a FileFormatError if it is damaged."""
        facts = np.zeros(2, np.int64)
        copy_saved(arrays, {"facts": facts})
        seen, width = facts.tolist()
        n_rows = min(max(seen, 0), _CAPACITY)
        indptr = np.zeros(n_rows + 1, np.int64)
        copy_saved(arrays, {"indptr": indptr, **{name: array[:n_rows] for name, array in self.arrays.items()}})
        n_values = max(int(indptr[-1]), 0)
        columns, values = np.zeros(n_values, np.int32), np.zeros(n_values, np.float32)
        if seen < 0 or indptr[0] != 0 or (np.diff(indptr) < 0).any():
            raise FileFormatError(_DAMAGED)
        copy_saved(arrays, {"columns": columns, "values": values})
        if ((columns < 0) | (columns >= width)).any():
            raise FileFormatError(_DAMAGED)
        rows = Rows(indptr, columns, values, width)
        self._rows = [rows.between(i, i + 1) for i in range(n_rows)]
        self.seen = seen


def _random_below(limit: int, number: int) -> int:
    """A number below ``limit`` that depends only on ``number``."""
    return int.from_bytes(blake2b(number.to_bytes(8, "little"), digest_size=8).digest(), "little") % limit
