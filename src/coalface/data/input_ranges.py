"""``InputRanges``: the range of each column in the rows that were learned."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coalface.data.numbers import whole_number
from coalface.data.rows import Rows
from coalface.errors import FileFormatError

Mask = NDArray[np.bool_]
Costs = NDArray[np.float32]
_FEW, _GATHERED = 20, 64  # rows of a call that wait for others, and how many calls do
_ALWAYS, _EVERY = 16, 16  # calls whose rows are looked at, and then one in how many, because services must be quick


class _Told(NamedTuple):
    """A few rows that were told."""

    row: tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32], int]  # the parts of ``Rows``
    asked: Mask
    costs: Costs


class InputRanges:
    """The range of each column in the learned rows, and in how many of them it is not 0.

    Only rows with a question or an answer count, because ledgers leave out the features of others.

    >>> from coalface.data.rows import check_rows
    >>> ranges = InputRanges()
    >>> ranges.tell(check_rows([[1.0, 0.0], [3.0, 0.0]]), 2, np.array([[True], [True]]), np.zeros((2, 1), np.float32))
    >>> ranges.plain()
    {'rows': 2, 'lowest': [1.0, 0.0], 'highest': [3.0, 0.0], 'filled': [2, 0]}
    """

    def __init__(self) -> None:
        self.n_rows = self.width = 0
        self.lowest = self.highest = np.zeros(0, np.float32)
        self.filled = np.zeros(0, np.int64)
        self._told: list[_Told] = []  # wait until there are enough of them
        self._new: list[Rows] = []
        self._calls = 0

    def tell(self, rows: Rows, width: int, asked: Mask, costs: Costs) -> None:
        """Widen the ranges of the first ``width`` columns."""
        self.width = max(self.width, width)
        if rows.n_rows >= _FEW:
            self._learn(rows, asked, costs)
            return
        if self._told and self._told[0].costs.shape[1] != costs.shape[1]:
            self.settle()
        own = (rows.indptr, rows.columns.copy(), rows.values.copy(), rows.width)  # the caller's arrays may change
        self._told.append(_Told(own, asked.copy(), costs.copy()))
        if len(self._told) >= _GATHERED:
            self.settle()

    def settle(self) -> None:
        """Learn the rows that wait for others."""
        told, self._told = self._told, []
        if told:
            rows, asked, costs = zip(*told, strict=True)
            self._learn(_joined([Rows(*row) for row in rows]), np.concatenate(asked), np.concatenate(costs))

    def _learn(self, rows: Rows, asked: Mask, costs: Costs) -> None:
        if not asked.all():
            rows = rows.take(np.flatnonzero((asked | ~np.isnan(costs)).any(axis=1)))
        if not rows.n_rows:
            return
        lowest, highest, filled = _ends_of(rows, self.width)
        if self.n_rows:
            self._widen()
            lowest, highest = np.minimum(self.lowest, lowest), np.maximum(self.highest, highest)
            filled += self.filled
        self.lowest, self.highest, self.filled = lowest, highest, filled
        self.n_rows += rows.n_rows

    def _widen(self) -> None:
        """Make room for new columns, which were 0 in the rows learned so far."""
        more = (0, self.width - len(self.lowest))
        if more[1]:
            self.lowest, self.highest = np.pad(self.lowest, more), np.pad(self.highest, more)
            self.filled = np.pad(self.filled, more)

    def due(self, rows: Rows) -> Rows | None:
        """The new rows to look at, with those of earlier calls if they are few; None if it is not time."""
        self._calls += 1
        if self._calls > _ALWAYS and self._calls % _EVERY:
            return None
        if rows.n_rows >= _FEW:
            return rows
        self._new.append(rows)
        if len(self._new) < _GATHERED:
            return None
        new, self._new = self._new, []
        return _joined(new)

    def plain(self) -> dict[str, Any]:
        """The ranges as JSON values."""
        self.settle()
        ends = {"lowest": self.lowest.tolist(), "highest": self.highest.tolist()}
        return {"rows": self.n_rows, **ends, "filled": self.filled.tolist()}

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> "InputRanges":
        """The ranges that ``plain`` described; a FileFormatError if they cannot be ranges."""
        ranges = cls()
        ranges.n_rows, ranges.filled = whole_number("rows", plain["rows"]), np.array(plain["filled"], np.int64)
        ranges.lowest, ranges.highest = (np.array(plain[end], np.float32) for end in ("lowest", "highest"))
        ranges.width = ranges.filled.size
        fits = ranges.lowest.shape == ranges.highest.shape == ranges.filled.shape == (ranges.width,)
        if not fits or not (ranges.lowest <= ranges.highest).all() or (ranges.filled < 0).any():
            raise FileFormatError("The ranges of the columns are impossible; the model is damaged. Restore a copy.")
        return ranges


def _joined(parts: Sequence[Rows]) -> Rows:
    ends = np.cumsum(np.concatenate([[0], *(np.diff(part.indptr) for part in parts)]))
    columns, values = (np.concatenate([getattr(part, name) for part in parts]) for name in ("columns", "values"))
    return Rows(ends, columns, values, max(part.width for part in parts))


def _ends_of(rows: Rows, width: int) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.int64]]:
    """The least and the largest value of each column, and in how many rows it is not 0."""
    if rows.is_full and rows.width >= width:
        table = rows.values.reshape(rows.n_rows, rows.width)[:, :width]
        return table.min(axis=0), table.max(axis=0), np.full(width, rows.n_rows)
    columns, values = rows.columns, rows.values
    if rows.width > width:
        kept = columns < width
        columns, values = columns[kept], values[kept]
    filled = np.bincount(columns, minlength=width)
    lowest = np.where(filled < rows.n_rows, np.float32(0.0), np.float32(np.inf))
    highest = np.float32(0.0) - lowest
    np.minimum.at(lowest, columns, values)
    np.maximum.at(highest, columns, values)
    return lowest, highest, filled
