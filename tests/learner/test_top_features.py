"""The most important features: the online model's weights times typical sizes, and a forest's splits."""

import numpy as np
import pandas as pd
import pytest

from coalface import CoalClassifier, CommitteeModel, OnlineModel
from coalface.errors import InputError, UnknownLabelError
from coalface.evaluate.features import top_features
from coalface.models.forest import ForestModel
from coalface.models.ridge import RidgeModel
from coalface.paper import ExactModel
from tests.problems import dense_problem, sparse_problem

LABELS = ["walk", "fly", "swim"]


def linear_problem(scales=(1.0,) * 6):
    X, cost = dense_problem(4, 3, 200, n_features=6)
    return X * np.array(scales, np.float32), cost


@pytest.mark.parametrize("bounds", [(0.0, 1.0), (-3.0, 5.0)])
def test_the_effect_is_the_change_of_the_prediction_times_the_typical_size(bounds):
    low, high = bounds
    X, cost = linear_problem(scales=(1e-3, 1.0, 1e3, 1.0, 7.0, 1.0))
    learner = CoalClassifier(LABELS, model="online", cost_bounds=bounds)
    learner.fit(X, cost=np.clip(low + (high - low) * cost.astype(float), low, high))
    sizes = np.sqrt((X.astype(float) ** 2).mean(axis=0))
    moved = learner.predict_cost(np.diag(sizes)) - learner.predict_cost(np.zeros((1, 6)))
    for k, label in enumerate(LABELS):
        found = {one.name: one.effect for one in top_features(learner, label)}
        assert set(found) == set(map(str, range(6)))
        assert [found[str(j)] for j in range(6)] == pytest.approx(moved[:, k].tolist(), rel=1e-3, abs=1e-5)


def test_the_largest_come_first_and_n_limits_them():
    X, cost = linear_problem()
    learner = CoalClassifier(LABELS, model="online").fit(X, cost=cost)
    every = [abs(one.effect) for one in top_features(learner, "fly")]
    assert every == sorted(every, reverse=True)
    assert top_features(learner, "fly", n=2) == top_features(learner, "fly")[:2]


def test_features_have_the_names_of_the_data_frame_or_those_given():
    X, cost = linear_problem()
    named = pd.DataFrame(X, columns=list("abcdef"))
    learner = CoalClassifier(LABELS, model="online").fit(named, cost=cost)
    assert sorted(one.name for one in top_features(learner, "fly")) == list("abcdef")
    given = top_features(learner, "fly", feature_names=["first", "second"])
    assert sorted(one.name for one in given) == ["2", "3", "4", "5", "first", "second"]


def test_a_product_has_the_names_of_both_columns():
    X = np.array([[-1, -1, 0.1], [-1, 1, 0.1], [1, -1, 0.1], [1, 1, 0.1]] * 40)
    learner = CoalClassifier(model=OnlineModel(interactions=2)).fit(X, [0, 1, 1, 0] * 40)
    best = top_features(learner, 1, feature_names=["left", "right", "rest"])[0]
    assert best.name == "left x right"
    assert best.effect > 0  # the same signs speak against label 1


def test_a_forest_counts_its_splits():
    random = np.random.default_rng(0)
    X = random.random((150, 5))
    learner = CoalClassifier(model=ForestModel(n_trees=20)).fit(X, (X[:, 3] > 0.5).astype(int))
    found = top_features(learner, 1)
    assert (found[0].name, found[0].unit) == ("3", "share of splits")
    assert sum(one.effect for one in found) == pytest.approx(1)


def test_a_committee_has_those_of_its_leader():
    words, costs_of_words = sparse_problem(1, 3)
    X, cost = linear_problem()
    alone, joined = (
        CoalClassifier(LABELS).fit(words, cost=costs_of_words),
        CoalClassifier(LABELS).fit(X[:25], cost=cost[:25]),
    )
    assert [one.name for one in (*alone.committee_, *joined.committee_) if one.leads] == ["online", "forest"]
    assert {one.unit for one in top_features(alone, "fly")} == {"cost"}
    assert {one.unit for one in top_features(joined, "fly")} == {"share of splits"}
    smooth = CoalClassifier(LABELS, model=CommitteeModel(joining=("rbf",))).fit(X[:5], cost=cost[:5])
    with pytest.raises(InputError, match="got RidgeModel"):
        top_features(smooth, "fly")


@pytest.mark.parametrize("model", ["ridge", RidgeModel(kernel="rbf"), ExactModel()])
def test_models_without_a_number_per_feature_say_so_in_one_line(model):
    X, cost = linear_problem()
    learner = CoalClassifier(LABELS, model=model).fit(X[:3], cost=cost[:3])
    with pytest.raises(InputError, match=r'needs an online model or a forest, got .*model="online"') as raised:
        top_features(learner, "fly")
    assert "\n" not in str(raised.value)


def test_a_label_that_was_never_learned_has_none_and_an_unknown_one_is_refused():
    learner = CoalClassifier(LABELS, model="online").tell([[1.0]], [[0.2, np.nan, 0.5]])
    assert top_features(learner, "fly") == []
    assert top_features(CoalClassifier(LABELS, model="forest"), "fly") == []
    with pytest.raises(UnknownLabelError, match="run"):
        top_features(learner, "run")
    with pytest.raises(InputError, match="n must be"):
        top_features(learner, "fly", n=-1)
