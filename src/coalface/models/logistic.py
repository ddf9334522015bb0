"""Multinomial logistic regression on sparse rows, with a penalty on squared weights, solved by L-BFGS."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from coalface.kernels.classes import add_columns, add_products, to_probabilities, to_residuals
from coalface.kernels.state import F64, I64
from coalface.models.class_columns import Encoded

PENALTY = 0.1  # on squared weights, with rows of mean squared length 1
PRIOR_COUNT = 0.5  # examples that each class has in advance, at the centre of the rows
_MOST_STEPS, _GRADIENT, _DECREASE = 100, 1e-2, 1e-9  # where the solver stops


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
        return minimised(self.loss, start.ravel()).reshape(start.shape)

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


def minimised(
    loss: Callable[[F64], tuple[float, F64]],
    start: F64,
    bounds: Sequence[tuple[float | None, float | None]] | None = None,
) -> F64:
    """Where a convex function is least; ``loss`` returns its value and its gradient.

    >>> minimised(lambda x: (float(x @ x), 2 * x), np.array([3.0])).round(2) + 0.0
    array([0.])
    """
    from scipy.optimize import minimize  # slow to import

    limits: dict[str, float] = {"maxiter": _MOST_STEPS, "gtol": _GRADIENT, "ftol": _DECREASE}
    found: Any = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options=limits)  # type: ignore[call-overload]
    return np.asarray(found.x, np.float64)
