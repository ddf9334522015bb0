"""``CostDataset``: examples with the costs of their labels, as readers return them and studies use them."""

import hashlib
import os
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coalface.data.costs import check_asking_price, check_mask
from coalface.data.encoding.encoder import Encoder
from coalface.data.frames import by_label, by_row, named_columns
from coalface.data.labels import label_array, label_codes, refuse_mixed
from coalface.data.rows import Examples, checked_examples
from coalface.errors import InputError, counted, shortened

_BLOCK = 4096  # rows that are hashed or counted at a time
_BY_EXAMPLE = ("X", "table", "truth", "candidates", "price", "sequence", "ids", "records")
_FIELDS = (*_BY_EXAMPLE, "classes", "cost_matrix", "feature_names", "encoder", "name")


@dataclass(frozen=True)
class DatasetStatistics:
    """The size of a dataset; ``known_costs`` is the share of costs that are not NaN.

    >>> found = CostDataset([[1.0, 0.0], [0.0, 2.0]], [[0.0, np.nan], [1.0, 0.0]]).statistics()
    >>> found.n_examples, found.nonzeros_per_row, found.density, found.known_costs
    (2, 1.0, 0.5, 0.75)
    """

    n_examples: int
    n_labels: int
    n_features: int
    nonzeros_per_row: float
    density: float
    known_costs: float


