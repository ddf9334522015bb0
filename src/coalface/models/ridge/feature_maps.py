"""Feature maps: what a ridge regression is linear in. Here the rows themselves; ``landmarks`` has a Gaussian kernel."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from coalface.data.rows import Rows
from coalface.errors import InputError
from coalface.kernels.state import LARGEST_VALUE
from coalface.models.dense_rows import Table, dense, width_of
from coalface.models.device import HostArrays
from coalface.models.ridge.first_rows import FirstRows
from coalface.models.saved_arrays import copy_saved

_HOST = HostArrays()
_NO_UNIT = 0.0  # before the first row


class FeatureMap(ABC):
    """Turns rows into dense tables of features, one row each.

    A map may depend on the ``first`` rows learned. While these come in, ``choose`` is called from time to time.
    """

    first: FirstRows
    memory_rule: ClassVar[str]
    memory_remedy: ClassVar[str]

    @abstractmethod
    def most_features(self, width: int) -> int:
        """The number of features after any number of rows of this width."""

    def bytes_for(self, width: int) -> int:
        """The memory of the map itself in bytes, for rows of this width."""
        return 0

    @property
    def n_landmarks(self) -> int:
        """The number of rows that the features refer to."""
        return 0

    @property
    def nbytes(self) -> int:
        """The memory of the map itself in bytes."""
        return 0

    @abstractmethod
    def choose(self) -> None:
        """Choose again what depends on the first rows, and forget all features."""

    @abstractmethod
    def learned(self, rows: Rows) -> Table:
        """The features of rows about to be learned, (n, features so far); rows can add features."""

    @abstractmethod
    def of(self, rows: Rows, n_features: int, penalty: float) -> tuple[Table, NDArray[np.float64]]:
        """At most the first ``n_features`` features of each row, and its spread in features never learned."""

    @abstractmethod
    def arrays(self) -> dict[str, NDArray[Any]]:
        """The state as named arrays."""

    def restore(self, saved: Mapping[str, NDArray[Any]]) -> None:
        """Restore the state that ``arrays`` returned; a FileFormatError if an array is missing or does not fit."""
        copy_saved(saved, self.arrays())

    def check(self, rows: Rows) -> None:
        """Raise an InputError if the rows cannot be learned."""
        largest = np.abs(rows.values).max(initial=0.0)
        if largest > LARGEST_VALUE:
            raise InputError(f"X must lie within {LARGEST_VALUE:g} of 0, got {largest:g}. Scale the features.")


class LinearMap(FeatureMap):
    """The rows themselves, divided by a unit: a given number, or the length of the first row learned.

    >>> from coalface.data.rows import check_rows
    >>> LinearMap().learned(check_rows([[3.0, 4.0], [0.0, 10.0]]))
    array([[0.6, 0.8],
           [0. , 2. ]], dtype=float32)
    """

    memory_rule = "X must have few enough features for 2 x labels x features^2 bytes to fit into memory"
    memory_remedy = "Project X to fewer features, or use CoalClassifier."

    def __init__(self, unit: float = _NO_UNIT, arrays: HostArrays = _HOST) -> None:
        self.unit = np.full(1, unit, np.float32)
        self._arrays = arrays  # where features are computed
        self.first = FirstRows(n_labels=0, kept=0)

    def most_features(self, width: int) -> int:
        """One feature per column."""
        return width

    def choose(self) -> None:
        """Nothing: the unit is known from the first row."""

    def learned(self, rows: Rows) -> Table:
        """The rows in the unit, as wide as their last value that is not 0."""
        self.unit[0] = self._unit_with(rows)
        return self.of(rows, width_of(rows))[0]

    def of(self, rows: Rows, n_features: int, penalty: float = 1.0) -> tuple[Table, NDArray[np.float64]]:
        """The rows in the unit, and their spread in the columns from ``n_features``; full rows on the device."""
        unit, largest = float(self.unit[0] or 1.0), float(LARGEST_VALUE)
        if rows.is_full and rows.width <= n_features:
            features = self._arrays.scaled(rows.values, unit, largest)
            return features.reshape(len(rows), rows.width), np.zeros(len(rows))
        return dense(rows, _HOST.scaled(rows.values, unit, largest), n_features, penalty)

    def _unit_with(self, rows: Rows) -> np.float32:
        """The unit or, if it is unknown yet, the length of the first row that is not all zeros."""
        if self.unit[0] != _NO_UNIT or not rows.values.any():
            return np.float32(self.unit[0])
        first = np.searchsorted(rows.indptr, np.argmax(rows.values != 0.0), side="right") - 1
        return np.float32(np.linalg.norm(rows.row(int(first))[1].astype(np.float64)))

    def check(self, rows: Rows) -> None:
        """Raise an InputError if a value is too large, as it is or in the unit."""
        super().check(rows)
        largest, unit = np.abs(rows.values).max(initial=0.0), self._unit_with(rows) or np.float32(1.0)
        if largest > LARGEST_VALUE * unit:
            raise InputError(
                f"X must lie within {LARGEST_VALUE * unit:g} of 0, because the first row learned has the length "
                f"{unit:g}, got {largest:g}. Pass a number as regularization, or learn another row first."
            )

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The unit."""
        return {"unit": self.unit}
