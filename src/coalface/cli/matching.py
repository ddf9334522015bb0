"""A dataset renumbered: its features and labels in the places where a model has them."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from coalface.data.dataset import CostDataset
from coalface.data.labels import label_texts
from coalface.errors import InputError, UnknownLabelError

if TYPE_CHECKING:
    from coalface.cli.models import Model


def match_features(dataset: CostDataset, model: "Model", *, sparse: bool) -> CostDataset:
    """The dataset with the model's features and names; new ones come behind those that the model has seen.

    Only ``sparse`` data may lack features: they are 0 there.
    """
    seen, names = model.feature_names, dataset.feature_names
    if seen is None:
        short = sparse and dataset.X.shape[1] < model.width
        wide = _widened(dataset, model.width) if short else dataset
        return wide if model.width == 0 else _renamed(wide, None)
    if names is None:
        if dataset.X.shape[1] != len(seen):
            raise InputError(
                f"Data without names must have the {len(seen)} features that the model learned from, got "
                f"{dataset.X.shape[1]}. Use a format with names, such as CSV."
            )
        return _renamed(dataset, seen)
    there = set(names)
    missing = [name for name in seen if name not in there]
    if missing and not sparse:
        shown = ", ".join(map(repr, missing[:5])) + (f" and {len(missing) - 5} more" if len(missing) > 5 else "")
        raise InputError(f"The columns that the model learned from must all be there, missing {shown}. Add them.")
    place = {name: column for column, name in enumerate(dict.fromkeys([*seen, *names]))}
    return _renumbered(dataset, np.array([place[name] for name in names]), tuple(place), len(place))


def match_labels(dataset: CostDataset, classes: NDArray[Any]) -> CostDataset:
    """The dataset with one column of costs per label of ``classes``; labels it does not list are unknown costs."""
    known, found = label_texts(classes), label_texts(dataset.classes)
    if known == found:
        return _with_labels(dataset, classes, dataset.cost, dataset.candidates)
    place = {name: column for column, name in enumerate(known)}
    strange = next((name for name in found if name not in place), None)
    if strange is not None:
        raise UnknownLabelError(strange, known)
    columns = [place[name] for name in found]
    cost = np.full((len(dataset), len(known)), np.nan, np.float32)
    cost[:, columns] = dataset.cost
    candidates = None
    if dataset.candidates is not None:
        candidates = np.zeros(cost.shape, np.bool_)
        candidates[:, columns] = dataset.candidates
    return _with_labels(dataset, classes, cost, candidates)


def _widened(dataset: CostDataset, width: int) -> CostDataset:
    """The dataset with more columns, of zeros, behind its own."""
    return _renumbered(dataset, np.arange(dataset.X.shape[1]), None, width)


def _with_labels(dataset: CostDataset, classes: NDArray[Any], cost: Any, candidates: Any) -> CostDataset:
    return CostDataset(
        dataset.X, cost, classes, candidates=candidates, feature_names=dataset.feature_names, name=dataset.name
    )


def _renumbered(dataset: CostDataset, places: NDArray[Any], names: tuple[str, ...] | None, width: int) -> CostDataset:
    from scipy.sparse import csr_array

    X = dataset.X
    moved: Any = csr_array((X.data, places[X.indices], X.indptr), shape=(X.shape[0], width))
    moved.sort_indices()
    return CostDataset.trusted(
        X=moved,
        classes=dataset.classes,
        table=dataset.table,
        truth=dataset.truth,
        cost_matrix=dataset.cost_matrix,
        candidates=dataset.candidates,
        price=dataset.price,
        sequence=dataset.sequence,
        feature_names=names,
        name=dataset.name,
    )


def _renamed(dataset: CostDataset, names: tuple[str, ...] | None) -> CostDataset:
    return _renumbered(dataset, np.arange(dataset.X.shape[1]), names, dataset.X.shape[1])
