"""Examples with the costs of their labels: the one thing all readers return and all learners take."""

import hashlib
import os
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coalface.data.dataset_fields import (
    Examples,
    checked_codes,
    checked_examples,
    checked_mask,
    checked_names,
    checked_prices,
    checked_sequence,
    checked_table,
)
from coalface.data.labels import label_array, label_codes
from coalface.errors import InputError

_BLOCK = 4096  # rows hashed or counted at a time


@dataclass(frozen=True)
class DatasetStatistics:
    """The size of a dataset in numbers; ``known_costs`` is the share of costs that are not NaN."""

    n_examples: int
    n_labels: int
    n_features: int
    nonzeros_per_row: float
    density: float
    known_costs: float


@dataclass(frozen=True, eq=False, init=False, repr=False)
class CostDataset:
    """Examples ``X`` (n, features), what each label would cost, and the labels' names.

    The costs are a full table ``cost`` (n, K) with NaN where unknown, or compact: the column ``truth`` of
    each example's true label and a (K, K) ``cost_matrix`` (row = truth, column = prediction). Either way
    ``dataset.cost`` is the table. ``candidates`` (n, K) says which labels an example may get; None: all.
    ``price`` (n, K) is what asking for each cost takes, such as a solver's run time; None: all the same.
    ``sequence`` (n,) numbers the sequences, such as sentences, that examples belong to one after the other; None: each
    example stands alone.

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
        name: str = "",
    ) -> None:
        if (cost is None) == (truth is None or cost_matrix is None):
            raise InputError("A dataset needs either cost, or truth and cost_matrix. Pass one of the two.")
        examples = checked_examples(X)
        n_rows = examples.shape[0]
        widest = np.asarray(cost if cost is not None else cost_matrix)
        labels = label_array(np.arange(widest.shape[-1] if widest.ndim else 0) if classes is None else classes)
        shape = (n_rows, len(labels))
        square = (len(labels), len(labels))
        put = {
            "X": examples,
            "classes": labels,
            "table": None if cost is None else checked_table(cost, shape, "cost"),
            "truth": None if truth is None else checked_codes(truth, n_rows, len(labels)),
            "cost_matrix": None if cost_matrix is None else checked_table(cost_matrix, square, "cost_matrix"),
            "candidates": None if candidates is None else checked_mask(candidates, shape),
            "price": None if price is None else checked_prices(price, shape),
            "sequence": None if sequence is None else checked_sequence(sequence, n_rows),
            "feature_names": checked_names(feature_names, examples.shape[1]),
            "name": name,
        }
        self._put(**put)

    def _put(self, **values: Any) -> None:
        for field, value in values.items():
            object.__setattr__(self, field, value)  # frozen for everybody else

    @classmethod
    def trusted(cls, **fields: Any) -> "CostDataset":
        """A dataset of fields that were checked before, such as memory-mapped ones: nothing is read."""
        dataset = cls.__new__(cls)
        dataset._put(**fields)
        return dataset

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
        """A compact dataset of true labels; without a ``cost_matrix``, right costs 0 and wrong costs 1.

        >>> CostDataset.from_labels([[1.0], [2.0]], ["dog", "cat"]).cost
        array([[1., 0.],
               [0., 1.]], dtype=float32)
        """
        values = np.asarray(y if isinstance(y, np.ndarray) else list(y))
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

    @cached_property
    def fingerprint(self) -> str:
        """A SHA-256 over examples, labels, costs, candidates, prices and sequences, however they are stored.

        The name and the features' names do not count: they change no result.
        """
        digest = hashlib.sha256(repr((self.X.shape, self.classes.dtype.kind, self.classes.tolist())).encode())
        for start in range(0, len(self), _BLOCK):
            rows = slice(start, start + _BLOCK)
            ends = np.asarray(self.X.indptr[start : start + _BLOCK + 1], dtype="<i8")
            stored = slice(int(ends[0]), int(ends[-1]))
            cost = self._cost_rows(rows).astype("<f4")
            cost[np.isnan(cost)] = np.nan  # one bit pattern for all of them
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
        n_rows, n_features = self.X.shape
        return f"CostDataset({named}{n_rows} examples, {n_features} features, {len(self.classes)} labels)"

    def subset(self, rows: Any) -> "CostDataset":
        """The examples of an index array, a boolean mask or a slice, in that order."""
        chosen = np.arange(len(self))[rows]
        return self.trusted(
            X=self.X[chosen],
            classes=self.classes,
            table=None if self.table is None else self.table[chosen],
            truth=None if self.truth is None else self.truth[chosen],
            cost_matrix=self.cost_matrix,
            candidates=None if self.candidates is None else self.candidates[chosen],
            price=None if self.price is None else self.price[chosen],
            sequence=None if self.sequence is None else self.sequence[chosen],
            feature_names=self.feature_names,
            name=self.name,
        )

    def split(self, test_fraction: float = 0.2, random_state: int = 0) -> "TrainTest":
        """Training and test examples, drawn at random; both keep the order of the file.

        >>> dataset = CostDataset.from_labels(np.eye(10), list("aabbaabbab"))
        >>> [len(part) for part in dataset.split(0.3)]
        [7, 3]
        """
        n_test = round(test_fraction * len(self))
        if not 0 < n_test < len(self):
            raise InputError(
                f"test_fraction must leave examples on both sides of the split of {len(self)} examples, "
                f"got {test_fraction}. Pass a number between 0 and 1, such as 0.2."
            )
        try:
            order = np.random.default_rng(random_state).permutation(len(self))
        except (TypeError, ValueError):
            raise InputError(f"random_state must be a whole number from 0 on, got {random_state!r}.") from None
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
        """Write a folder of plain arrays that ``CostDataset.open`` maps into memory; all of it or nothing."""
        from coalface.data.formats.array_folder import save_folder

        save_folder(self, folder)

    @classmethod
    def open(cls, folder: str | os.PathLike[str], *, verify: bool = False) -> "CostDataset":
        """The dataset of a folder, memory-mapped; ``verify=True`` reads all of it and compares checksums."""
        from coalface.data.formats.array_folder import open_folder

        return open_folder(folder, verify=verify)


class TrainTest(NamedTuple):
    """What is learned from, and what the result is measured on."""

    train: CostDataset
    test: CostDataset
