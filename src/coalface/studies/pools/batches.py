"""Reads a file of a pool in batches of rows: the cells that the model needs, and the raw rows that are kept."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coalface.data.encoding.cells import Cells, clean_cells
from coalface.data.encoding.table import Table, table_of
from coalface.data.formats.readers import format_of
from coalface.data.formats.records import json_records
from coalface.data.formats.text_lines import csv_rows
from coalface.errors import FileFormatError, InputError

Wanted = Callable[[str], bool]


class Batch(NamedTuple):
    """Rows of a file, of which ``start`` is the first; ``raw(places)`` has some of them as a table of Arrow."""

    start: int
    table: Table
    raw: Callable[[NDArray[np.int64]], Any]


def batches_of(path: Path, size: int, wanted: Wanted, as_numbers: Wanted, *, keep_raw: bool) -> Iterator[Batch]:
    """The batches of a file; at least one, which may be empty.

    The tables have the columns that are ``wanted``, those ``as_numbers`` as arrays where the file has numbers. Without
    ``keep_raw``, other columns are not read, if the format allows that.
    """
    format = format_of(path)
    if not path.is_file():
        raise FileFormatError(f"There is no file {path} on this worker. Let all workers see the pool at the same path.")
    if format == "parquet":
        return _of_parquet(path, size, wanted, as_numbers, keep_raw=keep_raw)
    return _of_csv(path, size, wanted) if format == "csv" else _of_json_lines(path, size, wanted)


def arrow_table(raw: Any, wanted: Wanted, as_numbers: Wanted) -> Table:
    """The cells of a table of Arrow, as its rows would give them one by one."""
    columns = {name: _cells(raw[name], as_numbers(name)) for name in raw.column_names if wanted(name)}
    return Table(columns, raw.num_rows, records=True)


def _cells(column: Any, as_numbers: bool) -> Cells:
    from pyarrow import types

    if as_numbers and (types.is_integer(column.type) or types.is_floating(column.type)):
        return np.asarray(column.to_numpy(), np.float64)  # NaN where a value is missing
    cells: list[Any] = column.to_pylist()
    if types.is_integer(column.type):
        return cells
    if types.is_string(column.type) or types.is_large_string(column.type):
        return [cell if cell and cell.strip() else None for cell in cells]  # what clean_cells does to texts
    return clean_cells(cells)


def _of_parquet(path: Path, size: int, wanted: Wanted, as_numbers: Wanted, *, keep_raw: bool) -> Iterator[Batch]:
    try:
        import pyarrow as pa
        from pyarrow.parquet import ParquetFile
    except ModuleNotFoundError:
        raise InputError("Parquet files need pyarrow. Run: pip install 'coalface[parquet]'") from None
    start = 0
    try:
        with ParquetFile(path) as file:
            names = [name for name in file.schema_arrow.names if keep_raw or wanted(name)]
            for read in file.iter_batches(batch_size=size, columns=names, use_threads=False):
                raw = pa.Table.from_batches([read])
                yield Batch(start, arrow_table(raw, wanted, as_numbers), raw.take)
                start += raw.num_rows
            if start == 0:
                raw = file.schema_arrow.empty_table().select(names)
                yield Batch(0, arrow_table(raw, wanted, as_numbers), raw.take)
    except pa.lib.ArrowException as problem:
        raise FileFormatError(f"{path} must be a Parquet file ({problem}). Write it again.") from None


def _of_csv(path: Path, size: int, wanted: Wanted) -> Iterator[Batch]:
    import pyarrow as pa

    start = 0
    lines = csv_rows(path)
    header = next(lines, (1, []))[1]
    if not header or len(set(header)) < len(header):
        raise FileFormatError(f"{path}, line 1: columns must have distinct names, got {header[:20]}. Rename them.")
    while rows := [cells for _, cells in islice(lines, size)]:
        texts = dict(zip(header, map(list, zip(*rows, strict=True)), strict=True))
        table = table_of({name: cells for name, cells in texts.items() if wanted(name)})
        yield Batch(start, table._replace(n_rows=len(rows)), pa.table(texts).take)
        start += len(rows)
    _refuse_empty(path, start)


def _of_json_lines(path: Path, size: int, wanted: Wanted) -> Iterator[Batch]:
    start, records = 0, json_records(path)
    while block := list(islice(records, size)):
        kept = [{name: cell for name, cell in record.items() if wanted(name)} for record in block]
        yield Batch(start, table_of(kept), partial(_raw_records, block))
        start += len(block)
    _refuse_empty(path, start)


def _raw_records(records: list[Mapping[str, Any]], places: NDArray[np.int64]) -> Any:
    import pyarrow as pa

    picked = [records[place] for place in places.tolist()]
    names = dict.fromkeys(name for record in picked for name in record)
    return pa.table({name: pa.array([record.get(name) for record in picked]) for name in names})


def _refuse_empty(path: Path, n_rows: int) -> None:
    if n_rows == 0:
        raise FileFormatError(f"{path} must hold at least one example, got none. Check the file.")
