"""One cell of a table as a number, a date or a text; a missing cell is None."""

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import MAXYEAR, MINYEAR, UTC, date, datetime
from numbers import Real
from typing import Any, NoReturn, TypeVar

import numpy as np
from numpy.typing import NDArray

from coalface.errors import InputError
from coalface.kernels.words import LARGEST

Cells = Sequence[Any] | NDArray[np.float64]  # of one column; None, or NaN in an array, where a value is missing
T = TypeVar("T")

_MISSING_WORDS = frozenset(
    {"", "na", "n/a", "nan", "null", "none", "nat", "<na>", "-", "?"}
)  # in columns of numbers, dates and costs
_FLAGS = {"true": True, "1": True, "1.0": True, "false": False, "0": False, "0.0": False}
_SHORTEST_DATE = len("2024-1-1")


class CellError(InputError):
    """A cell breaks a rule: ``rule`` says which and what it holds, ``row`` counts from 0, ``advice`` says what to do.

    >>> problem = CellError("Column 'size' must have numbers, got 'x'", 7, "Correct it.")
    >>> print(problem)
    Column 'size' must have numbers, got 'x' in row 7. Correct it.
    >>> problem.at("calls.csv, line 9")
    "calls.csv, line 9: Column 'size' must have numbers, got 'x'. Correct it."
    """

    def __init__(self, rule: str, row: int, advice: str, remedy: Mapping[str, object] | None = None) -> None:
        super().__init__(rule, row, advice, remedy=remedy)
        self.rule, self.row, self.advice = rule, row, advice

    def __str__(self) -> str:
        return f"{self.rule} in row {self.row}. {self.advice}"

    def at(self, place: str) -> str:
        """The message with a place in a file instead of the row."""
        return f"{place}: {self.rule}. {self.advice}"


def clean_cells(cells: Sequence[Any]) -> list[Any]:
    """The cells as plain Python values, None where one is missing: None, NaN, NaT, pandas.NA or an empty text.

    >>> clean_cells([3, np.float64("nan"), "", " late ", np.str_("x")])
    [3, None, None, ' late ', 'x']
    """
    return [_clean(cell) for cell in cells]


def is_missing(cell: Any) -> bool:
    """Whether a cell is None or NaN.

    >>> is_missing(None), is_missing(np.float32("nan")), is_missing("")
    (True, True, False)
    """
    return cell is None or (isinstance(cell, float | np.floating) and bool(np.isnan(cell)))


def says_missing(text: str) -> bool:
    """Whether a text says that there is no number, date or cost.

    >>> says_missing(" N/A"), says_missing("0")
    (True, False)
    """
    return text.strip().lower() in _MISSING_WORDS


def _clean(cell: Any) -> Any:
    if isinstance(cell, str):
        return (str(cell) if cell.strip() else None) if cell else None
    if is_missing(cell) or type(cell).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(cell, np.datetime64):
        if np.isnat(cell):
            return None
        found = cell.astype("datetime64[us]").item()  # nanoseconds would become an integer
        return found if isinstance(found, datetime) else _refuse_date(cell)
    if isinstance(cell, datetime) and not MINYEAR <= cell.year <= MAXYEAR:
        _refuse_date(cell)
    return cell.item() if isinstance(cell, np.generic) else cell


def as_number(cell: Any) -> float:
    """The cell as a number; a ValueError if it is not one, NaN where it says that a value is missing.

    >>> as_number("2.5"), as_number(True), as_number("NA")
    (2.5, 1.0, nan)
    """
    if isinstance(cell, str) and says_missing(cell):
        return math.nan
    if not isinstance(cell, str | Real) and type(cell).__name__ != "Decimal":
        raise ValueError(cell)
    try:
        return float(cell)
    except OverflowError:
        return math.inf


def as_date(cell: Any) -> datetime | None:
    """The cell as a time in UTC without a zone; a ValueError if it is not a date, None where it says "missing".

    >>> as_date("2024-02-29T12:00:00+02:00"), as_date(date(2024, 2, 29))
    (datetime.datetime(2024, 2, 29, 10, 0), datetime.datetime(2024, 2, 29, 0, 0))
    """
    if isinstance(cell, str):
        text = cell.strip()
        if says_missing(text):
            return None
        if len(text) < _SHORTEST_DATE or not text[:4].isdigit():
            raise ValueError(cell)
        cell = datetime.fromisoformat(text)
    if isinstance(cell, datetime):
        return _without_zone(cell)
    if isinstance(cell, date):
        return datetime(cell.year, cell.month, cell.day)
    raise ValueError(cell)


def _without_zone(moment: datetime) -> datetime:
    """The moment in UTC; at the ends of the calendar, which UTC may lie beyond, as it is."""
    try:
        return moment if moment.tzinfo is None else moment.astimezone(UTC).replace(tzinfo=None)
    except OverflowError:
        return moment.replace(tzinfo=None)


def _refuse_date(cell: Any) -> NoReturn:
    raise InputError(f"Dates must lie in the years {MINYEAR} to {MAXYEAR}, got {str(cell)!r:.40}. Correct it.")


def as_text(cell: Any) -> str:
    """The cell as text; a whole number has no decimal point, whichever type it has.

    >>> as_text(3.0), as_text(True), as_text("late")
    ('3', 'True', 'late')
    """
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell)


def as_flag(cell: Any) -> bool | None:
    """Whether the cell says true or false, as a flag, a number or a text; None if it says neither.

    >>> as_flag(True), as_flag(0.0), as_flag("TRUE"), as_flag("1"), as_flag("yes")
    (True, False, True, True, None)
    """
    return _FLAGS.get(as_text(cell).strip().lower())


def fits(cells: Cells, parse: Callable[[Any], Any]) -> int:
    """How many of the cells that are not missing ``parse`` accepts.

    >>> fits(["1", None, "x"], as_number)
    1
    """
    found = 0
    for cell in cells:
        if cell is not None:
            with suppress(ValueError):
                parse(cell)
                found += 1
    return found


def parsed(cells: Cells, parse: Callable[[Any], T], name: str, what: str) -> list[T | None]:
    """The parsed cells, None where one is missing; a CellError that names the column and the row of a bad cell."""
    values: list[T | None] = []
    for row, cell in enumerate(cells):
        try:
            values.append(None if cell is None else parse(cell))
        except ValueError:
            rule = f"Column {name!r} must have {what}, as in the first rows, got {_shown(cell)}"
            raise CellError(rule, row, "Correct it, or leave it empty.") from None
    return values


def numbers_in(cells: Cells, name: str) -> NDArray[np.float64]:
    """The cells as numbers, NaN where one is missing; a CellError if one is not finite."""
    if isinstance(cells, np.ndarray):
        values = cells
    else:
        values = np.array([math.nan if cell is None else cell for cell in parsed(cells, as_number, name, "numbers")])
        values = values.astype(np.float64).reshape(len(cells))
    bad = np.flatnonzero(np.abs(values) > LARGEST)
    if len(bad):
        rule = f"Column {name!r} must have finite 32-bit numbers, got {values[bad[0]]:g}"
        raise CellError(rule, int(bad[0]), "Correct it, or leave it empty.")
    return values


def _shown(cell: Any) -> str:
    text = repr(cell)
    return text if len(text) <= 40 else f"{text[:37]}..."