@dataclass(frozen=True, eq=False, init=False, repr=False)
class CostDataset:
    """Examples ``X`` (n, features), the cost of each label, and the labels' names.

    Costs are either a full table ``cost`` (n, K), NaN where unknown, or compact: ``truth`` gives the column of each
    true label, and ``cost_matrix`` (K, K) the costs (row = truth, column = prediction). ``dataset.cost`` is always the
    full table.

    ``candidates`` (n, K) marks the labels that may be predicted for an example; None means all. ``price`` (n, K) is the
    price of asking for each cost, such as a solver's run time; None means that all prices are equal. ``sequence`` (n,)
    numbers the sequences, such as sentences, that consecutive examples belong to; None means no sequences.

    ``ids`` (n,) are the names of the examples. ``records`` (n,) are the raw examples as mappings, and ``encoder`` has
    made ``X`` from them. Each may be None.

    >>> dataset = CostDataset([[1.0, 0.0], [0.0, 2.0]], [[0.0, 1.0], [0.5, np.nan]], ["cat", "dog"])
    >>> dataset
    CostDataset(2 examples, 2 features, 2 labels)
    >>> dataset.subset([1]).cost
    array([[0.5, nan]], dtype=float32)
    """

    X: Examples
    classes: NDArray[Any]
    table: NDArray[np.float32] | None
    truth: NDArray[np.int32] | None
    cost_matrix: NDArray[np.float32] | None
    candidates: NDArray[np.bool_] | None
    price: NDArray[np.float32] | None
    sequence: NDArray[np.int32] | None
    feature_names: tuple[str, ...] | None
    ids: NDArray[np.str_] | None
    records: NDArray[np.object_] | None
    encoder: Encoder | None
    name: str

    def __init__(
        self,
        X: Any,
        cost: ArrayLike | None = None,
        classes: ArrayLike | None = None,
        *,
        truth: ArrayLike | None = None,
        cost_matrix: ArrayLike | None = None,
        candidates: ArrayLike | None = None,
        price: ArrayLike | None = None,
        sequence: ArrayLike | None = None,
        feature_names: Iterable[str] | None = None,
        ids: ArrayLike | None = None,
        records: NDArray[np.object_] | None = None,
        encoder: Encoder | None = None,
        name: str = "",
    ) -> None:
        if (cost is None) == (truth is None or cost_matrix is None):
            raise InputError("A dataset needs either cost, or truth and cost_matrix. Pass exactly one of the two.")
        examples = checked_examples(X)
        n_rows = examples.shape[0]
        widest = np.asarray(cost if cost is not None else cost_matrix)
        classes = named_columns(cost if cost is not None else cost_matrix) if classes is None else classes
        labels = label_array(np.arange(widest.shape[-1] if widest.ndim else 0) if classes is None else classes)
        shape = (n_rows, len(labels))
        square = (len(labels), len(labels))
        cost = by_label(by_row(cost, X, "cost"), labels, "cost")
        candidates, price = by_row(candidates, X, "candidates"), by_row(price, X, "price")
        cost_matrix = by_label(cost_matrix, labels, "cost_matrix", rows=True)
        put = {
            "X": examples,
            "classes": labels,
            "table": None if cost is None else _checked_table(cost, shape, "cost"),
            "truth": None if truth is None else _checked_integers(truth, n_rows, "truth", below=len(labels)),
            "cost_matrix": None if cost_matrix is None else _checked_table(cost_matrix, square, "cost_matrix"),
            "candidates": None if candidates is None else check_mask(candidates, n_rows, labels, "candidates"),
            "price": None if price is None else check_asking_price(price, n_rows, labels, "price"),
            "sequence": None if sequence is None else _checked_integers(sequence, n_rows, "sequence"),
            "feature_names": _checked_names(feature_names, examples.shape[1]),
            "ids": None if ids is None else _checked_by_example(ids, n_rows, "ids"),
            "records": None if records is None else _checked_by_example(records, n_rows, "records"),
            "encoder": encoder,
            "name": name,
        }
        self._put(**put)

    def _put(self, **values: Any) -> None:
        for field, value in values.items():
            object.__setattr__(self, field, value)  # the class is frozen

    @classmethod
    def trusted(cls, **fields: Any) -> "CostDataset":
        """A dataset of fields that are known to be valid, such as memory-mapped arrays; nothing is checked."""
        dataset = cls.__new__(cls)
        dataset._put(**fields)
        return dataset

    def with_fields(self, **changed: Any) -> "CostDataset":
        """The same dataset with some fields changed to values that are known to be valid."""
        return self.trusted(**{name: getattr(self, name) for name in _FIELDS} | changed)

    @classmethod
    def from_labels(
        cls,
        X: Any,
        y: Iterable[Any],
        *,
        cost_matrix: ArrayLike | None = None,
        classes: ArrayLike | None = None,
        feature_names: Iterable[str] | None = None,
        name: str = "",
    ) -> "CostDataset":
        """A compact dataset of true labels; without a ``cost_matrix``, the true label costs 0 and all others 1.

        >>> CostDataset.from_labels([[1.0], [2.0]], ["dog", "cat"]).cost
        array([[1., 0.],
               [0., 1.]], dtype=float32)
        """
        y = by_row(y, X, "y")
        y = y if isinstance(y, np.ndarray) else list(y)
        refuse_mixed(y, "y")
        values = np.asarray(y)
        labels = label_array(np.unique(values) if classes is None else classes)
        codes = label_codes(values, labels)
        matrix = 1.0 - np.eye(len(labels)) if cost_matrix is None else cost_matrix
        return cls(X, classes=labels, truth=codes, cost_matrix=matrix, feature_names=feature_names, name=name)

    @cached_property
    def cost(self) -> NDArray[np.float32]:
        """The cost of every label for every example, (n, K); NaN = unknown."""
        return self.table if self.table is not None else self._cost_rows(slice(None))

    def _cost_rows(self, rows: Any) -> NDArray[np.float32]:
        if self.table is not None:
            return np.asarray(self.table[rows])
        assert self.truth is not None
        assert self.cost_matrix is not None
        return np.asarray(self.cost_matrix[self.truth[rows]])

    def matrix_of_truths(self) -> NDArray[np.float32]:
        """The cost matrix of compact costs; an InputError if the dataset has no true labels.

        >>> CostDataset.from_labels([[1.0], [2.0]], ["dog", "cat"]).matrix_of_truths()
        array([[0., 1.],
               [1., 0.]], dtype=float32)
        """
        if self.cost_matrix is None:
            raise InputError(
                f"price_of_truth needs data with true labels, but {self.name or 'the data'} has single costs. "
                "Name the column of the true label, or leave out price_of_truth."
            )
        return self.cost_matrix

    @cached_property
    def fingerprint(self) -> str:
        """The SHA-256 of examples, labels, costs, candidates, prices and sequences; it does not depend on storage.

        The name and the feature names are left out, because they do not affect results.
        """
        digest = hashlib.sha256(repr((self.X.shape, self.classes.dtype.kind, self.classes.tolist())).encode())
        for start in range(0, len(self), _BLOCK):
            rows = slice(start, start + _BLOCK)
            ends = np.asarray(self.X.indptr[start : start + _BLOCK + 1], dtype="<i8")
            stored = slice(int(ends[0]), int(ends[-1]))
            cost = self._cost_rows(rows).astype("<f4")
            cost[np.isnan(cost)] = np.nan  # one bit pattern for every NaN
            digest.update(np.diff(ends).tobytes())
            digest.update(np.asarray(self.X.indices[stored], dtype="<i8").tobytes())
            digest.update(np.asarray(self.X.data[stored], dtype="<f4").tobytes())
            digest.update(cost.tobytes())
            if self.candidates is not None:
                digest.update(self.candidates[rows].tobytes())
            if self.price is not None:
                digest.update(b"price" + self.price[rows].astype("<f4").tobytes())
            if self.sequence is not None:
                digest.update(b"sequence" + self.sequence[rows].astype("<i4").tobytes())
        return digest.hexdigest()

    def __len__(self) -> int:
        return int(self.X.shape[0])

    def __repr__(self) -> str:
        named = f"{self.name!r}, " if self.name else ""
        sizes = zip((*self.X.shape, len(self.classes)), ("example", "feature", "label"), strict=True)
        return f"CostDataset({named}{', '.join(counted(n, noun) for n, noun in sizes)})"

    def subset(self, rows: Any) -> "CostDataset":
        """The examples of an index array, a boolean mask or a slice, in that order."""
        chosen = np.arange(len(self))[rows]
        by_example = {name: getattr(self, name) for name in _BY_EXAMPLE}
        return self.with_fields(**{name: None if part is None else part[chosen] for name, part in by_example.items()})

    def split(self, test_fraction: float = 0.2, random_state: int = 0) -> "TrainTest":
        """Training and test examples, drawn at random; both keep the order of the file.

        >>> dataset = CostDataset.from_labels(np.eye(10), list("aabbaabbab"))
        >>> [len(part) for part in dataset.split(0.3)]
        [7, 3]
        """
        n_test = round(test_fraction * len(self))
        if not 0 < n_test < len(self):
            raise InputError(
                f"test_fraction must put at least 1 of {len(self)} examples on each side of the split, "
                f"got {test_fraction}. Pass a number between 0 and 1, such as 0.2."
            )
        try:
            order = np.random.default_rng(random_state).permutation(len(self))
        except (TypeError, ValueError):
            raise InputError(
                f"random_state must be a non-negative whole number, got {shortened(random_state)}. Pass a seed such as "
                "0."
            ) from None
        is_test = np.zeros(len(self), dtype=bool)
        is_test[order[:n_test]] = True
        return TrainTest(self.subset(~is_test), self.subset(is_test))

    def statistics(self) -> DatasetStatistics:
        """How large and how sparse the dataset is.

        >>> CostDataset([[1.0, 0.0], [0.0, 2.0]], [[0.0, np.nan], [1.0, 0.0]]).statistics().known_costs
        0.75
        """
        n_rows, n_features = self.X.shape
        n_labels = len(self.classes)
        blocks = (self._cost_rows(slice(start, start + _BLOCK)) for start in range(0, n_rows, _BLOCK))
        known = sum(int(np.count_nonzero(~np.isnan(block))) for block in blocks)
        return DatasetStatistics(
            n_examples=n_rows,
            n_labels=n_labels,
            n_features=n_features,
            nonzeros_per_row=self.X.nnz / max(n_rows, 1),
            density=self.X.nnz / max(n_rows * n_features, 1),
            known_costs=known / max(n_rows * n_labels, 1),
        )

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write a folder of plain arrays, atomically; ``CostDataset.open`` maps them into memory."""
        from coalface.data.formats.array_folder import save_folder

        save_folder(self, folder)

    @classmethod
    def open(cls, folder: str | os.PathLike[str], *, verify: bool = False) -> "CostDataset":
        """The dataset of a folder, memory-mapped; ``verify=True`` reads all files and compares checksums."""
        from coalface.data.formats.array_folder import open_folder

        return open_folder(folder, verify=verify)


class TrainTest(NamedTuple):
    """Training data and test data.

    >>> from coalface.studies.known import load_known
    >>> train, test = load_known("iris")
    >>> train.classes.tolist() == test.classes.tolist(), train.X.shape[0] + test.X.shape[0]
    (True, 150)
    """

    train: CostDataset
    test: CostDataset


def _checked_table(values: ArrayLike, shape: tuple[int, int], name: str) -> NDArray[np.float32]:
    """Numbers of this shape, finite or NaN."""
    array = np.asarray(values, dtype=np.float32)
    if array.shape != shape:
        raise InputError(f"{name} must have the shape {shape}, got {array.shape}. Pass one column per label.")
    if np.isinf(array).any():
        raise InputError(f"{name} must be finite, or NaN where unknown, got inf. Replace it.")
    return array


def _checked_integers(values: ArrayLike, n_rows: int, name: str, *, below: int | None = None) -> NDArray[np.int32]:
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


def _checked_by_example(values: ArrayLike, n_rows: int, name: str) -> NDArray[Any]:
    """One value per row."""
    array = np.asarray(values)
    if array.shape != (n_rows,):
        raise InputError(
            f"{name} must have one value per row, {n_rows}, got shape {array.shape}. Pass one per example."
        )
    return array


def _checked_names(names: Iterable[str] | None, n_features: int) -> tuple[str, ...] | None:
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
