"""The committee: alone, it is the online model; in full, it keeps every promise that a learner makes."""

import contextlib
import copy
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from coalface import Budget, CoalClassifier, MemoryLedger, simulate
from coalface.data.rows import check_rows
from coalface.errors import FileFormatError, InputError
from coalface.models.committee import CommitteeModel

from ..problems import ask_and_tell, dense_problem, matrix_costs, sparse_problem, state_of

K = 4
NAMES = ["online", "forest", "rbf"]
NAN = np.nan


def auto(**params):
    return CoalClassifier(range(K), **{"model": "auto", **params})


def names_of(learner):
    return [member.name for member in learner.committee_]


def online_state(learner):
    """The state of the online member, or of the online model itself."""
    found = state_of(learner)
    online = set(CoalClassifier(range(K), model="online").begin().model_.arrays()) | {"width", "classes"}
    return {name: found[name] for name in online}


def begun():
    """A committee that has learned nothing."""
    return CommitteeModel().begin(K, auto().begin().model_.settings)


def full(n=60, seed=1, **params):
    """A committee of three after a short run."""
    X, cost = dense_problem(seed, K, n)
    learner = auto(**params)
    simulate(learner, X, cost)
    assert names_of(learner) == NAMES
    return learner


# -- who is a member


@pytest.mark.parametrize(
    ("row", "others_join"),
    [
        (np.ones((1, 5)), True),
        (np.ones((1, 2000)), True),
        (np.ones((1, 2001)), False),
        (np.eye(1, 20), True),
        (np.eye(1, 21), False),
        (np.zeros((1, 5)), False),
        (sparse.csr_array(([1.0, 0.0], ([0, 0], [0, 1])), shape=(1, 30)), False),  # a stored zero is a zero
        (np.full((1, 5), 1e16), False),
    ],
    ids=["dense", "2,000 columns", "2,001 columns", "5 %", "less than 5 %", "empty", "stored zero", "too large"],
)
def test_the_first_answered_row_decides_whether_the_others_join(row, others_join):
    learner = auto().tell(row, [[0.0, 1.0, 1.0, 1.0]])
    assert names_of(learner) == (NAMES if others_join else ["online"])
    assert [member.leads for member in learner.committee_] == ([False, True, False] if others_join else [True])
    dense = np.ones((1, row.shape[1]))
    assert names_of(learner.tell(dense, [[0.0, 1.0, 1.0, 1.0]])) == names_of(learner)  # decided for good


def test_with_more_labels_than_the_others_can_take_the_online_model_stays_alone():
    cost = np.zeros((1, 513))
    assert names_of(CoalClassifier(range(512)).tell([[1.0]], cost[:, 1:])) == NAMES
    assert names_of(CoalClassifier(range(513)).tell([[1.0]], cost)) == ["online"]


def test_rows_without_answers_decide_nothing():
    learner = auto().tell(np.eye(1, 500), [[NAN] * K])
    learner.tell(np.eye(1, 500), [[0.5, NAN, NAN, NAN]], candidates=[[False, True, True, True]])
    assert learner.model_.undecided
    assert learner.round_ == 3
    assert names_of(learner.tell(np.ones((1, 500)), [[0.5, NAN, NAN, NAN]])) == NAMES
    assert names_of(learner.tell(np.ones((1, 2001)), [[NAN] * K])) == NAMES
    assert names_of(learner.tell(np.ones((1, 2001)), [[0.5] * K])) == ["online"]


@pytest.mark.parametrize("unsuitable", [np.ones((3, 2001)), np.full((3, 8), 1e16)], ids=["wide", "large"])
def test_the_others_leave_when_a_row_does_not_suit_them(unsuitable):
    X, cost = dense_problem(3, K, 40)
    ledger = MemoryLedger()
    learner, online = auto().record_to(ledger), auto(model="online")
    for each in (learner, online):
        each.tell(X, cost)
        each.tell(unsuitable, cost[:3]).tell(unsuitable, cost[3:6])
    assert names_of(learner) == ["online"]
    assert online_state(learner) == online_state(online)
    np.testing.assert_array_equal(learner.predict_cost(unsuitable), online.predict_cost(unsuitable))
    assert state_of(CoalClassifier.from_ledger(ledger)) == state_of(learner)


def test_an_unsuitable_row_of_a_batch_counts_as_if_told_alone():
    X, cost = dense_problem(4, K, 20)
    X[12] = 1e16
    batch, rows = auto().tell(X, cost), auto()
    for i in range(20):
        rows.tell(X[i : i + 1], cost[i : i + 1])
    assert state_of(batch) == state_of(rows)
    assert names_of(batch) == ["online"]


