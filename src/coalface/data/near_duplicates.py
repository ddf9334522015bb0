"""Near-duplicates among the rows of a batch: equal, or similar beyond a limit."""

from collections import Counter
from hashlib import blake2b
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from coalface.data.rows import Rows
from coalface.kernels.turns import ALONE

sparse: Any = scipy.sparse
_BLOCK = 256  # rows compared at a time
_DENSE = 0.1  # share of filled cells from which a product of dense rows is the faster one


def near_duplicates(rows: Rows, alike: float = 1.0) -> NDArray[np.int64]:
    """The group of near-duplicates of each row, numbered from 0; ``ALONE`` where there are none.

    The similarity of two rows is 2 ab / (aa + bb), with every feature in units of its largest value among the rows: 1
    if they are equal, 0 if they share nothing. Rows with a similarity of at least ``alike`` are near-duplicates. Below
    1, all pairs are compared.

    >>> from coalface.data.rows import check_rows
    >>> rows = check_rows([[1.0, 2.0], [0.0, 3.0], [1.0, 2.0], [1.0, 2.1]])
    >>> near_duplicates(rows).tolist(), near_duplicates(rows, alike=0.99).tolist()
    ([0, -1, 0, -1], [0, -1, 0, 0])
    """
    keys = _contents(rows) if alike >= 1.0 else _leaders(rows, alike)
    repeated = (key for key, times in Counter(keys).items() if times > 1)
    number = {key: n for n, key in enumerate(repeated)}
    return np.array([number.get(key, ALONE) for key in keys], np.int64)


def _contents(rows: Rows) -> list[bytes]:
    """The content of each row, or its digest; of rows that all have all columns, the values are enough."""
    if not (rows.is_full and rows.values.all()):
        return row_digests(rows)
    return [row.tobytes() for row in rows.values.reshape(len(rows), rows.width)]


def row_digests(rows: Rows) -> list[bytes]:
    """A digest of the content of each row, the same in every process; stored zeros do not count.

    >>> from coalface.data.rows import check_rows
    >>> first, second, third = row_digests(check_rows([[1.0, 2.0], [0.0, 3.0], [1.0, 2.0]]))
    >>> len(first), first == second, first == third
    (16, False, True)
    """
    filled = rows.values != 0
    ends = np.concatenate([[0], np.cumsum(filled)])[rows.indptr].tolist()
    columns, values = rows.columns[filled], rows.values[filled]
    return [
        blake2b(columns[start:stop].tobytes() + values[start:stop].tobytes(), digest_size=16).digest()
        for start, stop in pairwise(ends)
    ]


def _leaders(rows: Rows, alike: float) -> list[int]:
    """The leader of each row's group: the first row that is not similar to an earlier leader."""
    matrix = _in_own_units(rows)
    squares = np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel()
    if matrix.nnz > _DENSE * matrix.shape[0] * matrix.shape[1]:
        matrix = matrix.toarray()
    leader = np.arange(len(rows))
    for start in range(0, len(rows), _BLOCK):
        block = slice(start, min(start + _BLOCK, len(rows)))
        products = matrix[block] @ matrix[: block.stop].T
        products = products.toarray() if sparse.issparse(products) else products
        similar = 2 * products >= alike * (squares[block, None] + squares[None, : block.stop])
        for row in range(block.start, block.stop):
            like = np.flatnonzero(similar[row - start, :row] & (leader[:row] == np.arange(row)))
            leader[row] = like[0] if len(like) else row
    return [int(row) for row in leader]


def _in_own_units(rows: Rows) -> Any:
    """The rows with every feature divided by its largest absolute value among them."""
    sizes = np.abs(rows.values.astype(np.float64))
    largest = np.zeros(rows.width)
    np.maximum.at(largest, rows.columns, sizes)
    scaled = rows.values / np.where(largest > 0, largest, 1.0)[rows.columns]
    return sparse.csr_array((scaled, rows.columns, rows.indptr), shape=(len(rows), rows.width))
