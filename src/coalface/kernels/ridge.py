"""Exact ridge regression: updates each label's regressor with every cost and computes its uncertainty.

Notation. With A = penalty * I + the sum of x x' over the learned rows, the inverse of A is U D U': U is upper
triangular with ones on its diagonal, D is diagonal and positive. Learning a row changes both in place (Bierman's form
of the Kalman filter's update). It never subtracts from a variance, so rounding cannot make one negative. 32-bit columns
suffice where the inverse itself would need 64 bits.

The columns of U are stored one after another, each down to its diagonal and padded to a multiple of ``WIDE`` numbers.
Rows are dense and as wide as the tallest column; entries without a feature are 0. A label is updated column by column:
each column processes all rows of a block before the next column starts. This keeps numbers in the cache. Each number
goes through the same operations in the same order as if the rows were processed one by one.
"""

import numpy as np

from coalface.kernels.compile import allocating, called, inlined, kernel
from coalface.kernels.state import F32, F64, I64, Bool

WIDE = 16  # 32-bit numbers in a cache line
BLOCK = 32  # rows that a column processes at once

_ZERO = np.float32(0.0)


def starts_of(n_columns: int) -> I64:
    """Where each column begins, and where the last one ends.

    >>> starts_of(3).tolist(), starts_of(17)[-1].item()
    ([0, 16, 32, 48], 288)
    """
    heights = (np.arange(n_columns, dtype=np.int64) // WIDE + 1) * WIDE
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(heights)])


@inlined
def _total(terms: F32, n: int) -> float:
    """The sum of n terms, always added in the same order; overwrites the terms."""
    while n > WIDE:
        half = (n // WIDE + 1) // 2 * WIDE
        for i in range(n - half):
            terms[i] += terms[half + i]
        n = half
    total = 0.0
    for i in range(n):
        total += np.float64(terms[i])
    return total


@called
def _product(column: F32, row: F32, terms: F32) -> float:
    """The inner product, summed in the same order as in ``_update_column``."""
    n = column.shape[0]
    for i in range(n):
        terms[i] = column[i] * row[i]
    return _total(terms, n)


@called
def _update_column(column: F32, gain: F32, turn: np.float32, share: np.float32, following: F32, terms: F32) -> float:
    """Update a column and the gain of a row; returns the column's inner product with the following row."""
    n = column.shape[0]
    for i in range(n):
        before, gained = column[i], gain[i]
        after = before + turn * gained
        column[i] = after
        gain[i] = gained + share * before
        terms[i] = after * following[i]
    return _total(terms, n)


@called
def _learn_block(
    factor: F32,
    variances: F64,
    weights: F64,
    starts: I64,
    rows: F32,
    costs: F32,
    noise: F64,
    squared_residuals: float,
    gains: F32,
    spreads: F64,
    terms: F32,
) -> float:
    """Learn a block of rows; returns ``squared_residuals`` plus theirs, computed before each row is learned."""
    n_rows = rows.shape[0]
    for r in range(n_rows):
        spreads[r] = noise[r]
        gains[r, :] = _ZERO
    for j in range(variances.shape[0]):
        column, variance = factor[starts[j] : starts[j + 1]], variances[j]
        along = _product(column, rows[0], terms)
        for r in range(n_rows):
            share, before = variance * along, spreads[r]
            spreads[r] = before + share * along
            variance *= before / spreads[r]
            following = rows[min(r + 1, n_rows - 1)]
            along = _update_column(column, gains[r], np.float32(-along / before), np.float32(share), following, terms)
        variances[j] = variance
    for r in range(n_rows):
        predicted = 0.0
        for i in range(weights.shape[0]):
            predicted += weights[i] * np.float64(rows[r, i])
        error = np.float64(costs[r]) - predicted
        step = error / spreads[r]
        for i in range(weights.shape[0]):
            weights[i] += step * np.float64(gains[r, i])
        residual = np.float64(costs[r]) - min(max(predicted, 0.0), 1.0)
        squared_residuals += residual * residual
    return squared_residuals


@allocating
def learn_costs(
    factors: F32,
    variances: F64,
    weights: F64,
    starts: I64,
    rows: F32,
    costs: F32,
    importance: F32,
    squared_residuals: F64,
) -> None:
    """Learn the known costs (n, K) and add their squared residuals to ``squared_residuals``.

    ``importance`` (n, K) weights the costs; if it is empty, every cost counts once.
    """
    taken, answers = np.empty((BLOCK, rows.shape[1]), np.float32), np.empty(BLOCK, np.float32)
    noise, weighted = np.ones(BLOCK), importance.shape[0] > 0
    gains, spreads, terms = np.empty_like(taken), np.empty(BLOCK), np.empty(rows.shape[1], np.float32)
    for k in range(costs.shape[1]):
        n_taken = 0
        for r in range(rows.shape[0]):
            if not np.isnan(costs[r, k]) and not (weighted and importance[r, k] == 0.0):
                taken[n_taken] = rows[r]
                answers[n_taken] = costs[r, k]
                if weighted:
                    noise[n_taken] = 1.0 / np.float64(importance[r, k])
                n_taken += 1
            if n_taken == BLOCK or (n_taken > 0 and r == rows.shape[0] - 1):
                squared_residuals[k] = _learn_block(
                    factors[k],
                    variances[k],
                    weights[k],
                    starts,
                    taken[:n_taken],
                    answers,
                    noise,
                    squared_residuals[k],
                    gains,
                    spreads,
                    terms,
                )
                n_taken = 0


@allocating
def spread_of(factors: F32, variances: F64, starts: I64, rows: F32, spread: F32) -> None:
    """Write the uncertainty of each prediction, x' times the inverse of A times x, to ``spread`` (n, K)."""
    terms = np.empty(rows.shape[1], np.float32)
    for k in range(factors.shape[0]):
        for r in range(rows.shape[0]):
            total = 0.0
            for j in range(starts.shape[0] - 1):
                along = _product(factors[k, starts[j] : starts[j + 1]], rows[r], terms)
                total += variances[k, j] * along * along
            spread[r, k] = np.float32(total)


@kernel
def fill_panels(factors: F32, variances: F64, starts: I64, first: int, panels: F32) -> None:
    """Write each label's columns from ``first``, times the roots of their variances, to the rows of its panel."""
    for k in range(panels.shape[0]):
        for r in range(panels.shape[1]):
            start, stop = starts[first + r], starts[first + r + 1]
            root = np.float32(np.sqrt(variances[k, first + r]))
            for i in range(stop - start):
                panels[k, r, i] = root * factors[k, start + i]
            for i in range(stop - start, panels.shape[2]):
                panels[k, r, i] = _ZERO


@kernel
def list_costs(costs: F32, known: Bool, importance: F32, rows: I64, answers: F64, deviations: F64, counts: I64) -> None:
    """Write row, cost and deviation of each label's known costs, in the order of the rows, and add to their counts.

    The results are (K, m) with m at least the largest count, and (K,); a cost of weight w has the deviation w^-1/2.
    """
    weighted = importance.shape[0] > 0
    for r in range(costs.shape[0]):
        for k in range(costs.shape[1]):
            if known[r, k]:
                place = counts[k]
                rows[k, place] = r
                answers[k, place] = np.float64(costs[r, k])
                if weighted:
                    deviations[k, place] = np.sqrt(1.0 / np.float64(importance[r, k]))
                counts[k] = place + 1
