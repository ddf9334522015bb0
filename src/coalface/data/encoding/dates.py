"""Dates as columns of numbers: years, month, weekday and hour."""

import math
from dataclasses import dataclass
from datetime import date, datetime
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coalface.data.departures import Ends, departure_of, margins
from coalface.data.encoding.blocks import Block, described_marks, mean_and_scale, with_marks
from coalface.data.encoding.cells import Cells, as_date, parsed

Numbers = NDArray[np.float64]
_YEAR = 365.2425  # days
_MONTHS = 12
_FEW = 50  # dates, below which their parts say little about those to come
_MANY = 1000  # dates, below which a second column of a part costs more than it says
_NEVER = 1e9  # later than any date


class _Fit(NamedTuple):
    """The means and deviations of the columns of a part, and its range."""

    moments: list[tuple[float, float]]
    lowest: float
    highest: float


class _Part(NamedTuple):
    """A part of a date."""

    place: int  # among the numbers of a date
    usual: tuple[float, float] | None = None  # the mean and the deviation if all values are as frequent
    period: float | None = None  # the length of its circle, if it is on one

    def of(self, found: Numbers) -> Numbers:
        """The part of each date."""
        return np.asarray(found[:, self.place])

    def turned(self, values: Numbers) -> Numbers:
        """A column, or two for a place on a circle; rounded, so that every machine gets the same."""
        if self.period is None:
            return values[:, None]
        angle = 2 * np.pi * values / self.period
        return np.column_stack([np.sin(angle), np.cos(angle)]).round(6)

    def fit(self, known: Numbers) -> _Fit:
        """How known dates say that the part is standardised."""
        if self.usual is not None and len(known) < _FEW:
            return _Fit([self.usual], -_NEVER, _NEVER)
        values = self.of(known)
        ends = float(values.min(initial=_NEVER)), float(values.max(initial=-_NEVER))
        return _Fit([mean_and_scale(column) for column in self.turned(values).T], *ends)


_PARTS = {
    "years": _Part(0),
    "month": _Part(1, (6.5, 3.5)),
    "weekday": _Part(2, (3.0, 2.0)),
    "hour": _Part(3, (12.0, 7.0)),
    "day of year": _Part(4, period=_YEAR),
    "time of day": _Part(3, period=24.0),
}
_N_NUMBERS = 5


@dataclass(frozen=True)
class DateColumn:
    """Dates as years, month, weekday and hour, standardised by the first rows.

    A part far outside the range of the first rows counts as missing, because nothing was learned about it; a few first
    rows limit the years alone. The month is left out unless the first rows have all months, and another part if it is
    always the same. Many first rows make two columns of the month and of the hour: their places on a circle.

    >>> column = DateColumn.fitted("day", ["2024-01-01", "2024-01-03"])
    >>> column.encode(["2024-01-01", "2025-06-04"]).tolist()
    [[-1.0, -1.5], [0.0, -0.5]]
    """

    kind: ClassVar[str] = "date"
    name: str
    means: tuple[float, ...]
    scales: tuple[float, ...]
    optional: bool
    parts: tuple[str, ...] = ("years", "month", "weekday", "hour")  # of older encoders
    lowest: tuple[float, ...] = ()  # of each part, in the first rows
    highest: tuple[float, ...] = ()
    n_known: int = 0  # in the first rows

    @classmethod
    def fitted(cls, name: str, cells: Cells) -> "DateColumn":
        """The column with the means, the deviations and the ranges of these cells."""
        found = _numbers_of(cells, name)
        known = found[~np.isnan(found[:, 0])]
        parts = _parts_for(known)
        fits = [_PARTS[part].fit(known) for part in parts]
        moments = [one for fit in fits for one in fit.moments]
        return cls(
            name,
            means=tuple(mean for mean, _ in moments),
            scales=tuple(scale for _, scale in moments),
            optional=len(known) < len(found),
            parts=tuple(parts),
            lowest=tuple(fit.lowest for fit in fits),
            highest=tuple(fit.highest for fit in fits),
            n_known=len(known),
        )

    @property
    def width(self) -> int:
        """How many narrow columns it becomes."""
        return len(self.means) + self.optional

    @property
    def first_unit(self) -> tuple[float, float]:
        """The years that 0 in its first narrow column means, and what 1 adds."""
        return self.means[0], self.scales[0]

    def encode(self, cells: Cells) -> Block:
        """The narrow columns of these cells."""
        found = _numbers_of(cells, self.name)
        columns = []
        for place, part in enumerate(self.parts):
            values = _PARTS[part].of(found)
            if self.lowest:
                low, high = margins(self.lowest[place], self.highest[place])
                values = np.where((values < low) | (values > high), math.nan, values)
            columns.append(_PARTS[part].turned(values))
        standard = np.nan_to_num((np.hstack(columns) - self.means) / self.scales)
        return with_marks(standard, np.isnan(found[:, 0]), self.name, optional=self.optional)

    def departure(self, cells: Cells) -> str | None:
        """How these dates have left the range of the first rows; None if they have not, or chance explains it."""
        if not self.lowest:
            return None
        years = _PARTS["years"].of(_numbers_of(cells, self.name))
        ends = (self.lowest[0], self.highest[0])
        return departure_of(self.name, years[~np.isnan(years)], ends, self.n_known, words=_FIRST_DATES)

    def describe(self) -> str:
        """What is done to the column, in words."""
        listed = " and ".join(", ".join(self.parts).rsplit(", ", 1))
        return f"date, as {listed}, standardised{described_marks(self.optional)}"


def _parts_for(known: Numbers) -> list[str]:
    """The parts that known dates tell apart; midnight alone is no hour."""
    months, days, hours = (_PARTS[part].of(known) for part in ("month", "weekday", "hour"))
    few, many = len(known) < _FEW, len(known) >= _MANY
    used = {
        "day of year" if many else "month": len(np.unique(months)) == _MONTHS,
        "weekday": few or np.ptp(days) > 0,
        "time of day" if many else "hour": (hours != 0).any() if few else np.ptp(hours) > 0,
    }
    return ["years", *(part for part, is_used in used.items() if is_used)]


def _numbers_of(cells: Cells, name: str) -> Numbers:
    """The numbers of each date, NaN where it is missing."""
    moments = parsed(cells, as_date, name, "dates such as 2024-02-29")
    rows = [[math.nan] * _N_NUMBERS if moment is None else _numbers(moment) for moment in moments]
    return np.array(rows, np.float64).reshape(len(cells), _N_NUMBERS)


def _numbers(moment: datetime) -> list[float]:
    hour = moment.hour + moment.minute / 60 + moment.second / 3600
    years, day = (moment.toordinal() + hour / 24) / _YEAR, moment.timetuple().tm_yday
    return [years, float(moment.month), float(moment.weekday()), hour, float(day)]


def _written(years: float) -> str:
    """The date of a number of years; rounding may have lost some seconds."""
    return date.fromordinal(int(years * _YEAR + 1e-3)).isoformat()


_FIRST_DATES = Ends(
    "before {}, the first date of the first rows", "after {}, the last date of the first rows", _written
)
LEARNED_DATES = Ends("before {}, the first date learned", "after {}, the last date learned", _written)