@pytest.mark.parametrize("joining", [["forest", "frost"], ["forest", "forest"], "forest"])
def test_members_that_do_not_exist_are_refused(joining):
    learner = auto(model=CommitteeModel(joining=joining))
    with pytest.raises(InputError, match="joining must list some of 'forest', 'ridge', 'rbf', 'classes', each once"):
        learner.tell([[1.0]], [[0.5] * K])


def test_the_members_can_be_chosen_and_are_kept_in_a_file(tmp_path):
    X, cost = dense_problem(5, K, 20)
    learner = auto(model=CommitteeModel(joining=["ridge", "forest"])).tell(X, cost)
    learner.save(tmp_path / "model")
    for again in (
        CoalClassifier.load(tmp_path / "model"),
        CoalClassifier.load(tmp_path / "model", CommitteeModel(joining=("ridge", "forest"))),
    ):
        assert names_of(again) == ["online", "ridge", "forest"]
        assert state_of(again) == state_of(learner)
    alone = auto(model=CommitteeModel(joining=[])).tell(X, cost)
    assert names_of(alone) == ["online"]
    assert online_state(alone) == online_state(auto(model="online").tell(X, cost))


def test_other_models_have_no_members():
    assert auto(model="online").tell([[1.0]], [[0.5] * K]).committee_ == []
    assert auto().committee_ == []


# -- alone: the online model to the bit


def simulated(learner, X, cost):
    simulate(learner, X, cost)


def simulated_in_batches(learner, X, cost):
    simulate(learner, X, cost, batch=7)


def interviewed(learner, X, cost):
    learner.interview(X, lambda i, label: cost[i, label])


def with_candidates(learner, X, cost):
    candidates = np.random.default_rng(0).random(cost.shape) < 0.7
    candidates[:, 0] = True
    simulate(learner, X[:60], cost[:60], candidates=candidates[:60])
    ask_and_tell(learner, X[60:], cost[60:], candidates[60:])


def with_a_budget(learner, X, cost):
    simulate(learner.start_budget(Budget(costs=60, over=100)), X, cost)


def fitted(learner, X, cost):
    learner.partial_fit(X[:50], cost=cost[:50])
    learner.partial_fit(X[50:], cost.argmin(axis=1)[50:])


def answered_late(learner, X, cost):
    for i in range(0, 60, 3):
        learner.tell(X[i : i + 3], np.full((3, K), NAN), asked=np.ones((3, K), bool))
        learner.tell(X[i : i + 3], cost[i : i + 3], late=True)


def row_by_row(learner, X, cost):
    for i in range(60):
        columns, values = X[[i]].indices, X[[i]].data
        asked = learner.ask_row([*columns, 399 + i], [*values, 1.0])
        learner.tell_row([*columns, 399 + i], [*values, 1.0], asked, cost[i, asked])


WAYS = [
    simulated,
    simulated_in_batches,
    interviewed,
    with_candidates,
    with_a_budget,
    fitted,
    answered_late,
    row_by_row,
]


@pytest.mark.parametrize("life", WAYS)
def test_on_a_sparse_stream_the_committee_is_the_online_model_to_the_bit(life, tmp_path):
    X, cost = sparse_problem(7, K, 120)
    cost[np.random.default_rng(7).random(cost.shape) < 0.1] = NAN
    if life is fitted:
        cost = np.nan_to_num(cost, nan=0.5)
    ledgers = [MemoryLedger(), MemoryLedger()]
    one, other = (auto(model=m).record_to(ledger) for m, ledger in zip(("auto", "online"), ledgers, strict=True))
    for learner in (one, other):
        life(learner, X, cost)
    assert names_of(one) == ["online"]
    assert online_state(one) == online_state(other)
    assert [r.to_json() for r in ledgers[0]] == [r.to_json() for r in ledgers[1]]
    one.save(tmp_path / "model")
    wide = sparse.csr_array((X.data, X.indices, X.indptr), shape=(X.shape[0], one.n_features_in_))
    replayed = CoalClassifier.from_ledger(ledgers[0]).set_params(budget=one.budget)
    for again in (one, CoalClassifier.load(tmp_path / "model"), replayed):
        np.testing.assert_array_equal(again.predict(wide), other.predict(wide))
        np.testing.assert_array_equal(again.predict_cost(wide), other.predict_cost(wide))
        mine, theirs = again.ask(wide), other.ask(wide)
        for name in ("mask", "next", "reason_codes", "propensity", "predicted", "outlook"):
            np.testing.assert_array_equal(getattr(mine, name), getattr(theirs, name), err_msg=name)
        np.testing.assert_array_equal(mine.ranges.width, theirs.ranges.width)


def test_the_online_member_of_a_full_committee_learns_as_it_would_alone():
    X, cost = dense_problem(8, K, 50)
    cost[np.random.default_rng(8).random(cost.shape) < 0.4] = NAN
    one, other = auto(), auto(model="online")
    for learner in (one, other):
        learner.tell(X[:40], cost[:40]).tell(X[40:], cost[40:], late=True)
    assert names_of(one) == NAMES
    assert online_state(one) == online_state(other)


