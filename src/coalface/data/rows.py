"""Checks of the examples that users pass, their conversion to sparse rows of float32, and their columns over time."""

from collections.abc import Sequence
from typing import Any, TypeAlias
from zlib import crc32

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from coalface.errors import InputError, in_one_line
from coalface.kernels.features import is_clean
from coalface.kernels.state import Csr

sparse: Any = scipy.sparse  # its type stubs are stricter than what users pass

Examples: TypeAlias = "csr_array[np.float32, tuple[int, int]]"  # of a dataset
_MOST_FEATURES = np.iinfo(np.int32).max


class Rows:
    """Checked examples in CSR form: no duplicates, sorted columns, finite float32 values; never changed."""

    __slots__ = (  # made for every row of a service: be quick
        "_table",
        "columns",
        "csr",
        "indptr",
        "is_full",
        "longest",
        "n_rows",
        "values",
        "width",
    )

    def __init__(
        self, indptr: NDArray[np.int64], columns: NDArray[np.int32], values: NDArray[np.float32], width: int
    ) -> None:
        self.indptr, self.columns, self.values, self.width = indptr, columns, values, width
        self.csr = Csr(indptr, columns, values)  # as the kernels read them
        self.n_rows = len(indptr) - 1
        self.longest = int(indptr[1]) if self.n_rows == 1 else int(np.diff(indptr).max(initial=0))
        self.is_full = len(values) == self.n_rows * width > 0  # every row has a value in every column: a table
        self._table: NDArray[np.float32] | None = None  # of a single row, which all members of a committee read

    def __len__(self) -> int:
        return self.n_rows

    def take(self, numbers: NDArray[np.int64]) -> "Rows":
        """The rows with these numbers, in this order."""
        if self.is_full:
            table = self.values.reshape(len(self), self.width)[numbers]
            indptr = np.arange(0, table.size + 1, self.width, dtype=np.int64)
            return Rows(indptr, np.tile(self.columns[: self.width], len(table)), table.ravel(), self.width)
        starts, lengths = self.indptr[numbers], self.indptr[numbers + 1] - self.indptr[numbers]
        indptr = np.concatenate([[0], np.cumsum(lengths)])
        places = np.repeat(starts - indptr[:-1], lengths) + np.arange(indptr[-1])
        return Rows(indptr, self.columns[places], self.values[places], self.width)

    def between(self, first: int, stop: int) -> "Rows":
        """The rows from ``first`` up to ``stop``, without copying them."""
        if first == 0 and stop == self.n_rows:
            return self
        indptr = self.indptr[first : stop + 1]
        span = slice(indptr[0], indptr[-1])
        return Rows(indptr - indptr[0], self.columns[span], self.values[span], self.width)

    def without_zeros(self) -> "Rows":
        """The rows without stored zeros."""
        kept = self.values != 0.0
        if kept.all():
            return self
        before = np.concatenate([[0], np.cumsum(kept)])
        return Rows(before[self.indptr].astype(np.int64), self.columns[kept], self.values[kept], self.width)

    def checksum(self) -> int:
        """A number that is equal for equal examples, in any process; stored zeros and the width do not count."""
        lengths, columns, values = np.diff(self.indptr), self.columns, self.values
        kept = values != 0.0
        if not kept.all():
            lengths, columns, values = (
                np.bincount(self.row_numbers[kept], minlength=len(self)),
                columns[kept],
                values[kept],
            )
        return crc32(values.tobytes(), crc32(columns.tobytes(), crc32(lengths.tobytes())))

    @property
    def row_numbers(self) -> NDArray[np.int64]:
        """The row of each value."""
        return np.repeat(np.arange(len(self)), np.diff(self.indptr))

    def dense(self, width: int) -> NDArray[np.float32]:
        """The rows as a table of ``width`` columns, which is only read; later columns are left out.

        >>> check_rows([[0.0, 2.0, 7.0], [1.0, 0.0, 7.0]]).dense(2)
        array([[0., 2.],
               [1., 0.]], dtype=float32)
        """
        if self._table is not None and self._table.shape[1] == width:
            return self._table
        table = np.zeros((self.n_rows, width), np.float32)
        if self.is_full and self.width <= width:
            table[:, : self.width] = self.values.reshape(self.n_rows, self.width)
        else:
            kept = self.columns < width
            table[self.row_numbers[kept], self.columns[kept]] = self.values[kept]
        if self.n_rows == 1:
            self._table = table
        return table

    @property
    def used_width(self) -> int:
        """The width without the columns after the last value that is not 0."""
        if self.is_full and self.values[-1] != 0.0:
            return self.width
        return int(self.columns[self.values != 0.0].max(initial=-1)) + 1

    def squares_beyond(self, width: int, penalty: float = 1.0) -> NDArray[np.float64]:
        """The summed squares / penalty of each row's values in the columns from ``width``.

        >>> check_rows([[1.0, 2.0, 3.0]]).squares_beyond(2)
        array([9.])
        """
        if self.width <= width:
            return np.zeros(self.n_rows)
        squares = np.where(self.columns < width, 0.0, self.values.astype(np.float64) ** 2) / penalty
        return np.bincount(self.row_numbers, squares, self.n_rows).astype(np.float64)

    def row(self, number: int) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """Columns and values of one example."""
        span = slice(self.indptr[number], self.indptr[number + 1])
        return self.columns[span], self.values[span]


