"""Decides from its first cells what kind of column it is."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from coalface.data.encoding.cells import CellError, Cells, as_date, as_number, as_text, fits, is_missing
from coalface.errors import shortened

NUMBER, DATE, CATEGORY, TEXT, EMPTY = "number", "date", "category", "text", "empty"
_MOSTLY = 0.9  # share of numbers or dates from which the other cells are taken for mistakes
_MOST_CATEGORIES = 100
_MOST_UNIQUE = 20  # single words that may all differ and still be categories
_LONGEST_CATEGORY = 50  # characters
_MOST_WORDS = 3  # on average, in a category


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
    """Raise an InputError if a cell holds bytes or several values, which say little as one text; lists of words may."""
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
