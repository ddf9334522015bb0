"""Reading folders of CSR matrices with a label tree; a cost is the tree distance between prediction and truth.

``hierarchy.json`` holds ``labels`` (or ``codes``) in the order of the columns, and ``parent``, a mapping from child to
parent. With one true label per example, the folder holds ``X_train.npz``, ``X_test.npz`` and ``y.npz`` (``y_train`` and
``y_test``: one label number per row). With several, it holds ``X.npz``, ``Y.npz`` (one column per label, non-zero where
the label is true) and ``meta.npz`` (``test``: a mask of the test rows). ``scipy.sparse.save_npz`` writes such matrices.
"""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.data.dataset import CostDataset, TrainTest
from coalface.data.formats.npz import read_arrays, read_csr
from coalface.data.trees import LabelTree, tree_costs
from coalface.errors import FileFormatError, InputError

TREE_FILE = "hierarchy.json"


def read_hierarchy_folder(folder: str | os.PathLike[str], *, name: str | None = None) -> TrainTest:
    """Training and test data; costs are tree distances divided by the largest one.

    With several true labels, the distance to the nearest one counts. A true label that is an ancestor of another true
    label is ignored: predicting only "economy" for a text on inflation is an error.
    """
    source = Path(folder)
    called = source.name if name is None else name
    tree = _read_tree(source / TREE_FILE)
    try:
        several = (source / "Y.npz").is_file()
        return _several_true(source, tree, called) if several else _one_true(source, tree, called)
    except InputError as error:
        raise FileFormatError(f"{source}: {error}") from None


def _read_tree(path: Path) -> LabelTree:
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
        return LabelTree.from_parents(stored["parent"], stored["labels" if "labels" in stored else "codes"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        reason = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise FileFormatError(
            f"{path} must hold labels (or codes) and parent, the label tree ({reason}). Check the file."
        ) from None


def _one_true(source: Path, tree: LabelTree, name: str) -> TrainTest:
    truths = read_arrays(source / "y.npz", "y_train", "y_test").values()
    parts = [
        CostDataset(
            read_csr(source / f"X_{part}.npz"),
            classes=np.array(tree.labels),
            truth=truth,
            cost_matrix=tree.cost_matrix(),
            name=name,
        )
        for part, truth in zip(("train", "test"), truths, strict=True)
    ]
    return TrainTest(*parts)


def _several_true(source: Path, tree: LabelTree, name: str) -> TrainTest:
    X, Y = read_csr(source / "X.npz"), read_csr(source / "Y.npz")
    (is_test,) = read_arrays(source / "meta.npz", "test").values()
    if is_test.shape != (X.shape[0],) or is_test.dtype != np.bool_ or Y.shape != (X.shape[0], len(tree.labels)):
        raise InputError(
            f"X, Y and test must have one row per example and Y one column per label, got {X.shape}, {Y.shape} "
            f"and {is_test.dtype} of {is_test.shape} with {len(tree.labels)} labels. Check the files."
        )
    cost = nearest_costs(Y.toarray() != 0, tree)
    whole = CostDataset(X, cost, np.array(tree.labels), name=name)
    return TrainTest(whole.subset(~is_test), whole.subset(is_test))


def nearest_costs(true: NDArray[np.bool_], tree: LabelTree) -> NDArray[np.float64]:
    """The tree cost of every label, (n, K), measured to the nearest of the most specific true labels (n, K).

    >>> tree = LabelTree.from_parents({"cat": "animal", "dog": "animal", "car": "vehicle"})
    >>> nearest_costs(np.array([[True, False, False], [False, True, True]]), tree)
    array([[0. , 0.5, 1. ],
           [0.5, 0. , 0. ]])
    """
    labels = np.array(tree.labels, object)
    return tree_costs(tree, [labels[row].tolist() for row in _most_specific(true, tree)])


def _most_specific(true: NDArray[np.bool_], tree: LabelTree) -> NDArray[np.bool_]:
    """The true labels (n, K) without ancestors of other true labels of the same example.

    >>> tree = LabelTree.from_parents({"cat": "animal", "dog": "animal"}, ["animal", "cat", "dog"])
    >>> _most_specific(np.array([[True, True, False], [True, False, False]]), tree).tolist()
    [[False, True, False], [True, False, False]]
    """
    column = {label: place for place, label in enumerate(tree.labels)}
    above = dict(zip(tree.nodes[1:], (tree.nodes[parent] for parent in tree.parents[1:]), strict=True))
    specific = true.copy()
    for label, place in column.items():
        node: Any = label
        while (node := above.get(node)) is not None:
            if node in column:
                specific[true[:, place], column[node]] = False
    return specific