def check_rows(X: Any, *, allow_empty: bool = True) -> Rows:
    """The rows of a dense array, a sparse matrix or a DataFrame.

    >>> rows = check_rows([[0.0, 2.0], [1.0, 0.0]])
    >>> rows.row(0)
    (array([1], dtype=int32), array([2.], dtype=float32))
    """
    if hasattr(X, "columns") and hasattr(X, "sparse"):
        X = X.sparse.to_coo()  # a data frame of sparse columns
    if sparse.issparse(X):
        return _check_csr(sparse.csr_array(X) if X.format != "csr" else X, X, allow_empty)
    from sklearn.utils import check_array

    try:
        dense = check_array(X, dtype="numeric", ensure_all_finite=False, ensure_min_samples=0 if allow_empty else 1)
        _refuse_complex(dense)
        with np.errstate(over="ignore"):
            single = dense.astype(np.float32, copy=False)
    except InputError:
        raise
    except (ValueError, OverflowError) as problem:
        raise InputError(
            f"X must be a table of numbers, one row per example: {in_one_line(problem)}. Correct it."
        ) from None
    _check_finite(single, dense)
    return _full(single) if single.all() else _pack(sparse.csr_array(single))


def stacked(rows: Sequence[Rows]) -> Rows:
    """Several batches of rows as one; the width is that of the widest.

    >>> len(stacked([check_rows([[1.0, 2.0]]), check_rows([[0.0, 1.0, 3.0]])]))
    2
    """
    if len(rows) == 1:
        return rows[0]
    lengths = np.concatenate([[0], *(np.diff(one.indptr) for one in rows)])
    return Rows(
        np.cumsum(lengths, dtype=np.int64),
        np.concatenate([np.zeros(0, np.int32), *(one.columns for one in rows)]),
        np.concatenate([np.zeros(0, np.float32), *(one.values for one in rows)]),
        max((one.width for one in rows), default=0),
    )


