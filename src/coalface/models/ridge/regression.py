"""``Regression``: the regularised least-squares solution of every label, and its uncertainty in every direction."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from coalface.kernels.ridge import WIDE
from coalface.models.device import HostArrays
from coalface.models.values import Costs, Ranged

Table = Any  # (n, columns) 32-bit numbers of the regression's arrays: the intercept, then the features


class Regression(ABC):
    """One regressor per label over the columns of a table.

    With A = penalty x I + the sum of x x' over the learned rows, the spread of a prediction is x' times the inverse of
    A times x. The two kinds of regression store the inverse in different forms.
    """

    arrays_used: HostArrays
    block: ClassVar[int]  # rows of a table, to bound the working memory
    n_labels: int
    penalty: float

    @property
    @abstractmethod
    def n_columns(self) -> int:
        """The number of columns, a multiple of ``WIDE``."""

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
    def predicted(self, table: Table) -> Any:
        """The predicted costs, (n, K), 32-bit."""

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

    def costs(self, table: Table) -> Costs:
        """The predicted costs, (n, K), in memory."""
        return self.arrays_used.to_host(self.predicted(table))


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
