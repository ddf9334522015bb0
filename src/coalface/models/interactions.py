"""Checks which columns a model multiplies with each other, and counts their products."""

from itertools import combinations
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.data.numbers import whole_number
from coalface.errors import InputError, shortened
from coalface.kernels.interactions import FIRST, FIRST_END, FIRST_PRODUCT, SECOND, SECOND_END

ALL_PAIRS = 2  # in place of ranges: the products of any two columns
_END_OF_COLUMNS = np.iinfo(np.int32).max
_MOST_PRODUCTS = 2**22  # of one row


def column_ranges(interactions: Any) -> NDArray[np.int64]:
    """The columns to multiply as the kernels read them, four numbers per line; no lines for None.

    >>> column_ranges([((0, 40), (40, 90)), ((0, 40), (0, 40))]).tolist()
    [[0, 40, 40, 90], [0, 40, 0, 40]]
    """
    if interactions is None:
        return np.zeros((0, 4), np.int64)
    if _is_number(interactions):
        if interactions != ALL_PAIRS:
            raise InputError(
                f"interactions must be None, 2 or pairs of column ranges, got {shortened(interactions)}. Pass 2 to "
                "multiply any two columns."
            )
        return np.array([[0, _END_OF_COLUMNS] * 2])
    lines = [_line(pair) for pair in _items(interactions, "a list of pairs of column ranges")]
    for one, other in combinations(lines, 2):
        if _overlap(one[:2], other[:2]) and _overlap(one[2:], other[2:]):
            raise InputError(
                f"interactions must multiply two columns at most once, got {_text(one)} and {_text(other)}. Make these "
                "ranges disjoint."
            )
    return np.array(lines, np.int64).reshape(-1, 4)


def plain_interactions(interactions: Any) -> Any:
    """The parameter as JSON values.

    >>> plain_interactions([((0, 40), (40, 90))])
    [[[0, 40], [40, 90]]]
    """
    items = interactions.tolist() if isinstance(interactions, np.ndarray | np.number) else interactions
    return [plain_interactions(item) for item in items] if isinstance(items, list | tuple) else items


def most_products(ranges: NDArray[np.int64], n_columns: int) -> int:
    """The largest number of products of a row with ``n_columns`` non-zeros; an InputError if they are too many.

    >>> most_products(column_ranges(2), 78), most_products(column_ranges([((0, 2), (5, 9))]), 78)
    (3081, 8)
    """
    total = 0
    for line in ranges.tolist():
        first = min(n_columns, line[FIRST_END] - line[FIRST])
        second = min(n_columns, line[SECOND_END] - line[SECOND])
        with_itself = line[FIRST] == line[SECOND]
        total += first * (first + 1) // 2 if with_itself else min(first * second, n_columns**2 // 4)
    if total > _MOST_PRODUCTS:
        raise InputError(
            f"X must have rows of at most {_MOST_PRODUCTS:,} interactions, got a row of {n_columns:,} non-zeros with "
            f"up to {total:,}. Pass pairs of smaller column ranges as interactions."
        )
    return total


def columns_of(feature: int) -> tuple[int, ...]:
    """The columns of a feature of the online model: one, or the two that are multiplied.

    Products of columns from 65,535 on have numbers from which the columns cannot be told; others are returned then.

    >>> columns_of(7), columns_of(-2), columns_of(-4)
    ((7,), (0, 0), (1, 1))
    """
    if feature >= 0:
        return (feature,)
    place = FIRST_PRODUCT - feature
    high = (isqrt(8 * place + 1) - 1) // 2
    return place - high * (high + 1) // 2, high


def _line(pair: Any) -> list[int]:
    """A pair of ranges as four numbers, the range of the smaller columns first."""
    first, second = sorted(_range(one) for one in _items(pair, "two column ranges", 2))
    if first != second and _overlap(first, second):
        raise InputError(
            f"interactions must multiply ranges that are equal or disjoint, got {_text(first + second)}. Divide them."
        )
    return first + second


def _range(one: Any) -> list[int]:
    start, end = (whole_number("interactions: a column", number) for number in _items(one, "a start and an end", 2))
    if not start < end <= _END_OF_COLUMNS:
        raise InputError(
            f"interactions must have column ranges that end after their start, got {[start, end]}. The range [0, 2] is "
            "columns 0 and 1."
        )
    return [start, end]


def _items(value: Any, what: str, length: int | None = None) -> list[Any]:
    items = value.tolist() if isinstance(value, np.ndarray) else value
    if not isinstance(items, list | tuple) or len(items) == 0 or (length is not None and len(items) != length):
        raise InputError(
            f"interactions must have {what} here, got {shortened(value)}. Write them like "
            "[[[0, 40], [40, 90]]], or 2 for all."
        )
    return list(items)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | str | bool | np.number)


def _overlap(one: list[int], other: list[int]) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def _text(line: list[int]) -> str:
    return f"[{line[:2]}, {line[2:]}]"
