"""NumPy archives (``.npz``) of plain arrays; pickled objects are refused.

Keys: ``X`` (dense), or ``X_data``, ``X_indices``, ``X_indptr``, ``X_shape`` (CSR); ``cost`` (n, K), or ``y``
(labels) with or without ``cost_matrix`` (K, K); optional ``classes``, ``candidates``, ``feature_names``.
"""

import os
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from coalface.data.dataset import CostDataset
from coalface.data.rows import Examples
from coalface.errors import FileFormatError, InputError
from coalface.files.atomic import atomic_write

_DAMAGE = (ValueError, EOFError, OSError, KeyError, AttributeError, zipfile.BadZipFile, zlib.error)
_SPARSE = ("X_data", "X_indices", "X_indptr", "X_shape")


def read_npz(path: str | os.PathLike[str], *, name: str | None = None) -> CostDataset:
    """The dataset of a ``.npz`` file.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     np.savez(Path(folder, "pets.npz"), X=np.eye(2), y=np.array(["cat", "dog"]))
    ...     read_npz(Path(folder, "pets.npz"))
    CostDataset('pets', 2 examples, 2 features, 2 labels)
    """
    source = Path(path)
    arrays = read_arrays(source)
    names = [str(text) for text in arrays["feature_names"]] if "feature_names" in arrays else None
    name = source.name.split(".")[0] if name is None else name
    try:
        X = _examples(source, arrays)
        if "cost" in arrays:
            return CostDataset(
                X,
                arrays["cost"],
                arrays.get("classes"),
                candidates=arrays.get("candidates"),
                feature_names=names,
                name=name,
            )
        if "y" not in arrays:
            raise FileFormatError(f"{source} must hold cost or y, got {sorted(arrays)}. Add one of them.")
        return CostDataset.from_labels(
            X,
            arrays["y"],
            classes=arrays.get("classes"),
            cost_matrix=arrays.get("cost_matrix"),
            feature_names=names,
            name=name,
        )
    except InputError as error:
        raise FileFormatError(f"{source}: {error}") from None


def _examples(source: Path, arrays: Mapping[str, NDArray[Any]]) -> Any:
    if "X" in arrays:
        return arrays["X"]
    if not all(key in arrays for key in _SPARSE):
        raise FileFormatError(f"{source} must hold X, or all of {', '.join(_SPARSE)}, got {sorted(arrays)}. Add X.")
    return _csr(source, *(arrays[key] for key in _SPARSE))


def _csr(source: Path, data: Any, indices: Any, indptr: Any, shape: Any) -> Examples:
    """A CSR matrix of its parts; SciPy would read past their ends if they do not fit."""
    try:
        matrix: Any = csr_array((data, indices, indptr), shape=tuple(shape.tolist()))
        matrix.check_format(full_check=True)
    except (ValueError, TypeError) as error:
        raise FileFormatError(f"{source}: X must be a CSR matrix ({error}). Write the file again.") from None
    return matrix  # type: ignore[no-any-return]


def write_npz(dataset: CostDataset, path: str | os.PathLike[str]) -> None:
    """Write a dataset as a compressed archive, atomically.

    >>> from tempfile import TemporaryDirectory
    >>> dataset = CostDataset([[1.0, 0.5]], [[0.0, np.nan]], ["cat", "dog"])
    >>> with TemporaryDirectory() as folder:
    ...     write_npz(dataset, Path(folder, "pets.npz"))
    ...     read_npz(Path(folder, "pets.npz")).cost
    array([[ 0., nan]], dtype=float32)
    """
    X = dataset.X
    arrays: dict[str, Any] = {
        "X_data": X.data,
        "X_indices": X.indices,
        "X_indptr": X.indptr,
        "X_shape": np.array(X.shape),
        "classes": dataset.classes,
    }
    if dataset.truth is not None and dataset.candidates is None:
        arrays |= {"y": dataset.classes[dataset.truth], "cost_matrix": dataset.cost_matrix}
    else:
        arrays["cost"] = dataset.cost
    if dataset.candidates is not None:
        arrays["candidates"] = dataset.candidates
    if dataset.feature_names is not None:
        arrays["feature_names"] = np.array(dataset.feature_names, dtype=str)
    with atomic_write(path) as file:
        np.savez_compressed(file, **arrays)


def read_arrays(path: Path, *names: str) -> dict[str, NDArray[Any]]:
    """The arrays of these names, in this order; without names, all.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     np.savez(Path(folder, "two.npz"), a=np.arange(3), b=np.zeros(2))
    ...     read_arrays(Path(folder, "two.npz"), "b", "a")
    {'b': array([0., 0.]), 'a': array([0, 1, 2])}
    """
    if not path.is_file():
        raise FileFormatError(f"There is no file {path}. Check the path.")
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            missing = [name for name in names if name not in archive.files]
            if not missing:
                return {name: archive[name] for name in names or archive.files}
            found = sorted(archive.files)
    except _DAMAGE as error:
        raise FileFormatError(
            f"{path} must be a NumPy archive of plain arrays ({error}). Write it with np.savez."
        ) from None
    raise FileFormatError(f"{path} must hold {', '.join(missing)}, got {', '.join(found)}. Check the file.")


def read_csr(path: Path) -> Examples:
    """A matrix that ``scipy.sparse.save_npz`` wrote in CSR form."""
    matrix = _csr(path, *read_arrays(path, "data", "indices", "indptr", "shape").values())
    matrix.sum_duplicates()
    return matrix
