"""The true label as a question: when it is asked for, what it tells, what it counts; it changes nothing else."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coalface import Abstain, Audits, Budget, Coal, CoalClassifier, MemoryLedger, simulate
from coalface.errors import InputError, UnknownLabelError
from coalface.kernels.state import AUDIT, WITH_THE_TRUTH

from ..problems import ask_and_tell, ask_and_tell_in_batches, dense_problem, matrix_costs, sparse_problem, state_of

K = 5
MATRIX = np.abs(np.subtract.outer(np.arange(K), np.arange(K))) / (K - 1)
PRICES = [0.5, 1, 1.5, 2, 3.7, K, K + 1]
SETTINGS = [
    {"model": "online"},
    {"model": "online", "rule__in_turn": False, "audits": Audits(0.4)},
    {"model": "online", "audits": None, "rule": "all-or-none"},
    {"model": "online", "rule": "no-domination", "mellowness": 0.01, "rule__alike": 0.9},
    {"model": "online", "budget": Budget(costs=150, over=120), "audits": Audits(0.3)},
    {"model": "online", "budget": Budget(price=300, over=120, price_per_example=2.0, price_per_cost=0.5)},
    {"model": "online", "abstain": Abstain(0.2)},
    {"model": "ridge", "audits": Audits(0.3)},
    {"model": "auto", "audits": Audits(0.3)},
    {"model": "online", "audits": Audits(0.4), "rule__miss_rate": 0.1, "mellowness": 0.01},
]


def problem(seed=0, n=120):
    X, cost = dense_problem(seed, K, n)
    y = cost.argmin(axis=1)
    return X, y, MATRIX[y]


def learner_with(price, **params):
    learner = CoalClassifier(classes=range(K), cost_matrix=MATRIX, price_of_truth=price, shuffle=False)
    return learner.set_params(**{"rule__warm_up": 3, **params})


def wanted_alone(learner, X, **more):
    """What the same learner would ask for, one cost at a time."""
    price, learner.price_of_truth = learner.price_of_truth, None
    try:
        return learner.ask(X, **more)
    finally:
        learner.price_of_truth = price


# -- when it is asked for --------------------------------------------------------------------------


@pytest.mark.parametrize("params", SETTINGS, ids=str)
@pytest.mark.parametrize("price", PRICES)
def test_the_true_label_is_asked_for_where_as_many_costs_are_wanted(price, params):
    X, _, cost = problem()
    learner = learner_with(price, **params).set_params(rule__alike=None, budget=None)
    simulate(learner, X[:60], cost[:60])
    queries, alone = learner.ask(X[60:]), wanted_alone(learner, X[60:])
    n_wanted = alone.mask.sum(axis=1)
    np.testing.assert_array_equal(queries.truth, (n_wanted >= price) & (n_wanted > 0))
    np.testing.assert_array_equal(queries.mask, alone.mask | queries.truth[:, None])
    np.testing.assert_array_equal(queries.next, np.where(queries.truth[:, None], True, alone.next))
    assert queries.costs_asked == alone.mask[~queries.truth].sum()
    assert queries.truths_asked == queries.truth.sum()


@pytest.mark.parametrize("price", [1, 2, 3])
def test_the_chance_of_every_label_is_the_share_of_seeds_that_ask_for_it(price):
    X, _, cost = problem()
    learner = learner_with(
        price, model="online", audits=Audits(0.5), rule__in_turn=False, rule__alike=None, mellowness=0.002
    )
    simulate(learner, X[:60], cost[:60])
    asked, propensity = np.zeros((60, K)), None
    for seed in range(300):
        learner.random_state = seed
        queries = learner.ask(X[60:])
        asked += queries.mask / 300
        assert propensity is None or np.allclose(queries.propensity, propensity)
        propensity = queries.propensity
    np.testing.assert_allclose(asked, propensity, atol=5 * np.sqrt(0.25 / 300))
    assert ((propensity > 0.4) & (propensity < 0.6)).all(axis=1).any() == (price == 1)  # asked for by audits alone


def test_reasons_tell_what_the_rule_wanted_and_what_comes_with_the_true_label():
    X, _, cost = problem()
    learner = learner_with(2, model="online", audits=None)
    simulate(learner, X[:60], cost[:60])
    queries, alone = learner.ask(X[60:]), wanted_alone(learner, X[60:])
    rows = np.flatnonzero(queries.truth & (alone.mask.sum(axis=1) < K))
    assert len(rows) > 0
    for i in rows.tolist():
        expected = np.where(alone.mask[i], alone.reason_codes[i], WITH_THE_TRUTH)
        np.testing.assert_array_equal(queries.reason_codes[i], expected)
        text = queries.reason(i).splitlines()
        assert text[0] == f"round {61 + i}: asks for the true label, which gives {K} of {K} costs"
        assert not any(line.startswith("  ask") for line in text[1:])
        assert sum(line.endswith("comes with the true label") for line in text) == K - alone.mask[i].sum()
        assert queries.round(i).ask_truth
        assert set(queries.round(i).next_labels()) == set("01234")
    assert str(queries).startswith(f"{queries.truths_asked} true labels and {queries.costs_asked} of ")


def test_an_audit_alone_asks_for_the_true_label_at_a_price_of_one():
    X, _, cost = problem()
    learner = learner_with(1, model="online", audits=Audits(0.5), rule__alike=None, mellowness=0.002)
    simulate(learner, X[:60], cost[:60])
    queries, alone = learner.ask(X[60:]), wanted_alone(learner, X[60:])
    only_audit = alone.audit.any(axis=1) & (alone.mask.sum(axis=1) == 1)
    nothing = ~alone.mask.any(axis=1)
    assert only_audit.any()
    assert nothing.any()
    assert queries.truth[only_audit].all()
    assert (queries.reason_codes[only_audit] == AUDIT).all()
    np.testing.assert_allclose(queries.propensity[only_audit | nothing], 0.5)
    assert not queries.truth[nothing].any()


def test_equal_examples_ask_once_and_candidates_bound_what_comes_with_the_true_label():
    learner = learner_with(2, model="online")
    queries = learner.ask([[1.0, 2.0]] * 3)
    assert queries.truth.tolist() == [True, False, False]
    assert queries.mask.tolist() == [[True] * K, [False] * K, [False] * K]
    allowed = np.array([[True, False, True, True, False], [True, False, False, False, False]])
    queries = learner.ask([[1.0, 2.0], [2.0, 1.0]], candidates=allowed)
    assert queries.truth.tolist() == [True, False]
    np.testing.assert_array_equal(queries.mask, allowed)
    assert queries.reason(0).splitlines()[0].endswith("the true label, which gives 3 of 5 costs")


def test_max_costs_counts_a_true_label_as_its_price_and_drops_it_whole():
    X, _, cost = problem()
    learner = learner_with(2.5, model="online", audits=Audits(0.3))
    simulate(learner, X[:40], cost[:40])
    everything = learner.ask(X[40:])
    assert everything.truths_asked > 3
    assert everything.costs_asked > 3
    for limit in range(0, 60, 7):
        found = learner.ask(X[40:], max_costs=limit)
        assert found.costs_asked + 2.5 * found.truths_asked <= limit
        assert (found.mask[found.truth] == everything.mask[found.truth]).all()
        assert not (found.truth & ~everything.truth).any()
        assert not found.mask[everything.truth & ~found.truth].any()
    price = everything.costs_asked + 2.5 * everything.truths_asked
    assert learner.ask(X[40:], max_costs=int(np.ceil(price))).costs_asked == everything.costs_asked


def test_costs_given_one_by_one_end_the_question_for_the_true_label():
    X, _, cost = problem()
    learner = learner_with(2, model="online", rule__in_turn=False, audits=None)
    simulate(learner, X[:60], cost[:60])
    queries, alone = learner.ask(X[60:]), wanted_alone(learner, X[60:])
    i = int(np.argmax(queries.truth & (alone.mask.sum(axis=1) < K)))
    known = np.full((1, K), np.nan)
    k = int(np.argmax(alone.mask[i]))
    known[0, k] = 0.5
    # The row is decided at its own round, as in the batch.
    left = learner.ask(X[60 + i : 61 + i], known=known, first_round=queries.first_round + i)
    assert not left.truth[0]
    np.testing.assert_array_equal(left.mask[0], alone.mask[i] & (np.arange(K) != k))


# -- what it tells ---------------------------------------------------------------------------------


def test_a_true_label_tells_the_row_of_the_matrix():
    X, y, cost = problem()
    one, other = learner_with(2, model="online"), learner_with(2, model="online")
    queries = one.ask(X[:20])
    one.tell(X[:20], truth=y[:20].tolist(), asked=queries)
    other.tell(X[:20], cost[:20], asked=queries)
    assert state_of(one) == state_of(other)
    assert one.totals_.truths == 20
    assert one.costs_queried_ == 0
    assert one.examples_queried_ == 20


@pytest.mark.parametrize("bounds", [(0.0, 1.0), (-2.0, 7.0)])
def test_without_a_matrix_a_true_label_means_the_least_cost_for_itself_and_the_greatest_for_others(bounds):
    X, y, _ = problem()
    low, high = bounds
    one, other = (
        CoalClassifier(classes=range(K), price_of_truth=2, model="online", cost_bounds=bounds) for _ in range(2)
    )
    one.tell(X, truth=y)
    other.tell(X, np.where(np.arange(K) == y[:, None], low, high), asked=other.ask(X))
    np.testing.assert_array_equal(one.predict_cost(X), other.predict_cost(X))


def test_true_labels_and_costs_can_be_told_together():
    X, y, cost = problem()
    learner, twin = learner_with(2, model="online"), learner_with(2, model="online")
    given = np.full((4, K), np.nan)
    given[2, 1] = 0.25
    labels = [int(y[0]), None, float("nan"), int(y[3])]
    learner.tell(X[:4], given, truth=labels)
    merged = given.copy()
    merged[[0, 3]] = cost[[0, 3]]
    np.testing.assert_array_equal(learner.predict_cost(X), twin.tell(X[:4], merged).predict_cost(X))
    assert (learner.totals_.truths, learner.costs_queried_, learner.examples_queried_) == (2, 1, 3)


def test_cannot_tell_counts_as_asked_and_teaches_nothing():
    learner = learner_with(2, model="online")
    queries = learner.ask([[1.0, 2.0]])
    learner.tell([[1.0, 2.0]], truth=[None], asked=queries)
    assert (learner.totals_.truths, learner.costs_queried_, learner.round_) == (1, 0, 2)
    assert not learner.model_.state.answered.any()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda one: one.tell([[1.0]], truth=["c"]), "Unknown label 'c'"),
        (lambda one: one.tell([[1.0]], truth=["a", "b"]), "truth must have one true label per row of X, 1, got 2"),
        (lambda one: one.tell([[1.0]], truth="a"), "truth must be a list with one true label per row"),
        (lambda one: one.tell([[1.0]], truth=3), "truth must be a list with one true label per row"),
        (lambda one: one.tell([[1.0]]), r"cost must have two dimensions .*got None. Pass it, or truth=labels"),
        (lambda one: one.interview([[1.0]], lambda *_: 0.0), "interview needs truth=... with price_of_truth=1.5"),
        (lambda one: simulate(one, [[1.0]], [[0.3, 1.0]]), "rows of cost_matrix .*but row 0 is not"),
        (lambda one: simulate(one, [[1.0]], [[0.0, 1.0]], price=[[1.0, 1.0]]), "price gives every cost a price"),
    ],
)
def test_bad_true_labels_get_one_clear_line_and_change_nothing(call, words):
    learner = CoalClassifier(classes=["a", "b"], price_of_truth=1.5, model="online")
    learner.begin()
    before = state_of(learner)
    with pytest.raises(InputError, match=words) as caught:
        call(learner)
    assert "\n" not in str(caught.value)
    assert state_of(learner) == before


def test_a_learner_without_a_matrix_or_a_price_does_not_take_true_labels():
    learner = CoalClassifier(classes=["a", "b"])
    with pytest.raises(InputError, match="truth needs a learner that knows the costs of true labels"):
        learner.tell([[1.0]], truth=["a"])
    assert CoalClassifier(classes=["a", "b"], cost_matrix=[[0, 1], [1, 0]]).tell([[1.0]], truth=["a"]).round_ == 2
    with pytest.raises(UnknownLabelError):
        CoalClassifier(classes=[0, 1], price_of_truth=1).tell([[1.0]], truth=["0"])


def test_an_interview_asks_for_true_labels_and_costs():
    X, y, cost = problem()
    learner, twin = learner_with(3, model="online"), learner_with(3, model="online")
    calls = {"truths": 0, "costs": 0}

    def answer(i, label):
        calls["costs"] += 1
        return cost[i, label]

    def truth(i):
        calls["truths"] += 1
        return y[i]

    learner.interview(X, answer, truth=truth)
    simulate(twin, X, cost)
    assert state_of(learner) == state_of(twin)
    assert calls == {"truths": learner.totals_.truths, "costs": learner.costs_queried_}
    assert calls["truths"] > 0
    assert calls["costs"] > 0


# -- parity, replay, files, money --------------------------------------------------------------------


@pytest.mark.parametrize("params", SETTINGS, ids=str)
@pytest.mark.parametrize("price", [1, 2, 3.5])
def test_the_compiled_loop_equals_ask_and_tell_and_replay(price, params):
    X, _, cost = problem(3)
    random = np.random.default_rng(0)
    candidates = random.random(cost.shape) < 0.8
    one, other = learner_with(price, **params), learner_with(price, **params)
    ledger = MemoryLedger()
    one.record_to(ledger)
    simulate(one, X, cost, candidates=candidates)
    ask_and_tell(other, X, cost, candidates)
    assert state_of(one) == state_of(other)
    assert one.saving_ == other.saving_
    assert one.totals_.truths > 0
    assert state_of(CoalClassifier.from_ledger(ledger)) == state_of(one)
    assert sum(round_.ask_truth for round_ in ledger) == one.totals_.truths


@pytest.mark.parametrize("params", SETTINGS, ids=str)
@pytest.mark.parametrize("batch", [3, 40])
def test_a_run_in_batches_equals_the_loop_of_trips(batch, params):
    X, cost = sparse_problem(4, K, 100)
    rows = np.sort(np.concatenate([np.arange(100), np.arange(0, 100, 4)]))
    X, cost = X[rows], MATRIX[cost.argmin(axis=1)][rows]
    one, other = learner_with(2, **params), learner_with(2, **params)
    simulate(one, X, cost, batch=batch)
    ask_and_tell_in_batches(other, X, cost, batch)
    assert state_of(one) == state_of(other)
    assert one.totals_.truths > 0


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(["online", "ridge"]), st.floats(0, 0.5), st.booleans())
def test_a_price_that_is_never_worth_it_changes_nothing(seed, model, audit_rate, in_turn):
    X, cost = dense_problem(seed % 1000, K, 60)
    cost = matrix_costs(cost)
    matrix = np.array([cost[cost.argmin(axis=1) == k][:1].reshape(-1, K).sum(axis=0) for k in range(K)])
    params = {"model": model, "audits": Audits(audit_rate), "rule": Coal(in_turn=in_turn), "random_state": seed}
    never = CoalClassifier(classes=range(K), **params)
    dear = CoalClassifier(classes=range(K), cost_matrix=matrix, price_of_truth=K + 0.5, **params)
    simulate(never, X, cost)
    simulate(dear, X, cost)
    assert state_of(never) == state_of(dear)
    assert dear.totals_.truths == 0


@pytest.mark.parametrize("model", ["online", "ridge", "auto", "forest"])
def test_a_saved_learner_keeps_its_true_labels(model, tmp_path):
    X, _, cost = problem()
    learner = learner_with(2, model=model)
    simulate(learner, X[:40], cost[:40])
    learner.save(tmp_path / "model.coalface")
    again = CoalClassifier.load(tmp_path / "model.coalface")
    assert (again.totals_.truths, again.price_of_truth) == (learner.totals_.truths, 2)
    assert learner.totals_.truths > 0
    for one in (learner, again):
        simulate(one, X[40:], cost[40:])
    assert state_of(learner) == state_of(again)


@pytest.mark.parametrize("model", ["online", "auto"])
@pytest.mark.parametrize(
    "budget",
    [Budget(costs=90, over=120), Budget(price=90, over=120, price_per_cost=0.7), Budget(examples=40, over=120)],
)
def test_a_budget_counts_a_true_label_as_its_price(budget, model):
    X, y, cost = problem(7)
    learner = learner_with(2, model=model, budget=budget)
    for i in range(len(X)):
        learner.interview(X[i : i + 1], lambda _, label, i=i: cost[i, label], truth=lambda _, i=i: y[i])
        per_example, per_cost = budget.prices
        in_costs = learner.costs_queried_ + 2 * learner.totals_.truths
        assert learner.spent_ == per_example * learner.examples_queried_ + per_cost * in_costs
        assert learner.spent_ <= budget.amount
    assert learner.totals_.truths > 5
    assert learner.spent_ > 0.8 * budget.amount
    assert learner.start_budget(Budget(costs=10, over=10)).spent_ == 0.0


def test_a_run_counts_true_labels_and_prices_them():
    X, _, cost = problem()
    learner = learner_with(2, model="online")
    curve = simulate(learner, X, cost, X_test=X, cost_test=cost, checkpoints=[20, 50, 100])
    assert curve.truths_queried[-1] == learner.totals_.truths
    np.testing.assert_array_equal(curve.price, curve.costs_queried + 2 * curve.truths_queried)
    assert (curve.price[:2] >= [20, 50]).all()
    assert (curve.price[:2] < [20 + K, 50 + K]).all()
    again = type(curve).from_json(curve.to_json())
    np.testing.assert_array_equal(again.truths_queried, curve.truths_queried)
    np.testing.assert_array_equal(again.price, curve.price)
    assert "true labels and" in str(curve)
    plain = simulate(learner_with(None, model="online"), X, cost)
    assert plain.truths_queried is None
    np.testing.assert_array_equal(plain.price, plain.costs_queried)
    assert "truths_queried" not in plain.to_values()
