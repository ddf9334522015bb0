"""The seed may be drawn, and is then kept."""

import copy
import pickle

import numpy as np
import pytest
from sklearn.base import clone

from coalface import Audits, CoalClassifier, MemoryLedger, simulate
from coalface.errors import InputError

from ..problems import dense_problem, state_of

X, COST = dense_problem(0, 3, n=80)


def played(random_state, ledger=None):
    learner = CoalClassifier(range(3), random_state=random_state, audits=Audits(0.5))
    if ledger is not None:
        learner.record_to(ledger)
    simulate(learner, X, COST)
    return learner


def test_a_drawn_seed_is_that_number_in_every_way(tmp_path):
    learner = played(None)
    number = learner.random_state_
    assert learner.random_state is None
    assert state_of(played(number)) == state_of(learner)
    learner.save(tmp_path / "model.coalface")
    copies = [CoalClassifier.load(tmp_path / "model.coalface"), copy.deepcopy(learner), copy.copy(learner)]
    copies.append(pickle.loads(pickle.dumps(learner)))
    asked = learner.ask(X).mask
    for one in copies:
        np.testing.assert_array_equal(one.ask(X).mask, asked)
    assert copies[0].random_state == number


def test_a_ledger_has_the_drawn_seed():
    ledger = MemoryLedger()
    learner = played(np.random.default_rng(3), ledger)
    again = CoalClassifier.from_ledger(ledger)
    assert again.random_state == learner.random_state_
    assert state_of(again) == state_of(learner)
    np.testing.assert_array_equal(again.ask(X).mask, learner.ask(X).mask)


def test_none_draws_from_numpys_own_and_sources_are_drawn_from_at_every_fit(monkeypatch):
    def seeds(random_state):
        learner = CoalClassifier(random_state=random_state, model="online")
        return [learner.fit(X, cost=COST).random_state_ for _ in range(2)]

    for source in (np.random.RandomState, np.random.default_rng):
        first, second = seeds(source(5))
        assert first != second
        assert seeds(source(5)) == [first, second]
    monkeypatch.setattr(np.random.mtrand, "_rand", np.random.RandomState(5))
    assert seeds(None) == seeds(np.random.RandomState(5))


def test_a_number_is_never_drawn_and_clones_draw_again():
    assert not hasattr(CoalClassifier(range(3), random_state=7).tell(X, COST), "random_state_")
    learner = CoalClassifier(range(3), random_state=None).begin()
    assert clone(learner).begin().random_state_ != learner.random_state_
    with pytest.raises(InputError, match="random_state must be"):
        CoalClassifier(range(3), random_state="seven").begin()
    with pytest.raises(InputError, match="random_state must be"):
        CoalClassifier(range(3), random_state=-1).begin()


def test_a_batch_that_is_refused_leaves_the_seed_to_the_next():
    learner = CoalClassifier(range(3), random_state=None, model="forest")
    with pytest.raises(InputError):
        learner.partial_fit(X, cost=COST[:3])
    learner.partial_fit(X, cost=COST)
    other = CoalClassifier(range(3), random_state=learner.random_state_, model="forest").partial_fit(X, cost=COST)
    assert state_of(learner) == state_of(other)