# -- files, ledgers and copies


def undecided():
    return auto().tell(np.ones((2, 8)), np.full((2, K), NAN))


def lone():
    X, cost = sparse_problem(2, K, 30)
    return auto().tell(X, cost)


STATES = {"undecided": undecided, "alone": lone, "in full": full}


def recorded_again(learner):
    """A replay of what a learner with the same answers would have recorded."""
    ledger = MemoryLedger()
    again = CoalClassifier(range(K)).record_to(ledger)
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
    assert {"undecided", "standing_alive", "forest_table", "rbf_weights", "cells"} <= saved.keys()
    accepted = []
    for name in sorted(
        saved.keys() - {"saving"} - {name for name in saved if name.endswith(("calibration", "since"))}
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
        {"standing_leader": np.array([3])},
        {"standing_leader": np.array([-1])},
        {"standing_alive": np.array([True, False, True])},  # the leader was dropped
        {"undecided": np.array([True])},
        {"rbf_used": np.array([501])},
    ],
    ids=str,
)
def test_a_committee_that_cannot_be_is_refused(damage):
    saved = full().model_.saved()
    with pytest.raises(FileFormatError, match="damaged"):
        begun().restore_saved({**saved, **damage})


# -- what a full committee asks


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
    learner = full(in_turn=in_turn, audit_rate=0.3)
    X, _ = dense_problem(10, K, 40)
    candidates = np.random.default_rng(10).random((40, K)) < 0.7
    candidates[:, 1] = True
    queries, predicted = learner.ask(X, candidates=candidates), learner.predict_cost(X)
    assert not np.any(queries.mask & ~candidates)
    np.testing.assert_array_equal(predicted, learner.model_.leader.predict(check_rows(X)))
    np.testing.assert_array_equal(
        learner.predict(X, candidates=candidates), np.where(candidates, predicted, np.inf).argmin(axis=1)
    )
    learner.set_params(abstain_cost=0.25)
    best = np.where(candidates, predicted, np.inf)
    expected = np.where(best.min(axis=1) > np.float32(0.25), -1, best.argmin(axis=1))
    assert {-1} < set(expected.tolist())
    np.testing.assert_array_equal(learner.predict(X, candidates=candidates), expected)
    assert not np.any(learner.ask(X).mask & (learner.cost_range(X).lowest > np.float32(0.25)) & ~learner.ask(X).audit)


def test_single_rows_are_asked_about_and_told_like_tables():
    X, cost = dense_problem(11, K, 40)
    X += 1.0  # no zeros, so that a sparse row is a dense one
    tables, rows = auto(audit_rate=0.2), auto(audit_rate=0.2)
    for i in range(40):
        queries = tables.ask(X[i : i + 1])
        asked = rows.ask_row(np.arange(8), X[i])
        assert set(asked.tolist()) == set(np.flatnonzero(queries.mask[0]).tolist())
        tables.tell(X[i : i + 1], np.where(queries.mask, cost[i : i + 1], NAN), asked=queries)
        rows.tell_row(np.arange(8), X[i], asked, cost[i, asked])
    assert names_of(rows) == NAMES
    assert state_of(rows) == state_of(tables)


def test_threads_that_tell_ask_predict_and_save_do_not_disturb_each_other(tmp_path):
    X, cost = dense_problem(12, K, 40)
    learner = auto().begin()

    def work(number):
        for i in range(10 * number, 10 * number + 10):
            learner.tell(X[i : i + 1], cost[i : i + 1])
            learner.predict(X[:3]), learner.ask(X[:3]), learner.ask_row([0, 1], [1.0, 2.0])
            assert learner.committee_[0].name == "online"
        learner.save(tmp_path / f"model{number}")
        return CoalClassifier.load(tmp_path / f"model{number}").round_

    with ThreadPoolExecutor(4) as pool:
        rounds = list(pool.map(work, range(4)))
    assert learner.round_ == 41 == max(rounds)
    assert learner.costs_queried_ == cost.size
    assert learner.model_.models[1].answers.n_rows == 40
    assert learner.committee_[1].leads


def test_a_run_that_may_stop_ends_even_if_nothing_is_answered():
    X, cost = dense_problem(13, K, 150)
    learner = auto(audit_rate=0.5)
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
    played, told = auto(audit_rate=0.3), auto(audit_rate=0.3)
    simulate(played, X, cost)
    told.interview(X, lambda i, label: cost[i, label])
    assert state_of(played) == state_of(told)
    assert names_of(played) == NAMES


# -- implied costs


