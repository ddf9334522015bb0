"""Rounds from elsewhere are learned as they are, or refused."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from coalface import (
    CoalClassifier,
    JsonLinesLedger,
    MemoryLedger,
    simulate,
)
from coalface.errors import InputError
from coalface.learner.teaching import tell_rounds
from coalface.models.committee import CommitteeModel
from coalface.models.online import OnlineModel
from coalface.models.ridge import RidgeModel
from coalface.rounds.round import Round

from ..problems import state_of

X, COST = [[1.0, 2.0]] * 3, [[0.1, 0.9]] * 3


def told(learner, rounds, X=None):
    tell_rounds(learner, rounds, X)
    return learner


def new_learner(**params):
    return CoalClassifier(classes=["a", "b"], **params)


def test_late_and_other_rounds_do_not_mix():
    learner = new_learner()
    with pytest.raises(InputError, match="all late or all not late"):
        told(learner, [Round(1, costs={"a": 0.5}), Round(2, late=True, costs={"b": 0.5})], [[1.0], [2.0]])
    assert learner.round_ == 1


def test_features_with_names_need_x():
    with pytest.raises(InputError, match="Round 1 names its features"):
        told(new_learner(), [Round(1, features={"length": 2.0}, costs={"a": 0.5})])


def test_rounds_without_a_width_are_as_wide_as_their_indices():
    learner = told(new_learner(), [Round(1, indices=(0, 2), values=(1.0, 2.0), costs={"a": 0.5})])
    assert state_of(learner) == state_of(new_learner().tell([[1.0, 0.0, 2.0]], [[0.5, np.nan]]))


def test_no_rounds_change_nothing():
    assert told(new_learner(), []).round_ == 1


def test_the_chances_of_audits_reach_the_ledger():
    learner = new_learner().record_to(ledger := MemoryLedger())
    told(learner, [Round(1, ask=("a", "b"), costs={"a": 0.5, "b": 0.1}, propensity={"b": 0.25})], [[1.0]])
    assert [one.propensity for one in ledger] == [{"b": 0.25}]


def test_a_row_without_features_is_recorded_so_that_it_can_be_read(tmp_path):
    learner = new_learner().record_to(JsonLinesLedger(tmp_path / "answers.jsonl"))
    learner.tell(csr_array((1, 2)), [[0.5, np.nan]])
    again = CoalClassifier.from_ledger(JsonLinesLedger(tmp_path / "answers.jsonl"))
    assert state_of(again) == state_of(learner)


class Broken(OnlineModel):
    """Learns twice, then fails."""

    def tell(self, rows, settings, rounds, *, late=False):
        if self.state.counters[0] > 2:
            raise RuntimeError("out of luck")
        super().tell(rows, settings, rounds, late=late)


def test_after_a_failure_to_learn_the_ledger_is_not_continued():
    learner = new_learner(model=Broken()).record_to(ledger := MemoryLedger()).tell(X[:2], COST[:2])
    with pytest.raises(RuntimeError):
        learner.tell(X[:1], COST[:1])
    with pytest.raises(InputError, match="Continue from the ledger"):
        learner.tell(X[:1], COST[:1])
    assert [one.number for one in ledger] == [1, 2, 3]


@pytest.mark.parametrize("model", ["ridge", RidgeModel(2.0)])
def test_the_model_of_a_learner_that_has_begun_is_not_replaced(model, tmp_path):
    learner = new_learner().tell(X, COST)
    before = state_of(learner)
    learner.set_params(model=model)
    for call in (
        lambda: learner.tell(X, COST),
        lambda: learner.ask(X),
        lambda: simulate(learner, X, COST),
        lambda: learner.save(tmp_path / "model"),
        lambda: learner.predict(X),
        lambda: learner.predict_cost(X),
        lambda: learner.score(X, cost=COST),
        lambda: learner.cost_range(X),
        lambda: learner.interview(X, lambda _i, _label: 0.5),
    ):
        with pytest.raises(InputError, match="model must stay as it was when the learner began"):
            call()
    assert state_of(learner) == before
    for same in ("auto", CommitteeModel()):
        learner.set_params(model=same).tell(X, COST)


def test_nor_are_its_parameters(tmp_path):
    learner = new_learner(model=RidgeModel(2.0)).tell(X, COST)
    learner.save(tmp_path / "model")
    loaded = CoalClassifier.load(tmp_path / "model")
    for each in (learner, loaded):
        each.set_params(model__regularization=3.0)
        with pytest.raises(InputError, match=r"model must stay .* RidgeModel\(regularization=2.0\), got"):
            each.tell(X, COST)
        each.set_params(model__regularization=2.0)
    np.testing.assert_array_equal(loaded.predict_cost(X), learner.predict_cost(X))


CHANGES = {
    "cost_bounds": ((0, 10), (0.0, 1.0)),
    "model__fit_intercept": (False, True),
    "classes": (["x", "y"], None),
}


@pytest.mark.parametrize("name", CHANGES)
def test_parameters_that_shaped_what_was_learned_stay_or_the_learner_is_fitted_again(name):
    new, same = CHANGES[name]
    learner = new_learner(model="online").tell(X, COST)
    before = state_of(learner)
    learner.set_params(**{name: new})
    for call in (learner.ask, learner.predict, learner.predict_cost, lambda X: learner.tell(X, COST)):
        with pytest.raises(InputError, match=f"{name.partition('__')[0]} must stay as it was when the learner began"):
            call(X)
    assert state_of(learner) == before
    assert learner.set_params(**{name: same}).ask(X).mask.shape == (3, 2)  # as it was, so nothing is refused
    learner.set_params(**{name: new}).fit(X, cost=COST)
    fresh = new_learner(model="online").set_params(**{name: new}).fit(X, cost=COST)
    assert state_of(learner) == state_of(fresh)


def test_a_true_label_and_costs_that_contradict_it_are_refused():
    learner = new_learner(cost_matrix=[[0.0, 0.5], [1.0, 0.0]])
    first = Round(1, ask=("a", "b"), ask_truth=True, truth="a")
    wrong = Round(2, ask=("a",), truth="a", costs={"a": 0.0, "b": 0.75})
    message = "Round 2 has the true label 'a', of which label 'b' costs 0.5, got the cost 0.75. Correct one of them, or"
    with pytest.raises(InputError, match=message):
        told(learner, [first, wrong], [[1.0], [2.0]])
    assert learner.round_ == 1
    fitting = Round(2, ask=("a",), truth="a", costs={"a": 0.0, "b": 0.5})
    cannot_tell = Round(3, ask=("a", "b"), truth="b", costs={"a": 1.0, "b": None})
    assert told(learner, [first, fitting, cannot_tell], [[1.0], [2.0], [3.0]]).round_ == 4
    with pytest.raises(InputError, match="Unknown label 'c'"):
        told(learner, [Round(4, truth="c", costs={"a": 0.0})], [[1.0]])


def test_a_ledger_is_replayed_although_the_cost_matrix_has_changed_since():
    learner = new_learner(cost_matrix=[[0.0, 0.5], [1.0, 0.0]]).record_to(ledger := MemoryLedger())
    learner.tell([[1.0]], truth=["a"]).set_params(cost_matrix=[[0.0, 0.25], [1.0, 0.0]])
    learner.tell([[2.0]], truth=["a"])
    assert state_of(CoalClassifier.from_ledger(ledger)) == state_of(learner)
