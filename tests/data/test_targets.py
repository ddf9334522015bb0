"""The labels and the costs of training targets."""

import numpy as np
import pytest

from coalface.data.costs import CostScale
from coalface.data.targets import first_labels, given_costs, labels_of
from coalface.errors import InputError

UNIT = CostScale(0.0, 1.0)


def test_labels_come_from_y_unless_classes_define_them():
    assert labels_of(["b", "a", "b"], None, None, None).tolist() == ["a", "b"]
    assert labels_of(["b"], None, ["a", "b"], None) is None
    assert labels_of(["b"], [[0.0]], None, None).tolist() == ["b"]
    assert labels_of(None, None, None, None) is None


def test_a_cost_matrix_counts_the_labels():
    assert labels_of([2, 0], None, None, np.ones((4, 4))).tolist() == [0, 1, 2, 3]
    assert labels_of(["x", "y"], None, None, np.ones((2, 2))).tolist() == ["x", "y"]
    with pytest.raises(InputError, match=r"4 columns but y has 2 labels.*classes="):
        labels_of(["x", "y"], None, None, np.ones((4, 4)))
    with pytest.raises(InputError, match="Pass classes="):
        labels_of([-1, 0], None, None, np.ones((4, 4)))


def test_the_first_batch_is_named_by_classes_then_costs_then_the_matrix():
    assert first_labels(["b", "a"], np.ones((1, 2)), None).tolist() == ["b", "a"]
    assert first_labels(None, np.ones((1, 3)), np.ones((2, 2))).tolist() == [0, 1, 2]
    assert first_labels(None, None, np.ones((2, 2))).tolist() == [0, 1]
    with pytest.raises(InputError, match="classes must be passed on the first call"):
        first_labels(None, None, None)


def test_costs_come_before_class_labels():
    classes = np.array(["a", "b"])
    assert given_costs(["a"], [[0.25, 0.5]], 1, classes, None, UNIT).tolist() == [[0.25, 0.5]]
    assert given_costs(["b"], None, 1, classes, None, UNIT).tolist() == [[1.0, 0.0]]
    assert given_costs(["b"], None, 1, classes, None, CostScale(-0.1, 0.3)).tolist() == [[0.3, -0.1]]
    assert given_costs(["b"], None, 1, classes, [[0.0, 1.0], [0.5, 0.25]], UNIT).tolist() == [[0.5, 0.25]]


def test_a_column_of_labels_is_one_label_per_row():
    with pytest.warns(UserWarning, match="column-vector"):
        assert given_costs([["b"], ["a"]], None, 2, np.array(["a", "b"]), None, UNIT).tolist() == [[1, 0], [0, 1]]
