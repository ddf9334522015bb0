"""Decides from its first cells what kind of column it is, and warns of those that look like another kind."""

import re
import warnings
from collections.abc import Mapping, Sequence
from itertools import islice
from types import MappingProxyType
from typing import Any

import numpy as np

from coalface.data.encoding.cells import CellError, Cells, as_date, as_number, as_text, fits, is_missing
from coalface.errors import DoubtfulColumnWarning, shortened

NUMBER, DATE, CATEGORY, TEXT, EMPTY = "number", "date", "category", "text", "empty"
_MOSTLY = 0.9  # share of numbers or dates from which the other cells are taken for mistakes
_MOST_CATEGORIES = 100
_MOST_UNIQUE = 20  # single words that may all differ and still be categories
_LONGEST_CATEGORY = 50  # characters
_MOST_WORDS = 3  # on average, in a category
_LOOKED_AT = 1000  # known cells from the first on
_ENOUGH = 50  # known cells, below which distinct values say little
_NEARLY_ALL = 0.95  # share of distinct values in a column of ids
_DAY = r"(?:0?[1-9]|[12]\d|3[01])"  # or a month
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_FORMS = (
    rf"{_DAY}([./-]){_DAY}\1\d{{4}}",  # 02.03.2026
    rf"{_DAY}/{_DAY}/\d\d",
    rf"\d{{4}}([./]){_DAY}\2{_DAY}",
    rf"(?:[a-z]+,? )?{_DAY}\.?[ -]{_MONTH},?[ -]\d{{4}}",  # Mon, 02 Mar 2026
    rf"{_MONTH} {_DAY},? \d{{4}}",
)
_DATE = re.compile(rf"(?:{'|'.join(_FORMS)})(?:[ T,]+\d\d?:\d\d.*)?", re.IGNORECASE)
_NUMBER = re.compile(r"[-+]?\d+,\d+")


def kind_of(name: str, cells: Cells) -> str:
    """The kind of a column; an InputError if nearly all cells are numbers or dates, but not all.

    >>> [kind_of("x", cells) for cells in (["1", "2.5"], ["2024-02-29"], ["red", "blue"], ["Where is my parcel?"])]
    ['number', 'date', 'category', 'text']
    """
    if isinstance(cells, np.ndarray):
        return EMPTY if np.isnan(cells).all() else NUMBER
    known = [cell for cell in cells if cell is not None]
    if not known:
        return EMPTY
    _refuse_nested(name, cells)
    if all(isinstance(cell, bool) for cell in known):
        return CATEGORY
    for kind, parse in ((NUMBER, as_number), (DATE, as_date)):
        found = fits(known, parse)
        if found == len(known):
            return EMPTY if all(_says_missing(cell, parse) for cell in known) else kind
        if found >= _MOSTLY * len(known):
            raise _mixed(name, cells, kind, parse)
    return CATEGORY if _is_category([as_text(cell) for cell in known]) else TEXT


def _refuse_nested(name: str, cells: Cells) -> None:
    """Raise an InputError if a cell holds bytes or several values, which say little as one text, but not for words."""
    for row, cell in enumerate(cells):
        if isinstance(cell, list) and all(isinstance(item, str) for item in cell):
            continue
        if isinstance(cell, Mapping | list | tuple | set | frozenset | bytes | np.ndarray):
            raise CellError(
                f"Column {name!r} must have texts, numbers or dates, got {shortened(cell, 40)}",
                row,
                f"Write one column per value, leave the column out, or pass text=[{name!r}] to read it as text.",
                remedy={"ignore": name, TEXT: name},
            )


def _says_missing(cell: Any, parse: Any) -> bool:
    return is_missing(parse(cell))


def _is_category(texts: list[str]) -> bool:
    """Whether the texts are few and short; the rule looks at distinct texts, so it does not depend on their order."""
    distinct = set(texts)
    words = [len(text.split()) for text in distinct]
    few = len(distinct) <= min(len(texts) / 2, _MOST_CATEGORIES)
    single = max(words) <= 1 and len(distinct) <= _MOST_UNIQUE
    short = max(map(len, distinct)) <= _LONGEST_CATEGORY and sum(words) <= _MOST_WORDS * len(distinct)
    return short and (few or single)


def _mixed(name: str, cells: Cells, kind: str, parse: Any) -> CellError:
    row = next(row for row, cell in enumerate(cells) if cell is not None and not fits([cell], parse))
    return CellError(
        f"Column {name!r} must have {kind}s only, because nearly all of its values are, got {cells[row]!r:.40}",
        row,
        f"Correct it, leave it empty, or pass text=[{name!r}] or category=[{name!r}].",
        remedy={TEXT: name},
    )


def warn_of_doubts(name: str, cells: Cells, *, may_be_id: bool) -> None:
    """Warn if a column that was read as words looks like dates, numbers or, if it ``may_be_id``, like ids.

    >>> warn_of_doubts("colour", ["red", "blue"] * 50, may_be_id=True)
    """
    known = [as_text(cell).strip() for cell in islice((cell for cell in cells if not is_missing(cell)), _LOOKED_AT)]
    dates, numbers = (list(filter(form.fullmatch, known)) for form in (_DATE, _NUMBER))
    if 2 * len(dates) > len(known):
        _warn_of_form(name, f"dates such as {dates[0]!r:.40}", "Write them as 2026-03-02 08:00")
    elif 2 * len(numbers) > len(known):
        way = "Write them as 3.5, read CSV with decimal=','"
        _warn_of_form(name, f"numbers such as {numbers[0]!r:.40}", way, {"decimal": ","})
    elif may_be_id and _may_be_ids(known) and _differ([cell for cell in cells if not is_missing(cell)]):
        warnings.warn(
            DoubtfulColumnWarning(
                f"Column {name!r} looks like an id, because nearly all of its values differ, such as {known[0]!r:.40}. "
                "It was read as text, which says nothing about new examples. Drop it, or name it under text if its "
                "letters matter.",
                remedy={"id": name, "ignore": name},
            ),
            stacklevel=4,
        )


def _warn_of_form(name: str, found: str, way: str, remedy: Mapping[str, object] = MappingProxyType({})) -> None:
    warnings.warn(
        DoubtfulColumnWarning(
            f"Column {name!r} was read as words, because it has {found}. {way}, or name the column under text or "
            "category to keep it as it is.",
            remedy=remedy,
        ),
        stacklevel=5,
    )


def _may_be_ids(texts: list[str]) -> bool:
    """Whether texts are many, distinct and single words; those of scripts without blanks may be sentences."""
    single = all(text.isascii() and len(text.split()) == 1 for text in texts)
    addresses = sum("@" in text or "://" in text for text in texts)  # parts of them, such as the domain, repeat
    return len(texts) >= _ENOUGH and single and 2 * addresses < len(texts) and _differ(texts)


def _differ(cells: Sequence[object]) -> bool:
    return len(set(map(str, cells))) >= _NEARLY_ALL * len(cells)
