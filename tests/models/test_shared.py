"""The shared model: the contract of models, the formulas in NumPy, and Vowpal Wabbit's label-dependent features."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from vowpalwabbit import Workspace

from coalface import Coal, CoalClassifier, OnlineModel
from coalface.data.label_features import BLOCK, joined, label_rows
from coalface.data.rows import check_rows
from coalface.errors import InputError
from coalface.models.shared import SharedModel
from tests.models import test_contract as contract
from tests.reference.online import ReferenceCoal

PLAIN = {
    "model": SharedModel(OnlineModel(learning_rate=0.5)),
    "rule": Coal(slack="published", warm_up=0, alike=None),
    "mellowness": 0.1,
    "audits": None,
}


def rows_with_label_features(seed, n=12, known=0.7):
    random = np.random.default_rng(seed)
    matrix, _ = joined(random.normal(size=(n, 2)), random.normal(size=(n, contract.K, 2)))
    cost = random.random((n, contract.K)).astype(np.float32)
    return check_rows(matrix), np.where(random.random(cost.shape) < known, cost, np.float32(np.nan))


class TestSharedContract(contract.TestContract):
    """Every law of models, on rows with features of labels."""

    @pytest.fixture(params=["online", "ridge", "rbf", "forest"])
    def model(self, request, monkeypatch):
        monkeypatch.setattr(contract, "problem", rows_with_label_features)
        return SharedModel(request.param).begin(contract.K, contract.settings())

    @pytest.fixture
    def begun(self, model):
        return lambda: SharedModel(model.regressor).begin(contract.K, contract.settings())


def examples(seed, n=30, n_labels=3):
    random = np.random.default_rng(seed)
    X, features = random.normal(size=(n, 2)), random.normal(size=(n, n_labels, 3))
    return X, features, random.random((n, n_labels))


def crossed(x, feature):
    """The row of one label as the regressor sees it; the constant is the reference's own."""
    return np.concatenate([x, feature, np.outer(x, feature).ravel()]).astype(np.float32)


@pytest.mark.parametrize("accumulator", ["adax", "adagrad"])
def test_predictions_and_ranges_are_those_of_one_regressor_in_numpy(accumulator):
    X, features, cost = examples(1)
    learner = CoalClassifier(range(3), **PLAIN)
    learner.set_params(model=SharedModel(OnlineModel(learning_rate=0.5, accumulator=accumulator)))
    reference = ReferenceCoal(1, 11, mellowness=0.1, accumulator=accumulator)
    for i in range(len(X)):
        one, its = X[[i]], features[[i]]
        expected = [reference.decide(crossed(X[i], feature)) for feature in features[i]]
        found = learner.cost_range(one, candidates=its)
        np.testing.assert_allclose(
            learner.predict_cost(one, candidates=its)[0], [each.predicted[0] for each in expected], rtol=1e-3, atol=1e-5
        )
        np.testing.assert_allclose(found.lowest[0], [each.lowest[0] for each in expected], rtol=1e-3, atol=1e-4)
        np.testing.assert_allclose(found.highest[0], [each.highest[0] for each in expected], rtol=1e-3, atol=1e-4)
        learner.tell(one, cost[[i]], candidates=its)
        start = reference.round_number
        for feature, answer in zip(features[i], cost[i], strict=True):
            reference.learn(crossed(X[i], feature), [answer], [True])
        reference.round_number = start + 1  # one round for all labels of an example


def test_passive_learning_equals_label_dependent_features_of_vowpal_wabbit():
    X, features, cost = examples(2)
    learner = CoalClassifier(range(3), **PLAIN)
    wabbit = Workspace("--csoaa_ldf m -q sa --adax -l 0.5 -b 26 --quiet")
    for i in range(len(X)):
        shared = "shared |s " + " ".join(f"{j}:{value:.9g}" for j, value in enumerate(X[i]))
        lines = [
            f"{k}:{cost[i, k]:.9g} |a " + " ".join(f"{j}:{value:.9g}" for j, value in enumerate(features[i, k]))
            for k in range(3)
        ]
        parsed = wabbit.parse([shared, *lines])
        wabbit.learn(parsed)
        theirs = [line.get_costsensitive_partial_prediction(0) for line in parsed[1:]]
        wabbit.finish_example(parsed)
        ours = learner.predict_cost(X[[i]], candidates=features[[i]])[0]
        np.testing.assert_allclose(ours, theirs, rtol=1e-3, atol=1e-4)
        learner.tell(X[[i]], cost[[i]], candidates=features[[i]])
    wabbit.finish()


@given(seed=st.integers(0, 1000))
def test_labels_have_no_identity_but_their_features(seed):
    X, features, cost = examples(seed, n=12)
    order = np.random.default_rng(seed).permutation(3)
    one, other = (CoalClassifier(range(3), **PLAIN) for _ in range(2))
    one.tell(X[:9], cost[:9], candidates=features[:9])
    other.tell(X[:9], cost[:9], candidates=features[:9])
    asked, permuted = one.ask(X[9:], candidates=features[9:]), other.ask(X[9:], candidates=features[9:][:, order])
    np.testing.assert_array_equal(asked.mask[:, order], permuted.mask)
    np.testing.assert_array_equal(asked.predicted[:, order], permuted.predicted)


@pytest.mark.parametrize("regressor", ["online", "ridge", "rbf", "forest"])
def test_a_label_without_any_answer_is_predicted_from_its_features(regressor):
    random = np.random.default_rng(3)
    features, cost = random.random((300, 4, 1)), np.full((300, 4), np.nan)
    cost[:, :3] = features[:, :3, 0]
    learner = CoalClassifier(range(4), model=SharedModel(regressor)).tell(None, cost, candidates=features)
    predicted = learner.predict_cost(None, candidates=features)
    assert abs(predicted[:, 3] - features[:, 3, 0]).mean() < 0.1
    best = features[:, :, 0].argmin(axis=1)
    assert (learner.predict(None, candidates=features) == best).mean() > 0.8


def test_a_new_label_needs_no_warm_up():
    X, features, _ = examples(4, n=60)
    cost = features[:, :, 0].clip(0, 1)
    learner = CoalClassifier(range(3), model="shared").tell(X, cost, candidates=features)
    learner.add_label(3)
    more = np.random.default_rng(5).normal(size=(20, 4, 3))
    assert not learner.model_.unanswered().any()
    assert (learner.predict(X[:20], candidates=more) == 3).any()


def test_rows_of_labels_hold_the_example_and_their_own_features():
    X, features, _ = examples(6, n=4)
    features[2, 1] = 0.0
    rows = check_rows(joined(X, features)[0])
    apart = label_rows(rows, 3, with_example=True)
    for i in range(4):
        for k in range(3):
            columns, values = apart.row(3 * i + k)
            dense = np.zeros(2 * BLOCK, np.float32)
            dense[columns] = values
            np.testing.assert_array_equal(dense[:2], X[i].astype(np.float32))
            np.testing.assert_array_equal(dense[BLOCK : BLOCK + 3], features[i, k].astype(np.float32))


def test_an_unknown_regressor_is_refused():
    with pytest.raises(InputError, match="regressor must be one of 'online', 'ridge', 'rbf', 'forest', got 'linear'"):
        CoalClassifier(range(3), model=SharedModel("linear")).begin()
