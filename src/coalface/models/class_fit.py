"""Fits a multinomial logistic regression to examples of classes, calibrated on examples that it did not see."""

from typing import NamedTuple, Self

import numpy as np

from coalface.data.rows import Rows
from coalface.kernels.classes import add_products, expected_costs, to_probabilities, to_residuals
from coalface.kernels.state import F64, I64
from coalface.models.class_columns import Columns, Encoded, columns_of
from coalface.models.logistic import PENALTY, PRIOR_COUNT, LogisticProblem, minimised

_FOLDS = 3
_LEAST_EXAMPLES = 6  # to calibrate
_PRIOR_SLOPE, _SLOPE_PENALTY = 3.0, 0.1  # of the calibration
_UNKNOWN_COST = 1.0  # of a label where the truth is a class without examples


class ClassFit(NamedTuple):
    """A fitted model of K classes."""

    columns: Columns
    weights: F64  # (slots, K)
    offsets: F64  # (K,) scores of a row of zeros
    slope: float  # of logits in scores
    intercepts: F64  # (K,)
    spread: F64  # (slots, K) variance of the weights
    centred_spread: F64  # (slots, K) the same, times the centre of the column
    least_spread: F64  # (K,) of a row of zeros
    means: F64  # (K, K) the mean costs of all labels, by class

    @classmethod
    def of(cls, rows: Rows, costs: F64, importance: F64) -> Self:
        """The fit to rows with costs (n, K) and weights (n,); it depends on nothing else."""
        n_classes, classes = costs.shape[1], np.nanargmin(costs, axis=1)
        columns = columns_of(rows)
        encoded = columns.encode(rows)
        problem = LogisticProblem(encoded, classes, importance, columns.centre, n_classes)
        solution = problem.solved()
        slope, intercepts = _calibrated(problem, solution)
        spread = 1.0 / (PENALTY + problem.curvature(solution))
        centre = columns.centre[:, None]
        return cls(
            columns,
            solution[1:],
            -(columns.centre @ solution[1:]),
            slope,
            intercepts,
            spread,
            centre * spread,
            (centre * centre * spread).sum(axis=0),
            _mean_costs(classes, costs, importance),
        )

    def probabilities(self, rows: Rows) -> F64:
        """The probability of each class, (n, K)."""
        return self._probabilities(self.columns.encode(rows))

    def _probabilities(self, encoded: Encoded) -> F64:
        scores = np.tile(self.offsets, (len(encoded.indptr) - 1, 1))
        add_products(*encoded, self.weights, scores)
        logits = self.slope * scores + self.intercepts
        to_probabilities(logits)
        return np.asarray(logits)

    def costs(self, probabilities: F64) -> F64:
        """The expected costs of all labels, (n, K), given the probabilities of the classes."""
        expected = np.empty_like(probabilities)
        expected_costs(probabilities, self.means, expected)
        return expected

    def with_variances(self, rows: Rows) -> tuple[F64, F64]:
        """The probability of each class, and the variance of its logit by a Laplace approximation, (n, K) each.

        The approximation takes weights for independent. A column never seen has the variance of the prior.
        """
        encoded = self.columns.encode(rows)
        shape = (len(rows), len(self.offsets))
        square, cross = np.zeros(shape), np.zeros(shape)
        add_products(encoded.indptr, encoded.slots, encoded.values**2, self.spread, square)
        add_products(*encoded, self.centred_spread, cross)
        unseen = np.where(encoded.slots < 0, encoded.values**2, 0.0)
        new = np.bincount(encoded.of_rows, unseen, len(rows)) / PENALTY
        variance = np.maximum(square - 2.0 * cross + self.least_spread + new[:, None], 0.0)
        return self._probabilities(encoded), self.slope**2 * variance


def _calibrated(problem: LogisticProblem, solution: F64) -> tuple[float, F64]:
    """Slope and intercepts of logits in scores, chosen on examples that were left out of a fit."""
    if len(problem.classes) < _LEAST_EXAMPLES:
        return 1.0, solution[0]
    scores, fold = np.zeros((len(problem.classes), problem.n_classes)), _folds(problem.classes)
    for number in range(_FOLDS):
        held_out = np.flatnonzero(fold == number)
        fitted = problem.part(np.flatnonzero(fold != number)).solved()
        scores[held_out] = problem.scores(fitted, problem.rows.take(held_out))
    return _best_calibration(scores, problem)


def _folds(classes: I64) -> I64:
    """A fold per example; the examples of each class are spread evenly over the folds.

    >>> _folds(np.array([0, 0, 1, 0, 1, 0])).tolist()
    [0, 1, 0, 2, 1, 0]
    """
    fold = np.empty(len(classes), np.int64)
    for one in np.unique(classes):
        members = np.flatnonzero(classes == one)
        fold[members] = np.arange(len(members)) % _FOLDS
    return fold


def _best_calibration(scores: F64, problem: LogisticProblem) -> tuple[float, F64]:
    n_classes = problem.n_classes
    everyone, prior_weights = np.arange(n_classes), np.full(n_classes, PRIOR_COUNT)

    def loss(point: F64) -> tuple[float, F64]:
        slope, intercepts = point[0], point[1:]
        residuals, prior = slope * scores + intercepts, np.tile(intercepts, (n_classes, 1))
        total = to_residuals(residuals, problem.classes, problem.importance)
        total += to_residuals(prior, everyone, prior_weights) + 0.5 * _SLOPE_PENALTY * (slope - _PRIOR_SLOPE) ** 2
        by_slope = float((residuals * scores).sum()) + _SLOPE_PENALTY * (slope - _PRIOR_SLOPE)
        return float(total), np.concatenate([[by_slope], residuals.sum(axis=0) + prior.sum(axis=0)])

    counts = np.bincount(problem.classes, problem.importance, n_classes) + PRIOR_COUNT
    start = np.concatenate([[_PRIOR_SLOPE], np.log(counts) - np.log(counts).mean()])
    found = minimised(loss, start, [(0.0, None)] + [(None, None)] * n_classes)
    return float(found[0]), found[1:]


def _mean_costs(classes: I64, costs: F64, importance: F64) -> F64:
    """The mean known costs of all labels, (K, K), by class; a class without examples costs nothing to name itself."""
    n_classes = costs.shape[1]
    means = _UNKNOWN_COST * (1.0 - np.eye(n_classes))
    for one in np.unique(classes):
        of_class = classes == one
        weights = np.where(np.isnan(costs[of_class]), 0.0, importance[of_class][:, None])
        known = weights.sum(axis=0) > 0
        means[one, known] = np.average(np.nan_to_num(costs[of_class][:, known]), axis=0, weights=weights[:, known])
    return means
