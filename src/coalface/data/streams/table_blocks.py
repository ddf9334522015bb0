"""Tables, block by block: CSV, JSON lines and Parquet."""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from hashlib import blake2b
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

from coalface.data.dataset import CostDataset
from coalface.data.encoding.cells import Cells, as_text, is_missing
from coalface.data.encoding.table import Table, is_raw, table_of
from coalface.data.formats.csv_table import NotANumberError, csv_dataset, rows_of_lines
from coalface.data.formats.raw_table import COST_PREFIX, TableOptions, dataset_of_table, id_column_of
from coalface.data.formats.records import parquet_records, records_of_lines
from coalface.data.labels import label_array, label_texts, later_labels
from coalface.data.streams.contract import Blocks
from coalface.data.streams.line_source import LineSource, Position
from coalface.errors import FileFormatError, InputError, counted

_END = 1 << 16  # bytes at the end of a Parquet file that identify it


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


class CsvBlocks(TableBlocks):
    """The blocks of a CSV table."""

    def __init__(self, lines: LineSource, rows: int, options: dict[str, Any], after: Position | None = None) -> None:
        super().__init__(lines.path, rows, options, lines, after)
        width = len(self.columns) or None
        self._rows: Iterator[Row] = (
            Row(*row) for row in rows_of_lines(lines.path, lines.texts(), width, before=lines.n_lines)
        )

    def next_rows(self) -> Iterator[Row]:
        """The next lines; the header before them is read once."""
        if not self.columns:
            self.columns = next(self._rows, Row(1, [])).content
        return islice(self._rows, self.rows)

    def dataset_of(self, rows: Iterable[Row], *, numbers: bool) -> CostDataset:
        """The dataset of these lines."""
        return csv_dataset(
            self.source, lambda: chain([(1, self.columns)], rows), self.options, numbers=numbers, first=self.n_rows
        )

    def cell(self, row: Row, column: str) -> Any:
        """A cell of a line."""
        return row.content[self.columns.index(column)]

    def read(self) -> CostDataset | None:
        """The next block; an error if a table has no rows at all."""
        block = super().read()
        if block is None and not self.n_rows:
            csv_dataset(self.source, lambda: iter([(1, self.columns)][: len(self.columns)]), self.options)  # says why
        return block


class RecordBlocks(TableBlocks):
    """The blocks of records; those that lack a column of the first block have no value there."""

    records: Iterator[tuple[int, Mapping[str, Any]]]  # with the numbers of their lines or examples

    def next_rows(self) -> Iterator[Row]:
        """The next records."""
        return (Row(number, record) for number, record in islice(self.records, self.rows))

    def dataset_of(self, rows: Iterable[Row], *, numbers: bool) -> CostDataset:
        """The dataset of these records."""
        rows = list(rows)
        table = table_of([row.content for row in rows])
        self.columns = self.columns or list(table.columns)
        table = self._padded(table)
        if self.numbered_by == "line":
            table = table._replace(lines=[row.number for row in rows])
        if numbers and (raw := self._raw_column(table)) is not None:
            where = f"{self.numbered_by}s {rows[0].number:,} to {rows[-1].number:,}, column {raw!r}"
            raise NotANumberError(
                f"{self.source}, {where}: a value must be a number, got a text or a gap.", remedy={"ignore": raw}
            )
        return dataset_of_table(self.source, table, self.options)

    def _raw_column(self, table: Table) -> str | None:
        """The first column of features that is not all numbers."""
        others = {*self.options.ignore, self.options.label, id_column_of(table, self.options)}
        features = [name for name in table.columns if name not in others and not name.startswith(COST_PREFIX)]
        return next((name for name in features if is_raw({name: table.columns[name]})), None)

    def cell(self, row: Row, column: str) -> Any:
        """A field of a record."""
        return row.content.get(column)

    def _padded(self, table: Table) -> Table:
        lacking = [name for name in self.columns if name not in table.columns]
        empty: dict[str, Cells] = {name: [None] * table.n_rows for name in lacking}
        gaps = {**table.gaps, **dict.fromkeys(lacking, 0)}
        return table._replace(columns={**table.columns, **empty}, gaps=gaps, first=self.n_rows)


class JsonBlocks(RecordBlocks):
    """The blocks of JSON lines."""

    def __init__(self, lines: LineSource, rows: int, options: dict[str, Any], after: Position | None = None) -> None:
        super().__init__(lines.path, rows, options, lines, after)
        self.records = records_of_lines(lines.path, lines.texts(), before=lines.n_lines)


class ParquetBlocks(RecordBlocks):
    """The blocks of a Parquet file, which is known by its last bytes."""

    numbered_by = "example"

    def __init__(self, path: Path, rows: int, options: dict[str, Any], after: Position | None = None) -> None:
        super().__init__(path, rows, options, None, after)
        if after is not None and after.checksum != self._checksum():
            raise InputError(
                f"{path} must be the file of which the model has learned {counted(after.rows, 'example')}, got another "
                "file. Pass the same file, or train a new model."
            )
        self.records = enumerate(parquet_records(path, skip=self.n_rows), self.n_rows)

    def position(self) -> Position:
        """Where the stream is after the last block."""
        return replace(super().position(), checksum=self._checksum())

    def _checksum(self) -> str:
        with self.source.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(max(size - _END, 0))
            return blake2b(file.read() + str(size).encode(), digest_size=16).hexdigest()
