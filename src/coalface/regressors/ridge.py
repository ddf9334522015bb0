"""Ridge regression: one linear regressor per label, the exact least-squares solution after every cost.

Beside its weights a label keeps how certain they are in every direction, about half a square of features: 2 x features^2
bytes a label. The numbers are ``kernels.ridge``'s; here they are made, grown with the features that appear, and asked
for predictions and ranges, a block of rows at a time. Costs are in [0, 1] here.
"""

from collections.abc import Iterator, Mapping
from threading import RLock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.data.rows import Rows
from coalface.errors import FileFormatError, InputError
from coalface.kernels.ridge import WIDE, fill_panel, learn_costs, spread_of, starts_of
from coalface.kernels.state import LARGEST_VALUE, NOISE_SCALED, Settings
from coalface.regressors.memory import available_bytes
from coalface.regressors.online import OnlineRegressors

_BLOCK = 1024  # rows at a time, which bounds the memory at work
_PANEL = 128  # columns at a time
_FEW = 4  # rows up to which reading the columns once for each of them beats matrix products
_OWN = ("factors", "variances", "weights")


class RidgeRegressors:
    """The state of all labels' regressors; the intercept is the first feature.

    >>> regressors = RidgeRegressors(n_labels=100, regularization=1.0)
    >>> regressors.bytes_for(384) // 1_000_000  # for embeddings of 384 numbers
    33
    """

    def __init__(self, n_labels: int, regularization: float) -> None:
        self.n_labels = n_labels
        self.regularization = regularization
        self.lock = RLock()  # arrays move when they grow: one thread at a time
        self.model = OnlineRegressors(n_labels).model  # the tally
        self._hold(*(np.zeros((n_labels, 0), kind) for kind in (np.float32, np.float64, np.float64)))
        self._widen(0)

    # -- what is known ---------------------------------------------------------------------------

    def predict(self, rows: Rows) -> NDArray[np.float32]:
        """The predicted costs, (n, K)."""
        raise NotImplementedError

    @property
    def nbytes(self) -> int:
        """Bytes that the regressors occupy."""
        return sum(getattr(self, name).nbytes for name in _OWN)

    def bytes_for(self, n_features: int) -> int:
        """Bytes that the regressors of so many features occupy."""
        n_columns = _columns_for(n_features)
        return self.n_labels * (4 * int(starts_of(n_columns)[-1]) + 16 * n_columns)