def test_with_two_labels_and_costs_of_0_and_1_the_second_question_is_no_longer_asked():
    X, _ = dense_problem(15, 2, 160)
    y = (X[:, 0] + 0.3 * np.random.default_rng(15).normal(size=160) > 0).astype(int)
    cost = 1.0 - np.eye(2)[y]
    learner = CoalClassifier(range(2), audit_rate=0.0, warm_up=20, mellowness=1.0)
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
    played, told, by_hand = (auto(model=model, audit_rate=audit_rate) for _ in range(3))
    simulate(played, X, cost)
    told.interview(X, lambda i, label: cost[i, label])
    assert state_of(played) == state_of(told) == state_of(ask_and_tell(by_hand, X, cost))
    assert played.costs_queried_ < cost.size


@pytest.mark.parametrize("model", ["ridge", "exact"])
def test_models_that_learn_no_implications_ask_as_their_ranges_say(model):
    X, cost = dense_problem(17, 2, 60)
    cost = (cost > cost.min(axis=1, keepdims=True)).astype(np.float64)
    learner = CoalClassifier(range(2), model=model, audit_rate=0.0, mellowness=1.0, warm_up=5)
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
    learner = CoalClassifier(classes=range(3), audit_rate=0.5, mellowness=0.0).record_to(ledger)
    for row, costs in zip(X, cost, strict=True):
        queries = learner.ask([row], candidates=allowed)
        known = np.where(queries.mask | ~allowed, costs, np.nan)
        learner.tell([row], known, asked=queries, candidates=allowed)
    assert CoalClassifier.from_ledger(ledger).committee_ == learner.committee_


def test_the_implied_cost_of_a_label_that_is_not_a_candidate_rules_out_nothing():
    matrix, truth = np.array([[0, 0.5, 1], [0.5, 0, 1], [1, 1, 0]]), np.arange(400) % 3
    X = np.random.default_rng(0).normal(size=(400, 3))
    learner = CoalClassifier(classes=range(4), model="forest", warm_up=0, audit_rate=0.0, mellowness=1e6)
    learner.tell(X, np.c_[matrix[truth], np.full(400, np.nan)])
    known = [[np.nan, 0.5, np.nan, np.nan]]
    assert learner.ask(X[:1], candidates=[[False, True, True, True]], known=known).mask[0, 3]


# -- true labels


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_the_class_model_joins_on_sparse_rows_where_true_labels_can_be_asked_for(kind):
    X, cost = dense_problem(1, K, 60) if kind == "dense" else sparse_problem(1, K, 60, n_features=3000)
    without, learner = auto(), auto(price_of_truth=1.5)
    for each in (without, learner):
        simulate(each, X, 1.0 * (cost > cost.min(axis=1, keepdims=True)))
    assert names_of(without) == (NAMES if kind == "dense" else ["online"])
    assert names_of(learner) == (NAMES if kind == "dense" else ["online", "classes"])
    assert learner.truths_queried_ > 0


def test_the_class_model_learns_every_true_label_and_leads_first():
    X, cost = sparse_problem(1, K, 20, n_features=3000)
    learner = auto(price_of_truth=1.5).tell(X, truth=cost.argmin(axis=1).tolist())
    assert [member.leads for member in learner.committee_] == [False, True]
    assert len(learner.model_.models[1].examples) == learner.truths_queried_ == 20
    wider = sparse.csr_array(([1.0], ([0], [5000])), shape=(1, 9000))
    assert names_of(learner.tell(wider, truth=[0])) == ["online", "classes"]


def test_with_too_many_labels_the_class_model_does_not_join():
    learner = CoalClassifier(range(513), price_of_truth=2.0).tell(sparse.csr_array(np.eye(1, 3000)), truth=[3])
    assert names_of(learner) == ["online"]


@pytest.mark.parametrize("way", ["file", "pickle", "ledger"])
def test_a_committee_with_the_class_model_is_kept_and_replayed(way, tmp_path):
    X, cost = sparse_problem(2, K, 80, n_features=3000)
    truth = cost.argmin(axis=1)
    learner = auto(price_of_truth=1.5)
    learner.record_to(ledger := MemoryLedger())
    simulate(learner, X[:50], (np.arange(K) != truth[:50, None]).astype(float))
    learner.save(tmp_path / "model")
    again = {
        "file": lambda: CoalClassifier.load(tmp_path / "model"),
        "pickle": lambda: pickle.loads(pickle.dumps(learner)),
        "ledger": lambda: CoalClassifier.from_ledger(ledger),
    }[way]()
    assert names_of(again) == ["online", "classes"]
    assert state_of(again) == state_of(learner)
    for each in (learner, again):
        each.tell(X[50:], truth=truth[50:].tolist())
    assert state_of(again) == state_of(learner)
    np.testing.assert_array_equal(again.predict_cost(X), learner.predict_cost(X))
