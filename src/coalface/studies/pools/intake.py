"""Reads a file of a pool in batches, and turns their cells into the rows that a model learned from."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coalface.data import (
    COST_PREFIX,
    ID,
    Cells,
    NumberColumn,
    Table,
    as_text,
    clean_cells,
    csv_rows,
    format_of,
    json_records,
    numbers_in,
    table_of,
)
from coalface.errors import FileFormatError, InputError
from coalface.learner import CoalClassifier, NamedLearner

_CELLS = 2**22  # numbers of a batch, in the cells of the rows or the costs of the labels
_LEAST, _MOST = 256, 2**15  # rows of a batch
_SHOWN = 5


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


@dataclass(frozen=True)
class PoolColumns:
    """The columns that the user named: that of the ids, and those that are not features."""

    id: str | None = None
    ignore: tuple[str, ...] = ()


@dataclass(frozen=True)
class Intake:
    """A model and the columns of the pool that it needs.

    >>> learner = CoalClassifier(["no", "yes"]).tell([[3.0, 1.0]], [[0.0, 1.0]])
    >>> intake = Intake(NamedLearner(learner, ("size", "weight")), PoolColumns())
    >>> table = Table({"weight": [1, 2], "id": ["a", "b"], "size": [3, 4]}, 2)
    >>> intake.examples(table).tolist(), intake.ids(table)
    ([[3.0, 1.0], [4.0, 2.0]], ['a', 'b'])
    """

    named: NamedLearner
    columns: PoolColumns

    @property
    def learner(self) -> CoalClassifier:
        """The learner."""
        return self.named.learner

    @property
    def batch_size(self) -> int:
        """How many rows are read at a time, so that a batch takes little memory."""
        widest = max(len(self.learner.classes_), len(self._features or ()), 1)
        return max(_LEAST, min(_MOST, _CELLS // widest))

    @cached_property
    def _features(self) -> frozenset[str] | None:
        """The names of the columns that the model learned from; None if they have no names."""
        encoder = self.named.encoder
        if encoder is not None:
            return frozenset(encoder.groups)
        return None if self.named.feature_names is None else frozenset(self.named.feature_names)

    @cached_property
    def _numbers(self) -> frozenset[str] | None:
        encoder = self.named.encoder
        if encoder is None:
            return self._features
        return frozenset(column.name for column in encoder.columns or () if isinstance(column, NumberColumn))

    def wants(self, name: str) -> bool:
        """Whether the model needs this column, or it may have the ids."""
        if self._features is None:
            return name not in self.columns.ignore
        return name in self._features or self._may_be_id(name)

    def as_numbers(self, name: str) -> bool:
        """Whether the model takes the numbers of this column as they are."""
        return (self._numbers is None or name in self._numbers) and not self._may_be_id(name)

    def _may_be_id(self, name: str) -> bool:
        if name in (self.columns.id, self.named.encoder and self.named.encoder.id):
            return True
        return name.lower() == ID and name not in (self._features or ())

    def id_column(self, names: Any) -> str | None:
        """The column of the ids: the one that was named, that of the encoder, or "id"; None if there is none."""
        named = self.columns.id
        if named is not None and named not in names:
            listed = ", ".join(map(repr, list(names)[:20]))
            raise InputError(f"there is no column {named!r} for the ids. The columns are {listed}. Name one of them.")
        return named or next((name for name in names if self._may_be_id(name)), None)

    def ids(self, table: Table, places: NDArray[np.int64] | None = None) -> list[str] | None:
        """The ids of the examples, or of those at some places, as texts; None if no column has them."""
        column = self.id_column(table.columns)
        if column is None:
            return None
        cells = list(table.columns[column])
        if None in cells:
            raise InputError(f"the id, in column {column!r}, is missing in row {cells.index(None)}. Add it.")
        picked = cells if places is None else [cells[place] for place in places.tolist()]
        return [cell if cell.__class__ is str else as_text(cell) for cell in picked]

    def examples(self, table: Table) -> Any:
        """The rows of the examples, as the model takes them."""
        encoder = self.named.encoder
        if encoder is None:
            return self._table_of_numbers(table)
        known = {name: cells for name, cells in table.columns.items() if name in encoder.groups}
        return encoder.transform(table._replace(columns=known))

    def _table_of_numbers(self, table: Table) -> NDArray[np.float64]:
        names = self.named.feature_names
        if names is None:
            left = {self.id_column(table.columns), *self.columns.ignore}
            names = tuple(name for name in table.columns if name not in left and not name.startswith(COST_PREFIX))
        missing = [name for name in names if name not in table.columns]
        if missing:
            more = f" and {len(missing) - _SHOWN} more" if len(missing) > _SHOWN else ""
            shown = ", ".join(map(repr, missing[:_SHOWN]))
            raise InputError(f"the pool must have every column that the model learned from, missing {shown}{more}.")
        found = [numbers_in(table.columns[name], name) for name in names]
        return np.column_stack(found) if found else np.zeros((table.n_rows, 0))
