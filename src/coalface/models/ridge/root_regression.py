"""The regression on a GPU: a square root of each label's inverse, updated with matrix products for many rows at once.

Notation. The inverse of A is R' R. Learning the rows X, whose costs have the variances V V', takes R to R - F' B' F R,
with F = X R' and B' = (U + V)^-T U^-1, where U is Cholesky's factor of V V' + F F' (Andrews' square-root form of the
Kalman filter's update). As in ``kernels.ridge``, no variance can become negative. The weights w change by R' F' U^-T e
with e = U^-1 (c - X w). The errors of the rows, each predicted after those before it were learned, are U's diagonal
times e.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.models.device import SINGLE, HostArrays
from coalface.models.ridge.factor_regression import FactorRegression
from coalface.models.ridge.regression import Regression, Table, saved_columns
from coalface.models.ridge.root_steps import Told, steps_for, told_costs
from coalface.models.saved_arrays import copy_saved
from coalface.models.values import Costs, Ranged

_WORKING = 2**26  # numbers that a product of the spread writes at once: 256 MB


class RootRegression(Regression):
    """Results agree with those of ``FactorRegression`` up to rounding, not bit by bit."""

    block = 4096

    def __init__(self, n_labels: int, penalty: float, arrays_used: HostArrays, precision: int = SINGLE) -> None:
        self.n_labels, self.penalty, self.arrays_used, self.precision = n_labels, penalty, arrays_used, precision
        self._steps = steps_for(arrays_used)
        self.roots = arrays_used.xp.zeros((n_labels, 0, 0), np.float32)  # (K, columns, columns)
        self.weights = arrays_used.xp.zeros((n_labels, 0))  # (K, columns)

    @property
    def n_columns(self) -> int:
        """The number of columns."""
        return int(self.weights.shape[1])

    def bytes_for(self, n_columns: int) -> int:
        """The memory of a state with so many columns in bytes."""
        return self.n_labels * n_columns * (4 * n_columns + 8)

    def make_room(self, n_columns: int) -> None:
        """Add the missing columns, untrained."""
        if n_columns > self.n_columns:
            self._resize(self.n_labels, n_columns)

    def add_label(self, others: NDArray[np.int64]) -> None:
        """Add a label, the last."""
        self._resize(self.n_labels + 1, self.n_columns)
        if len(others):
            self.weights[-1] = self.weights[self.arrays_used.xp.asarray(others)].mean(axis=0)

    def _resize(self, n_labels: int, n_columns: int) -> None:
        """Take more labels or columns; what is new is untrained."""
        xp, before = self.arrays_used.xp, self.n_columns
        roots, weights = xp.zeros((n_labels, n_columns, n_columns), np.float32), xp.zeros((n_labels, n_columns))
        diagonal = xp.arange(n_columns)
        roots[:, diagonal, diagonal] = np.float32(1.0 / np.sqrt(self.penalty))
        roots[: self.n_labels, :before, :before] = self.roots
        weights[: self.n_labels, :before] = self.weights
        self.n_labels, self.roots, self.weights = n_labels, roots, weights

    def predicted(self, table: Table) -> Any:
        """The predicted costs, (n, K)."""
        return self._predicted(table).astype(np.float32)

    def _predicted(self, table: Table) -> Any:
        return table.astype(np.float64) @ self.weights.T

    def spread(self, table: Table) -> Any:
        """The uncertainty of each prediction, (n, K): the squared length of R x."""
        n_rows, n_columns = table.shape
        together, found = max(_WORKING // max(n_rows * n_columns, 1), 1), []
        for first in range(0, self.n_labels, together):
            roots = self.roots[first : first + together]
            along = self.arrays_used.product(table, roots.reshape(-1, n_columns).T, self.precision)
            found.append(self.arrays_used.squares(along.reshape(n_rows, len(roots), n_columns)))
        return found[0] if len(found) == 1 else self.arrays_used.xp.concatenate(found, axis=1)

    def table(self, features: Any, intercept: float) -> Table:
        """The intercept and the features of rows."""
        return self._steps.table(self.arrays_used.xp.asarray(features), self.n_columns, intercept)

    def ranged(
        self, table: Table, unseen: NDArray[np.float64], slack: NDArray[np.float64], noise: NDArray[np.float64]
    ) -> Ranged:
        """Predictions and ranges, computed on the device and copied to memory at once."""
        factors = np.concatenate([slack, noise, unseen])
        found = self._steps.ranges(self._predicted(table), self.spread(table), factors)
        return Ranged(*self.arrays_used.to_host(found))

    def learn(self, table: Table, costs: Costs, importance: Costs, squared_residuals: NDArray[np.float64]) -> None:
        """Learn the known costs."""
        for told in told_costs(costs, importance):
            squared_residuals[told.labels] += self._learn(table, told)

    def _learn(self, table: Table, given: Told) -> NDArray[np.float64]:
        """Learn the costs; returns the summed squared residuals of each label."""
        arrays, steps, told = self.arrays_used, self._steps, self._steps.on_device(given)
        all_labels = len(given.labels) == self.n_labels
        roots = self.roots if all_labels else self.roots[told.labels]
        inputs, errors = steps.gathered(table, self.weights, told)
        along = arrays.product(inputs, roots.swapaxes(1, 2), self.precision)
        turned = steps.turned(along, errors, told)
        residuals = arrays.to_host(turned.residuals)  # now, so that the GPU does the rest while the caller goes on
        changes = arrays.product(turned.rows, roots, self.precision)
        arrays.subtract_product(roots, along.swapaxes(1, 2), changes[:, :-1], self.precision)
        if all_labels:
            self.weights += changes[:, -1]
        else:
            self.roots[told.labels] = roots
            self.weights[told.labels] += changes[:, -1]
        return residuals

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The state as named arrays, copied to memory."""
        to_host = self.arrays_used.to_host
        return {"roots": to_host(self.roots), "weights": to_host(self.weights)}

    def restore(self, saved: Mapping[str, NDArray[Any]]) -> None:
        """Restore what ``arrays`` of either kind returned."""
        self.make_room(saved_columns(saved))
        if "roots" in saved:
            found = self.arrays()
            copy_saved(saved, found)
        else:
            factors = FactorRegression(self.n_labels, self.penalty)
            factors.restore(saved)
            found = {"roots": factors.roots(), "weights": factors.weights}
        xp = self.arrays_used.xp
        self.roots, self.weights = xp.asarray(found["roots"]), xp.asarray(found["weights"])
