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


def checked_integers(values: ArrayLike, n_rows: int, name: str, *, below: int | None = None) -> NDArray[np.int32]:
    """One integer per row, from 0 up to a limit if there is one."""
    array = np.asarray(values)
    if array.shape != (n_rows,) or array.dtype.kind not in "iu":
        raise InputError(
            f"{name} must be {n_rows} integers, got {array.dtype} of shape {array.shape}. Pass one number per example; "
            "CostDataset.from_labels takes labels."
        )
    if below is not None and n_rows and not (array.min() >= 0 and array.max() < below):
        raise InputError(f"{name} must lie in 0..{below - 1}, got {array.min()}..{array.max()}. Check classes.")
    return array.astype(np.int32)


def checked_by_example(values: ArrayLike, n_rows: int, name: str) -> NDArray[Any]:
    """One value per row."""
    array = np.asarray(values)
    if array.shape != (n_rows,):
        raise InputError(
            f"{name} must have one value per row, {n_rows}, got shape {array.shape}. Pass one per example."
        )
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
