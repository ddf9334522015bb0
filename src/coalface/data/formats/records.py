"""Records from files: JSON lines and Parquet, and datasets of either."""

import io
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike

from coalface.data.dataset import CostDataset
from coalface.data.encoding.encoder import Encoder
from coalface.data.encoding.table import table_of
from coalface.data.formats.compression import DAMAGED, open_unpacked
from coalface.data.formats.csv_table import check_header, csv_rows
from coalface.data.formats.raw_table import TableOptions, dataset_of_table
from coalface.errors import FileFormatError, InputError


def read_jsonl(
    path: str | os.PathLike[str],
    *,
    label: str | None = None,
    cost_matrix: ArrayLike | str | os.PathLike[str] | None = None,
    classes: ArrayLike | None = None,
    ignore: Sequence[str] = (),
    text: Sequence[str] = (),
    id: str | None = None,
    encoder: Encoder | None = None,
    embed: str | None = None,
    name: str | None = None,
) -> CostDataset:
    r"""The dataset of JSON lines, plain, gzip or zstd: one object per example, with columns as in ``read_csv``.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "calls.jsonl")
    ...     _ = path.write_text('{"id": 7, "text": "my parcel is late", "team": "post"}\n')
    ...     dataset = read_jsonl(path, label="team")
    >>> dataset.ids.tolist(), dataset.encoder.groups
    (['7'], {'text': (0, 262144)})
    """
    options = TableOptions(label, cost_matrix, classes, ignore, text, id, encoder, name, embed)
    return _dataset(Path(path), json_records(Path(path)), options)


def read_parquet(
    path: str | os.PathLike[str],
    *,
    label: str | None = None,
    cost_matrix: ArrayLike | str | os.PathLike[str] | None = None,
    classes: ArrayLike | None = None,
    ignore: Sequence[str] = (),
    text: Sequence[str] = (),
    id: str | None = None,
    encoder: Encoder | None = None,
    embed: str | None = None,
    name: str | None = None,
) -> CostDataset:
    """The dataset of a Parquet file, with columns as in ``read_csv``."""
    options = TableOptions(label, cost_matrix, classes, ignore, text, id, encoder, name, embed)
    return _dataset(Path(path), parquet_records(Path(path)), options)


def json_records(path: Path) -> Iterator[Mapping[str, Any]]:
    """The objects of JSON lines, plain or compressed; an error names the line."""
    with io.TextIOWrapper(open_unpacked(path), encoding="utf-8") as file:
        try:
            yield from records_of_lines(path, file)
        except DAMAGED as problem:
            raise FileFormatError(f"{path} is truncated or damaged ({problem}). Restore the file.") from None


def records_of_lines(source: Path, lines: Iterable[str], before: int = 0) -> Iterator[Mapping[str, Any]]:
    """The objects of lines of JSON; ``before`` lines were read already."""
    for number, line in enumerate(lines, start=before + 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except ValueError as problem:
            raise FileFormatError(f"{source}, line {number}: must be a JSON object ({problem}). Correct it.") from None
        if not isinstance(record, dict):
            raise FileFormatError(f"{source}, line {number}: must be a JSON object, got {line[:40]!r}. Correct it.")
        yield record


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


def _dataset(source: Path, found: Iterator[Mapping[str, Any]], options: TableOptions) -> CostDataset:
    try:
        records = list(found)
    except UnicodeDecodeError as problem:
        raise FileFormatError(f"{source} must be text in UTF-8 ({problem}). Save it as that.") from None
    if not records:
        raise FileFormatError(f"{source} must hold at least one example, got none. Check the file.")
    return dataset_of_table(source, table_of(records), options)
