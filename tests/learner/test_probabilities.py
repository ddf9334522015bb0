"""Decision values and probabilities, as scikit-learn reads them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.datasets import make_blobs
from sklearn.metrics import log_loss
from sklearn.naive_bayes import GaussianNB

from coalface import Abstain, CoalClassifier
from coalface.errors import InputError
from coalface.learner.predicting import _nearest_probabilities

X, Y = make_blobs(300, centers=[(0, 0), (2, 0), (0, 2)], random_state=0)
MODELS = ["auto", "online", "ridge", "classes", "joint"]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("n_labels", [2, 3])
def test_the_largest_value_and_probability_are_those_of_the_prediction(model, n_labels):
    rows = np.isin(Y, range(n_labels))
    learner = CoalClassifier(model=model).fit(X[rows][:100], Y[rows][:100])
    predicted, values, shares = learner.predict(X), learner.decision_function(X), learner.predict_proba(X)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    assert (shares > 0).all()
    np.testing.assert_array_equal(shares.argmax(axis=1), predicted)
    if n_labels == 2:
        np.testing.assert_array_equal(values > 0, predicted == 1)
        np.testing.assert_array_equal(values, learner.predict_cost(X) @ [1.0, -1.0])
    else:
        np.testing.assert_array_equal(values, -learner.predict_cost(X))


def test_probabilities_are_nearly_as_good_as_those_of_the_right_generative_model():
    learner, other = CoalClassifier().fit(X[:200], Y[:200]), GaussianNB().fit(X[:200], Y[:200])
    loss, least = (log_loss(Y[200:], model.predict_proba(X[200:])) for model in (learner, other))
    assert loss < least + 0.1


def test_probabilities_of_a_constant_are_the_shares_of_the_labels():
    y = np.random.default_rng(0).permutation(["a"] * 60 + ["b"] * 30 + ["c"] * 10)
    learner = CoalClassifier(model="classes").fit(np.ones((100, 1)), y)
    np.testing.assert_allclose(learner.predict_proba([[1.0]]), [[0.6, 0.3, 0.1]], atol=0.03)


@given(arrays(float, (2, 4), elements=st.floats(-2, 2)))
def test_the_nearest_probabilities_are_nearest(values):
    found = _nearest_probabilities(values)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    assert (found >= 0).all()
    for row, own in zip(values, found, strict=True):
        for other in np.eye(4):  # no step towards any other probabilities leads nearer
            assert (row - own) @ (other - own) <= 1e-9


def test_a_uniform_cost_of_mistakes_gives_probabilities_and_others_give_none():
    plain = CoalClassifier().fit(X, Y)
    scaled = CoalClassifier(cost_matrix=2.0 + 5.0 * (1.0 - np.eye(3)), cost_bounds=(2, 7)).fit(X, Y)
    np.testing.assert_allclose(scaled.predict_proba(X), plain.predict_proba(X), atol=1e-5)
    np.testing.assert_allclose(scaled.decision_function(X), 5.0 * plain.decision_function(X) - 2.0, atol=1e-5)
    graded = CoalClassifier(cost_matrix=abs(np.arange(3)[:, None] - np.arange(3)) / 2).fit(X, Y)
    assert not hasattr(graded, "predict_proba")
    assert graded.decision_function(X).shape == (300, 3)
    with pytest.raises(AttributeError) as raised:
        graded.predict_proba(X)
    assert "predict_proba needs a cost that is the same for all mistakes" in str(raised.value.__cause__)


@pytest.mark.filterwarnings("ignore::coalface.errors.UnansweredWarning")
def test_labels_that_are_not_predicted_have_no_value_and_no_probability():
    learner = CoalClassifier(model="online").fit(X, Y).retire_label(1).add_label(3)
    assert np.isneginf(learner.decision_function(X)[:, [1, 3]]).all()
    shares = learner.predict_proba(X)
    assert not shares[:, [1, 3]].any()
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    np.testing.assert_array_equal(shares.argmax(axis=1), learner.predict(X))


def test_without_answers_all_labels_are_equally_likely_and_abstaining_has_no_column():
    learner = CoalClassifier(["a", "b"], abstain=Abstain(0.1))
    np.testing.assert_array_equal(learner.predict_proba([[1.0]]), [[0.5, 0.5]])
    assert learner.decision_function([[1.0]]).tolist() == [0.0]
    learner.tell([[1.0]] * 50, [[0.5, 0.6]] * 50)
    assert learner.predict([[1.0]]).tolist() == ["abstain"]
    assert learner.predict_proba([[1.0]]).shape == (1, 2)


def test_if_no_label_can_be_predicted_there_are_no_values():
    learner = CoalClassifier(["a", "b"], model="online").tell([[1.0]], [[0.0, 1.0]]).add_label("c")
    learner.retire_label("a").retire_label("b")
    with pytest.raises(InputError, match="at least one label"):
        learner.decision_function([[1.0]])
