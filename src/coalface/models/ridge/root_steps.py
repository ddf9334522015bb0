"""The steps of ``RootRegression`` that are not matrix products: in NumPy, and as CUDA kernels, ``kernels/ridge.cu``."""

from collections.abc import Mapping
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coalface.kernels.ridge import list_costs
from coalface.models.device import CudaArrays, HostArrays
from coalface.models.values import Costs, counting

TOGETHER = 48  # costs of a label that are learned at once; MOST in kernels/ridge.cu
_THREADS = 256
_TO_GATHER = 128  # threads, a power of 2; the length of ``sums`` in kernels/ridge.cu
_TO_SOLVE = 64  # threads, a few more than TOGETHER
_TO_TURN = 128  # threads
_LOST = 3e-7  # of the length of a row, where its square is rounded; LOST in kernels/ridge.cu
_MOST_BLOCKS = 2048  # of kernels whose threads take several numbers each


class Told(NamedTuple):
    """The known costs of some labels, each with its row; labels with fewer costs than others are filled up."""

    labels: NDArray[np.int64]  # (k,)
    rows: NDArray[np.int64]  # (k, m), -1 where there is no cost
    costs: NDArray[np.float64]  # (k, m)
    deviations: NDArray[np.float64]  # (k, m) the square roots of the costs' variances


class Turned(NamedTuple):
    """What the costs of each label change."""

    rows: Any  # (k, m + 1, columns) 32-bit: B' F, and a last row; times R, that row is the step of the weights
    residuals: Any  # (k,): the sum of the squared residuals


class HostSteps:
    """The steps in NumPy, which tests compare with the kernels."""

    def table(self, features: Any, n_columns: int, intercept: float) -> Any:
        """The intercept, the features and zeros as the columns of a table."""
        table = np.zeros((len(features), n_columns), np.float32)
        table[:, 0] = intercept
        table[:, 1 : 1 + features.shape[1]] = features
        return table

    def ranges(self, predicted: Any, spread: Any, factors: NDArray[np.float64]) -> Any:
        """Predicted, lowest and highest costs, (3, n, K), from slack of rows, noise of labels, unseen spread."""
        n_rows, n_labels = predicted.shape
        slack, noise, unseen = np.split(factors, [n_rows, n_rows + n_labels])
        reach = np.sqrt(np.outer(slack, noise) * (spread + unseen[:, None])).astype(np.float32)
        centre = predicted.astype(np.float32)
        inside = centre.clip(0.0, 1.0)
        return np.stack([centre, np.maximum(inside - reach, 0.0), np.minimum(inside + reach, 1.0)])

    def gathered(self, table: Any, weights: Any, told: Told) -> tuple[Any, Any]:
        """The rows of the told costs, (k, m, columns), and their errors, (k, m)."""
        known = told.rows >= 0
        inputs = np.where(known[:, :, None], table[told.rows], np.float32(0.0))
        predicted = (inputs.astype(np.float64) @ weights[told.labels][:, :, None])[:, :, 0]
        return inputs, np.where(known, told.costs - predicted, 0.0)

    def turned(self, along: Any, errors: Any, told: Told) -> Turned:
        """What follows from the rows F, (k, m, columns), and the errors of the costs.

        It is in 64 bits, because large numbers cancel if rows are much longer than the penalty.
        """
        wide = along.astype(np.float64)
        noise = told.deviations[:, :, None] * np.eye(errors.shape[1])
        lower = _cholesky(wide @ wide.swapaxes(1, 2) + noise**2, told.deviations)
        inverse = np.linalg.inv(lower)
        innovations = (inverse @ errors[:, :, None])[:, :, 0]
        expected = told.costs - np.diagonal(lower, axis1=1, axis2=2) * innovations
        residuals = np.where(told.rows >= 0, told.costs - expected.clip(0.0, 1.0), 0.0)
        turn = np.linalg.inv(lower + noise).swapaxes(1, 2) @ inverse
        rows = np.concatenate([turn, innovations[:, None, :] @ inverse], axis=1) @ wide
        return Turned(rows.astype(np.float32), (residuals**2).sum(axis=1))

    def on_device(self, told: Told) -> Told:
        """The told costs as arrays of the device."""
        return told


