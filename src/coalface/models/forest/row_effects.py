"""The effect of each row on all its costs, whatever the label: what the answers about it have in common.

If questions are asked one after another, a second label is asked about only where the first one cost much. Such rows
are often costly for all labels, so the second label would seem worse than it is. The answers of a row are therefore
compared with predictions made without it. If the errors of one row resemble each other, their common part belongs to
the row, and it is taken out of the costs that are learned.
"""

import numpy as np

from coalface.kernels.forest import KnownCosts
from coalface.kernels.state import F64, I64

_PRIOR_ERROR = 1.0  # squared errors that have nothing in common, added in advance


def rows_of(answers: KnownCosts) -> I64:
    """The row of each answer."""
    return np.repeat(np.arange(len(answers.starts) - 1), np.diff(answers.starts))


def label_means(answers: KnownCosts, n_labels: int) -> F64:
    """The mean cost of each label (1, K) over its answers; 0 without any."""
    sums, weights = (
        np.bincount(answers.labels, of, n_labels) for of in (answers.weights * answers.costs, answers.weights)
    )
    return np.asarray(sums / np.maximum(weights, np.finfo(np.float64).tiny))[None]


def shared_error(answers: KnownCosts, predicted: F64) -> float:
    """The correlation, at least 0, of the errors of the predictions (n, K) or (1, K) for two labels of a row.

    >>> two_rows = KnownCosts(np.array([0, 2, 4]), np.array([0, 1, 0, 1]), np.array([0.0, 0.0, 1.0, 1.0]), np.ones(4))
    >>> round(shared_error(two_rows, np.full((1, 2), 0.5)), 2)
    0.5
    """
    counts, sums, squares = _by_row(answers, predicted)
    alike = (sums * sums - squares)[counts > 1].sum()
    apart = ((counts - 1) * squares)[counts > 1].sum()
    return float(np.clip(alike / (apart + _PRIOR_ERROR), 0.0, 1.0))


def row_effects(answers: KnownCosts, predicted: F64) -> F64:
    """The common part of each row's costs, (n,), given predictions (n, K) made without the row.

    It is the best linear prediction: the more answers a row has and the more errors are shared, the more of their mean
    is due to the row.
    """
    shared = shared_error(answers, predicted)
    counts, sums, _ = _by_row(answers, predicted)
    return np.asarray(shared * sums / (1.0 + shared * np.maximum(counts - 1, 0)))


def without_row_effects(answers: KnownCosts, effects: F64) -> KnownCosts:
    """The same answers without the common part of each row's costs."""
    return answers._replace(costs=answers.costs - effects[rows_of(answers)])


def _by_row(answers: KnownCosts, predicted: F64) -> tuple[F64, F64, F64]:
    """The number of each row's errors, their sum and the sum of their squares; an unknown prediction has no error."""
    rows, n = rows_of(answers), len(answers.starts) - 1
    errors = answers.costs - predicted[rows if len(predicted) > 1 else 0, answers.labels]
    known = ~np.isnan(errors)
    errors = np.where(known, errors, 0.0)
    of_row = [np.asarray(np.bincount(rows, of, n), np.float64) for of in (known, errors, errors * errors)]
    return of_row[0], of_row[1], of_row[2]
