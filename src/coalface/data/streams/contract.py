"""``Blocks``: the interface of all streams of examples, and the blocks of data that is in memory."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

from coalface.data.dataset import CostDataset
from coalface.data.streams.line_source import LineSource, Position
from coalface.errors import FileFormatError

BLOCK_ROWS = 65_536


class Blocks(ABC):
    """Examples, ``rows`` of ``source`` at a time; ``n_rows`` were read so far, from ``lines`` if the format has any.

    The first block decides which labels there are and how columns become features. Named features are those of a block
    alone: ``align_features`` puts them into common columns.
    """

    sparse: bool = False  # whether a block may lack features, which are 0 then

    def __init__(self, source: Path, rows: int, lines: LineSource | None = None, after: Position | None = None) -> None:
        self.source, self.rows, self.lines = source, rows, lines
        self.n_rows = 0 if after is None else after.rows
        if lines is not None and after is not None:
            lines.skip_to(after)

    @abstractmethod
    def read(self) -> CostDataset | None:
        """The next block; None at the end."""

    def decided(self) -> dict[str, Any]:
        """What the first rows decided, as JSON values."""
        return {}

    def position(self) -> Position:
        """Where the stream is after the last block."""
        lines = self.lines
        if lines is None:
            return Position(self.n_rows, 0, 0, "", self.decided())
        return Position(self.n_rows, lines.n_lines, lines.n_bytes, lines.checksum, self.decided())

    @property
    def progress(self) -> tuple[int, int | None]:
        """The bytes read and the size of the file, or the rows; None if that is unknown."""
        return (self.n_rows, None) if self.lines is None else self.lines.progress

    def __iter__(self) -> Iterator[CostDataset]:
        while (block := self.read()) is not None:
            self.n_rows += len(block)
            yield block
        if not self.n_rows:
            raise FileFormatError(f"{self.source} must hold at least one example, got none. Check the file.")

    def whole(self) -> CostDataset:
        """The first block, which has all examples if there are at most ``rows``."""
        with self:
            return next(iter(self))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.lines is not None:
            self.lines.close()


class WholeBlocks(Blocks):
    """The rows of a dataset, block by block."""

    def __init__(self, source: Path, dataset: CostDataset, rows: int, *, sparse: bool) -> None:
        super().__init__(source, rows)
        self._dataset, self.sparse = dataset, sparse

    def read(self) -> CostDataset | None:
        """The next block."""
        if self.n_rows >= len(self._dataset):
            return None
        if not self.n_rows and self.rows >= len(self._dataset):
            return self._dataset
        return self._dataset.subset(slice(self.n_rows, self.n_rows + self.rows))

    @property
    def progress(self) -> tuple[int, int | None]:
        """The rows given out, and all rows."""
        return self.n_rows, len(self._dataset)
