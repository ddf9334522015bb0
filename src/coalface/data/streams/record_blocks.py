"""JSON lines and Parquet, block by block."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Any

from coalface.data.dataset import CostDataset
from coalface.data.encoding.cells import Cells
from coalface.data.encoding.table import Table, is_raw, table_of
from coalface.data.formats.csv_table import NotANumberError
from coalface.data.formats.raw_table import COST_PREFIX, dataset_of_table, id_column_of
from coalface.data.formats.records import parquet_records, records_of_lines
from coalface.data.streams.line_source import LineSource
from coalface.data.streams.position import Position
from coalface.data.streams.table_blocks import Row, TableBlocks
from coalface.errors import InputError, counted

_END = 1 << 16  # bytes at the end of a Parquet file that identify it


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
