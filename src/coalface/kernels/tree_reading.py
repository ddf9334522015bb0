"""Reads a forest of regression trees: the mean of the trees' estimates for a row, and how far the trees differ."""

from typing import NamedTuple

import numpy as np

from coalface.kernels.compile import allocating, inlined
from coalface.kernels.forest import LEAF
from coalface.kernels.state import F32, F64, I32, Bool


class Trees(NamedTuple):
    """All trees, one after the other. In a leaf, ``left`` is its place in ``values``, which other nodes do not have."""

    roots: I32  # (trees,)
    columns: I32  # (nodes,)
    numbers: F32  # (nodes,)
    left: I32  # (nodes,)
    values: F32  # (leaves, K)


@inlined
def _leaf(columns: I32, numbers: F32, left: I32, root: int, row: F32) -> int:
    """The place of the leaf that a row reaches from a root."""
    node = root
    while columns[node] != LEAF:
        value, child = row[columns[node]], left[node]
        missing_left = child < 0
        child = ~child if missing_left else child
        goes_left = missing_left if np.isnan(value) else value <= numbers[node]
        node = child if goes_left else child + 1
    return int(left[node])


@allocating
def read(trees: Trees, rows: F32, mean: F32, variance: F32) -> None:
    """Write the mean (n, K) of the trees' estimates for each row of ``rows`` (n, columns), and their variance.

    The variance is that of the difference to the mean over all labels, because only differences decide.
    """
    roots, columns, numbers, left, values = trees
    n_trees, n_labels = roots.shape[0], values.shape[1]
    totals, centred, squares = np.empty(n_labels), np.empty(n_labels), np.empty(n_labels)
    for r in range(rows.shape[0]):
        totals[:], centred[:], squares[:] = 0.0, 0.0, 0.0
        for t in range(n_trees):
            estimates = values[_leaf(columns, numbers, left, roots[t], rows[r])]
            middle = 0.0
            for k in range(n_labels):
                middle += np.float64(estimates[k])
            middle /= n_labels
            for k in range(n_labels):
                difference = np.float64(estimates[k]) - middle
                totals[k] += np.float64(estimates[k])
                centred[k] += difference
                squares[k] += difference * difference
        for k in range(n_labels):
            average = centred[k] / n_trees
            mean[r, k] = np.float32(min(max(totals[k] / n_trees, 0.0), 1.0))
            variance[r, k] = np.float32(max(squares[k] / n_trees - average * average, 0.0))


@allocating
def read_left_out(trees: Trees, table: F32, drawn: Bool, mean: F64, variance: F64) -> None:
    """Write the mean (n, K) of the trees that were grown without the row, and its variance; NaN without such trees."""
    roots, columns, numbers, left, values = trees
    n_labels = values.shape[1]
    for row in range(mean.shape[0]):
        n_trees = 0
        mean[row], variance[row] = 0.0, 0.0
        features = table[:, row].copy()
        for t in range(roots.shape[0]):
            if not drawn[t, row]:
                estimates = values[_leaf(columns, numbers, left, roots[t], features)]
                n_trees += 1
                for k in range(n_labels):
                    mean[row, k] += estimates[k]
                    variance[row, k] += np.float64(estimates[k]) ** 2
        for k in range(n_labels):
            average = mean[row, k] / n_trees if n_trees > 0 else np.nan
            spread = variance[row, k] / n_trees - average * average if n_trees > 1 else np.nan
            mean[row, k], variance[row, k] = average, max(spread, 0.0) / (n_trees - 1) if n_trees > 1 else np.nan
