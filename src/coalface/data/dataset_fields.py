"""Checks of the fields of a ``CostDataset``, and their conversion to one form."""

from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, issparse

from coalface.errors import InputError

Examples: TypeAlias = "csr_array[np.float32, tuple[int, int]]"


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


def checked_table(values: ArrayLike, shape: tuple[int, int], name: str) -> NDArray[np.float32]:
    """Numbers of this shape, finite or NaN."""
    array = np.asarray(values, dtype=np.float32)
    if array.shape != shape:
        raise InputError(f"{name} must have the shape {shape}, got {array.shape}. Pass one column per label.")
    if np.isinf(array).any():
        raise InputError(f"{name} must be finite, or NaN where unknown, got inf. Replace it.")
    return array


def checked_codes(values: ArrayLike, n_rows: int, n_labels: int) -> NDArray[np.int32]:
    """One column number per row."""
    array = np.asarray(values)
    if array.shape != (n_rows,) or array.dtype.kind not in "iu":
        raise InputError(
            f"truth must be {n_rows} column numbers, got shape {array.shape} and dtype {array.dtype}. "
            "Use CostDataset.from_labels for labels."
        )
    if n_rows and not (array.min() >= 0 and array.max() < n_labels):
        raise InputError(f"truth must lie in 0..{n_labels - 1}, got {array.min()}..{array.max()}. Check classes.")
    return array.astype(np.int32)


def checked_mask(values: ArrayLike, shape: tuple[int, int]) -> NDArray[np.bool_]:
    """Booleans of this shape."""
    array = np.asarray(values)
    if array.shape != shape or array.dtype.kind != "b":
        raise InputError(
            f"candidates must be booleans of shape {shape}, got {array.dtype} of {array.shape}. "
            "Pass one column per label."
        )
    return array


def checked_prices(values: ArrayLike, shape: tuple[int, int]) -> NDArray[np.float32]:
    """Finite, non-negative numbers of this shape."""
    array = np.asarray(values, dtype=np.float32)
    if array.shape != shape:
        raise InputError(f"price must have the shape {shape}, got {array.shape}. Pass one column per label.")
    if not (np.isfinite(array) & (array >= 0)).all():
        bad = array[~(np.isfinite(array) & (array >= 0))][0]
        raise InputError(f"price must be finite and at least 0, got {bad}. Replace such values.")
    return array


def checked_sequence(values: ArrayLike, n_rows: int) -> NDArray[np.int32]:
    """One integer per row."""
    array = np.asarray(values)
    if array.shape != (n_rows,) or array.dtype.kind not in "iu":
        raise InputError(f"sequence must be {n_rows} integers, got {array.dtype} of shape {array.shape}.")
    return array.astype(np.int32)


def checked_by_example(values: ArrayLike, n_rows: int, name: str) -> NDArray[Any]:
    """One value per row."""
    array = np.asarray(values)
    if array.shape != (n_rows,):
        raise InputError(f"{name} must have one value per row, {n_rows}, got shape {array.shape}.")
    return array


def checked_names(names: Iterable[str] | None, n_features: int) -> tuple[str, ...] | None:
    """One distinct name per feature, or None."""
    if names is None:
        return None
    listed = tuple(str(name) for name in names)
    if len(listed) != n_features or len(set(listed)) != n_features:
        raise InputError(
            f"feature_names must be {n_features} distinct names, got {len(listed)} names, "
            f"{len(set(listed))} of them distinct. Pass one name per column of X."
        )
    return listed
