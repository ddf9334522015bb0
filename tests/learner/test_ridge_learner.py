"""The learner with ridge regression."""

import signal
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.linear_model import Ridge

from coalface import Audits, Coal, CoalClassifier, MemoryLedger, RidgeModel, simulate
from coalface.errors import InputError
from coalface.models import device
from coalface.models.ridge.regression import FactorRegression
from coalface.studies.known.catalogue import load_known

from ..problems import ask_and_tell, cut_in_two, dense_problem, sparse_problem, state_of
from ..rounds.test_replay import eventful_life


@given(seed=st.integers(0, 10_000), cuts=st.sets(st.integers(1, 119), max_size=6))
def test_learning_does_not_depend_on_how_rows_are_split_over_calls(seed, cuts):
    X, cost = sparse_problem(seed, 3)
    random = np.random.default_rng(seed)
    cost = np.where(random.random(cost.shape) < 0.5, cost, np.nan)
    whole, pieces = CoalClassifier(range(3), model="ridge").tell(X, cost), CoalClassifier(range(3), model="ridge")
    edges = [0, *sorted(cuts), 120]
    for start, stop in pairwise(edges):
        pieces.tell(X[start:stop], cost[start:stop])
    assert state_of(pieces) == state_of(whole)


def test_it_predicts_what_scikit_learns_ridge_predicts():
    X, cost = dense_problem(2, 3)
    learner = CoalClassifier(model=RidgeModel(regularization=0.7)).fit(X, cost=cost)
    with_constant = np.hstack([np.ones((len(X), 1)), X])
    reference = Ridge(alpha=0.7, fit_intercept=False).fit(with_constant, cost)
    np.testing.assert_allclose(learner.predict_cost(X), reference.predict(with_constant), atol=1e-5)


@pytest.mark.parametrize("in_turn", [True, False])
def test_a_simulated_run_equals_asking_and_telling_row_by_row(in_turn):
    X, cost = dense_problem(3, 4)
    ours, theirs = (
        CoalClassifier(range(4), model="ridge", rule=Coal(in_turn=in_turn), audits=Audits(0.2), shuffle=False)
        for _ in range(2)
    )
    simulate(ours, X, cost)
    assert state_of(ask_and_tell(theirs, X, cost)) == state_of(ours)
    assert 0 < ours.costs_queried_ < cost.size


@pytest.mark.parametrize("model", [RidgeModel(), RidgeModel(0.3, fit_intercept=False)], ids=str)
def test_a_run_cut_in_two_by_save_and_load_equals_the_run_in_one(tmp_path, model):
    X, cost = dense_problem(1, 4)
    learner = CoalClassifier(["a", "b", "c", ""], audits=Audits(0.3), model=model)
    whole, second = cut_in_two(learner, X, cost, tmp_path / "model")
    assert state_of(second) == state_of(whole)


@pytest.mark.parametrize("seed", range(4))
def test_replaying_its_ledger_gives_the_same_learner(seed):
    X, cost = sparse_problem(seed, 4)
    ledger = MemoryLedger()
    learner = CoalClassifier(range(4), model="ridge", audits=Audits(0.2)).record_to(ledger)
    eventful_life(learner, X, cost, seed)
    assert state_of(CoalClassifier.from_ledger(ledger)) == state_of(learner)


def test_it_asks_for_far_fewer_costs_than_there_are_and_ends_no_worse():
    train, test = load_known("digits")
    order = np.random.default_rng(0).permutation(len(train))
    ends = {}
    for rule in ("coal", "passive"):
        learner = CoalClassifier(train.classes, model="ridge", rule=rule)
        ends[rule] = simulate(learner, train.X, train.cost, X_test=test.X, cost_test=test.cost, order=order, batch=8)
    assert ends["coal"].costs_queried[-1] < 0.25 * ends["passive"].costs_queried[-1]
    assert ends["coal"].test_cost[-1] < ends["passive"].test_cost[-1] + 0.01


