"""``Blocks``: the interface of all streams of examples, the blocks of data in memory, and those of tables."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, Self

from coalface.data.dataset import CostDataset
from coalface.data.encoding.cells import as_text, is_missing
from coalface.data.formats.raw_table import NotANumberError, TableOptions
from coalface.data.labels import label_array, label_texts, later_labels
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


class Row(NamedTuple):
    """A row as it was read: the number of its line or example, and its cells or fields."""

    number: int
    content: Any


class TableBlocks(Blocks):
    """The blocks of a table: the first one decides the labels and, unless it is all numbers, an encoder."""

    numbered_by = "line"  # what the number of a row counts

    def __init__(
        self, source: Path, rows: int, options: dict[str, Any], lines: LineSource | None, after: Position | None
    ) -> None:
        super().__init__(source, rows, lines, after)
        self.options = TableOptions(**options)
        self.columns: list[str] = []  # of the first block
        self._numbers = False  # whether the first block was all numbers
        self._decided_by: int | None = None  # the rows that decided the labels
        if after is not None:
            decided = after.decided
            self.columns, self._numbers, self._decided_by = decided["columns"], decided["numbers"], decided["rows"]

    @abstractmethod
    def next_rows(self) -> Iterator[Row]:
        """The next rows, as they are read; none at the end."""

    @abstractmethod
    def dataset_of(self, rows: Iterable[Row], *, numbers: bool) -> CostDataset:
        """The dataset of these rows; with ``numbers``, a NotANumberError if there are texts or gaps."""

    @abstractmethod
    def cell(self, row: Row, column: str) -> Any:
        """A cell of a row."""

    def read(self) -> CostDataset | None:
        """The next block; rows of numbers are converted one by one, and others are kept until all are read."""
        rows = self.next_rows()
        first = next(rows, None)
        if first is None:
            return None
        found = self._with_known_labels(chain([first], rows))
        try:
            dataset = self.dataset_of(found if self._numbers else list(found), numbers=self._numbers)
        except NotANumberError as problem:
            raise FileFormatError(
                f"{problem} The first rows were numbers without gaps, so later ones must be, too; or let more rows "
                "decide, with a larger block.",
                remedy={**problem.remedy, "block": None},
            ) from None
        if not self.n_rows:
            self._decide(dataset)
        return dataset

    def decided(self) -> dict[str, Any]:
        """What the first rows decided, as JSON values."""
        return {"columns": self.columns, "numbers": self._numbers, "rows": self._decided_by}

    def _decide(self, dataset: CostDataset) -> None:
        options = self.options
        self._decided_by = len(dataset) if options.classes is None else None
        self._numbers = dataset.encoder is None
        matrix = options.cost_matrix if options.label is None else dataset.cost_matrix
        self.options = replace(options, classes=dataset.classes, encoder=dataset.encoder, cost_matrix=matrix)

    def _with_known_labels(self, rows: Iterable[Row]) -> Iterator[Row]:
        """The same rows; an error at the first one whose label is unknown."""
        column, classes = self.options.label, self.options.classes
        if column is None or classes is None:
            yield from rows
            return
        known = dict.fromkeys(label_texts(label_array(classes)))
        for row in rows:
            cell = self.cell(row, column)
            if cell not in known and not is_missing(cell) and as_text(cell) not in known:
                shown = ", ".join(map(repr, list(known)[:20]))
                raise FileFormatError(
                    f"{self.source}, {self.numbered_by} {row.number}: labels must be among {shown}, got "
                    f"{as_text(cell)!r}. {later_labels(self._decided_by)}.",
                    remedy={"add_label": as_text(cell)} if self._decided_by is None else {"classes": None},
                )
            yield row
