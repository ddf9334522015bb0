"""Encoded columns of all kinds, and their JSON form."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np

from coalface.data.encoding.cells import Cells
from coalface.data.encoding.contract import Block, Embedder, EncodedColumn
from coalface.data.encoding.number_columns import DateColumn, NumberColumn
from coalface.data.encoding.word_columns import CategoryColumn, EmbeddedColumn, TextColumn
from coalface.errors import InputError


@dataclass(frozen=True)
class LeftOutColumn:
    """A column that is not used; ``why`` says why."""

    kind: ClassVar[str] = "left out"
    name: str
    why: str
    optional: ClassVar[bool] = True
    width: ClassVar[int] = 0

    def encode(self, cells: Cells) -> Block:
        """No columns."""
        return np.zeros((len(cells), 0), np.float32)

    def describe(self) -> str:
        """What is done to the column, in words."""
        return f"left out, {self.why}"


_KINDS: dict[str, Any] = {
    kind.kind: kind for kind in (NumberColumn, DateColumn, CategoryColumn, TextColumn, EmbeddedColumn, LeftOutColumn)
}


def plain_column(column: EncodedColumn) -> dict[str, Any]:
    """The column as JSON values.

    >>> plain_column(NumberColumn("size", 2.0, 1.0, optional=False))
    {'kind': 'number', 'name': 'size', 'mean': 2.0, 'scale': 1.0, 'optional': False}
    """
    saved = [item.name for item in fields(column) if item.name != "embed"]  # type: ignore[arg-type]
    values = ((name, getattr(column, name)) for name in saved)
    return {"kind": column.kind} | {name: list(value) if isinstance(value, tuple) else value for name, value in values}


def column_of(plain: Mapping[str, Any], embed: Embedder | None = None) -> EncodedColumn:
    """The column that ``plain_column`` described; an InputError if it did not."""
    given = dict(plain)
    kind = given.pop("kind", None)
    if kind not in _KINDS:
        raise InputError(f"The kind of an encoded column must be one of {', '.join(_KINDS)}, got {kind!r}.")
    if kind == EmbeddedColumn.kind:
        given["embed"] = embed
    try:
        column: EncodedColumn = _KINDS[kind](**{name: _frozen(value) for name, value in given.items()})
    except TypeError as problem:
        raise InputError(f"An encoded column of kind {kind!r} has other fields ({problem}). Save it again.") from None
    return column


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, Sequence) and not isinstance(value, str) else value
