"""Records from files: JSON lines and Parquet, and datasets of either."""

import io
import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Unpack

from coalface.data.dataset import CostDataset
from coalface.data.encoding.table import table_of
from coalface.data.formats.compression import DAMAGED, open_unpacked
from coalface.data.formats.csv_table import check_header, csv_rows
from coalface.data.formats.raw_table import TableKeywords, TableOptions, dataset_of_table, table_reader
from coalface.errors import FileFormatError, InputError


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
    source = Path(path)
    lines: list[int] = []

    def records() -> Iterator[Mapping[str, Any]]:
        for line, record in numbered_records(source):
            lines.append(line)
            yield record

    return _dataset(source, records(), TableOptions(**options), lines)


@table_reader
def read_parquet(path: str | os.PathLike[str], **options: Unpack[TableKeywords]) -> CostDataset:
    """The dataset of a Parquet file, with columns as in ``read_csv``."""
    return _dataset(Path(path), parquet_records(Path(path)), TableOptions(**options))


def json_records(path: Path) -> Iterator[Mapping[str, Any]]:
    """The objects of JSON lines, plain or compressed; an error names the line."""
    return (record for _, record in numbered_records(path))


def numbered_records(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The objects of JSON lines, plain or compressed, with the numbers of their lines."""
    with io.TextIOWrapper(open_unpacked(path), encoding="utf-8") as file:
        try:
            yield from records_of_lines(path, file)
        except DAMAGED as problem:
            raise FileFormatError(f"{path} is truncated or damaged ({problem}). Restore the file.") from None


def records_of_lines(source: Path, lines: Iterable[str], before: int = 0) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The objects of lines of JSON, with the numbers of the lines; ``before`` lines were read already."""
    for number, line in enumerate(lines, start=before + 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line, object_pairs_hook=_object)
        except ValueError as problem:
            raise FileFormatError(f"{source}, line {number}: must be a JSON object ({problem}). Correct it.") from None
        if not isinstance(record, dict):
            raise FileFormatError(f"{source}, line {number}: must be a JSON object, got {line[:40]!r}. Correct it.")
        yield number, record


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object of its fields; a ValueError if it has one of them twice."""
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
    try:
        if format == "csv":
            rows = csv_rows(path)
            header = next(rows, (1, []))[1]
            check_header(path, header)
            return [{name: cell or None for name, cell in zip(header, cells, strict=True)} for _, cells in rows]
        return list(json_records(path) if format == "jsonl" else parquet_records(path))
    except UnicodeDecodeError as problem:
        raise FileFormatError(f"{path} must be text in UTF-8 ({problem}). Save it as that.") from None


def _dataset(
    source: Path, found: Iterator[Mapping[str, Any]], options: TableOptions, lines: Sequence[int] = ()
) -> CostDataset:
    """The dataset of records; ``lines`` has the numbers of their lines, once they are read."""
    try:
        records = list(found)
    except UnicodeDecodeError as problem:
        raise FileFormatError(f"{source} must be text in UTF-8 ({problem}). Save it as that.") from None
    if not records:
        raise FileFormatError(f"{source} must hold at least one example, got none. Check the file.")
    return dataset_of_table(source, table_of(records)._replace(lines=lines), options)
