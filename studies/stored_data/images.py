"""Image datasets under $COALFACE_DATA: network activations with WordNet costs, and the pixels of MNIST."""

import json
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from coalface.data.dataset import CostDataset, TrainTest
from coalface.data.formats.npz import read_arrays
from coalface.errors import FileFormatError

_SUBSETS = ("in20", "in40", "all200")
_FILES = {
    "in40": "in40_sp5120_q4.npz",
    "all200": "all200_gap1280_q4.npz",
}  # classes are numbered by subset


def read_tiny_images(folder: Path, subset: str, name: str, *, held: str) -> TrainTest:
    """The images of a subset of classes; costs are WordNet tree distances divided by the largest one.

    ``held`` names the file to read: images of "in40" have 5,120 features, images of "all200" 1,280.
    """
    trees = _read_subsets(folder / "subsets.json")
    X, y, is_test, scale = read_arrays(folder / _FILES[held], "X", "y", "test", "scale").values()
    place = {wnid: number for number, wnid in enumerate(trees[subset]["classes"])}
    truth = np.array([place.get(wnid, -1) for wnid in trees[held]["classes"]])[y]
    kept = truth >= 0
    activations: Any = csr_array(X[kept]).astype(np.float32)
    activations.data *= np.float32(scale)
    distance = np.load(folder / f"tree_distance_{subset}.npy", allow_pickle=False).astype(np.float32)
    whole = CostDataset(
        activations,
        classes=np.array(trees[subset]["names"]),
        truth=truth[kept],
        cost_matrix=distance / distance.max(),
        name=name,
    )
    return TrainTest(whole.subset(~is_test[kept]), whole.subset(is_test[kept]))


def _read_subsets(path: Path) -> dict[str, Any]:
    try:
        trees = json.loads(path.read_text(encoding="utf-8"))
        return {subset: trees[subset] for subset in _SUBSETS}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise FileFormatError(
            f"{path} must name the classes of {', '.join(_SUBSETS)} ({error!r}). Restore the file."
        ) from None


def read_mnist(folder: Path) -> TrainTest:
    """28 x 28 handwritten digits, brightness between 0 and 1, with 0/1 costs."""
    parts = read_arrays(folder / "mnist.npz", "X_train", "y_train", "X_test", "y_test")
    return TrainTest(*(_digits(parts[f"X_{part}"], parts[f"y_{part}"]) for part in ("train", "test")))


def _digits(pixels: Any, digit: Any) -> CostDataset:
    X: Any = csr_array(pixels).astype(np.float32)
    X.data /= np.float32(255)
    return CostDataset(X, classes=np.arange(10), truth=digit, cost_matrix=1.0 - np.eye(10), name="mnist")
