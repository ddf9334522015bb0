"""Raw examples of any type as named columns of cells: texts, tables, records."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import date
from numbers import Number
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coalface.data.encoding.cells import Cells, clean_cells, is_missing
from coalface.data.frames import column_names, in_memory
from coalface.errors import InputError

TEXT = "text"  # the name of the only column of a list of texts


class Table(NamedTuple):
    """Named columns of cells, all of the same length.

    ``gaps`` has the columns that some record lacks, with the number of the first such record. ``texts`` and ``records``
    say that X was a list of these. ``first`` is the number of the first row, and ``lines`` are those of a file.
    """

    columns: dict[str, Cells]
    n_rows: int
    gaps: Mapping[str, int] = MappingProxyType({})
    texts: bool = False
    records: bool = False
    first: int = 0
    lines: Sequence[int] = ()

    def place(self, row: int) -> str:
        """Where a row comes from, for a message.

        >>> Table({}, 2).place(1), Table({}, 2, lines=[2, 5]).place(1)
        ('example 1', 'line 5')
        """
        return f"line {self.lines[row]}" if self.lines else f"example {self.first + row}"


def is_raw(X: Any) -> bool:
    """Whether X needs an encoder: it has texts, categories, dates or missing values.

    >>> [is_raw(X) for X in ([[1.0, 2.0]], ["my parcel"], [{"size": 1}], [[1.0, np.nan]], [["a", 1.0]])]
    [False, True, True, True, True]
    """
    if isinstance(X, str):
        return True
    if hasattr(X, "toarray"):
        return False
    if isinstance(X, Table | Mapping):
        return any(map(_is_raw_column, table_of(X).columns.values()))
    if _is_frame(X):
        return any(_is_raw_column(column) for _, column in _frame_columns(X))
    if isinstance(X, np.ndarray) or hasattr(X, "__array__"):
        return _is_raw_array(np.asarray(X))
    return isinstance(X, list | tuple) and any(map(_is_raw_row, X))


def table_of(X: Any) -> Table:
    """The columns of raw examples; those of an array are called x0, x1, and so on.

    >>> table_of(["my parcel is late"]).columns
    {'text': ['my parcel is late']}
    >>> table_of([{"size": 1, "team": "a"}, {"size": 2}])[:3]
    ({'size': [1, 2], 'team': ['a', None]}, 2, {'team': 1})
    """
    if isinstance(X, Table):
        return X
    if _is_record(X):
        return _of_records([X])
    if isinstance(X, Mapping):
        _refuse_equal_texts(X)
        return _checked({str(name): _cells(cells) for name, cells in X.items()})
    if _is_frame(X):
        return _checked({str(name): _cells(column) for name, column in _frame_columns(X)}, len(X))
    X = in_memory(X)
    rows = [X] if isinstance(X, str) else X
    if isinstance(rows, list | tuple) and len(rows):
        if all(isinstance(row, Mapping) for row in rows):
            return _of_records(rows)
        if all(isinstance(row, list | tuple | np.ndarray) for row in rows):
            return _of_rows(rows)
    return _of_array(rows)


def _is_record(X: Any) -> bool:
    """Whether X is one example, not columns of several."""
    return isinstance(X, Mapping) and any(isinstance(cell, str | Number | date) for cell in X.values())


def _of_array(X: Any) -> Table:
    """The columns of a two-dimensional array, or the texts of a one-dimensional one."""
    if hasattr(X, "toarray"):
        raise InputError(
            "X must have raw examples to decide how columns are encoded, got a sparse matrix of numbers. Pass texts or "
            "a table."
        )
    X = np.array(list(X.ravel()), object).reshape(X.shape) if _kind(X) == "M" else X  # it would make integers of some
    array = np.asarray(X, None if _kind(X) in "biuf" else object)
    if array.ndim == 1 and array.dtype.kind == "O":
        return _of_texts(array.tolist())
    if array.ndim != 2:
        raise InputError(
            f"X must be texts, a table or records, one per example, got shape {array.shape}. Pass a list of texts, a "
            "DataFrame or a list of dictionaries."
        )
    return _checked({f"x{place}": _cells(array[:, place]) for place in range(array.shape[1])}, len(array))


def _is_frame(X: Any) -> bool:
    return hasattr(X, "columns") and (hasattr(X, "dtypes") or hasattr(X, "column_names"))


def _frame_columns(X: Any) -> Iterator[tuple[Any, Any]]:
    """The names and columns of a DataFrame or of a table of Arrow."""
    names = column_names(X)
    _refuse_equal_texts(names)
    if hasattr(X, "iloc"):  # pandas
        return ((name, X.iloc[:, place]) for place, name in enumerate(names))
    return ((name, X[name]) for name in names)


def _kind(column: Any) -> str:
    """NumPy's letter for the type of a column; O where it is not one of NumPy's."""
    dtype = getattr(column, "dtype", None)
    if type(dtype).__name__ == "CategoricalDtype":
        return "O"
    return str(getattr(dtype, "kind", "O"))


def _is_raw_column(column: Any) -> bool:
    kind = _kind(column)
    if kind == "O":
        cells = _cells(column)
        categories = type(getattr(column, "dtype", None)).__name__ == "CategoricalDtype"
        return categories or any(not isinstance(cell, Number) for cell in cells)
    return kind not in "biufc" or (hasattr(column, "isna") and bool(column.isna().any()))


def _is_raw_array(array: NDArray[Any]) -> bool:
    if array.dtype.kind in "fc":
        return array.ndim == 2 and bool(np.isnan(array).any())
    if array.dtype.kind == "O":
        cells = array.ravel()
        return any(isinstance(cell, str | Mapping | date) for cell in cells) and not _has_mappings_in_rows(array)
    return array.dtype.kind in "UM"


def _has_mappings_in_rows(array: NDArray[Any]) -> bool:
    return array.ndim == 2 and any(isinstance(cell, Mapping) for cell in array.ravel())


def _is_raw_row(row: Any) -> bool:
    if isinstance(row, str | Mapping):
        return True
    if isinstance(row, np.ndarray):
        return _is_raw_array(row[None] if row.ndim == 1 else row)
    return isinstance(row, list | tuple) and any(isinstance(cell, str | date) or is_missing(cell) for cell in row)


def _cells(column: Any) -> Cells:
    """The cells of a column: an array of numbers, or a list of plain values."""
    kind = _kind(column)
    if hasattr(column, "to_numpy") and hasattr(column, "iloc"):  # pandas
        if kind in "iuf":
            return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
        if kind == "m":
            return np.asarray(column.dt.total_seconds().to_numpy(dtype=np.float64))
        return clean_cells(column.astype(object).tolist())
    if isinstance(column, np.ndarray) and kind in "iuf":
        return column.astype(np.float64)
    for name in ("to_pylist", "to_list", "tolist"):  # of Arrow, Polars, NumPy
        if hasattr(column, name):
            try:
                return clean_cells(getattr(column, name)())
            except OverflowError as problem:
                raise InputError(
                    f"Dates must lie in the years 1 to 9999, got others ({problem}). Correct them."
                ) from None
    return clean_cells(list(column))


def _of_texts(cells: Sequence[Any]) -> Table:
    for row, cell in enumerate(cells):
        if not (isinstance(cell, str) or cell is None):
            raise InputError(
                f"X must be a list of texts, a table or a list of dictionaries, got {cell!r:.40} in row {row}. Pass "
                "one kind of example."
            )
    return Table({TEXT: clean_cells(cells)}, len(cells), texts=True)


def _of_records(records: Sequence[Mapping[Any, Any]]) -> Table:
    keys = dict.fromkeys(key for record in records for key in record)
    _refuse_equal_texts(keys)
    names = {str(key): key for key in keys}
    gaps: dict[str, int] = {}
    columns: dict[str, Cells] = {}
    for name, key in names.items():
        columns[name] = clean_cells([record.get(key) for record in records])
        lacking = next((row for row, record in enumerate(records) if key not in record), None)
        if lacking is not None:
            gaps[name] = lacking
    return Table(columns, len(records), gaps, records=True)


def _refuse_equal_texts(names: Collection[Any]) -> None:
    """Raise an InputError if names differ, but not as texts, such as 1 and "1"."""
    if len(set(map(str, names))) < len(names):
        raise InputError(f"X must have columns with distinct names, got {list(names)[:20]}. Rename the columns.")


def _of_rows(rows: Sequence[Any]) -> Table:
    widths = {len(row) for row in rows}
    if len(widths) > 1:
        raise InputError(f"X must have rows of equal length, got {min(widths)} and {max(widths)} values. Correct it.")
    return _checked(
        {f"x{place}": clean_cells([row[place] for row in rows]) for place in range(widths.pop())}, len(rows)
    )


def _checked(columns: dict[str, Cells], n_rows: int | None = None) -> Table:
    lengths = {len(cells) for cells in columns.values()} | (set() if n_rows is None else {n_rows})
    if len(lengths) > 1:
        raise InputError(
            f"X must have columns of equal length, got {min(lengths)} and {max(lengths)} values. Fill the gaps with "
            "None."
        )
    return Table(columns, lengths.pop() if lengths else 0)
