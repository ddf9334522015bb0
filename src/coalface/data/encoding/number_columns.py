"""Columns of numbers and dates, standardised by the first rows."""

import math
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from coalface.data.encoding.cells import Cells, as_date, numbers_in, parsed
from coalface.data.encoding.contract import Block, EncodedColumn, described_marks, finite_block

_YEAR = 365.2425  # days
_DATE_PARTS = ("years", "month", "weekday", "hour")


@dataclass(frozen=True)
class NumberColumn:
    """Numbers, standardised by the first rows; a second column marks missing values if there were any.

    >>> column = NumberColumn.fitted("size", [1, 3, None])
    >>> column.encode([5, None]).tolist(), column.describe()
    ([[3.0, 0.0], [0.0, 1.0]], 'number, standardised (mean 2, deviation 1), missing values marked')
    """

    kind: ClassVar[str] = "number"
    name: str
    mean: float
    scale: float
    optional: bool

    @classmethod
    def fitted(cls, name: str, cells: Cells) -> "NumberColumn":
        """The column with the mean and the deviation of these cells."""
        values = numbers_in(cells, name)
        known = values[~np.isnan(values)]
        mean, scale = mean_and_scale(known)
        return cls(name, mean, scale, len(known) < len(values))

    @property
    def width(self) -> int:
        """How many narrow columns it becomes."""
        return 1 + self.optional

    def encode(self, cells: Cells) -> Block:
        """The narrow columns of these cells."""
        values = numbers_in(cells, self.name)
        return _with_marks(((values - self.mean) / self.scale)[:, None], np.isnan(values), self)

    def describe(self) -> str:
        """What is done to the column, in words."""
        return f"number, standardised (mean {self.mean:.4g}, deviation {self.scale:.4g}){described_marks(self)}"


@dataclass(frozen=True)
class DateColumn:
    """Dates as years, month, weekday and hour, each standardised by the first rows.

    >>> column = DateColumn.fitted("day", ["2024-01-01", "2024-01-03"])
    >>> column.encode(["2024-01-01"]).round(1).tolist()
    [[-1.0, 0.0, -1.0, 0.0]]
    """

    kind: ClassVar[str] = "date"
    name: str
    means: tuple[float, ...]
    scales: tuple[float, ...]
    optional: bool

    @classmethod
    def fitted(cls, name: str, cells: Cells) -> "DateColumn":
        """The column with the means and the deviations of these cells."""
        parts = _date_parts(cells, name)
        known = parts[~np.isnan(parts[:, 0])]
        means, scales = zip(*(mean_and_scale(part) for part in known.T), strict=True)
        return cls(name, means, scales, len(known) < len(parts))

    @property
    def width(self) -> int:
        """How many narrow columns it becomes."""
        return len(_DATE_PARTS) + self.optional

    def encode(self, cells: Cells) -> Block:
        """The narrow columns of these cells."""
        parts = _date_parts(cells, self.name)
        return _with_marks((parts - self.means) / self.scales, np.isnan(parts[:, 0]), self)

    def describe(self) -> str:
        """What is done to the column, in words."""
        return f"date, as {', '.join(_DATE_PARTS[:-1])} and {_DATE_PARTS[-1]}, standardised{described_marks(self)}"


def mean_and_scale(values: NDArray[np.float64]) -> tuple[float, float]:
    """The mean and the deviation, with exact sums, so that every machine gets the same; 1 if all values are equal.

    >>> mean_and_scale(np.array([1.0, 3.0])), mean_and_scale(np.array([7.0, 7.0]))
    ((2.0, 1.0), (7.0, 1.0))
    """
    if not len(values):
        return 0.0, 1.0
    if values.min() == values.max():
        return float(values[0]), 1.0
    mean = math.fsum(values) / len(values)
    scale = math.sqrt(math.fsum((values - mean) ** 2) / len(values))
    return mean, scale or 1.0


def _date_parts(cells: Cells, name: str) -> NDArray[np.float64]:
    """The parts of each date, NaN where it is missing."""
    moments = parsed(cells, as_date, name, "dates such as 2024-02-29")
    rows = [[math.nan] * len(_DATE_PARTS) if moment is None else _parts(moment) for moment in moments]
    return np.array(rows, np.float64).reshape(len(cells), len(_DATE_PARTS))


def _parts(moment: datetime) -> list[float]:
    hour = moment.hour + moment.minute / 60 + moment.second / 3600
    return [(moment.toordinal() + hour / 24) / _YEAR, float(moment.month), float(moment.weekday()), hour]


def _with_marks(values: NDArray[np.float64], missing: NDArray[np.bool_], column: EncodedColumn) -> Block:
    """The values with 0, the mean, for those that are missing, and a mark for each if the column has one."""
    block = finite_block(np.where(missing[:, None], 0.0, values), column.name)
    return np.hstack([block, missing[:, None].astype(np.float32)]) if column.optional else block
