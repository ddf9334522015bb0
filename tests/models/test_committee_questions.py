"""What a full committee asks: the leader's questions, with budgets, in threads and with implied costs."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from coalface import Abstain, Audits, Budget, Coal, CoalClassifier, MemoryLedger, simulate
from coalface.data.rows import check_rows
from coalface.paper import ExactModel

from ..problems import ask_and_tell, dense_problem, matrix_costs, state_of
from .committees import NAMES, NAN, K, auto, full, names_of, online_state


@pytest.mark.parametrize("price", [{"costs": 60}, {"examples": 20}, {"costs": 0}], ids=str)
def test_with_a_budget_a_full_committee_asks_what_the_online_model_asks(price):
    X, cost = dense_problem(9, K, 100)
    budget = Budget(over=100, **price)
    learners = [auto(budget=budget) for _ in range(2)] + [auto(model="online", budget=budget)]
    simulate(learners[0], X, cost)
    learners[1].interview(X, lambda i, label: cost[i, label])
    simulate(learners[2], X, cost)
    assert state_of(learners[0]) == state_of(learners[1])
    assert online_state(learners[0]) == online_state(learners[2])
    assert learners[0].spent_ <= budget.amount
    assert names_of(learners[0]) == (NAMES if budget.amount else ["online"])


@pytest.mark.parametrize("in_turn", [True, False])
def test_the_leaders_predictions_and_ranges_are_the_learners(in_turn):
    learner = full(rule__in_turn=in_turn, audits=Audits(0.3))
    X, _ = dense_problem(10, K, 40)
    candidates = np.random.default_rng(10).random((40, K)) < 0.7
    candidates[:, 1] = True
    queries, predicted = learner.ask(X, candidates=candidates), learner.predict_cost(X)
    assert not np.any(queries.mask & ~candidates)
    np.testing.assert_array_equal(predicted, learner.model_.leader.predict(check_rows(X)))
    np.testing.assert_array_equal(
        learner.predict(X, candidates=candidates), np.where(candidates, predicted, np.inf).argmin(axis=1)
    )
    learner.set_params(abstain=Abstain(0.25))
    best = np.where(candidates, predicted, np.inf)
    expected = np.where(best.min(axis=1) > np.float32(0.25), -1, best.argmin(axis=1))
    assert {-1} < set(expected.tolist())
    np.testing.assert_array_equal(learner.predict(X, candidates=candidates), expected)
    assert not np.any(learner.ask(X).mask & (learner.cost_range(X).lowest > np.float32(0.25)) & ~learner.ask(X).audit)


def test_threads_that_tell_ask_predict_and_save_do_not_disturb_each_other(tmp_path):
    X, cost = dense_problem(12, K, 40)
    learner = auto().begin()

    def work(number):
        for i in range(10 * number, 10 * number + 10):
            learner.tell(X[i : i + 1], cost[i : i + 1])
            learner.predict(X[:3]), learner.ask(X[:3])
            assert learner.committee_[0].name == "online"
        learner.save(tmp_path / f"model{number}")
        return CoalClassifier.load(tmp_path / f"model{number}").round_

    with ThreadPoolExecutor(4) as pool:
        rounds = list(pool.map(work, range(4)))
    assert learner.round_ == 41 == max(rounds)
    assert learner.costs_queried_ == cost.size
    assert learner.model_.models[1].answers.n_rows == 40
    assert sum(member.leads for member in learner.committee_) == 1  # which one depends on the order of the answers


def test_a_run_that_may_stop_ends_even_if_nothing_is_answered():
    X, cost = dense_problem(13, K, 150)
    learner = auto(audits=Audits(0.5))
    curve = simulate(learner, X, np.full_like(cost, NAN), stop_saving=0.9)
    assert learner.model_.undecided
    assert learner.round_ <= 151
    assert curve is not None
    simulate(learner, X, cost)
    assert names_of(learner) == NAMES


@pytest.mark.parametrize("silent", [0, 30])
def test_a_run_whose_first_rows_are_unanswered_is_the_interview_to_the_bit(silent):
    X, cost = dense_problem(14, K, 60)
    cost[:silent] = NAN
    played, told = auto(audits=Audits(0.3)), auto(audits=Audits(0.3))
    simulate(played, X, cost)
    told.interview(X, lambda i, label: cost[i, label])
    assert state_of(played) == state_of(told)
    assert names_of(played) == NAMES


# -- implied costs


def test_with_two_labels_and_costs_of_0_and_1_the_second_question_is_no_longer_asked():
    X, _ = dense_problem(15, 2, 160)
    y = (X[:, 0] + 0.3 * np.random.default_rng(15).normal(size=160) > 0).astype(int)
    cost = 1.0 - np.eye(2)[y]
    learner = CoalClassifier(range(2), audits=None, rule=Coal(warm_up=20), mellowness=1.0)
    simulate(learner, X[:100], cost[:100])
    asked = []
    for i in range(100, 160):
        before = learner.costs_queried_
        both_uncertain = learner.ask(X[i : i + 1]).mask.all()
        learner.interview(X[i : i + 1], lambda _, label, i=i: cost[i, label])
        if both_uncertain:
            asked.append(learner.costs_queried_ - before)
    assert len(asked) > 10
    assert set(asked) == {1}


@pytest.mark.parametrize("model", ["auto", "forest"])
@pytest.mark.parametrize("audit_rate", [0.0, 0.3])
def test_with_implied_costs_an_interview_is_a_simulated_run_to_the_bit(model, audit_rate):
    X, cost = dense_problem(16, K, 120)
    cost = matrix_costs(cost)
    played, told, by_hand = (auto(model=model, audits=Audits(audit_rate)) for _ in range(3))
    simulate(played, X, cost)
    told.interview(X, lambda i, label: cost[i, label])
    assert state_of(played) == state_of(told) == state_of(ask_and_tell(by_hand, X, cost))
    assert played.costs_queried_ < cost.size


@pytest.mark.parametrize("model", ["ridge", ExactModel()])
def test_models_that_learn_no_implications_ask_as_their_ranges_say(model):
    X, cost = dense_problem(17, 2, 60)
    cost = (cost > cost.min(axis=1, keepdims=True)).astype(np.float64)
    learner = CoalClassifier(range(2), model=model, audits=None, mellowness=1.0, rule=Coal(warm_up=5))
    simulate(learner, X[:40], cost[:40])
    first = learner.ask(X[40:])
    known = np.where(first.next, cost[40:], NAN)
    then = learner.ask(X[40:], known=known)
    beaten = first.ranges.lowest >= np.fmin.reduce(known, axis=1, initial=np.inf, keepdims=True)
    np.testing.assert_array_equal(then.mask, first.mask & ~first.next & ~beaten)
    assert then.mask.any()  # a cost of 1 tells these models nothing about the other label
    assert learner.model_.implications_for(learner.model_.settings).pairs.size == 0


def test_costs_of_other_labels_than_the_candidates_do_not_change_a_replay():
    random = np.random.default_rng(0)
    X, cost = random.normal(size=(100, 4)), random.random((100, 3))
    ledger, allowed = MemoryLedger(), np.array([[True, True, False]])
    learner = CoalClassifier(classes=range(3), audits=Audits(0.5), mellowness=0.0).record_to(ledger)
    for row, costs in zip(X, cost, strict=True):
        queries = learner.ask([row], candidates=allowed)
        known = np.where(queries.mask | ~allowed, costs, np.nan)
        learner.tell([row], known, asked=queries, candidates=allowed)
    assert CoalClassifier.from_ledger(ledger).committee_ == learner.committee_


def test_the_implied_cost_of_a_label_that_is_not_a_candidate_rules_out_nothing():
    matrix, truth = np.array([[0, 0.5, 1], [0.5, 0, 1], [1, 1, 0]]), np.arange(400) % 3
    X = np.random.default_rng(0).normal(size=(400, 3))
    learner = CoalClassifier(classes=range(4), model="forest", rule=Coal(warm_up=0), audits=None, mellowness=1e6)
    learner.tell(X, np.c_[matrix[truth], np.full(400, np.nan)])
    known = [[np.nan, 0.5, np.nan, np.nan]]
    assert learner.ask(X[:1], candidates=[[False, True, True, True]], known=known).mask[0, 3]
