"""Rows of any width as dense rows of up to 512 numbers, in which lengths and angles are nearly kept.

The first 512 columns stay as they are. Each later column is added to eight of the 512 places, with random signs that
depend on its number only: a sparse Johnson-Lindenstrauss projection.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from coalface.data.rows import Rows
from coalface.kernels.state import F32

MOST_PLACES = 512
_SPREAD = 8  # places of a column
_MIX = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


def n_places(rows: Rows) -> int:
    """The length of these rows as ``projected`` gives them.

    >>> from coalface.data.rows import check_rows
    >>> n_places(check_rows([[0.0, 2.0, 0.0]])), n_places(check_rows(np.ones((1, 9000))))
    (2, 512)
    """
    return min(int(rows.columns.max(initial=-1)) + 1, MOST_PLACES)


def projected(rows: Rows, length: int) -> F32:
    """The rows as a dense table with ``length`` columns, at least ``n_places`` of them; each row is independent.

    >>> from coalface.data.rows import check_row, check_rows
    >>> projected(check_rows([[0.0, 2.0]]), 3).tolist()
    [[0.0, 2.0, 0.0]]
    >>> wide = projected(check_row([70_000, 80_000], [3.0, 4.0], 0), 512)
    >>> int(np.count_nonzero(wide)), round(float(np.linalg.norm(wide)), 1)
    (16, 5.0)
    """
    if rows.columns.max(initial=-1) < MOST_PLACES:
        return rows.dense(length)
    columns, number = np.unique(rows.columns, return_inverse=True)
    given = csr_array((rows.values, number, rows.indptr), (len(rows), len(columns)))
    return np.asarray((given @ _projection(columns, length)).toarray(), np.float32)


def _projection(columns: NDArray[np.int32], length: int) -> csr_array:
    """Where each column goes, (columns, length)."""
    kept = columns < MOST_PLACES
    numbers: NDArray[np.uint64] = columns.astype(np.uint64) * np.uint64(_SPREAD)
    bits = _mixed(numbers[:, None] + np.arange(_SPREAD).astype(np.uint64))
    step = MOST_PLACES // _SPREAD
    places = (bits % np.uint64(step)).astype(np.int64) + step * np.arange(_SPREAD)  # one place in each eighth
    signs = np.where(bits >> np.uint64(63), 1.0, -1.0) / np.sqrt(_SPREAD)
    places[kept], signs[kept] = 0, 0.0
    places[kept, 0], signs[kept, 0] = columns[kept], 1.0
    indptr = np.arange(0, places.size + 1, _SPREAD)
    return csr_array((signs.astype(np.float32).ravel(), places.ravel(), indptr), (len(columns), length))


def _mixed(bits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """A bijection of 64 bits that maps neighbours to seemingly unrelated numbers (splitmix64)."""
    bits = (bits + np.uint64(1)) * _MIX[0]
    bits = (bits ^ (bits >> np.uint64(30))) * _MIX[1]
    bits = (bits ^ (bits >> np.uint64(27))) * _MIX[2]
    return bits ^ (bits >> np.uint64(31))
