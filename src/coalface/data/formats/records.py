"""JSON lines and Parquet: their records, and the datasets of these, whole or block by block."""

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Any, Unpack

from coalface.data.costs import COST_PREFIX
from coalface.data.dataset import CostDataset
from coalface.data.encoding.cells import Cells
from coalface.data.encoding.table import Table, is_raw, table_of
from coalface.data.formats.csv_form import csv_rows
from coalface.data.formats.csv_table import check_header
from coalface.data.formats.raw_table import (
    NotANumberError,
    TableKeywords,
    dataset_of_table,
    id_column_of,
    table_reader,
)
from coalface.data.streams.contract import Row, TableBlocks
from coalface.data.streams.line_source import ALL, LineSource, Position, text_lines
from coalface.errors import FileFormatError, InputError, counted

_END = 1 << 16  # bytes at the end of a Parquet file that identify it


@table_reader
def read_jsonl(path: str | os.PathLike[str], **options: Unpack[TableKeywords]) -> CostDataset:
    r"""The dataset of JSON lines, plain, gzip or zstd: one object per example, with columns as in ``read_csv``.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "calls.jsonl")
    ...     _ = path.write_text('{"id": 7, "text": "my parcel is late", "team": "post"}\n')
    ...     dataset = read_jsonl(path, label="team")
    >>> dataset.ids.tolist(), dataset.encoder.groups
    (['7'], {'text': (0, 262144)})
    """
    return JsonBlocks(LineSource(Path(path)), ALL, {**options}).whole()


@table_reader
def read_parquet(path: str | os.PathLike[str], **options: Unpack[TableKeywords]) -> CostDataset:
    """The dataset of a Parquet file, with columns as in ``read_csv``."""
    return ParquetBlocks(Path(path), ALL, {**options}).whole()


def json_records(path: Path) -> Iterator[Mapping[str, Any]]:
    """The objects of JSON lines, plain or compressed; an error names the line."""
    return (record for _, record in _records_of_lines(path, text_lines(path)))


def _records_of_lines(source: Path, lines: Iterable[str], before: int = 0) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The objects of lines of JSON, with the numbers of the lines; ``before`` lines were read already."""
    for number, line in enumerate(lines, start=before + 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line, object_pairs_hook=distinct_fields)
        except ValueError as problem:
            raise FileFormatError(f"{source}, line {number}: must be a JSON object ({problem}). Correct it.") from None
        if not isinstance(record, dict):
            raise FileFormatError(f"{source}, line {number}: must be a JSON object, got {line[:40]!r}. Correct it.")
        yield number, record


def distinct_fields(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object of JSON with these fields; a ValueError if it has one of them twice.

    >>> json.loads('{"a": 1}', object_pairs_hook=distinct_fields)
    {'a': 1}
    """
    found = dict(pairs)
    if len(found) < len(pairs):
        repeated = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"its fields must have distinct names, got {repeated!r} twice")
    return found


def parquet_records(path: Path, skip: int = 0) -> Iterator[Mapping[str, Any]]:
    """The rows of a Parquet file after the first ``skip``."""
    try:
        from pyarrow.lib import ArrowException
        from pyarrow.parquet import ParquetFile
    except ModuleNotFoundError:
        raise InputError("Parquet files need pyarrow. Run: pip install 'coalface[parquet]'") from None
    try:
        with ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=4096):
                if skip < len(batch):
                    yield from batch.slice(skip).to_pylist()
                skip = max(skip - len(batch), 0)
    except ArrowException as problem:
        raise FileFormatError(f"{path} must be a Parquet file ({problem}). Write it again.") from None
    except OverflowError as problem:
        raise FileFormatError(
            f"{path} must have dates in the years 1 to 9999, got others ({problem}). Correct them."
        ) from None


def table_records(path: Path, format: str) -> list[Mapping[str, Any]]:
    """The rows of a table in any format of ``TABLES`` as records; the cells of a CSV file are texts, None if empty."""
    if format != "csv":
        return list(json_records(path) if format == "jsonl" else parquet_records(path))
    rows = csv_rows(path)
    header = next(rows, (1, []))[1]
    check_header(path, header)
    return [{name: cell or None for name, cell in zip(header, cells, strict=True)} for _, cells in rows]


class _RecordBlocks(TableBlocks):
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


class JsonBlocks(_RecordBlocks):
    """The blocks of JSON lines."""

    def __init__(self, lines: LineSource, rows: int, options: dict[str, Any], after: Position | None = None) -> None:
        super().__init__(lines.path, rows, options, lines, after)
        self.records = _records_of_lines(lines.path, lines.texts(), before=lines.n_lines)


class ParquetBlocks(_RecordBlocks):
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
