"""Warns of columns that were read as words although they look like ids, dates or numbers."""

import re
import warnings
from collections.abc import Sequence
from itertools import islice

from coalface.data.encoding.cells import Cells, as_text, is_missing
from coalface.errors import DoubtfulColumnWarning

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


def warn_of_doubts(name: str, cells: Cells, *, may_be_id: bool) -> None:
    """Warn if a column that was read as words looks like dates, numbers or, if it ``may_be_id``, like ids.

    >>> warn_of_doubts("colour", ["red", "blue"] * 50, may_be_id=True)
    """
    known = [as_text(cell).strip() for cell in islice((cell for cell in cells if not is_missing(cell)), _LOOKED_AT)]
    dates, numbers = (list(filter(form.fullmatch, known)) for form in (_DATE, _NUMBER))
    if 2 * len(dates) > len(known):
        _warn_of_form(name, f"dates such as {dates[0]!r:.40}", "2026-03-02 08:00")
    elif 2 * len(numbers) > len(known):
        _warn_of_form(name, f"numbers such as {numbers[0]!r:.40}", "3.5")
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


def _warn_of_form(name: str, found: str, form: str) -> None:
    warnings.warn(
        DoubtfulColumnWarning(
            f"Column {name!r} was read as words, because it has {found}. Write them as {form}, or name the column "
            "under text or category to keep it as it is."
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