class CudaSteps(HostSteps):
    """The steps on a GPU, each a kernel: a call of CuPy takes longer than most of them."""

    def __init__(self, arrays: CudaArrays) -> None:
        self._xp = arrays.xp
        self._kernels: Mapping[str, Any] = arrays.kernels(_source(), *_NAMES)

    def table(self, features: Any, n_columns: int, intercept: float) -> Any:
        """The intercept, the features and zeros as the columns of a table."""
        features = self._xp.ascontiguousarray(features)
        table = self._xp.empty((len(features), n_columns), np.float32)
        shape = (np.int64(len(features)), np.int32(features.shape[1]), np.int32(n_columns))
        self._run("fill_table", table.size, features, *shape, np.float32(intercept), table)
        return table

    def ranges(self, predicted: Any, spread: Any, factors: NDArray[np.float64]) -> Any:
        """Predicted, lowest and highest costs, (3, n, K)."""
        n_rows, n_labels = predicted.shape
        found = self._xp.empty((3, n_rows, n_labels), np.float32)
        shape = (np.int64(n_rows), np.int32(n_labels))
        self._run("fill_ranges", predicted.size, predicted, spread, self._xp.asarray(factors), *shape, found)
        return found

    def gathered(self, table: Any, weights: Any, told: Told) -> tuple[Any, Any]:
        """The rows of the told costs and their errors."""
        (n_labels, n_told), n_columns = told.rows.shape, table.shape[1]
        inputs = self._xp.empty((n_labels, n_told, n_columns), np.float32)
        errors = self._xp.empty((n_labels, n_told))
        numbers = (told.labels, told.rows, told.costs, np.int32(n_told), np.int32(n_columns))
        self._kernels["gather_rows"]((n_labels * n_told,), (_TO_GATHER,), (table, weights, *numbers, inputs, errors))
        return inputs, errors

    def turned(self, along: Any, errors: Any, told: Told) -> Turned:
        """What follows from the rows F and the errors of the costs."""
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

    def on_device(self, told: Told) -> Told:
        """The told costs as arrays of the device, in two copies."""
        shape, n_labels = told.rows.shape, len(told.labels)
        numbers = self._xp.asarray(np.concatenate([told.labels, told.rows.ravel()]))
        costs, deviations = self._xp.asarray(np.stack([told.costs, told.deviations]))
        return Told(numbers[:n_labels], numbers[n_labels:].reshape(shape), costs, deviations)

    def _run(self, name: str, size: int, *args: Any) -> None:
        """Run a kernel of about one thread per number."""
        if size:
            self._kernels[name]((min(-(-size // _THREADS), _MOST_BLOCKS),), (_THREADS,), args)


_NAMES = ("fill_table", "fill_ranges", "gather_rows", "multiply_rows", "solve_labels", "turn_rows")


def _cholesky(matrices: NDArray[np.float64], least: NDArray[np.float64]) -> NDArray[np.float64]:
    """Lower triangular factors, (k, m, m), without numbers on the diagonal that rounding alone can have made.

    None is less than ``least``, nor than what is lost of the row's length.
    """
    lower = matrices.copy()
    least = np.maximum(least, _LOST * np.sqrt(np.diagonal(matrices, axis1=1, axis2=2)))
    for j in range(lower.shape[1]):
        lower[:, j, j] = np.maximum(np.sqrt(np.maximum(lower[:, j, j], 0.0)), least[:, j])
        below = lower[:, j + 1 :, j] = lower[:, j + 1 :, j] / lower[:, j, j, None]
        lower[:, j + 1 :, j + 1 :] -= below[:, :, None] * below[:, None, :]
    return np.tril(lower)


def _source() -> str:
    return files("coalface.kernels").joinpath("ridge.cu").read_text(encoding="utf-8")


def steps_for(arrays: HostArrays) -> HostSteps:
    """The steps for arrays of one kind."""
    return CudaSteps(arrays) if isinstance(arrays, CudaArrays) else HostSteps()


def told_costs(costs: Costs, importance: Costs) -> list[Told]:
    """The known costs by label, at most ``TOGETHER`` of each label at once, in the order of the rows.

    >>> nan = np.nan
    >>> [told] = told_costs(np.array([[nan, 0.25], [nan, 0.5], [nan, nan]], np.float32), np.zeros((0, 0), np.float32))
    >>> told.labels.tolist(), told.rows.tolist(), told.costs.tolist()
    ([1], [[0, 1]], [[0.25, 0.5]])
    """
    known = counting(costs, importance)
    shape = (known.shape[1], int(known.sum(axis=0).max(initial=0)))
    counts = np.zeros(len(known.T), np.int64)
    every = Told(np.arange(len(counts)), np.full(shape, -1, np.int64), np.zeros(shape), np.ones(shape))
    list_costs(costs, known, importance, *every[1:], counts)
    return [_part(every, counts, slice(first, first + TOGETHER)) for first in range(0, shape[1], TOGETHER)]


def _part(told: Told, counts: NDArray[np.int64], places: slice) -> Told:
    """Some of the costs of each label, without the labels that have none of them."""
    labels = np.flatnonzero(counts > places.start)
    some = (labels, places)
    return Told(labels, told.rows[some], told.costs[some], told.deviations[some])
