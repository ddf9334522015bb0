"""The names of encoded columns, so that people can read which feature matters."""

from bisect import bisect_right
from collections.abc import Sequence
from typing import overload

from coalface.data.encoding.columns import CategoryColumn, EncodedColumn, NumberColumn
from coalface.data.encoding.encoder import Encoder


class EncodedNames(Sequence[str]):
    """The name of each column of an encoder's rows; a hashed word or letter has the name of its text and a number.

    >>> list(EncodedNames(Encoder().fit([[1.0, "a"], [3.0, "b"]])))
    ['x0', 'x1=a', 'x1=b', 'x1=other']
    """

    def __init__(self, encoder: Encoder) -> None:
        self._width = encoder.width
        self._groups = sorted((start, end, name) for name, (start, end) in encoder.groups.items())
        self._starts = [start for start, _, _ in self._groups]
        self._parts = {column.name: _parts(column) for column in encoder.columns or ()}

    def __len__(self) -> int:
        return self._width

    @overload
    def __getitem__(self, column: int) -> str: ...
    @overload
    def __getitem__(self, column: slice) -> list[str]: ...
    def __getitem__(self, column: int | slice) -> str | list[str]:
        if isinstance(column, slice):
            return [self[one] for one in range(*column.indices(len(self)))]
        if not 0 <= column < self._width:
            raise IndexError(column)
        start, end, name = self._groups[bisect_right(self._starts, column) - 1]
        parts, place = self._parts.get(name), column - start
        if parts is not None and len(parts) == end - start:
            return parts[place]
        return name if end - start == 1 else f"{name}[{place}]"


def _parts(column: EncodedColumn) -> list[str]:
    """The names of the columns that a number or a category becomes; none for other kinds."""
    if isinstance(column, NumberColumn):
        return [column.name, f"{column.name} missing"][: column.width]
    if isinstance(column, CategoryColumn):
        rest = ["missing", "other"] if column.optional else ["other"]
        return [f"{column.name}={value}" for value in (*column.values, *rest)]
    return []
