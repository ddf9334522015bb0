"""Encoded columns of all kinds: how each becomes numbers, as the first rows decide, and its JSON form."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Protocol

import numpy as np

from coalface.data.embedding.embedder import Embedder, SentenceEmbedder
from coalface.data.encoding.blocks import Block, described_marks, finite_block, mean_and_scale, with_marks
from coalface.data.encoding.cells import Cells, as_flag, as_text, is_missing, numbers_in
from coalface.data.encoding.dates import DateColumn
from coalface.errors import InputError

_SHOWN = 5  # categories named in a description


class EncodedColumn(Protocol):
    """A raw column and how it becomes numbers."""

    kind: ClassVar[str]

    @property
    def name(self) -> str:
        """The name of the raw column."""
        ...

    @property
    def optional(self) -> bool:
        """Whether values were missing in the first rows."""
        ...

    @property
    def width(self) -> int:
        """How many narrow columns it becomes."""
        ...

    def encode(self, cells: Cells) -> Block:
        """The narrow columns of these cells."""
        ...

    def describe(self) -> str:
        """What is done to the column, in words."""
        ...


def texts_of(cells: Cells) -> list[str]:
    """The cells as texts; a missing one is empty."""
    return ["" if is_missing(cell) else as_text(cell) for cell in cells]


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

    @property
    def first_unit(self) -> tuple[float, float]:
        """What 0 in its first narrow column means, and what 1 adds."""
        return self.mean, self.scale

    def encode(self, cells: Cells) -> Block:
        """The narrow columns of these cells."""
        values = numbers_in(cells, self.name)
        standard = ((values - self.mean) / self.scale)[:, None]
        return with_marks(standard, np.isnan(values), self.name, optional=self.optional)

    def describe(self) -> str:
        """What is done to the column, in words."""
        return (
            f"number, standardised (mean {self.mean:.4g}, deviation {self.scale:.4g}){described_marks(self.optional)}"
        )


@dataclass(frozen=True)
class CategoryColumn:
    """One column per value of the first rows, and a last one for all others.

    True and false are the same values as flags, numbers and texts.

    >>> column = CategoryColumn.fitted("team", ["b", "a", "b"])
    >>> column.encode(["a", "c"]).tolist(), column.describe()
    ([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]], "category, 2 values ('a', 'b') and one column for others")
    """

    kind: ClassVar[str] = "category"
    name: str
    values: tuple[str, ...]
    optional: bool  # then missing values have a column of their own, before that of the others

    @classmethod
    def fitted(cls, name: str, cells: Cells) -> "CategoryColumn":
        """The column with the values of these cells."""
        values = sorted({as_text(cell) for cell in cells if not is_missing(cell)})
        return cls(name, tuple(values), any(map(is_missing, cells)))

    @property
    def width(self) -> int:
        """How many narrow columns it becomes."""
        return len(self.values) + self.optional + 1

    def encode(self, cells: Cells) -> Block:
        """The narrow columns of these cells."""
        place = {value: code for code, value in enumerate(self.values)}
        others = self.width - 1
        missing = others - self.optional

        flags = {as_flag(value): code for value, code in place.items()}
        are_flags = None not in flags and len(flags) == len(place)

        def code(cell: Any) -> int:
            if is_missing(cell):
                return missing
            found = place.get(cell if cell.__class__ is str else as_text(cell))
            if found is None and are_flags and (flag := as_flag(cell)) is not None:
                found = flags.get(flag)
            return others if found is None else found

        codes = [place[cell] if cell.__class__ is str and cell in place else code(cell) for cell in cells]
        block = np.zeros((len(cells), self.width), np.float32)
        block[np.arange(len(cells)), codes] = 1.0
        return block

    def describe(self) -> str:
        """What is done to the column, in words."""
        shown = ", ".join(map(repr, self.values[:_SHOWN])) + (", ..." if len(self.values) > _SHOWN else "")
        plural = "value" if len(self.values) == 1 else "values"
        return (
            f"category, {len(self.values)} {plural} ({shown}) and one column for others{described_marks(self.optional)}"
        )


@dataclass(frozen=True)
class TextColumn:
    """Texts, whose words and letters are hashed; the columns come after all narrow ones."""

    kind: ClassVar[str] = "text"
    name: str
    bits: int
    pairs: bool
    letters: bool
    optional: bool
    width: ClassVar[int] = 0

    def encode(self, cells: Cells) -> Block:
        """No narrow columns."""
        return np.zeros((len(cells), 0), np.float32)

    def describe(self) -> str:
        """What is done to the column, in words."""
        used = ["words", *(["word pairs"] if self.pairs else []), *(["letters in words"] if self.letters else [])]
        return f"text, {' and '.join(used)} hashed into {1 << self.bits:,} columns"


@dataclass(frozen=True)
class EmbeddedColumn:
    """Texts, which a function turns into vectors; the function itself is not saved."""

    kind: ClassVar[str] = "embedding"
    name: str
    width: int
    optional: bool
    embed: Embedder | None = None

    @classmethod
    def fitted(cls, name: str, cells: Cells, embed: Embedder) -> "EmbeddedColumn":
        """The column with the width of the vectors."""
        vectors = np.asarray(embed(texts_of(cells[:1])))
        if vectors.ndim != 2 or len(vectors) != 1:
            raise InputError(
                f"features must return one vector per text, got shape {vectors.shape} for 1 text. Correct the function."
            )
        return cls(name, vectors.shape[1], any(map(is_missing, cells)), embed)

    def encode(self, cells: Cells) -> Block:
        """The vectors of these cells."""
        if self.embed is None:
            raise InputError(
                f"Column {self.name!r} needs the function that turned its texts into vectors. Pass it as features."
            )
        if not len(cells):
            return np.zeros((0, self.width), np.float32)
        vectors = np.asarray(self.embed(texts_of(cells)), np.float32)
        if vectors.shape != (len(cells), self.width):
            raise InputError(
                f"features must return {self.width} numbers for each of {len(cells)} texts, got shape {vectors.shape}. "
                "Correct it."
            )
        return finite_block(vectors, self.name)

    def describe(self) -> str:
        """What is done to the column, in words."""
        made = f", sentence embeddings by {self.embed.name}" if isinstance(self.embed, SentenceEmbedder) else ""
        return f"text, as vectors of {self.width:,} numbers{made}"


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
        raise InputError(
            f"The kind of an encoded column must be one of {', '.join(_KINDS)}, got {kind!r}. Save the model again."
        )
    if kind == EmbeddedColumn.kind:
        given["embed"] = embed
    try:
        column: EncodedColumn = _KINDS[kind](**{name: _frozen(value) for name, value in given.items()})
    except TypeError as problem:
        raise InputError(f"An encoded column of kind {kind!r} has other fields ({problem}). Save it again.") from None
    return column


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, Sequence) and not isinstance(value, str) else value
