"""A multinomial logistic regression fitted to examples of classes, calibrated on examples that it did not see.

``Columns`` centres and scales the columns of the rows, ``LogisticProblem`` has the penalised loss, which L-BFGS
minimises, and ``ClassFit`` the fitted model.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from coalface.data.rows import Rows
from coalface.kernels.classes import add_columns, add_products, expected_costs, to_probabilities, to_residuals
from coalface.kernels.state import F64, I64

_MOST_RATIO = 10.0  # of the largest deviation of a column to the median one, if all share a unit
_LEAST_SHARE = 1e-10  # of a column's mean square: a smaller variance is rounding, and the column is constant
PENALTY = 0.1  # on squared weights, with rows of mean squared length 1
PRIOR_COUNT = 0.5  # examples that each class has in advance, at the centre of the rows
_MOST_STEPS, _GRADIENT, _DECREASE = 100, 1e-2, 1e-9  # where the solver stops
_FOLDS = 3
_LEAST_EXAMPLES = 6  # to calibrate
_PRIOR_SLOPE, _SLOPE_PENALTY = 3.0, 0.1  # of the calibration
_UNKNOWN_COST = 1.0  # of a label where the truth is a class without examples


class Encoded(NamedTuple):
    """Rows with their columns numbered by slot and their values in the unit of each column."""

    indptr: I64
    slots: I64  # -1: a column never seen
    values: F64

    @property
    def of_rows(self) -> I64:
        """The row of each value."""
        return np.repeat(np.arange(len(self.indptr) - 1), np.diff(self.indptr))

    def take(self, numbers: I64) -> "Encoded":
        """The rows with these numbers."""
        lengths = (self.indptr[1:] - self.indptr[:-1])[numbers]
        indptr = np.concatenate([[0], np.cumsum(lengths)])
        places = np.repeat(self.indptr[numbers] - indptr[:-1], lengths) + np.arange(indptr[-1])
        return Encoded(indptr, self.slots[places], self.values[places])


class Columns(NamedTuple):
    """The columns seen, in order, with the centre of each, in its unit, and the unit."""

    numbers: NDArray[np.int32]
    centre: F64
    units: F64
    new_unit: float  # of a column never seen; 0: its own value

    def encode(self, rows: Rows) -> Encoded:
        """Rows as the model reads them.

        >>> from coalface.data.rows import check_rows
        >>> columns_of(check_rows([[2.0, 0.0], [4.0, 1.0]])).encode(check_rows([[0.0, 5.0, 7.0]])).slots
        array([ 1, -1])
        """
        places = np.searchsorted(self.numbers, rows.columns)
        inside = np.minimum(places, max(len(self.numbers) - 1, 0))
        seen = self.numbers[inside] == rows.columns if len(self.numbers) else np.zeros(len(places), np.bool_)
        slots = np.where(seen, inside, -1)
        values = rows.values.astype(np.float64)
        new = self.new_unit if self.new_unit > 0 else np.maximum(np.abs(values), np.finfo(np.float32).tiny)
        units = np.where(seen, self.units[inside] if len(self.numbers) else 1.0, new)
        return Encoded(rows.indptr, slots, values / units)


def columns_of(rows: Rows) -> Columns:
    """The columns of some rows, centred and scaled so that a row has the mean squared length 1.

    All columns share a unit unless their deviations differ by orders of magnitude, as in a table of raw measurements.
    The deviation of a column is taken over the rows where it is not zero, so that rare words count no more than
    others.
    """
    numbers, slots = np.unique(rows.columns, return_inverse=True)
    values, n_rows = rows.values.astype(np.float64), max(len(rows), 1)
    n_stored = np.maximum(np.bincount(slots, minlength=len(numbers)), 1)
    mean = np.bincount(slots, values, len(numbers)) / n_rows
    square = np.bincount(slots, values * values, len(numbers)) / n_rows
    variance = square - mean * mean
    varies = variance > _LEAST_SHARE * square
    deviations = np.sqrt(np.where(varies, variance * n_rows / n_stored, square))
    own = bool(varies.any() and deviations[varies].max() > _MOST_RATIO * np.median(deviations[varies]))
    units = np.where(deviations > 0, deviations, 1.0) if own else np.ones(len(numbers))
    length = float(np.sqrt((np.where(varies, variance, 0.0) / units**2).sum()))
    if length == 0.0:
        length = float(np.sqrt((square / units**2).sum())) or 1.0
    return Columns(numbers, mean / (units * length), units * length, 0.0 if own else length)


class LogisticProblem(NamedTuple):
    """Penalised multinomial logistic regression; the first row of a solution (1 + slots, K) has the intercepts."""

    rows: Encoded
    classes: I64
    importance: F64
    centre: F64
    n_classes: int

    def solved(self) -> F64:
        """The weights of the least penalised loss."""
        counts = np.bincount(self.classes, self.importance, self.n_classes) + PRIOR_COUNT
        start = np.zeros((1 + len(self.centre), self.n_classes))
        start[0] = np.log(counts) - np.log(counts).mean()
        return _minimised(self.loss, start.ravel()).reshape(start.shape)

    def scores(self, solution: F64, rows: Encoded) -> F64:
        """The logits of rows without the intercepts, (n, K)."""
        scores = np.tile(-(self.centre @ solution[1:]), (len(rows.indptr) - 1, 1))
        add_products(*rows, solution[1:], scores)
        return scores

    def loss(self, flat: F64) -> tuple[float, F64]:
        """The penalised loss at a solution, given as one row, and its gradient."""
        point = flat.reshape(-1, self.n_classes)
        residuals = self.scores(point, self.rows) + point[0]
        loss = to_residuals(residuals, self.classes, self.importance)
        prior = np.tile(point[0], (self.n_classes, 1))
        loss += to_residuals(prior, np.arange(self.n_classes), np.full(self.n_classes, PRIOR_COUNT))
        gradient, total = np.zeros(point.shape), residuals.sum(axis=0)
        add_columns(*self.rows, residuals, gradient[1:])
        gradient[1:] += PENALTY * point[1:] - np.outer(self.centre, total)
        gradient[0] = total + prior.sum(axis=0)
        return loss + 0.5 * PENALTY * float((point[1:] ** 2).sum()), gradient.ravel()

    def curvature(self, solution: F64) -> F64:
        """The diagonal of the second derivative of the loss by the weights, (slots, K)."""
        chances = self.scores(solution, self.rows) + solution[0]
        to_probabilities(chances)
        chances *= (1.0 - chances) * self.importance[:, None]
        square, cross = (np.zeros(solution[1:].shape) for _ in range(2))
        add_columns(self.rows.indptr, self.rows.slots, self.rows.values**2, chances, square)
        add_columns(*self.rows, chances, cross)
        centre = self.centre[:, None]
        return np.asarray(np.maximum(square - 2.0 * centre * cross + centre**2 * chances.sum(axis=0), 0.0))

    def part(self, numbers: I64) -> "LogisticProblem":
        """The same problem with some of its examples."""
        return self._replace(
            rows=self.rows.take(numbers), classes=self.classes[numbers], importance=self.importance[numbers]
        )


def _minimised(
    loss: Callable[[F64], tuple[float, F64]],
    start: F64,
    bounds: Sequence[tuple[float | None, float | None]] | None = None,
) -> F64:
    """Where a convex function is least; ``loss`` returns its value and its gradient.

    >>> _minimised(lambda x: (float(x @ x), 2 * x), np.array([3.0])).round(2) + 0.0
    array([0.])
    """
    from scipy.optimize import minimize  # slow to import

    limits: dict[str, float] = {"maxiter": _MOST_STEPS, "gtol": _GRADIENT, "ftol": _DECREASE}
    found: Any = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options=limits)  # type: ignore[call-overload]
    return np.asarray(found.x, np.float64)


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
    found = _minimised(loss, start, [(0.0, None)] + [(None, None)] * n_classes)
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
