"""Reads a dataset with its features and labels in the columns where a learner has them."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from coalface.data.dataset import CostDataset
from coalface.data.formats.readers import format_of, read_dataset
from coalface.data.labels import label_texts
from coalface.errors import InputError, UnknownLabelError

_SPARSE = ("vw", "svmlight")
_TAKES_CLASSES = (*_SPARSE, "csv", "conll")
_SHOWN = 5


def read_aligned(
    path: Path,
    format: str,
    options: dict[str, Any],
    *,
    classes: NDArray[Any],
    feature_names: tuple[str, ...] | None,
    width: int,
) -> CostDataset:
    """The dataset of a path, with the features and labels of a learner.

    A CSV must have all columns, in any order. In sparse text, features that do not occur are 0.
    """
    found = format_of(path, format)
    if found in _TAKES_CLASSES:
        options = {"classes": classes, **options}
    dataset = read_dataset(path, format, **options)
    return align_labels(align_features(dataset, feature_names, width, sparse=found in _SPARSE), classes)


def align_features(
    dataset: CostDataset, feature_names: tuple[str, ...] | None, width: int, *, sparse: bool
) -> CostDataset:
    """The dataset with the features of a learner, which has seen ``width`` of them; new ones come after those.

    Only ``sparse`` data may lack features: they are 0 there.

    >>> dataset = CostDataset([[1.0, 2.0]], [[0.0, 1.0]], feature_names=["loud", "length"])
    >>> align_features(dataset, ("length",), 1, sparse=False).feature_names
    ('length', 'loud')
    """
    names = dataset.feature_names
    if feature_names is None:
        wide = max(width, dataset.X.shape[1]) if sparse else dataset.X.shape[1]
        return dataset if width == 0 else _renumbered(dataset, None, wide)
    if names is None:
        if dataset.X.shape[1] != len(feature_names):
            raise InputError(
                f"Data without names must have the {len(feature_names)} features that the model learned from, got "
                f"{dataset.X.shape[1]}. Use a format with names, such as CSV."
            )
        return _renumbered(dataset, feature_names, len(feature_names))
    there = set(names)
    missing = [name for name in feature_names if name not in there]
    if missing and not sparse:
        more = f" and {len(missing) - _SHOWN} more" if len(missing) > _SHOWN else ""
        shown = ", ".join(map(repr, missing[:_SHOWN]))
        raise InputError(f"The data must have every column that the model learned from, missing {shown}{more}.")
    column = {name: place for place, name in enumerate(dict.fromkeys([*feature_names, *names]))}
    return _renumbered(dataset, tuple(column), len(column), np.array([column[name] for name in names]))


def align_labels(dataset: CostDataset, classes: NDArray[Any]) -> CostDataset:
    """The dataset with one column of costs per label of ``classes``; costs that it does not have are unknown.

    >>> dataset = CostDataset([[1.0]], [[0.0, 1.0]], ["fly", "walk"])
    >>> align_labels(dataset, np.array(["walk", "run", "fly"])).cost
    array([[ 1., nan,  0.]], dtype=float32)
    """
    known, found = label_texts(classes), label_texts(dataset.classes)
    if known == found:
        return _with_labels(dataset, classes, dataset.cost, dataset.candidates)
    column = {name: place for place, name in enumerate(known)}
    for name in found:
        if name not in column:
            raise UnknownLabelError(name, known)
    columns = [column[name] for name in found]
    cost = np.full((len(dataset), len(known)), np.nan, np.float32)
    cost[:, columns] = dataset.cost
    candidates = None
    if dataset.candidates is not None:
        candidates = np.zeros(cost.shape, np.bool_)
        candidates[:, columns] = dataset.candidates
    return _with_labels(dataset, classes, cost, candidates)


def _with_labels(
    dataset: CostDataset, classes: NDArray[Any], cost: NDArray[np.float32], candidates: NDArray[np.bool_] | None
) -> CostDataset:
    return CostDataset(
        dataset.X, cost, classes, candidates=candidates, feature_names=dataset.feature_names, name=dataset.name
    )


def _renumbered(
    dataset: CostDataset, names: tuple[str, ...] | None, width: int, columns: NDArray[Any] | None = None
) -> CostDataset:
    """The dataset with other names and, where ``columns`` are given, its features in these columns."""
    X = dataset.X
    indices = X.indices if columns is None else columns[X.indices]
    moved: Any = csr_array((X.data, indices, X.indptr), shape=(X.shape[0], width))
    moved.sort_indices()
    return dataset.with_fields(X=moved, feature_names=names)
