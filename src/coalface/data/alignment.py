"""Reads a dataset with its features and labels in the columns where a learner has them."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from coalface.data.dataset import CostDataset
from coalface.data.encoding.encoder import ID, Encoder
from coalface.data.formats.readers import TABLES, format_of, read_dataset
from coalface.data.labels import label_texts
from coalface.errors import InputError, UnknownLabelError, listed

SPARSE = ("vw", "svmlight")
_TAKES_CLASSES = (*SPARSE, *TABLES, "conll")


def read_aligned(
    path: Path,
    format: str,
    options: dict[str, Any],
    *,
    classes: NDArray[Any],
    feature_names: tuple[str, ...] | None,
    width: int,
    encoder: Encoder | None = None,
) -> CostDataset:
    """The dataset of a path, with the features and labels of a learner, which may have an ``encoder``.

    A CSV must have all columns, in any order. In sparse text, features that do not occur are 0.
    """
    found = format_of(path, format)
    dataset = read_dataset(path, format, **reader_options(found, options, classes, encoder))
    return Aligner(path, found in SPARSE, classes, feature_names=feature_names, width=width, encoder=encoder).aligned(
        dataset
    )


def reader_options(
    format: str, options: dict[str, Any], classes: NDArray[Any], encoder: Encoder | None
) -> dict[str, Any]:
    """The options of a reader with the labels and the encoder of a learner, where the format takes them."""
    if format in _TAKES_CLASSES:
        options = {"classes": classes, **options}
    return {"encoder": encoder, **options} if encoder is not None and format in TABLES else options


class _Seen(NamedTuple):
    """The names of the last block, their columns, and the names of all columns; the next block may go on from these."""

    names: tuple[str, ...] = ()
    places: NDArray[np.int32] = np.empty(0, np.int32)
    all_names: tuple[str, ...] = ()


class Aligner:
    """Puts the blocks of a dataset into the columns of a learner, new features after its own.

    ``classes`` None leaves labels as they are. With ``grows``, the new features of a block keep their columns in the
    blocks after it.

    >>> first = CostDataset([[1.0, 2.0]], [[0.0, 1.0]], feature_names=["loud", "length"])
    >>> aligner = Aligner(Path("a.vw"), sparse=True, grows=True, feature_names=("length",), width=1)
    >>> aligner.aligned(first).feature_names
    ('length', 'loud')
    >>> aligner.aligned(CostDataset([[7.0]], [[0.0, 1.0]], feature_names=["loud"])).X.toarray().tolist()
    [[0.0, 7.0]]
    """

    def __init__(
        self,
        path: Path,
        sparse: bool,
        classes: NDArray[Any] | None = None,
        *,
        feature_names: tuple[str, ...] | None = None,
        width: int = 0,
        encoder: Encoder | None = None,
        grows: bool = False,
    ) -> None:
        self._path, self._sparse, self._classes, self._grows = path, sparse, classes, grows
        self._names, self._width, self._encoder = feature_names, width, encoder
        self._columns: dict[str, int] | None = None  # of named features; made when a block needs it
        self._seen = _Seen()

    def aligned(self, block: CostDataset) -> CostDataset:
        """The block with the features and labels of the learner."""
        if self._width and self._encoder is None and block.encoder is not None:
            _refuse_raw(self._path, block.encoder)
        placed = block if self._encoder is not None and block.encoder is self._encoder else self._placed(block)
        if self._grows:
            self._names, self._width = placed.feature_names or self._names, max(self._width, placed.X.shape[1])
            self._encoder = placed.encoder
        return placed if self._classes is None else align_labels(placed, self._classes)

    def _placed(self, block: CostDataset) -> CostDataset:
        names = block.feature_names
        if not self._sparse or not self._names or names is None:
            return align_features(block, self._names, self._width, sparse=self._sparse)
        if names[: len(self._names)] == self._names:
            return block  # which has begun with the features of the learner
        seen = self._seen if names[: len(self._seen.names)] == self._seen.names else _Seen()
        if self._columns is None:
            self._columns = {name: place for place, name in enumerate(self._names)}
        fresh = names[len(seen.names) :]
        places = np.array([self._columns.get(name, -1) for name in fresh], np.int32)
        new = np.flatnonzero(places < 0)
        all_names = seen.all_names if len(seen.all_names) > len(self._names) else self._names
        places[new] = np.arange(len(all_names), len(all_names) + len(new), dtype=np.int32)
        all_names = (*all_names, *(fresh[place] for place in new.tolist()))
        if self._grows:
            self._columns.update((fresh[place], int(places[place])) for place in new.tolist())
        self._seen = _Seen(names, np.concatenate([seen.places, places]), all_names)
        return _renumbered(block, all_names, len(all_names), self._seen.places)


def _refuse_raw(path: Path, encoder: Encoder) -> None:
    """Raise an InputError for a table with texts or gaps: the model learned from numbers."""
    raw = [column for column in encoder.columns or () if column.kind != "number" or column.optional]
    if not raw:
        raise InputError(
            f"{path}: the model learned from numbers without ids, got a column of ids. Pass id= with its name.",
            remedy={"id": ID},
        )
    column = raw[0]
    raise InputError(
        f"{path}, column {column.name!r}: the model learned from numbers without gaps, got {column.describe()}. "
        "Correct it, leave the column out, or train a new model on data with texts or gaps.",
        remedy={"ignore": column.name},
    )


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
        same = names is None and wide == dataset.X.shape[1]
        return dataset if width == 0 or same else _renumbered(dataset, None, wide)
    if names == feature_names:
        return dataset
    if names is None and sparse and not dataset.X.nnz:
        return _renumbered(dataset, feature_names, len(feature_names))
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
        raise InputError(
            f"The data must have every column that the model learned from, missing {listed(missing)}. Add them."
        )
    column = {name: place for place, name in enumerate(dict.fromkeys([*feature_names, *names]))}
    return _renumbered(dataset, tuple(column), len(column), np.array([column[name] for name in names]))


def align_labels(dataset: CostDataset, classes: NDArray[Any]) -> CostDataset:
    """The dataset with one column of costs per label of ``classes``; costs that it does not have are unknown.

    >>> dataset = CostDataset([[1.0]], [[0.0, 1.0]], ["fly", "walk"])
    >>> align_labels(dataset, np.array(["walk", "run", "fly"])).cost
    array([[ 1., nan,  0.]], dtype=float32)
    """
    known, found = label_texts(classes), label_texts(dataset.classes)
    if known == found and dataset.classes.dtype.kind == classes.dtype.kind:
        return dataset
    if known == found:
        return dataset.with_fields(classes=classes)
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
    compact = {"truth": None, "cost_matrix": None, "price": None, "sequence": None}
    return dataset.with_fields(classes=classes, table=cost, candidates=candidates, **compact)


def _renumbered(
    dataset: CostDataset, names: tuple[str, ...] | None, width: int, columns: NDArray[Any] | None = None
) -> CostDataset:
    """The dataset with other names and, where ``columns`` are given, its features in these columns."""
    X = dataset.X
    indices = X.indices if columns is None else columns[X.indices]
    moved: Any = csr_array((X.data, indices, X.indptr), shape=(X.shape[0], width))
    moved.sort_indices()
    return dataset.with_fields(X=moved, feature_names=names)
