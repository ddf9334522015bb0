"""The data of the benchmarks: generated in the shapes of the paper's experiments, and real data in $COALFACE_DATA."""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, load_npz

from coalface import CostDataset


@dataclass(frozen=True)
class Problem:
    """Training and test examples, and the settings of both sides.

    ``classes`` of the datasets are 1..K, the only numbering that all of Vowpal Wabbit's reductions share.
    """

    name: str
    train: CostDataset
    test: CostDataset
    mellowness: float
    learning_rate: float
    coal_target: float | None = None
    passive_target: float | None = None

    @property
    def n_labels(self) -> int:
        return len(self.train.classes)

    @property
    def nonzeros(self) -> float:
        """Mean number of non-zeros of a training row, including the intercept."""
        return self.train.X.nnz / len(self.train) + 1


def problems(quick: bool = False) -> list[Problem]:
    """All available problems, the real ones first."""
    folder = os.environ.get("COALFACE_DATA")
    rows = (4_000, 1_500) if quick else (22_155, 20_000)
    real = []
    if folder:
        if Path(folder, "rcv1v2_subset").is_dir():
            real.append(rcv1(Path(folder, "rcv1v2_subset"), rows[0]))
        if Path(folder, "tinyimagenet").is_dir():
            real.append(in40(Path(folder, "tinyimagenet"), rows[1]))
    return [*real, sparse_text(1_500 if quick else 8_000), dense_images(500 if quick else 2_500)]


def rcv1(folder: Path, n_train: int) -> Problem:
    """RCV1-v2 topics; the most specific true topics cost 0, the others their distance in the topic tree."""
    X = csr_array(load_npz(folder / "X.npz"))
    topics = load_npz(folder / "Y.npz").toarray().astype(bool)
    tree = json.loads((folder / "hierarchy.json").read_text())
    meta = np.load(folder / "meta.npz")
    place = {code: number for number, code in enumerate(tree["codes"])}
    specific = topics.copy()
    for child, parent in tree["parent"].items():
        if parent in place and child in place:
            specific[topics[:, place[child]], place[parent]] = False
    distance = meta["tree_distance"].astype(np.float32)
    cost = np.stack([distance[row].min(axis=0) for row in specific]) / distance.max()
    return _split("rcv1", X, cost, meta["test"], n_train, 1e-3, 0.5, 10.0, 6.0)


def in40(folder: Path, n_train: int) -> Problem:
    """40 classes of small images; a wrong class costs its distance in the WordNet tree."""
    return _split("in40", *_images(folder, "in40"), n_train, 3e-3, 0.03, 12.0, 6.0)


def in20(folder: Path, n_train: int) -> Problem:
    """20 of the classes of ``in40``, with their own tree."""
    return _split("in20", *_images(folder, "in20"), n_train, 1e-3, 0.1)


def _images(folder: Path, subset: str) -> tuple[Any, NDArray[np.float32], NDArray[np.bool_]]:
    """Examples, costs, and a mask of the test rows."""
    arrays = np.load(folder / "in40_sp5120_q4.npz")
    trees = json.loads((folder / "subsets.json").read_text())
    place = {name: number for number, name in enumerate(trees[subset]["classes"])}
    y = np.array([place.get(name, -1) for name in trees["in40"]["classes"]])[arrays["y"]]
    kept = y >= 0
    X = csr_array(arrays["X"][kept]).astype(np.float32)
    X.data *= np.float32(arrays["scale"])
    distance = np.load(folder / f"tree_distance_{subset}.npy").astype(np.float32)
    return X, (distance / distance.max())[y[kept]], arrays["test"][kept]


def sparse_text(n_train: int, n_labels: int = 103, n_features: int = 47_000, nonzeros: int = 76) -> Problem:
    """Texts in the shape of RCV1: unit rows of words with Zipf-like popularity, and words that belong to one label."""
    rng = np.random.default_rng(0)
    n_rows = n_train + n_train // 4
    y = rng.integers(n_labels, size=n_rows)
    popularity = 1.0 / (np.arange(n_features) + 20.0)
    common = rng.choice(n_features, size=(n_rows, nonzeros), p=popularity / popularity.sum())
    own = (y[:, None] * 379 + rng.geometric(0.02, size=common.shape)) % n_features
    words = np.where(rng.random(common.shape) < 0.25, own, common)
    weights = rng.lognormal(size=words.shape).astype(np.float32) * np.log(2.0 + words).astype(np.float32)
    indptr = np.arange(n_rows + 1) * nonzeros
    X = csr_array((weights.ravel(), words.ravel().astype(np.int32), indptr), shape=(n_rows, n_features))
    X.sum_duplicates()
    lengths = np.sqrt(np.add.reduceat(X.data**2, X.indptr[:-1]))
    X.data /= np.repeat(lengths, np.diff(X.indptr))
    return _split("sparse text", X, _tree_costs(n_labels)[y], np.arange(n_rows) >= n_train, n_train, 1e-3, 0.5)


def dense_images(n_train: int, n_labels: int = 40, n_features: int = 6_000, density: float = 0.21) -> Problem:
    """Images in the shape of ImageNet 40: activations, 21 % of them not zero; the label decides which are likely."""
    rng = np.random.default_rng(0)
    n_rows = n_train + n_train // 4
    y = rng.integers(n_labels, size=n_rows)
    chance = np.clip(density * rng.lognormal(-0.1, 0.45, size=(n_labels, n_features)), 0, 1)
    present = rng.random((n_rows, n_features), dtype=np.float32) < chance[y]
    X = csr_array(present.astype(np.float32))
    X.data = (0.4 * rng.integers(1, 16, size=X.nnz)).astype(np.float32)
    return _split("dense images", X, _tree_costs(n_labels)[y], np.arange(n_rows) >= n_train, n_train, 3e-3, 0.03)


def _tree_costs(n_labels: int) -> NDArray[np.float32]:
    """Distances in a binary tree whose leaves are the labels, divided by the largest."""
    labels = np.arange(n_labels)
    height = np.frexp(labels[:, None] ^ labels)[1].astype(np.float32)
    return height / height.max()


def _split(
    name: str,
    X: Any,
    cost: NDArray[np.float32],
    is_test: NDArray[np.bool_],
    n_train: int,
    mellowness: float,
    learning_rate: float,
    *targets: float,
) -> Problem:
    X.sort_indices()
    dataset = CostDataset(X, cost, np.arange(1, cost.shape[1] + 1), name=name)
    train = dataset.subset(np.flatnonzero(~is_test)[:n_train])
    return Problem(name, train, dataset.subset(np.flatnonzero(is_test)), mellowness, learning_rate, *targets)
