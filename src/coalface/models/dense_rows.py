"""Sparse rows as dense tables."""

import numpy as np
from numpy.typing import NDArray

from coalface.data.rows import Rows

Table = NDArray[np.float32]


def width_of(rows: Rows) -> int:
    """The width of the rows without the columns after the last value that is not 0."""
    if rows.is_full and rows.values[-1] != 0.0:
        return rows.width
    return int(rows.columns[rows.values != 0.0].max(initial=-1)) + 1


def dense(
    rows: Rows, values: NDArray[np.float32], width: int, penalty: float = 1.0
) -> tuple[Table, NDArray[np.float64]]:
    """The rows, with these values, as a table of ``width`` columns, and their squares / penalty in later columns.

    >>> from coalface.data.rows import check_rows
    >>> rows = check_rows([[1.0, 2.0, 3.0]])
    >>> dense(rows, rows.values, 2)
    (array([[1., 2.]], dtype=float32), array([9.]))
    """
    table = np.zeros((len(rows), width), np.float32)
    if rows.is_full and rows.width <= width:
        table[:, : rows.width] = values.reshape(len(rows), rows.width)
        return table, np.zeros(len(rows))
    of_row = np.repeat(np.arange(len(rows)), np.diff(rows.indptr))
    inside = rows.columns < width
    table[of_row[inside], rows.columns[inside]] = values[inside]
    squares = np.where(inside, 0.0, values.astype(np.float64) ** 2) / penalty
    return table, np.bincount(of_row, squares, len(rows)).astype(np.float64)