@pytest.mark.parametrize("value", [0, -1.0, np.nan, np.inf, None, 1e-13])
def test_regularization_must_be_a_sensible_number(value):
    learner = CoalClassifier(["a", "b"], model=RidgeModel(regularization=value))
    with pytest.raises(InputError, match="regularization must be a finite number at least 1e-12 and at most 1e"):
        learner.tell([[1.0]], [[0.0, 1.0]])
    assert not hasattr(learner, "classes_")


@pytest.mark.parametrize("word", ["light", "auto"])
def test_a_word_for_regularization_is_known_or_an_error(word):
    assert CoalClassifier(["a", "b"], model=RidgeModel(regularization=word)).tell([[1.0]], [[0.0, 1.0]]).round_ == 2
    with pytest.raises(InputError, match="regularization must be 'light', 'auto' or a number, got 'much'"):
        CoalClassifier(["a", "b"], model=RidgeModel(regularization="much")).ask([[1.0]])


def test_rows_that_do_not_fit_into_memory_are_refused_and_leave_no_trace(monkeypatch):
    ledger = MemoryLedger()
    learner = CoalClassifier(range(5), model="ridge").record_to(ledger).tell(np.ones((1, 20)), np.ones((1, 5)))
    before, written, wide = state_of(learner), len(list(ledger)), csr_array(np.ones((1, 5000)))
    monkeypatch.setattr(device, "available_bytes", lambda: 10_000)
    with pytest.raises(InputError, match="Project X to fewer features, or use model='online'"):
        learner.tell(wide, np.ones((1, 5)))
    with pytest.raises(InputError, match="5,000 features and 5 labels"):
        simulate(learner, wide, np.ones((1, 5)))
    assert state_of(learner) == before
    assert len(list(ledger)) == written
    learner.ask(wide)  # asking takes no memory


@pytest.mark.parametrize("scale", [1e-3, 1e3])
def test_scaled_features_are_the_same_problem_with_the_penalty_scaled_by_the_square(scale):
    X, cost = dense_problem(4, 3)
    plain = CoalClassifier(range(3), model=RidgeModel(fit_intercept=False, regularization=1.0)).tell(X, cost)
    scaled = CoalClassifier(range(3), model=RidgeModel(fit_intercept=False, regularization=scale**2)).tell(
        scale * X, cost
    )
    np.testing.assert_allclose(scaled.predict_cost(scale * X), plain.predict_cost(X), atol=1e-5)
    np.testing.assert_allclose(scaled.cost_range(scale * X).width, plain.cost_range(X).width, atol=1e-4)


def test_memory_follows_features_and_labels():
    learner = CoalClassifier(range(10), model="ridge").tell(np.ones((1, 200)), np.ones((1, 10)))
    assert 0.9 < learner.model_.nbytes / (2 * 10 * 200**2) < 1.3


def test_features_that_were_never_learned_take_no_memory():
    learner = CoalClassifier(range(10), model="ridge").tell(np.ones((1, 20)), np.ones((1, 10)))
    before = learner.model_.nbytes
    learner.tell(csr_array(np.ones((1, 2000))), np.full((1, 10), np.nan))
    assert learner.model_.nbytes == before


def test_an_interrupt_waits_until_a_row_is_learned_in_full(monkeypatch):
    X, cost = np.random.default_rng(0).normal(size=(60, 3)), np.random.default_rng(1).random((60, 2))
    learner = CoalClassifier(classes=range(2), model=RidgeModel(kernel="rbf")).tell(X[:40], cost[:40])
    make_room = FactorRegression.make_room

    def interrupted(self, n_columns):
        signal.raise_signal(signal.SIGINT)
        make_room(self, n_columns)

    monkeypatch.setattr(FactorRegression, "make_room", interrupted)
    for i in range(40, 60):
        with pytest.raises(KeyboardInterrupt):
            learner.tell(X[i : i + 1], cost[i : i + 1])
    monkeypatch.undo()
    assert learner.model_.state.answered[:2].tolist() == [60, 60]
    assert np.isfinite(learner.predict_cost(X)).all()