def check_row(indices: Any, values: Any, n_features: int) -> Rows:
    """One row given as its non-zeros; columns may be in any order, each at most once.

    >>> check_row([7, 2], [0.5, 1.0], n_features=4).columns, check_row([7], [0.5], n_features=4).width
    (array([2, 7], dtype=int32), 8)
    """
    if type(indices) is np.ndarray and type(values) is np.ndarray and _is_clean(indices, values):
        return Rows(np.array([0, len(indices)]), indices, values, max(n_features, int(indices[-1]) + 1))
    columns = np.asarray(indices)
    try:
        with np.errstate(over="ignore"):
            numbers = np.asarray(values, dtype=np.float32)
    except (TypeError, ValueError) as problem:
        raise InputError(f"values must be numbers: {in_one_line(problem)}. Correct them.") from None
    if columns.ndim != 1 or numbers.shape != columns.shape:
        raise InputError(
            f"indices and values must be one-dimensional and of the same length, got shapes {columns.shape} and "
            f"{numbers.shape}. Pass a value per index."
        )
    if not len(columns):
        return Rows(np.zeros(2, np.int64), np.zeros(0, np.int32), np.zeros(0, np.float32), n_features)
    if columns.dtype.kind not in "iu":
        raise InputError(f"indices must be whole numbers, got dtype {columns.dtype}. Convert them.")
    if not np.isfinite(numbers).all():
        raise InputError("values must be finite 32-bit numbers; replace or impute missing values first.")
    if not (columns[1:] > columns[:-1]).all():
        order = np.argsort(columns, kind="stable")
        columns, numbers = columns[order], numbers[order]
        if (columns[1:] == columns[:-1]).any():
            raise InputError("indices must name each feature once; add up the values of repeated ones.")
    first, last = int(columns[0]), int(columns[-1])
    if first < 0 or last >= _MOST_FEATURES:
        raise InputError(
            f"indices must lie in [0, {_MOST_FEATURES}), got {first if first < 0 else last}. Hash larger numbers."
        )
    return Rows(
        np.array([0, len(columns)]),
        np.ascontiguousarray(columns, np.int32),
        np.ascontiguousarray(numbers),
        max(n_features, last + 1),
    )


def _is_clean(columns: NDArray[Any], values: NDArray[Any]) -> bool:
    """Whether a row needs no conversion; ten times as fast as the single checks."""
    typed = columns.dtype == np.int32 and values.dtype == np.float32
    shaped = columns.ndim == 1 and len(columns) > 0 and columns.shape == values.shape
    return typed and shaped and columns.flags.c_contiguous and values.flags.c_contiguous and is_clean(columns, values)


def _check_csr(matrix: Any, given: Any, allow_empty: bool) -> Rows:
    if matrix.ndim != 2:
        raise InputError(f"X must have two dimensions, got {matrix.ndim}. Use X.reshape(1, -1) for one example.")
    if matrix.shape[0] == 0 and not allow_empty:
        raise InputError(f"Found array with 0 sample(s) (shape={matrix.shape}) while a minimum of 1 is required.")
    if matrix.shape[1] == 0:
        raise InputError(f"Found array with 0 feature(s) (shape={matrix.shape}) while a minimum of 1 is required.")
    if matrix.shape[1] > _MOST_FEATURES:
        raise InputError(
            f"X must have fewer than {_MOST_FEATURES} features, got {matrix.shape[1]}. Hash them into fewer."
        )
    _refuse_complex(matrix)
    if matrix.data.dtype.kind not in "biuf":
        raise InputError(f"X must hold numbers, got dtype {matrix.data.dtype}. Convert it.")
    _check_structure(matrix)
    if not matrix.has_canonical_format:
        matrix = matrix.copy() if matrix is given else matrix
        matrix.sum_duplicates()
    with np.errstate(over="ignore"):
        single = matrix.data.astype(np.float32, copy=False)
    if not np.isfinite(single).all():
        _check_finite(single[:, None], matrix.data[:, None], sparse.csr_array(matrix))
    return Rows(
        matrix.indptr.astype(np.int64, copy=False),
        matrix.indices.astype(np.int32, copy=False),
        np.ascontiguousarray(single),
        int(matrix.shape[1]),
    )


def _check_structure(matrix: Any) -> None:
    """Raise an InputError if the parts of a CSR matrix do not fit; the kernels would read past its end."""
    indices, indptr = matrix.indices, matrix.indptr
    if (np.diff(indptr) < 0).any() or indptr[0] != 0 or indptr[-1] > min(len(indices), len(matrix.data)):
        raise InputError(
            "X must be a valid CSR matrix: its indptr must rise from 0 to the number of stored values. Build it again."
        )
    if len(indices) and (indices.min() < 0 or indices.max() >= matrix.shape[1]):
        wrong = indices.min() if indices.min() < 0 else indices.max()
        raise InputError(
            f"X must be a valid CSR matrix: column {wrong} does not lie in [0, {matrix.shape[1]}). Build it again."
        )


