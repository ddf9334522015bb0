"""Feature maps: what a ridge regression is linear in. Here the rows themselves; ``landmarks`` has a Gaussian kernel."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from coalface.data.rows import Rows, check_rows
from coalface.errors import InputError
from coalface.kernels.state import LARGEST_VALUE
from coalface.models.device import HostArrays
from coalface.models.model_arrays import copy_saved, widened
from coalface.models.values import Costs

Table = NDArray[np.float32]
_HOST = HostArrays()
_NO_UNIT = 0.0  # before the first row


class FirstRows:
    """Up to ``kept`` of the first rows learned, with their costs and weights.

    A choice made from them is made again when their number is a power of 2. So it does not depend on how rows are split
    over calls.

    >>> from coalface.data.rows import check_rows
    >>> first = FirstRows(n_labels=2, kept=5)
    >>> [first.keep(check_rows([[float(i)]]), np.ones((1, 2)), np.ones((1, 2))) for i in range(1, 6)]
    [True, True, False, True, False]
    >>> first.rows.ravel().tolist()
    [1.0, 2.0, 3.0, 4.0, 5.0]
    """

    def __init__(self, n_labels: int, kept: int) -> None:
        self.count = np.zeros(1, np.int64)
        self._rows = np.zeros((kept, 1), np.float32)
        self._costs = np.zeros((kept, n_labels), np.float32)
        self._weights = np.zeros((kept, n_labels), np.float32)

    @property
    def rows(self) -> NDArray[np.float32]:
        """The rows so far, dense."""
        return self._rows[: self.count[0]]

    def earlier(self) -> tuple[Rows, Costs, Costs]:
        """All rows before the last one, their costs, and the weights of these, which are 0 for unknown costs."""
        before = slice(int(self.count[0]) - 1)
        return check_rows(self._rows[before]), self._costs[before], self._weights[before]

    @property
    def n_missing(self) -> int:
        """How many more rows will be kept."""
        return len(self._rows) - int(self.count[0])

    def keep(self, row: Rows, costs: Costs, weights: Costs) -> bool:
        """Keep one more row; returns whether it is time to choose again."""
        self.make_room(row.used_width)
        place = int(self.count[0])
        self._rows[place] = row.dense(self._rows.shape[1])[0]
        known = ~np.isnan(costs[0])
        self._costs[place, known], self._weights[place, known] = costs[0, known], weights[0, known]
        self.count[0] = place + 1
        return place & (place + 1) == 0

    def add_label(self) -> None:
        """Add a label, the last, whose cost is unknown in all rows so far."""
        n_labels = self._costs.shape[1] + 1
        self._costs, self._weights = widened(self._costs, n_labels, 1), widened(self._weights, n_labels, 1)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The state as named arrays."""
        rows: dict[str, NDArray[Any]] = {"first_rows": self._rows}
        return {**rows, "first_costs": self._costs, "first_weights": self._weights, "first_count": self.count}

    def make_room(self, width: int) -> None:
        """Add columns, which are 0 in all rows so far."""
        self._rows = np.pad(self._rows, ((0, 0), (0, max(width - self._rows.shape[1], 0))))


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
    memory_remedy = "Project X to fewer features, or use model='online'."

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
        return self.of(rows, rows.used_width)[0]

    def of(self, rows: Rows, n_features: int, penalty: float = 1.0) -> tuple[Table, NDArray[np.float64]]:
        """The rows in the unit, and their spread in the columns from ``n_features``; full rows on the device."""
        unit, largest = float(self.unit[0] or 1.0), float(LARGEST_VALUE)
        if rows.is_full and rows.width <= n_features:
            features = self._arrays.scaled(rows.values, unit, largest)
            return features.reshape(len(rows), rows.width), np.zeros(len(rows))
        scaled = Rows(rows.indptr, rows.columns, _HOST.scaled(rows.values, unit, largest), rows.width)
        return scaled.dense(n_features), scaled.squares_beyond(n_features, penalty)

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
