"""What every encoded column offers, and what they share."""

from collections.abc import Callable
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from coalface.data.encoding.cells import CellError, Cells, as_text, is_missing
from coalface.kernels.words import LARGEST

Block = NDArray[np.float32]  # (rows, columns) of one raw column
Embedder = Callable[[list[str]], Any]


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


def finite_block(values: NDArray[Any], name: str) -> Block:
    """The values as 32-bit numbers; a CellError if one is too large."""
    bad = np.argwhere(~(np.abs(values) <= LARGEST))
    if len(bad):
        rule = f"Column {name!r} must be finite in float32, got {values[tuple(bad[0])]}"
        raise CellError(rule, int(bad[0][0]), "Correct it.")
    return values.astype(np.float32)


def described_marks(column: EncodedColumn) -> str:
    """What is done to missing values, as the end of a description."""
    return ", missing values marked" if column.optional else ""
