"""Linear regressors of all labels and the covariance of their errors, from rows of which only some costs are known.

If questions are asked one after another, a second label is asked about where the first one cost much. Its answers are
then no fair sample, but which costs are missing depends only on the row and on the answers about it. So the regressors
of greatest likelihood are right as long as the errors of all labels are modelled together. The EM algorithm finds them:
it fills in each missing cost with what the answers of the row let expect, and then fits all labels to the full table.
"""

from typing import NamedTuple

import numpy as np

from coalface.kernels.state import F64, I64, Bool

PENALTY, INTERCEPT_PENALTY = 10.0, 0.5  # of squared weights, in rows of average length
_PRIOR_ROWS, _PRIOR_SHARED = 20.0, 0.5  # rows added in advance, whose errors have this correlation
_FIRST_VARIANCE, _LEAST_VARIANCE = 0.15, 1e-4


class Joint(NamedTuple):
    """The regressors of K labels, the intercept first, and the covariance of their errors."""

    weights: F64  # (columns, K)
    covariance: F64  # (K, K)


def first_joint(n_columns: int, n_labels: int) -> Joint:
    """What is assumed before the first answer."""
    return Joint(np.zeros((n_columns, n_labels)), _FIRST_VARIANCE * _prior(n_labels))


def inverse_of(table: F64, times: F64) -> F64:
    """The inverse of the penalised sum of squares and products of the rows, each counted ``times``, (n,)."""
    penalty = np.full(table.shape[1], PENALTY)
    penalty[0] = INTERCEPT_PENALTY
    return np.asarray(np.linalg.inv(table.T @ (times[:, None] * table) + np.diag(penalty)))


def fitted(table: F64, costs: F64, times: F64, inverse: F64, start: Joint, n_steps: int) -> Joint:
    """The regressors after some steps of EM; ``table`` (n, columns) begins with ones, unknown ``costs`` are NaN."""
    known = ~np.isnan(costs)
    patterns = _patterns(known)
    weights, covariance = start
    n_labels, total = costs.shape[1], float(times.sum())
    projection = inverse @ (times[:, None] * table).T
    for _ in range(n_steps):
        full, uncertainty = _completed(table @ weights, costs, times, covariance, patterns)
        weights = projection @ full
        errors = full - table @ weights
        products = errors.T @ (times[:, None] * errors) + uncertainty
        variance = max(float(np.trace(products)) / n_labels / total, _LEAST_VARIANCE)
        covariance = (products + _PRIOR_ROWS * variance * _prior(n_labels)) / (total + _PRIOR_ROWS)
    return Joint(weights, covariance)


def completed(predicted: F64, costs: F64, covariance: F64) -> F64:
    """The known costs (n, K), and in place of unknown ones their expectations, given predictions made without them.

    >>> completed(np.array([[0.5, 0.5]]), np.array([[1.0, np.nan]]), np.array([[0.2, 0.1], [0.1, 0.2]])).tolist()
    [[1.0, 0.75]]
    """
    return _completed(predicted, costs, np.ones(len(costs)), covariance, _patterns(~np.isnan(costs)))[0]


def _prior(n_labels: int) -> F64:
    return (1.0 - _PRIOR_SHARED) * np.eye(n_labels) + _PRIOR_SHARED


def _patterns(known: Bool) -> list[tuple[Bool, I64]]:
    """The distinct sets of known labels, each with its rows."""
    _, first, number = np.unique(np.packbits(known, axis=1), axis=0, return_index=True, return_inverse=True)
    order = np.argsort(number.ravel(), kind="stable")
    rows = np.split(order, np.cumsum(np.bincount(number.ravel()))[:-1])
    return [(known[one], of_pattern) for one, of_pattern in zip(first, rows, strict=True)]


def _completed(
    predicted: F64, costs: F64, times: F64, covariance: F64, patterns: list[tuple[Bool, I64]]
) -> tuple[F64, F64]:
    """The costs with the expected ones in place of unknown ones, and the summed covariance of these expectations."""
    full, uncertainty = np.where(np.isnan(costs), predicted, costs), np.zeros_like(covariance)
    for known, rows in patterns:
        if known.all():
            continue
        there, missing = np.flatnonzero(known), np.flatnonzero(~known)
        cross = covariance[np.ix_(there, missing)]
        slopes = np.linalg.solve(covariance[np.ix_(there, there)], cross)
        surprise = costs[np.ix_(rows, there)] - predicted[np.ix_(rows, there)]
        full[np.ix_(rows, missing)] += surprise @ slopes
        left = covariance[np.ix_(missing, missing)] - cross.T @ slopes
        uncertainty[np.ix_(missing, missing)] += times[rows].sum() * left
    return full, uncertainty
