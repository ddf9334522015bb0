"""Simulated batches: questions for many rows, then their answers; the same as asking and telling batch by batch."""

import numpy as np
import pytest
from scipy import sparse

from coalface import Abstain, Audits, Budget, Coal, CoalClassifier, MemoryLedger, simulate
from coalface.errors import InputError

from ..problems import ask_and_tell_in_batches, dense_problem, sparse_problem, state_of, trained

SETTINGS = [
    {},
    {"model": "auto"},
    {"model": "auto", "rule__alike": 0.5, "audits": Audits(0.5), "random_state": 7},
    {"rule__warm_up": "auto", "audits": None},
    {"rule__in_turn": False},
    {"rule__alike": 0.5, "audits": Audits(0.5), "random_state": 7},
    {"rule__alike": 0.5, "rule__in_turn": False, "model__sensitivity": "seen-only", "rule__slack": "published"},
    {"rule__alike": None, "rule": "no-domination", "mellowness": 0.001},
    {"model__accumulator": "adagrad", "rule": "all-or-none"},
    {"rule": "passive"},
    {"budget": Budget(costs=200, over=160)},
    {"budget": Budget(price=300, over=160, price_per_example=2.0, price_per_cost=1.0), "rule__alike": 0.5},
    {"rule__warm_up": 0, "model__fit_intercept": False, "model__sensitivity": "derivative", "abstain": Abstain(0.3)},
]


def learner_with(n_labels, **params):
    learner = CoalClassifier(classes=range(n_labels), rule=Coal(warm_up=3), model="online", shuffle=False)
    return learner.set_params(**{"rule__variant": params.pop("rule", "coal"), **params})


def with_copies(seed, n_labels):
    """A sparse problem in which every third row comes again shortly after, with costs of its own."""
    X, cost = sparse_problem(seed, n_labels)
    rows = np.sort(np.concatenate([np.arange(120), np.arange(0, 120, 3)]))
    cost = np.clip(cost[rows] + np.random.default_rng(seed).normal(0, 0.05, (160, n_labels)), 0, 1)
    return sparse.csr_array(X[rows]), cost.astype(np.float32)


