"""``Regression``: the regularised least-squares solution of every label, and its uncertainty in every direction.

``FactorRegression`` is the one of the CPU: triangular factors in 2 x columns^2 bytes per label, as ``kernels.ridge``
stores them.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from coalface.errors import FileFormatError
from coalface.kernels.ridge import WIDE, fill_panels, learn_costs, spread_of, starts_of
from coalface.models.device import HostArrays
from coalface.models.model_arrays import copy_saved, widened
from coalface.models.values import Costs, Ranged

_PANEL = 128  # columns of a label in a matrix product
_PRODUCT_SIZE = 2**21  # numbers of all labels in a matrix product; for smaller ones, starting threads takes longer
_FEW = 4  # up to this many rows, reading each column once per row is faster than matrix products
_DAMAGED = "The array 'roots' of the model has no inverse; it is damaged. Restore a copy."
Table = Any  # (n, columns) 32-bit numbers of the regression's arrays: the intercept, then the features


class Regression(ABC):
    """One regressor per label over the columns of a table.

    With A = penalty x I + the sum of x x' over the learned rows, the spread of a prediction is x' times the inverse of
    A times x. The two kinds of regression store the inverse in different forms.
    """

    arrays_used: HostArrays
    block: ClassVar[int]  # rows of a table, to bound the working memory
    n_columns: int  # a multiple of ``WIDE``
    n_labels: int
    penalty: float

    @property
    def nbytes(self) -> int:
        """The memory of the state in bytes."""
        return self.bytes_for(self.n_columns)

    @abstractmethod
    def bytes_for(self, n_columns: int) -> int:
        """The memory of a state with so many columns in bytes."""

    @abstractmethod
    def make_room(self, n_columns: int) -> None:
        """Add the missing columns, untrained, because they were zero in all rows so far."""

    @abstractmethod
    def add_label(self, others: NDArray[np.int64]) -> None:
        """Add a label, the last, that predicts the mean of the others and is as uncertain as an empty regression."""

    @abstractmethod
    def spread(self, table: Table) -> Any:
        """The uncertainty of each prediction, (n, K), 32-bit."""

    @abstractmethod
    def learn(self, table: Table, costs: Costs, importance: Costs, squared_residuals: NDArray[np.float64]) -> None:
        """Learn the known costs (n, K), NaN elsewhere, and add their squared residuals to ``squared_residuals``.

        ``importance`` (n, K) weights the costs; if it is empty, every cost counts once.
        """

    @abstractmethod
    def arrays(self) -> dict[str, NDArray[Any]]:
        """The state as named arrays in memory."""

    @abstractmethod
    def restore(self, saved: Mapping[str, NDArray[Any]]) -> None:
        """Restore what ``arrays`` of either kind returned; a FileFormatError if an array is missing or does not fit."""

    @abstractmethod
    def table(self, features: Any, intercept: float) -> Table:
        """The intercept and the features of rows, (n, up to columns - 1), as a table."""

    @abstractmethod
    def ranged(
        self, table: Table, unseen: NDArray[np.float64], slack: NDArray[np.float64], noise: NDArray[np.float64]
    ) -> Ranged:
        """Predictions and ranges in closed form, in memory.

        The regressors whose penalised loss exceeds the least one by at most the slack form an ellipsoid. Their
        predictions differ from the best regressor's by at most sqrt(slack x spread). The slack of a prediction is that
        of its row times the noise of its label; ``unseen`` is the spread of each row in features never learned.
        """

    @abstractmethod
    def costs(self, table: Table) -> Costs:
        """The predicted costs, (n, K), 32-bit, in memory."""


class FactorRegression(Regression):
    """Learning is bit-identical however the rows are split over calls."""

    block = 1024
    arrays_used = HostArrays()

    def __init__(self, n_labels: int, penalty: float) -> None:
        self.n_labels, self.penalty, self.n_columns = n_labels, penalty, 0
        self.factors = np.zeros((n_labels, 0), np.float32)  # (K, packed columns)
        self.variances = np.zeros((n_labels, 0))  # (K, columns)
        self.weights = np.zeros((n_labels, 0))  # (K, columns)
        self._starts = starts_of(0)

    def bytes_for(self, n_columns: int) -> int:
        """The memory of a state with so many columns in bytes."""
        vectors = n_columns // WIDE
        return self.n_labels * WIDE * (4 * WIDE * vectors * (vectors + 1) // 2 + 16 * vectors)

    def make_room(self, n_columns: int) -> None:
        """Add the missing columns, untrained."""
        before = self.n_columns
        if n_columns <= before:
            return
        starts = starts_of(n_columns)
        factors = np.zeros((self.n_labels, starts[-1]), np.float32)
        factors[:, : self.factors.shape[1]] = self.factors
        added = np.arange(before, n_columns)
        factors[:, starts[added] + added] = 1.0
        wider = ((0, 0), (0, len(added)))
        self.factors, self._starts, self.n_columns = factors, starts, n_columns
        self.variances = np.pad(self.variances, wider, constant_values=1.0 / self.penalty)
        self.weights = np.pad(self.weights, wider)

    def add_label(self, others: NDArray[np.int64]) -> None:
        """Add a label, the last."""
        self.n_labels += 1
        columns = np.arange(self.n_columns)
        self.factors = widened(self.factors, self.n_labels)
        self.factors[-1, self._starts[columns] + columns] = 1.0
        self.variances = widened(self.variances, self.n_labels, fill=1.0 / self.penalty)
        self.weights = widened(self.weights, self.n_labels)
        if len(others):
            self.weights[-1] = self.weights[others].mean(axis=0)

    def costs(self, table: Table) -> Costs:
        """The predicted costs, (n, K)."""
        if len(table) <= _FEW:  # single-threaded: starting the threads of a matrix product would take longer
            return np.asarray(np.einsum("rc,kc->rk", table, self.weights), np.float32)
        return np.asarray(table.astype(np.float64) @ self.weights.T, np.float32)

    def spread(self, table: Table) -> Costs:
        """The uncertainty of each prediction, (n, K): see ``kernels.ridge.spread_of``."""
        spread = np.zeros((len(table), self.n_labels), np.float32)
        if len(table) <= _FEW:
            spread_of(self.factors, self.variances, self._starts, table, spread)
            return spread
        for first in range(0, self.n_columns, _PANEL):
            stop = min(first + _PANEL, self.n_columns)  # also the height of the tallest of these columns
            together = max(_PRODUCT_SIZE // ((stop - first) * stop), 1)
            for label in range(0, self.n_labels, together):
                labels = slice(label, min(label + together, self.n_labels))
                panels = np.empty((labels.stop - label, stop - first, stop), np.float32)
                fill_panels(self.factors[labels], self.variances[labels], self._starts, first, panels)
                along = (table[:, :stop] @ panels.reshape(-1, stop).T).reshape(len(table), *panels.shape[:2])
                spread[:, labels] += np.einsum("rkc,rkc->rk", along, along)
        return spread

    def table(self, features: Any, intercept: float) -> Table:
        """The intercept and the features of rows."""
        table = np.zeros((len(features), self.n_columns), np.float32)
        table[:, 0] = intercept
        table[:, 1 : 1 + features.shape[1]] = features
        return table

    def ranged(
        self, table: Table, unseen: NDArray[np.float64], slack: NDArray[np.float64], noise: NDArray[np.float64]
    ) -> Ranged:
        """Predictions and ranges."""
        reach = np.sqrt(np.outer(slack, noise) * (self.spread(table) + unseen[:, None])).astype(np.float32)
        predicted = self.costs(table)
        inside = predicted.clip(0.0, 1.0)
        return Ranged(predicted, np.maximum(inside - reach, 0.0), np.minimum(inside + reach, 1.0))

    def learn(self, table: Table, costs: Costs, importance: Costs, squared_residuals: NDArray[np.float64]) -> None:
        """Learn the known costs."""
        state = (self.factors, self.variances, self.weights, self._starts)
        learn_costs(*state, table, costs, importance, squared_residuals)

    def roots(self) -> NDArray[np.float32]:
        """Square matrices R of all labels such that R' R is the inverse of A, as ``RootRegression`` stores them."""
        found = np.empty((self.n_labels, self.n_columns, self.n_columns), np.float32)
        fill_panels(self.factors, self.variances, self._starts, 0, found)
        return found

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The state as named arrays."""
        return {"factors": self.factors, "variances": self.variances, "weights": self.weights}

    def restore(self, saved: Mapping[str, NDArray[Any]]) -> None:
        """Restore what ``arrays`` of either kind returned."""
        self.make_room(saved_columns(saved))
        if "roots" not in saved:
            copy_saved(saved, self.arrays())
            return
        roots = np.empty((self.n_labels, self.n_columns, self.n_columns), np.float32)
        copy_saved(saved, {"roots": roots, "weights": self.weights})
        try:
            for label, root in enumerate(roots):
                self._set_root(label, root.astype(np.float64))
        except np.linalg.LinAlgError:
            raise FileFormatError(_DAMAGED) from None
        if not np.isfinite(self.variances).all():
            raise FileFormatError(_DAMAGED)

    def _set_root(self, label: int, root: NDArray[np.float64]) -> None:
        """Set the upper triangular factor of R' R; Cholesky's is lower, so rows and columns are reversed."""
        triangle = np.linalg.cholesky((root.T @ root)[::-1, ::-1])[::-1, ::-1]
        scales = np.diagonal(triangle)
        self.variances[label] = scales**2
        rows, columns = np.triu_indices(self.n_columns)
        self.factors[label, self._starts[columns] + rows] = (triangle / scales)[rows, columns]


def columns_for(n_features: int) -> int:
    """The number of columns for features and intercept, a multiple of ``WIDE``.

    >>> columns_for(15), columns_for(16)
    (16, 32)
    """
    return -(-(n_features + 1) // WIDE) * WIDE


def saved_columns(saved: Mapping[str, NDArray[Any]]) -> int:
    """The number of columns of a saved state; 0 if it cannot be one."""
    weights = saved.get("weights", np.zeros((0, 0)))
    fits = weights.ndim == 2 and 0 < weights.shape[1] <= np.iinfo(np.int32).max
    return columns_for(weights.shape[1] - 1) if fits else 0
