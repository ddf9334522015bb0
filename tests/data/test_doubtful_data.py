"""Labels and costs that look like a mistake: matched by name where there are names, or one warning with the remedy."""

import numpy as np
import pandas as pd
import pytest

from coalface import CoalClassifier, CostDataset, OnlineModel, evaluation_report, read_dataset
from coalface.errors import DoubtfulDataWarning, InputError

X = pd.DataFrame({"size": [1.0, 2.0, 3.0, 4.0], "loud": [0.0, 1.0, 0.0, 1.0]}, index=["a", "b", "c", "d"])
Y = pd.Series(["cat", "dog", "cat", "dog"], index=X.index)
OTHER_ORDER = ["d", "a", "c", "b"]


def learner():
    return CoalClassifier(model=OnlineModel())


# -- the index of class labels ----------------------------------------------------------------------------------------


def test_labels_in_another_order_are_matched_by_index():
    turned = Y.loc[OTHER_ORDER]
    wanted = learner().fit(X, Y)
    assert wanted.score(X, turned) == wanted.score(X, Y)
    one, other = (learner().partial_fit(X, y, classes=["cat", "dog"]).predict_cost(X) for y in (Y, turned))
    np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(learner().fit(X, turned).predict_cost(X), wanted.predict_cost(X))
    assert evaluation_report(wanted, X, y=turned).to_json() == evaluation_report(wanted, X, y=Y).to_json()
    np.testing.assert_array_equal(CostDataset.from_labels(X, turned).truth, CostDataset.from_labels(X, Y).truth)


def test_true_labels_in_another_order_are_matched_by_index():
    answered = [CoalClassifier(["cat", "dog"], price_of_truth=1.0, model="online") for _ in range(2)]
    for one, truth in zip(answered, (Y, Y.loc[OTHER_ORDER]), strict=True):
        one.tell(X, truth=truth)
    np.testing.assert_array_equal(answered[0].predict_cost(X), answered[1].predict_cost(X))


def test_a_text_column_and_its_labels_are_matched_by_index():
    texts = pd.Series(["purrs", "barks", "purrs softly", "barks loudly"], index=X.index)
    wanted, found = learner().fit(texts, Y), learner().fit(texts, Y.loc[OTHER_ORDER])
    np.testing.assert_array_equal(found.predict_cost(texts), wanted.predict_cost(texts))


def test_labels_with_another_index_are_refused_with_the_remedy():
    words = r"y must have rows with the index of X, got .*pass y.to_numpy\(\) to match rows by position"
    with pytest.raises(InputError, match=words):
        learner().fit(X, Y.set_axis(["a", "b", "c", "e"]))
    with pytest.raises(InputError, match=words):
        learner().fit(X, Y.reset_index(drop=True))
    with pytest.raises(InputError, match="must have rows with distinct names, got 'a' 2 times"):
        learner().fit(X, Y.set_axis(["a", "a", "c", "d"]))
    learner().fit(X, Y.reset_index(drop=True).to_numpy())


def test_labels_without_an_index_and_default_ones_are_taken_in_order():
    wanted = learner().fit(X, Y).predict_cost(X)
    for y in (Y.tolist(), Y.to_numpy(), Y):
        np.testing.assert_array_equal(learner().fit(X, y).predict_cost(X), wanted)
    plain = X.reset_index(drop=True)
    np.testing.assert_array_equal(learner().fit(plain, Y.reset_index(drop=True)).predict_cost(plain), wanted)


# -- labels that are nearly the same ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("one", "other"), [("ok", "ok "), ("Ok", "ok"), (" a", "a")])
def test_labels_that_differ_in_blanks_or_case_are_one_warning(tmp_path, one, other):
    with pytest.warns(DoubtfulDataWarning, match=r"differ only in case or in blanks .* Write them alike") as warned:
        learner().fit(X, [one, other, "bad", one])
    assert len(warned) == 1
    assert all(repr(label) in str(warned[0].message) for label in (one, other))
    (tmp_path / "a.csv").write_text(f"x,kind\n1,{one}\n2,{other}\n3,bad\n")
    with pytest.warns(DoubtfulDataWarning, match="Column 'kind' has the labels"):
        assert len(read_dataset(tmp_path / "a.csv", label="kind").classes) == 3


def test_letters_and_other_labels_are_no_warning():
    learner().fit(X, ["a", "A", "b", "ok"])
    learner().fit(X, [1, 2, 1, 2])


# -- cost matrices ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("matrix", [np.eye(2), [[0.9, 0.1], [0.2, 0.8]]])
def test_rewards_or_similarities_are_one_warning_with_the_remedy(matrix):
    with pytest.warns(DoubtfulDataWarning, match=r"cost_matrix looks like rewards or similarities: in 2 of 2 rows"):
        CoalClassifier(cost_matrix=matrix, model=OnlineModel()).fit(X, Y)


def test_a_diagonal_that_is_not_the_least_names_the_row_and_the_order():
    with pytest.warns(DoubtfulDataWarning, match=r"'dog', in row 1. .* in the order 'cat', 'dog'"):
        CoalClassifier(cost_matrix=[[0.0, 1.0], [0.5, 0.6]], model=OnlineModel()).fit(X, Y)


def test_a_file_of_rewards_is_named(tmp_path):
    (tmp_path / "a.csv").write_text("x,kind\n1,cat\n2,dog\n")
    (tmp_path / "m.csv").write_text(",cat,dog\ncat,1,0\ndog,0,1\n")
    with pytest.warns(DoubtfulDataWarning, match=r"m.csv looks like rewards"):
        read_dataset(tmp_path / "a.csv", label="kind", cost_matrix=tmp_path / "m.csv")


@pytest.mark.parametrize("matrix", [1 - np.eye(2), np.zeros((2, 2)), [[0.0, 1.0], [0.0, 0.0]]])
def test_usual_matrices_are_no_warning(matrix):
    CoalClassifier(cost_matrix=matrix, model=OnlineModel()).fit(X, Y)


def test_a_matrix_with_names_is_matched_by_name():
    costs = pd.DataFrame([[0.0, 0.25], [1.0, 0.0]], index=["dog", "cat"], columns=["dog", "cat"])
    found = CoalClassifier(cost_matrix=costs, model=OnlineModel()).fit(X, Y)
    wanted = CoalClassifier(["cat", "dog"], cost_matrix=[[0.0, 1.0], [0.25, 0.0]], model=OnlineModel()).fit(X, Y)
    for label in ("cat", "dog"):
        column = [one.classes_.tolist().index(label) for one in (found, wanted)]
        np.testing.assert_array_equal(found.predict_cost(X)[:, column[0]], wanted.predict_cost(X)[:, column[1]])
