"""A GPU on paper: what ``CudaArrays`` and ``CudaSteps`` compute, in NumPy, for machines without a GPU."""

import numpy as np

from coalface.models.device import TF32, HostArrays
from coalface.models.ridge.root_regression import Turned

_DROPPED_BITS = 13  # of the 23 stored bits of a fraction, by TF32
_HALF, _KEPT = np.uint32(1 << (_DROPPED_BITS - 1)), np.uint32(0xFFFFFFFF << _DROPPED_BITS & 0xFFFFFFFF)
_LOST = 3e-7  # of the length of a row, where its square is rounded; LOST in kernels/ridge.cu


def as_tf32(array):
    """The numbers as tensor cores read them: the nearest with 10 stored bits of fraction."""
    bits = np.ascontiguousarray(array, np.float32).view(np.uint32)
    return ((bits + _HALF) & _KEPT).view(np.float32)


class MirrorArrays(HostArrays):
    """Arrays of NumPy. Products of lower precision round their factors as tensor cores do."""

    def product(self, left, right, precision):
        return np.matmul(*self._rounded(left, right, precision))

    def subtract_product(self, target, left, right, precision):
        target -= np.matmul(*self._rounded(left, right, precision))

    def squares(self, array):
        return np.einsum("...c,...c->...", array, array)

    @staticmethod
    def _rounded(left, right, precision):
        return (as_tf32(left), as_tf32(right)) if precision == TF32 else (left, right)


class MirrorSteps:
    """The steps of ``CudaSteps``, in NumPy."""

    def __init__(self, arrays=None):
        pass

    def table(self, features, n_columns, intercept):
        """The intercept, the features and zeros as the columns of a table."""
        table = np.zeros((len(features), n_columns), np.float32)
        table[:, 0] = intercept
        table[:, 1 : 1 + features.shape[1]] = features
        return table

    def ranges(self, predicted, spread, factors):
        """Predicted, lowest and highest costs, (3, n, K), from slack of rows, noise of labels, unseen spread."""
        n_rows, n_labels = predicted.shape
        slack, noise, unseen = np.split(factors, [n_rows, n_rows + n_labels])
        reach = np.sqrt(np.outer(slack, noise) * (spread + unseen[:, None])).astype(np.float32)
        centre = predicted.astype(np.float32)
        inside = centre.clip(0.0, 1.0)
        return np.stack([centre, np.maximum(inside - reach, 0.0), np.minimum(inside + reach, 1.0)])

    def gathered(self, table, weights, told):
        """The rows of the told costs, (k, m, columns), and their errors, (k, m)."""
        known = told.rows >= 0
        inputs = np.where(known[:, :, None], table[told.rows], np.float32(0.0))
        predicted = (inputs.astype(np.float64) @ weights[told.labels][:, :, None])[:, :, 0]
        return inputs, np.where(known, told.costs - predicted, 0.0)

    def turned(self, along, errors, told):
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

    def on_device(self, told):
        """The told costs as arrays of the device."""
        return told


def _cholesky(matrices, least):
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
