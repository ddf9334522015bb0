"""Keeps the first rows learned, with their costs, for a choice that is made again whenever their number doubles."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.data.rows import Rows, check_rows
from coalface.models.dense_rows import dense, width_of
from coalface.models.growth import widened
from coalface.models.values import Costs


class FirstRows:
    """Up to ``kept`` rows with costs and weights.

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
        self.make_room(width_of(row))
        place = int(self.count[0])
        self._rows[place] = dense(row, row.values, self._rows.shape[1])[0][0]
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
