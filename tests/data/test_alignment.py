"""Datasets with the features and labels of a learner."""

import time

import numpy as np
import pytest

from coalface import CostDataset, read_dataset
from coalface.data.alignment import align_features, align_labels
from coalface.errors import InputError, UnknownLabelError


def test_features_go_to_the_columns_of_the_learner_and_new_ones_after_them():
    dataset = CostDataset([[1.0, 2.0, 3.0]], [[0.0, 1.0]], feature_names=["c", "a", "new"])
    aligned = align_features(dataset, ("a", "b", "c"), 3, sparse=True)
    assert aligned.feature_names == ("a", "b", "c", "new")
    assert aligned.X.toarray().tolist() == [[2.0, 0.0, 1.0, 3.0]]
    with pytest.raises(InputError, match="missing 'b'"):
        align_features(dataset, ("a", "b", "c"), 3, sparse=False)


def test_numbered_features_keep_their_numbers():
    dataset = CostDataset([[1.0, 2.0]], [[0.0, 1.0]])
    assert align_features(dataset, None, 4, sparse=True).X.shape == (1, 4)
    assert align_features(dataset, None, 4, sparse=False).X.shape == (1, 2)
    assert align_features(dataset, ("a", "b"), 2, sparse=False).feature_names == ("a", "b")


def test_labels_go_to_the_columns_of_the_learner():
    dataset = CostDataset([[1.0]], [[0.25, 1.0]], ["fly", "walk"], candidates=[[True, False]])
    aligned = align_labels(dataset, np.array(["walk", "run", "fly"]))
    np.testing.assert_array_equal(aligned.cost, np.array([[1.0, np.nan, 0.25]], np.float32))
    assert aligned.candidates.tolist() == [[False, False, True]]
    with pytest.raises(UnknownLabelError, match="'fly'"):
        align_labels(dataset, np.array(["walk", "run"]))


def test_the_time_to_align_names_does_not_grow_with_their_square(tmp_path):
    names = [f"f{number}" for number in range(20_000)]
    costs = [f"cost:{name}" for name in names]
    path = tmp_path / "wide.csv"
    path.write_text(",".join([*names, *costs]) + "\n" + ",".join(["1"] * 40_000) + "\n")
    began = time.process_time()
    dataset = align_features(read_dataset(path), tuple(names[::-1]), len(names), sparse=False)
    aligned = align_labels(dataset, np.array([*names[::-1], "another"]))
    assert time.process_time() - began < 5  # usually 0.1; a search through all names for each one took longer
    assert aligned.feature_names == tuple(names[::-1])
    assert aligned.cost.shape == (1, 20_001)
