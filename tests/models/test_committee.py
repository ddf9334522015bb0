"""The committee: who its members are, and that alone it is the online model."""

import numpy as np
import pytest
from scipy import sparse

from coalface import Budget, CoalClassifier, MemoryLedger, simulate
from coalface.errors import InputError
from coalface.models.committee import CommitteeModel

from ..problems import ask_and_tell, come_back, csr, dense_problem, sparse_problem, state_of
from .committees import NAMES, NAN, K, auto, names_of, online_state


def leaders(learner):
    return [member.name for member in learner.committee_ if member.leads]


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


@pytest.mark.parametrize(("n_labels", "leader"), [(2, "forest"), (3, "rbf")])
def test_where_costs_of_served_labels_come_first_the_kernel_regression_leads_among_more_than_two(
    n_labels, leader, tmp_path
):
    learner = CoalClassifier(range(n_labels)).observe(np.ones((1, 5)), [0], 1.0, 1.0)
    assert leaders(learner) == [leader]
    learner.save(tmp_path / "served.coal")
    assert leaders(CoalClassifier.load(tmp_path / "served.coal")) == [leader]
    told = CoalClassifier(range(n_labels)).tell(np.ones((1, 5)), np.eye(1, n_labels))
    assert leaders(told.observe(np.ones((1, 5)), [0], 1.0, 1.0)) == ["forest"]  # the first row decides


def test_without_a_kernel_regression_the_first_to_join_leads_in_serving_too():
    learner = auto(model=CommitteeModel(["forest"])).observe(np.ones((1, 5)), [0], 1.0, 1.0)
    assert leaders(learner) == ["forest"]
    assert leaders(auto().observe(np.eye(1, 500), [0], 1.0, 1.0)) == ["online"]


def test_with_more_labels_than_the_others_can_take_the_online_model_stays_alone():
    cost = np.zeros((1, 513))
    assert names_of(CoalClassifier(range(512)).tell([[1.0]], cost[:, 1:])) == NAMES
    assert names_of(CoalClassifier(range(513)).tell([[1.0]], cost)) == ["online"]


def test_rows_without_answers_decide_nothing():
    learner, wide = auto().tell(np.eye(1, 500), [[NAN] * K]), sparse.csr_array(np.ones((1, 2001)))
    learner.tell(np.eye(1, 500), [[0.5, NAN, NAN, NAN]], candidates=[[False, True, True, True]])
    assert learner.model_.undecided
    assert learner.round_ == 3
    assert names_of(learner.tell(np.ones((1, 500)), [[0.5, NAN, NAN, NAN]])) == NAMES
    assert names_of(learner.tell(wide, [[NAN] * K])) == NAMES
    assert names_of(learner.tell(wide, [[0.5] * K])) == ["online"]


@pytest.mark.parametrize(
    "unsuitable", [sparse.csr_array(np.ones((3, 2001))), np.full((3, 8), 1e16)], ids=["wide", "large"]
)
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
    names = "'forest', 'ridge', 'rbf', 'classes', 'joint'"
    with pytest.raises(InputError, match=f"joining must list some of {names}, each once"):
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
        row = csr([*X[[i]].data, 1.0], [*X[[i]].indices, 399 + i], width=400 + i)
        queries = learner.ask(row)
        learner.tell(row, np.where(queries.mask, cost[i], NAN), asked=queries)


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


# -- true labels


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_the_class_model_joins_on_sparse_rows_where_true_labels_can_be_asked_for(kind):
    X, cost = dense_problem(1, K, 60) if kind == "dense" else sparse_problem(1, K, 60, n_features=3000)
    without, learner = auto(), auto(price_of_truth=1.5)
    for each in (without, learner):
        simulate(each, X, 1.0 * (cost > cost.min(axis=1, keepdims=True)))
    assert names_of(without) == (NAMES if kind == "dense" else ["online"])
    assert names_of(learner) == (NAMES if kind == "dense" else ["online", "classes"])
    assert learner.totals_.truths > 0


def test_the_class_model_learns_every_true_label_and_leads_first():
    X, cost = sparse_problem(1, K, 20, n_features=3000)
    learner = auto(price_of_truth=1.5).tell(X, truth=cost.argmin(axis=1).tolist())
    assert [member.leads for member in learner.committee_] == [False, True]
    assert len(learner.model_.models[1].examples) == learner.totals_.truths == 20
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
    again = come_back(way, learner, ledger, tmp_path)
    assert names_of(again) == ["online", "classes"]
    assert state_of(again) == state_of(learner)
    for each in (learner, again):
        each.tell(X[50:], truth=truth[50:].tolist())
    assert state_of(again) == state_of(learner)
    np.testing.assert_array_equal(again.predict_cost(X), learner.predict_cost(X))