@pytest.mark.parametrize("params", SETTINGS, ids=str)
@pytest.mark.parametrize("batch", [2, 7, 1000])
@pytest.mark.parametrize("restricted", [False, True])
def test_a_run_in_batches_equals_the_loop_of_trips_to_the_bit(params, batch, restricted):
    X, cost = with_copies(1, 5)
    random = np.random.default_rng(1)
    cost[random.random(cost.shape) < 0.1] = np.nan
    candidates = random.random(cost.shape) < 0.7 if restricted else None
    one, other = learner_with(5, **params), learner_with(5, **params)
    simulate(one, X, cost, candidates=candidates, batch=batch)
    trips = ask_and_tell_in_batches(other, X, cost, batch, candidates)
    assert state_of(one) == state_of(other)
    assert one.costs_queried_ > 15
    in_turn = params.get("rule__in_turn", True) and params.get("rule", "coal") == "coal"
    batches = -(-160 // batch)
    assert trips > batches if in_turn else trips <= batches


def test_a_batch_of_one_is_no_batch():
    X, cost = sparse_problem(2, 4)
    one, other = learner_with(4), learner_with(4)
    simulate(one, X, cost, batch=1)
    ask_and_tell_in_batches(other, X, cost, 1)
    assert state_of(one) == state_of(other)


def test_the_order_says_which_rows_come_in_which_batch():
    X, cost = dense_problem(4, 3)
    order = np.random.default_rng(4).integers(0, len(X), 50)
    one, other = learner_with(3), learner_with(3)
    simulate(one, X, cost, order=order, batch=8)
    simulate(other, X[order], cost[order], batch=8)
    assert state_of(one) == state_of(other)


def test_a_checkpoint_is_the_end_of_the_batch_in_which_its_budget_is_reached():
    X, cost = dense_problem(6, 4, 600)
    learner = learner_with(4)
    curve = simulate(learner, X, cost, X_test=X[:100], cost_test=cost[:100], batch=25)
    assert np.all(curve.rounds % 25 == 0)
    assert curve.rounds[-1] == 600
    for done, asked, test_cost in zip(curve.rounds, curve.costs_queried, curve.test_cost, strict=True):
        learner = learner_with(4)
        simulate(learner, X[:done], cost[:done], batch=25)
        assert learner.costs_queried_ == asked
        assert -learner.score(X[:100], cost=cost[:100]) == pytest.approx(test_cost)


def test_an_interrupted_run_goes_on_with_the_next_batch():
    X, cost = dense_problem(13, 3, 2000)
    whole, stopped = learner_with(3), learner_with(3)
    simulate(whole, X, cost, batch=40)

    def press_ctrl_c(done, total):
        if done > 100:
            raise KeyboardInterrupt

    curve = simulate(stopped, X, cost, progress=press_ctrl_c, batch=40)
    done = int(curve.rounds[-1])
    assert curve.interrupted
    assert 100 < done < 2000
    assert done % 40 == 0
    simulate(stopped, X[done:], cost[done:], batch=40)
    assert state_of(stopped) == state_of(whole)


def test_a_run_in_batches_stops_after_the_first_batch_with_too_little_to_save():
    X, cost = [[1.0, 0.0], [0.0, 1.0]] * 1000, [[0.0, 1.0], [1.0, 0.0]] * 1000
    learner = CoalClassifier(classes=["a", "b"], rule=Coal(alike=None), shuffle=False)
    curve = simulate(learner, X, cost, batch=50, stop_saving=0.2)
    assert curve.stopped
    assert curve.rounds[-1] % 50 == 0
    again = CoalClassifier(classes=["a", "b"], rule=Coal(alike=None), shuffle=False)
    for start in range(0, 2000, 50):
        ask_and_tell_in_batches(again, np.array(X[start : start + 50]), np.array(cost[start : start + 50]), 50)
        if again.should_stop(0.2):
            break
    assert again.round_ - 1 == curve.rounds[-1] < 2000
    assert state_of(again) == state_of(learner)


@pytest.mark.parametrize("in_turn", [False, True])
def test_ledger_and_price_see_every_question_of_a_batch(in_turn):
    X, cost = with_copies(17, 4)
    price = np.random.default_rng(0).uniform(1, 9, cost.shape).astype(np.float32)
    ledger = MemoryLedger()
    learner = learner_with(4, audits=Audits(0.3), rule__in_turn=in_turn)
    learner.record_to(ledger)
    curve = simulate(learner, X, cost, price=price, batch=11)
    answers = [(one.number - 1, int(label)) for one in ledger for label in one.costs]
    assert len(answers) == learner.costs_queried_
    assert sum(len(one.propensity) for one in ledger) > 3
    assert curve.spent[-1] == pytest.approx(sum(price[row, label] for row, label in answers))
    assert state_of(CoalClassifier.from_ledger(ledger)) == state_of(learner)
    by_hand, other = MemoryLedger(), learner_with(4, audits=Audits(0.3), rule__in_turn=in_turn)
    other.record_to(by_hand)
    ask_and_tell_in_batches(other, X, cost.astype(np.float64), 11)
    assert list(ledger) == list(by_hand)
    assert {one.outlook is None for one in ledger} == {False, True}


@pytest.mark.parametrize("batch", [0, -1, 1.5, "all", None])
def test_a_batch_has_at_least_one_row(batch):
    learner, _ = trained()
    before = state_of(learner)
    X, cost = dense_problem(16, 4, 60)
    with pytest.raises(InputError, match=r"batch must be a whole number of at least 1, got"):
        simulate(learner, X, cost, batch=batch)
    assert state_of(learner) == before
