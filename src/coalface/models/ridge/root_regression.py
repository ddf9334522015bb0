"""The regression on a GPU: a square root of each label's inverse, updated with matrix products for many rows at once.

Notation. The inverse of A is R' R. Learning the rows X, whose costs have the variances V V', takes R to R - F' B' F R,
with F = X R' and B' = (U + V)^-T U^-1, where U is Cholesky's factor of V V' + F F' (Andrews' square-root form of the
Kalman filter's update). As in ``kernels.ridge``, no variance can become negative. The weights w change by R' F' U^-T e
with e = U^-1 (c - X w). The errors of the rows, each predicted after those before it were learned, are U's diagonal
times e.
"""

from collections.abc import Mapping
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coalface.kernels.ridge import list_costs
from coalface.models.device import SINGLE, CudaArrays
from coalface.models.model_arrays import copy_saved
from coalface.models.ridge.regression import FactorRegression, Regression, Table, saved_columns
from coalface.models.values import Costs, Ranged, counting

_WORKING = 2**26  # numbers that a product of the spread writes at once: 256 MB
TOGETHER = 48  # costs of a label that are learned at once; MOST in kernels/ridge.cu
_THREADS = 256
_TO_GATHER = 128  # threads, a power of 2; the length of ``sums`` in kernels/ridge.cu
_TO_SOLVE = 64  # threads, a few more than TOGETHER
_TO_TURN = 128  # threads
_MOST_BLOCKS = 2048  # of kernels whose threads take several numbers each
_NAMES = ("fill_table", "fill_ranges", "gather_rows", "multiply_rows", "solve_labels", "turn_rows")


class _LabelCosts(NamedTuple):
    """The known costs of some labels, each with its row; labels with fewer costs than others are filled up."""

    labels: NDArray[np.int64]  # (k,)
    rows: NDArray[np.int64]  # (k, m), -1 where there is no cost
    costs: NDArray[np.float64]  # (k, m)
    deviations: NDArray[np.float64]  # (k, m) the square roots of the costs' variances


class Turned(NamedTuple):
    """What the costs of each label change."""

    rows: Any  # (k, m + 1, columns) 32-bit: B' F, and a last row; times R, that row is the step of the weights
    residuals: Any  # (k,): the sum of the squared residuals


class RootRegression(Regression):
    """Results agree with those of ``FactorRegression`` up to rounding, not bit by bit."""

    block = 4096
    arrays_used: CudaArrays

    def __init__(self, n_labels: int, penalty: float, arrays_used: CudaArrays, precision: int = SINGLE) -> None:
        self.n_labels, self.penalty, self.arrays_used, self.precision = n_labels, penalty, arrays_used, precision
        self._steps, self.n_columns = CudaSteps(arrays_used), 0
        self.roots = arrays_used.xp.zeros((n_labels, 0, 0), np.float32)  # (K, columns, columns)
        self.weights = arrays_used.xp.zeros((n_labels, 0))  # (K, columns)

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
        self.n_labels, self.n_columns, self.roots, self.weights = n_labels, n_columns, roots, weights

    def costs(self, table: Table) -> Costs:
        """The predicted costs, (n, K), copied to memory."""
        return self.arrays_used.to_host(self._predicted(table).astype(np.float32))

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

    def _learn(self, table: Table, given: _LabelCosts) -> NDArray[np.float64]:
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