def _full(table: NDArray[np.float32]) -> Rows:
    """The rows of a table without zeros, such as embeddings: what ``_pack`` gives, without looking for zeros."""
    n_rows, width = table.shape
    columns = np.tile(np.arange(width, dtype=np.int32), n_rows)
    return Rows(np.arange(0, table.size + 1, width, dtype=np.int64), columns, table.flatten(), width)


def _pack(matrix: Any) -> Rows:
    return Rows(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), matrix.data, int(matrix.shape[1]))


def _refuse_complex(array: Any) -> None:
    if np.iscomplexobj(array):
        raise InputError(f"Complex data not supported: X has dtype {array.dtype}. Pass the real part.")


def _check_finite(single: NDArray[np.float32], given: NDArray[Any], matrix: Any = None) -> None:
    finite = np.isfinite(single)
    if finite.all():
        return
    row, column = np.argwhere(~finite)[0]
    value = given[row, column]
    if matrix is not None:
        row, column = np.searchsorted(matrix.indptr, row, side="right") - 1, matrix.indices[row]
    missing = value is None or np.isnan(value)
    what = "NaN" if missing else f"{value} (too large for float32, or infinity)"
    raise InputError(
        f"X must be finite: row {row}, column {column} is {what}. Input X contains NaN, infinity or a value too "
        "large; impute or drop it first."
    )


def check_width(rows: Rows, estimator: Any, *, grows: bool = True) -> None:
    """Raise an InputError if the rows have fewer columns than the estimator has seen or, unless it ``grows``, more."""
    seen = getattr(estimator, "n_features_in_", rows.width)
    if rows.width < seen or (rows.width > seen and not grows):
        rule = "later rows may have more features, never fewer" if grows else "only sparse or named columns may be new"
        raise InputError(
            f"X has {rows.width} features, but {type(estimator).__name__} is expecting {seen} features as input; "
            f"{rule}. Pass the columns that it learned."
        )


def check_feature_names(estimator: Any, X: Any) -> NDArray[np.object_] | None:
    """The column names of X, if any; they must begin with the names seen before."""
    if X is None or (not hasattr(X, "columns") and not hasattr(estimator, "feature_names_in_")):
        return None  # the common case, without importing anything
    from sklearn.utils.validation import _check_feature_names, _get_feature_names

    names = _get_feature_names(X)
    seen = getattr(estimator, "feature_names_in_", None)
    if seen is None and not hasattr(estimator, "n_features_in_"):
        return None if names is None else np.asarray(names)
    if names is not None and seen is not None and len(names) > len(seen) and (names[: len(seen)] == seen).all():
        return np.asarray(names)
    _check_feature_names(estimator, X, reset=False)
    return None


def checked_examples(X: Any) -> Examples:
    """Finite numbers as CSR of float32: columns sorted in each row, no duplicates, no stored zeros."""
    try:
        with np.errstate(over="ignore"):  # values that are too large are refused below
            dense = None if issparse(X) else np.asarray(X, dtype=np.float32)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"X must hold numbers only: {error}. Turn texts and categories into numbers.") from None
    if dense is not None and dense.ndim != 2:
        raise InputError(f"X must be a table (examples, features), got shape {dense.shape}. Reshape it.")
    with np.errstate(over="ignore"):
        examples = csr_array(X if dense is None else dense, dtype=np.float32)
    if not np.isfinite(examples.data).all():
        bad = examples.data[~np.isfinite(examples.data)][0]
        raise InputError(f"X must be finite in float32, got {bad}. Replace such values first.")
    if not examples.has_canonical_format or not examples.data.all():
        examples = examples.copy()  # the caller's arrays must not change
        examples.sum_duplicates()
        examples.eliminate_zeros()
    return examples
