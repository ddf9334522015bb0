"""Columns of categories and texts."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from coalface.data.embedding.embedder import SentenceEmbedder
from coalface.data.encoding.cells import Cells, as_flag, as_text, is_missing
from coalface.data.encoding.contract import Block, Embedder, described_marks, finite_block, texts_of
from coalface.errors import InputError

_SHOWN = 5  # categories named in a description


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
        return f"category, {len(self.values)} {plural} ({shown}) and one column for others{described_marks(self)}"


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
            raise InputError(f"features must return one vector per text, got shape {vectors.shape} for 1 text.")
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
                f"features must return {self.width} numbers for each of {len(cells)} texts, got shape {vectors.shape}."
            )
        return finite_block(vectors, self.name)

    def describe(self) -> str:
        """What is done to the column, in words."""
        made = f", sentence embeddings by {self.embed.name}" if isinstance(self.embed, SentenceEmbedder) else ""
        return f"text, as vectors of {self.width:,} numbers{made}"
