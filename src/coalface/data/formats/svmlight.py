"""svmlight files (``label column:value ...``), with an optional cost matrix."""

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coalface.data.dataset import CostDataset
from coalface.data.formats.cost_matrix import read_cost_matrix
from coalface.data.labels import label_array
from coalface.errors import FileFormatError, InputError


def read_svmlight(
    path: str | os.PathLike[str],
    *,
    cost_matrix: ArrayLike | str | os.PathLike[str] | None = None,
    classes: ArrayLike | None = None,
    n_features: int | None = None,
    zero_based: bool | str = "auto",
    name: str | None = None,
) -> CostDataset:
    r"""The dataset of an svmlight file, plain or compressed; costs are 0/1 or come from ``cost_matrix``.

    The matrix is an array, or a ``.npy`` or ``.csv`` file. Its rows and columns are the labels in ascending order,
    unless ``classes`` gives another order or the ``.csv`` file has names.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "two.svm")
    ...     _ = path.write_text("3 1:0.5\n7 2:1\n")
    ...     dataset = read_svmlight(path, cost_matrix=[[0, 1], [9, 0]])
    >>> dataset.classes, dataset.cost.tolist()
    (array([3, 7]), [[0.0, 1.0], [9.0, 0.0]])
    """
    from sklearn.datasets import load_svmlight_file  # slow to import

    source = Path(path)
    if not source.is_file():
        raise FileFormatError(f"There is no file {source}. Check the path.")
    try:
        X, y = load_svmlight_file(str(source), n_features=n_features, zero_based=zero_based, dtype=np.float64)
    except (ValueError, OverflowError, EOFError, OSError) as error:
        raise FileFormatError(
            f"{source} must be an svmlight file of lines such as '3 1:0.5 4:2' ({error}). Check the file."
        ) from None
    if X.shape[0] == 0:
        raise FileFormatError(f"{source} must hold at least one example, got none. Check the file.")
    if not (np.isfinite(y).all() and np.isfinite(X.data).all()):
        raise FileFormatError(f"{source} must hold finite numbers, got nan or inf. Replace or remove them.")
    labels = _whole_if_all_are(y)
    known = np.unique(labels) if classes is None else _numbers(label_array(classes))
    return CostDataset.from_labels(
        X,
        labels,
        classes=known,
        cost_matrix=None if cost_matrix is None else read_cost_matrix(cost_matrix, known),
        name=source.name.split(".")[0] if name is None else name,
    )


def _whole_if_all_are(numbers: NDArray[np.float64]) -> NDArray[Any]:
    whole = (numbers == np.round(numbers)).all() and np.abs(numbers).max() < 2**53
    return numbers.astype(np.int64) if whole else numbers


def _numbers(classes: NDArray[Any]) -> NDArray[Any]:
    """Labels given as text, for example on the command line, as the numbers that the file uses."""
    if classes.dtype.kind != "U":
        return classes
    try:
        return _whole_if_all_are(classes.astype(np.float64))
    except ValueError:
        raise InputError(
            f"The classes of an svmlight file must be numbers, got {classes.tolist()[:20]}. Write them as in the file."
        ) from None
