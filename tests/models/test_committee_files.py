"""Files, ledgers and copies of a committee: what it was, it is again."""

import contextlib
import copy
import pickle

import numpy as np
import pytest
from sklearn.base import clone

from coalface import CoalClassifier, MemoryLedger, simulate
from coalface.errors import FileFormatError

from ..problems import dense_problem, sparse_problem, state_of
from .committees import NAMES, NAN, K, auto, begun, full, names_of


def undecided():
    return auto().tell(np.ones((2, 8)), np.full((2, K), NAN))


def lone():
    X, cost = sparse_problem(2, K, 30)
    return auto().tell(X, cost)


STATES = {"undecided": undecided, "alone": lone, "in full": full}


def recorded_again(learner):
    """A replay of what a learner with the same answers would have recorded."""
    ledger = MemoryLedger()
    again = auto().record_to(ledger)
    if names_of(learner) == NAMES:
        X, cost = dense_problem(1, K, 60)
        simulate(again, X, cost)
    elif learner.model_.undecided:
        again.tell(np.ones((2, 8)), np.full((2, K), NAN))
    else:
        again.tell(*sparse_problem(2, K, 30))
    return CoalClassifier.from_ledger(ledger)


def saved_and_loaded(learner, folder):
    learner.save(folder / "model")
    return CoalClassifier.load(folder / "model")


COPIES = {
    "file": saved_and_loaded,
    "ledger": lambda learner, _: recorded_again(learner),
    "pickle": lambda learner, _: pickle.loads(pickle.dumps(learner)),
    "copy": lambda learner, _: copy.deepcopy(learner),
}


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("way", COPIES)
def test_a_copy_is_equal_goes_on_alike_and_is_independent(state, way, tmp_path):
    learner = STATES[state]()
    copied = COPIES[way](learner, tmp_path)
    assert state_of(copied) == state_of(learner)
    assert copied.committee_ == learner.committee_
    width = learner.n_features_in_
    random = np.random.default_rng(9)
    X, cost = random.normal(size=(30, width)), random.random((30, K))
    before = state_of(learner)
    simulate(copied, X, cost)
    assert state_of(learner) == before != state_of(copied)
    simulate(learner, X, cost)
    assert state_of(copied) == state_of(learner)
    np.testing.assert_array_equal(copied.predict_cost(X), learner.predict_cost(X))


@pytest.mark.parametrize("state", STATES)
def test_a_clone_has_learned_nothing(state):
    cloned = clone(STATES[state]())
    assert not hasattr(cloned, "model_")
    assert cloned.committee_ == []
    assert not hasattr(clone(STATES[state]().model_), "models")


def test_rounds_without_answers_and_late_answers_are_replayed_as_they_were():
    X, cost = dense_problem(6, K, 60)
    ledger = MemoryLedger()
    learner = auto().record_to(ledger)
    for i in range(60):  # every third example without any answer, every fifth answered late
        one = slice(i, i + 1)
        learner.tell(X[one], np.where(i % 3 and i % 5, cost[one], NAN))
        if i % 5 == 0:
            learner.tell(X[one], cost[one], late=True)
    assert names_of(learner) == NAMES
    assert state_of(CoalClassifier.from_ledger(ledger)) == state_of(learner)


def test_costs_outside_the_candidates_are_replayed_as_they_were():
    ledger = MemoryLedger()
    learner = auto().record_to(ledger)
    learner.tell(np.eye(1, 100), [[0.5, NAN, NAN, NAN]], candidates=[[False, True, True, True]])
    learner.tell(np.ones((1, 100)), [[0.5, 0.1, NAN, NAN]])
    assert names_of(learner) == NAMES
    assert state_of(CoalClassifier.from_ledger(ledger)) == state_of(learner)


def test_any_missing_or_misshapen_array_is_refused():
    saved = full().model_.saved()
    begun().restore_saved(saved)
    assert {"undecided", "leader_choice_alive", "forest_table", "rbf_weights", "cells"} <= saved.keys()
    accepted = []
    for name in sorted(
        saved.keys() - {"saving"} - {name for name in saved if name.endswith(("calibration", "since", "rule"))}
    ):  # new
        without = {other: array for other, array in saved.items() if other != name}
        for damaged in (without, {**saved, name: saved[name].astype(np.complex128)}):
            with contextlib.suppress(FileFormatError):
                begun().restore_saved(damaged)
                accepted.append(name)
    assert not accepted


@pytest.mark.parametrize(
    "damage",
    [
        {"leader_choice_leader": np.array([3])},
        {"leader_choice_leader": np.array([-1])},
        {"leader_choice_alive": np.array([True, False, True])},  # the leader was dropped
        {"undecided": np.array([True])},
        {"rbf_used": np.array([501])},
    ],
    ids=str,
)
def test_a_committee_that_cannot_be_is_refused(damage):
    saved = full().model_.saved()
    with pytest.raises(FileFormatError, match="damaged"):
        begun().restore_saved({**saved, **damage})