class CudaSteps:
    """The steps that are not matrix products, each a kernel: a call of CuPy takes longer than most of them."""

    def __init__(self, arrays: CudaArrays) -> None:
        self._xp = arrays.xp
        source = files("coalface.kernels").joinpath("ridge.cu").read_text(encoding="utf-8")
        self._kernels: Mapping[str, Any] = arrays.kernels(source, *_NAMES)

    def table(self, features: Any, n_columns: int, intercept: float) -> Any:
        """The intercept, the features and zeros as the columns of a table."""
        features = self._xp.ascontiguousarray(features)
        table = self._xp.empty((len(features), n_columns), np.float32)
        shape = (np.int64(len(features)), np.int32(features.shape[1]), np.int32(n_columns))
        self._run("fill_table", table.size, features, *shape, np.float32(intercept), table)
        return table

    def ranges(self, predicted: Any, spread: Any, factors: NDArray[np.float64]) -> Any:
        """Predicted, lowest and highest costs, (3, n, K), from slack of rows, noise of labels, unseen spread."""
        n_rows, n_labels = predicted.shape
        found = self._xp.empty((3, n_rows, n_labels), np.float32)
        shape = (np.int64(n_rows), np.int32(n_labels))
        self._run("fill_ranges", predicted.size, predicted, spread, self._xp.asarray(factors), *shape, found)
        return found

    def gathered(self, table: Any, weights: Any, told: _LabelCosts) -> tuple[Any, Any]:
        """The rows of the told costs, (k, m, columns), and their errors, (k, m)."""
        (n_labels, n_told), n_columns = told.rows.shape, table.shape[1]
        inputs = self._xp.empty((n_labels, n_told, n_columns), np.float32)
        errors = self._xp.empty((n_labels, n_told))
        numbers = (told.labels, told.rows, told.costs, np.int32(n_told), np.int32(n_columns))
        self._kernels["gather_rows"]((n_labels * n_told,), (_TO_GATHER,), (table, weights, *numbers, inputs, errors))
        return inputs, errors

    def turned(self, along: Any, errors: Any, told: _LabelCosts) -> Turned:
        """What follows from the rows F, (k, m, columns), and the errors of the costs.

        It is in 64 bits, because large numbers cancel if rows are much longer than the penalty.
        """
        n_labels, n_told, n_columns = along.shape
        squares, turn = (self._xp.empty((n_labels, n_told + more, n_told)) for more in range(2))
        found = Turned(self._xp.empty((n_labels, n_told + 1, n_columns), np.float32), self._xp.empty(n_labels))
        shape = (np.int32(n_told), np.int32(n_columns))
        self._kernels["multiply_rows"]((n_labels,), (_THREADS,), (along, *shape, squares))
        given = (squares, errors, told.costs, told.deviations, told.rows, np.int32(n_told))
        self._kernels["solve_labels"]((n_labels,), (_TO_SOLVE,), (*given, turn, found.residuals))
        blocks = (n_labels, -(-n_columns // _TO_TURN))
        self._kernels["turn_rows"](blocks, (_TO_TURN,), (turn, along, *shape, found.rows))
        return found

    def on_device(self, told: _LabelCosts) -> _LabelCosts:
        """The told costs as arrays of the device, in two copies."""
        shape, n_labels = told.rows.shape, len(told.labels)
        numbers = self._xp.asarray(np.concatenate([told.labels, told.rows.ravel()]))
        costs, deviations = self._xp.asarray(np.stack([told.costs, told.deviations]))
        return _LabelCosts(numbers[:n_labels], numbers[n_labels:].reshape(shape), costs, deviations)

    def _run(self, name: str, size: int, *args: Any) -> None:
        """Run a kernel of about one thread per number."""
        if size:
            self._kernels[name]((min(-(-size // _THREADS), _MOST_BLOCKS),), (_THREADS,), args)


def told_costs(costs: Costs, importance: Costs) -> list[_LabelCosts]:
    """The known costs by label, at most ``TOGETHER`` of each label at once, in the order of the rows.

    >>> nan = np.nan
    >>> [told] = told_costs(np.array([[nan, 0.25], [nan, 0.5], [nan, nan]], np.float32), np.zeros((0, 0), np.float32))
    >>> told.labels.tolist(), told.rows.tolist(), told.costs.tolist()
    ([1], [[0, 1]], [[0.25, 0.5]])
    """
    known = counting(costs, importance)
    shape = (known.shape[1], int(known.sum(axis=0).max(initial=0)))
    counts = np.zeros(len(known.T), np.int64)
    every = _LabelCosts(np.arange(len(counts)), np.full(shape, -1, np.int64), np.zeros(shape), np.ones(shape))
    list_costs(costs, known, importance, *every[1:], counts)
    return [_part(every, counts, slice(first, first + TOGETHER)) for first in range(0, shape[1], TOGETHER)]


def _part(told: _LabelCosts, counts: NDArray[np.int64], places: slice) -> _LabelCosts:
    """Some of the costs of each label, without the labels that have none of them."""
    labels = np.flatnonzero(counts > places.start)
    some = (labels, places)
    return _LabelCosts(labels, told.rows[some], told.costs[some], told.deviations[some])
