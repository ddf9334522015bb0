"""A label whose cost was never answered is not predicted because its model still says 0."""

import pickle
import warnings

import numpy as np
import pytest

from coalface import Abstain, CoalClassifier, simulate
from coalface.errors import UnansweredWarning
from coalface.learner.predicting import best_labels

from ..problems import exact_learner

NAN = np.nan
X = [[1.0, 0.5], [0.5, 1.0]] * 20
KINDS = [
    lambda **params: CoalClassifier(["a", "b", "c"], model="online", **params),
    lambda **params: CoalClassifier(["a", "b", "c"], model="auto", **params),
    lambda **params: CoalClassifier(["a", "b", "c"], model="forest", **params),
    lambda **params: CoalClassifier(["a", "b", "c"], model="ridge", **params),
    lambda **params: exact_learner(["a", "b", "c"], **params),
    lambda **params: CoalClassifier.as_published(classes=["a", "b", "c"], **params),
]


@pytest.mark.parametrize("make", KINDS)
def test_a_silent_label_counts_as_the_middle_of_the_bounds(make):
    cheap = make(cost_bounds=(0, 10)).tell(X, [[2.0, NAN, 4.0]] * 40)
    with pytest.warns(UnansweredWarning, match="No cost of 'b' was ever answered, so it counts as the middle"):
        assert set(cheap.predict(X)) == {"a"}
    dear = make(cost_bounds=(0, 10)).tell(X, [[8.0, NAN, 9.0]] * 40)
    with pytest.warns(UnansweredWarning):
        assert set(dear.predict(X)) == {"b"}
    assert dear.score(X, cost=[[1.0, 2.0, 3.0]] * 40) == pytest.approx(-2.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dear.predict(X)  # it said so once
    with pytest.warns(UnansweredWarning):
        dear.fit(X, cost=[[8.0, NAN, 9.0]] * 40).predict(X)


def test_candidates_and_abstaining_hold_for_silent_labels():
    learner = CoalClassifier(["a", "b", "c"], abstain=Abstain(0.4)).tell(X, [[0.9, NAN, 0.8]] * 40)
    only = np.tile([True, False, True], (40, 1))
    with pytest.warns(UnansweredWarning):
        assert set(learner.predict(X)) == {"abstain"}
    learner.set_params(abstain=Abstain(0.6))
    assert set(learner.predict(X)) == {"b"}
    assert set(learner.set_params(abstain=None).predict(X, candidates=only)) == {"c"}


def test_a_learner_without_any_answer_predicts_the_first_label():
    assert CoalClassifier(["a", "b"]).predict([[1.0]]).tolist() == ["a"]  # as loops that predict first need it


def test_predicted_costs_stay_the_numbers_of_the_model():
    learner = CoalClassifier(["a", "b"], model="online").tell(X, [[0.3, NAN]] * 40)
    assert (learner.predict_cost(X)[:, 1] == 0.0).all()


def test_nothing_changes_once_every_label_was_answered():
    cost = np.random.default_rng(0).random((40, 3))
    learner = CoalClassifier(["a", "b", "c"], model="online")
    simulate(learner, X, cost)
    assert learner.predict(X).tolist() == best_labels(pickle.loads(pickle.dumps(learner)), X, by_model=True).tolist()
