"""Which columns VW's ``-q`` multiplies: pairs of letters become pairs of column ranges."""

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from coalface.data.formats.vw_namespaces import UNNAMED, letter_of
from coalface.models.interactions import ALL_PAIRS

ANY = ":"  # in place of a letter: every namespace


def columns_of(feature_names: Sequence[str]) -> dict[str, tuple[int, int]]:
    """The first column and the end of each letter's namespaces; the columns must be grouped by letter.

    >>> columns_of(["animal^cat", "animal^dog", "b^red"])
    {'a': (0, 2), 'b': (2, 3)}
    """
    ranges = {}
    for letter, columns in groupby(range(len(feature_names)), key=lambda column: letter_of(feature_names[column])):
        places = list(columns)
        ranges[letter] = (places[0], places[-1] + 1)
    return ranges


def products(pairs: Sequence[str], feature_names: Sequence[str] | None) -> Any:
    """The ``interactions`` of the online model for these pairs; None if no two namespaces are multiplied.

    Features without names are all in the unnamed namespace.

    >>> products(["ab", ":a"], ["a^cat", "a^dog", "b^red"])
    [((0, 2), (0, 2)), ((0, 2), (2, 3))]
    >>> products(["::"], None), products(["ax"], ["a^cat"])
    (2, None)
    """
    if ANY + ANY in pairs:
        return ALL_PAIRS
    if feature_names is None:
        return ALL_PAIRS if any(set(pair) <= {ANY, UNNAMED} for pair in pairs) else None
    ranges = columns_of(feature_names)
    found = {
        tuple(sorted((ranges[one], ranges[other])))
        for pair in pairs
        for one in _letters(pair[0], ranges)
        for other in _letters(pair[1], ranges)
    }
    return sorted(found) or None


def _letters(letter: str, ranges: dict[str, tuple[int, int]]) -> list[str]:
    if letter == ANY:
        return list(ranges)
    return [letter] if letter in ranges else []
