"""Folders of matrices with a label tree."""

import json

import numpy as np
import pytest
from scipy.sparse import csr_matrix, random_array, save_npz

from coalface.data.formats.hierarchy_folder import read_hierarchy_folder
from coalface.data.trees import tree_costs
from coalface.errors import FileFormatError

PARENTS = {"cat": "mammal", "dog": "mammal", "mammal": "animal", "trout": "animal", "animal": "Root", "car": "Root"}
LABELS = ["animal", "car", "cat", "dog", "mammal", "trout"]


def ancestors(label):
    path = [label]
    while path[-1] in PARENTS:
        path.append(PARENTS[path[-1]])
    return path


def distance(one, other):
    """Edges up to the first common ancestor and down again."""
    up, down = ancestors(one), ancestors(other)
    return min(up.index(node) + down.index(node) for node in up if node in down)


def cost_by_hand(true, predicted):
    farthest = max(distance(a, b) for a in LABELS for b in LABELS)
    return min(distance(label, predicted) for label in true) / farthest


@pytest.fixture
def single(tmp_path):
    """One true label per example."""
    rng = np.random.default_rng(0)
    parts = {part: random_array((n, 7), density=0.4, rng=rng, format="csr") for part, n in (("train", 12), ("test", 5))}
    for part, X in parts.items():
        save_npz(tmp_path / f"X_{part}.npz", csr_matrix(X))
    truth = {"y_train": np.arange(12) % 6, "y_test": np.arange(5)}
    np.savez(tmp_path / "y.npz", **truth)
    (tmp_path / "hierarchy.json").write_text(json.dumps({"labels": LABELS, "parent": PARENTS}))
    return tmp_path, parts, truth


@pytest.fixture
def several(tmp_path):
    """Several true labels, including their ancestors."""
    leaves = [["cat"], ["cat", "dog"], ["trout"], ["mammal"], ["car", "cat"], ["animal"], ["dog", "trout"], ["car"]]
    true = [sorted({node for label in labels for node in ancestors(label)} - {"Root"}) for labels in leaves]
    Y = np.array([[label in labels for label in LABELS] for labels in true])
    save_npz(tmp_path / "X.npz", csr_matrix(np.arange(1.0, 9.0)[:, None]))
    save_npz(tmp_path / "Y.npz", csr_matrix(Y.astype(np.int8)))
    np.savez(tmp_path / "meta.npz", test=np.arange(8) % 3 == 2)
    (tmp_path / "hierarchy.json").write_text(json.dumps({"codes": LABELS, "parent": PARENTS}))
    return tmp_path, leaves


def test_one_true_label_gives_compact_tree_costs(single):
    folder, parts, truth = single
    found = read_hierarchy_folder(folder, name="pets")
    for part, dataset in found._asdict().items():
        expected = [[cost_by_hand([LABELS[y]], label) for label in LABELS] for y in truth[f"y_{part}"]]
        np.testing.assert_allclose(dataset.cost, expected, rtol=1e-6)
        np.testing.assert_allclose(dataset.X.toarray(), parts[part].toarray(), rtol=1e-6)
        assert dataset.truth is not None
        assert (dataset.name, dataset.cost.dtype, dataset.classes.tolist()) == ("pets", np.float32, LABELS)


def test_only_the_most_specific_true_labels_cost_nothing(several):
    folder, leaves = several
    train, test = read_hierarchy_folder(folder)
    expected = np.array([[cost_by_hand(true, label) for label in LABELS] for true in leaves])
    is_test = np.arange(8) % 3 == 2
    np.testing.assert_allclose(train.cost, expected[~is_test], rtol=1e-6)
    np.testing.assert_allclose(test.cost, expected[is_test], rtol=1e-6)
    np.testing.assert_allclose(tree_costs(PARENTS, leaves, LABELS), expected)
    assert train.X.toarray().ravel().tolist() == [1, 2, 4, 5, 7, 8]
    assert train.name == folder.name


def test_an_example_without_a_label_is_named(several):
    folder, _ = several
    Y = np.zeros((8, 6), np.int8)
    Y[:, 0] = 1
    Y[5] = 0
    save_npz(folder / "Y.npz", csr_matrix(Y))
    with pytest.raises(FileFormatError, match="example in row 5 must have at least one true label"):
        read_hierarchy_folder(folder)


@pytest.mark.parametrize(
    ("tree", "said"),
    [
        ("{", "must hold labels"),
        ('{"labels": ["a"]}', "'parent' is missing"),
        ('{"parent": {"a": "b"}}', "'codes' is missing"),
        ('{"labels": ["zebra"], "parent": {"cat": "mammal"}}', "Unknown label 'zebra'"),
    ],
)
def test_an_invalid_tree_is_one_line(single, tree, said):
    folder, _, _ = single
    (folder / "hierarchy.json").write_text(tree)
    with pytest.raises(FileFormatError, match=said) as caught:
        read_hierarchy_folder(folder)
    assert "\n" not in str(caught.value)


def test_missing_and_contradicting_files_are_named(single, several):
    folder, _ = several
    np.savez(folder / "meta.npz", test=np.zeros(3, bool))
    with pytest.raises(FileFormatError, match=r"one row per example .* bool of \(3,\)"):
        read_hierarchy_folder(folder)
    (folder / "Y.npz").unlink()
    np.savez(folder / "y.npz", y_train=np.full(12, 9), y_test=np.arange(5))
    with pytest.raises(FileFormatError, match=r"truth must lie in 0..5"):
        read_hierarchy_folder(folder)
    (folder / "X_test.npz").unlink()
    np.savez(folder / "y.npz", y_train=np.arange(12) % 6, y_test=np.arange(5))
    with pytest.raises(FileFormatError, match=r"There is no file .*X_test.npz"):
        read_hierarchy_folder(folder)
    np.savez(folder / "X_test.npz", data=[1.0], indices=[3], indptr=[0, 1], shape=[1, 2])
    with pytest.raises(FileFormatError, match="must be a CSR matrix"):
        read_hierarchy_folder(folder)
