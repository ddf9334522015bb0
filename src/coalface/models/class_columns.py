"""The columns of a class model: which it has seen, and the centre and unit of each."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coalface.data.rows import Rows
from coalface.kernels.state import F64, I64

_MOST_RATIO = 10.0  # of the largest deviation of a column to the median one, if all share a unit
_LEAST_SHARE = 1e-10  # of a column's mean square: a smaller variance is rounding, and the column is constant


class Encoded(NamedTuple):
    """Rows with their columns numbered by slot and their values in the unit of each column."""

    indptr: I64
    slots: I64  # -1: a column never seen
    values: F64

    @property
    def of_rows(self) -> I64:
        """The row of each value."""
        return np.repeat(np.arange(len(self.indptr) - 1), np.diff(self.indptr))

    def take(self, numbers: I64) -> "Encoded":
        """The rows with these numbers."""
        lengths = (self.indptr[1:] - self.indptr[:-1])[numbers]
        indptr = np.concatenate([[0], np.cumsum(lengths)])
        places = np.repeat(self.indptr[numbers] - indptr[:-1], lengths) + np.arange(indptr[-1])
        return Encoded(indptr, self.slots[places], self.values[places])


class Columns(NamedTuple):
    """The columns seen, in order, with the centre of each, in its unit, and the unit."""

    numbers: NDArray[np.int32]
    centre: F64
    units: F64
    new_unit: float  # of a column never seen; 0: its own value

    def encode(self, rows: Rows) -> Encoded:
        """Rows as the model reads them.

        >>> from coalface.data.rows import check_rows
        >>> columns_of(check_rows([[2.0, 0.0], [4.0, 1.0]])).encode(check_rows([[0.0, 5.0, 7.0]])).slots
        array([ 1, -1])
        """
        places = np.searchsorted(self.numbers, rows.columns)
        inside = np.minimum(places, max(len(self.numbers) - 1, 0))
        seen = self.numbers[inside] == rows.columns if len(self.numbers) else np.zeros(len(places), np.bool_)
        slots = np.where(seen, inside, -1)
        values = rows.values.astype(np.float64)
        new = self.new_unit if self.new_unit > 0 else np.maximum(np.abs(values), np.finfo(np.float32).tiny)
        units = np.where(seen, self.units[inside] if len(self.numbers) else 1.0, new)
        return Encoded(rows.indptr, slots, values / units)


def columns_of(rows: Rows) -> Columns:
    """The columns of some rows, centred and scaled so that a row has the mean squared length 1.

    All columns share a unit unless their deviations differ by orders of magnitude, as in a table of raw measurements.
    The deviation of a column is taken over the rows where it is not zero, so that rare words count no more than
    others.
    """
    numbers, slots = np.unique(rows.columns, return_inverse=True)
    values, n_rows = rows.values.astype(np.float64), max(len(rows), 1)
    n_stored = np.maximum(np.bincount(slots, minlength=len(numbers)), 1)
    mean = np.bincount(slots, values, len(numbers)) / n_rows
    square = np.bincount(slots, values * values, len(numbers)) / n_rows
    variance = square - mean * mean
    varies = variance > _LEAST_SHARE * square
    deviations = np.sqrt(np.where(varies, variance * n_rows / n_stored, square))
    own = bool(varies.any() and deviations[varies].max() > _MOST_RATIO * np.median(deviations[varies]))
    units = np.where(deviations > 0, deviations, 1.0) if own else np.ones(len(numbers))
    length = float(np.sqrt((np.where(varies, variance, 0.0) / units**2).sum()))
    if length == 0.0:
        length = float(np.sqrt((square / units**2).sum())) or 1.0
    return Columns(numbers, mean / (units * length), units * length, 0.0 if own else length)
