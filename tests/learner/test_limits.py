"""A budget that is not paced: a learner asks as if there were none, and stops at the question that does not fit."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coalface import Audits, Budget, CoalClassifier, JsonLinesLedger, MemoryLedger, simulate
from coalface.errors import InputError
from coalface.learner.account import plain_budget

from ..problems import dense_problem, state_of

MODELS = ("online", "auto", "ridge", "forest")


@st.composite
def limits(draw, labels=range(4)):
    """Any limit, with prices that may differ by label; amounts from nothing to more than everything."""
    amount = draw(st.sampled_from([0, 1, 3.5, 17, 40.1, 10_000]))
    kind = draw(st.sampled_from(["costs", "examples", "price"]))
    if kind != "price":
        return Budget(**{kind: amount})
    price = st.sampled_from([0.0, 0.1, 0.3, 1.0, 7.0])
    per_cost = draw(st.one_of(price, st.fixed_dictionaries(dict.fromkeys(labels, price))))
    per_example = draw(price)
    if per_example == 0.0 and not np.any(list(per_cost.values()) if isinstance(per_cost, dict) else per_cost):
        per_example = 1.0
    return Budget(price=amount, price_per_example=per_example, price_per_cost=per_cost)


def paid(budget, asked):
    """The price of questions (n, K), added up without the learner's help."""
    prices = budget.prices_of(range(asked.shape[1]))
    return budget.prices[0] * asked.any(axis=1).sum() + (asked @ prices).sum()


def cost_prices(budget):
    return budget.prices_of(range(4)) if budget.examples is None else np.zeros(4)


@given(st.integers(0, 10**6), limits(), st.sampled_from(["online", "ridge"]), st.sampled_from([0.0, 0.5]))
def test_no_interview_passes_the_limit_and_it_ends_where_the_next_question_does_not_fit(seed, budget, model, audits):
    X, cost = dense_problem(seed, 4, 30)
    asked = np.zeros(cost.shape, bool)
    learner = CoalClassifier(range(4), budget=budget, model=model, audits=Audits(audits), random_state=seed % 100)

    def answer(i, label):
        asked[i, label] = True
        assert paid(budget, asked) <= budget.amount * (1 + 1e-12)  # at every single question
        return cost[i, label]

    learner.interview(X, answer)
    assert learner.costs_queried_ == asked.sum()
    assert learner.spent_ == pytest.approx(paid(budget, asked))
    free = CoalClassifier(range(4), model=model, audits=Audits(audits), random_state=seed % 100)
    free.interview(X, lambda i, label: cost[i, label])
    if learner.round_ <= 30:  # it stopped, so the rest would have been too dear
        dearest = budget.prices[0] + cost_prices(budget).max()
        assert budget.amount - learner.spent_ < dearest * (1 + 1e-9)
    elif learner.costs_queried_ == free.costs_queried_:
        assert state_of(learner) == state_of(free)


@given(st.integers(0, 10**6), limits(), st.sampled_from([1, 7]))
def test_no_run_passes_the_limit(seed, budget, batch):
    X, cost = dense_problem(seed, 4, 60)
    learner = CoalClassifier(range(4), budget=budget, model="online", random_state=seed % 100)
    simulate(learner, X, cost, batch=batch)
    assert learner.spent_ <= budget.amount


@given(st.integers(0, 10**6), limits(), st.booleans())
def test_no_batch_of_questions_passes_the_limit(seed, budget, began):
    X, cost = dense_problem(seed, 4, 40)
    learner = CoalClassifier(range(4), budget=budget, model="online")
    if began:
        learner.interview(X[:5], lambda i, label: cost[i, label])
    queries = learner.ask(X[5:])
    assert learner.spent_ + paid(budget, queries.mask) <= budget.amount * (1 + 1e-12)
    some = np.where(np.arange(4) < 2, cost[5:], np.nan)
    again = learner.ask(X[5:], known=some)
    told = paid(budget, ~np.isnan(some))
    if learner.spent_ + told <= budget.amount:
        assert learner.spent_ + paid(budget, again.mask | ~np.isnan(some)) <= budget.amount * (1 + 1e-12)


@pytest.mark.parametrize("model", MODELS)
def test_a_run_and_an_interview_within_a_limit_are_the_same(model):
    X, cost = dense_problem(3, 5, 80)
    runs = [CoalClassifier(range(5), budget=Budget(costs=61), model=model) for _ in range(2)]
    simulate(runs[0], X, cost)
    runs[1].interview(X, lambda i, label: cost[i, label])
    assert runs[0].spent_ == runs[1].spent_ == 61
    assert state_of(runs[0]) == state_of(runs[1])


def test_a_run_under_a_limit_that_is_never_reached_is_the_run_without_one():
    X, cost = dense_problem(4, 5, 200)
    runs = [CoalClassifier(range(5), budget=budget) for budget in (None, Budget(costs=10**6), Budget(examples=10**6))]
    for learner in runs:
        simulate(learner, X, cost, batch=3)
    assert state_of(runs[0]) == state_of(runs[1]) == state_of(runs[2])


def test_a_run_with_a_ledger_records_what_the_limit_let_through():
    X, cost = dense_problem(5, 4, 60)
    ledger, budget = (
        MemoryLedger(),
        Budget(price=20.5, price_per_example=1.0, price_per_cost=dict.fromkeys(range(4), 1)),
    )
    learner = CoalClassifier(range(4), budget=budget, model="online").record_to(ledger)
    simulate(learner, X, cost)
    again = CoalClassifier.from_ledger(ledger)
    assert state_of(again) == state_of(learner)
    assert again.spent_ == learner.spent_ <= 20.5
    assert sum(len(one.costs) for one in ledger) == learner.costs_queried_


def test_true_labels_count_at_their_price():
    X, cost = dense_problem(6, 4, 60)
    truth = cost.argmin(axis=1)
    learner = CoalClassifier(range(4), budget=Budget(costs=25.5), price_of_truth=2.5, model="online")
    learner.interview(X, lambda i, label: float(label != truth[i]), truth=lambda i: truth[i])
    assert learner.totals_.truths > 0
    assert 25.5 - 2.5 < learner.spent_ <= 25.5
    run = CoalClassifier(range(4), budget=Budget(costs=25.5), price_of_truth=2.5, model="online")
    simulate(run, X, 1.0 - np.eye(4)[truth])
    assert state_of(run) == state_of(learner)


def test_a_fit_that_asks_stops_at_the_limit():
    X, cost = dense_problem(7, 4, 60)
    learner = CoalClassifier(range(4), budget=Budget(costs=33), model="forest").fit(X, cost=cost, active=True)
    assert learner.costs_queried_ == 33


def test_a_limit_starts_where_it_is_started_and_survives_files(tmp_path):
    X, cost = dense_problem(8, 3, 60)
    learner = CoalClassifier(range(3), model="online").tell(X[:5], cost[:5])
    budget = Budget(price=3.0, price_per_cost={0: 0.5, 1: 0.25, 2: 1.0})
    learner.start_budget(budget).interview(X[5:20], lambda i, label: cost[5 + i, label])
    learner.save(tmp_path / "model.coalface")
    again = CoalClassifier.load(tmp_path / "model.coalface")
    assert Budget.of(again.budget) == learner.budget
    assert again.spent_ == learner.spent_ <= 3.0
    assert Budget.of(again.budget).since.asked == (5, 5, 5)


def test_a_limit_does_not_change_how_questions_are_chosen():
    X, cost = dense_problem(9, 3, 60)
    free, limited = (CoalClassifier(range(3), model="online", budget=budget) for budget in (None, Budget(costs=500)))
    for learner in (free, limited):
        learner.tell(X[:30], cost[:30])
    assert np.array_equal(free.ask(X[30:]).mask, limited.ask(X[30:]).mask)


@pytest.mark.parametrize(
    ("budget", "message"),
    [
        ({"price": 5, "price_per_cost": {0: 1.0}}, "price_per_cost for every label, got none for 1"),
        ({"price": 5, "price_per_cost": {}}, "must have a price for every label"),
        ({"price": 5, "price_per_cost": {0: -1, 1: 1}}, "price_per_cost of 0"),
        ({"costs": 5, "price_per_cost": {0: 1, 1: 1}}, "must have price="),
        ({"price": 5, "price_per_cost": {0: 1, 1: 1}, "over": 9}, "one price_per_cost for all labels"),
        ({"price": 5, "price_per_cost": {0: 0, 1: 0}}, "above 0"),
    ],
)
def test_a_bad_limit_is_one_line(budget, message):
    with warnings.catch_warnings(), pytest.raises(InputError, match=message) as caught:
        CoalClassifier(range(2), budget=budget).ask([[1.0]])
    assert "\n" not in str(caught.value)


def test_prices_by_label_and_prices_of_truths_exclude_each_other():
    budget = Budget(price=5, price_per_cost={0: 1, 1: 2})
    with pytest.raises(InputError, match="price_of_truth=2 counts in costs of equal price"):
        CoalClassifier(range(2), budget=budget, price_of_truth=2).ask([[1.0]])


PRICES = {"a": 0.1, "b": 0.2, "c": 0.3}


def priced_learner(ledger=None):
    """A learner with two labels that is asked about under a price per label."""
    learner = CoalClassifier(["a", "b"], model="online")
    learner = learner if ledger is None else learner.record_to(ledger)
    return learner.tell([[1.0]], [[0.1, 0.9]]).start_budget(Budget(price=5, price_per_cost=PRICES))


def test_a_label_that_is_added_under_a_price_per_label_is_counted_from_0():
    learner = priced_learner().add_label("c").tell([[1.0]], [[0.1, 0.9, 0.5]])
    assert learner.ask([[1.0]]).mask.shape == (1, 3)
    assert learner.spent_ == pytest.approx(sum(PRICES.values()))


def test_a_label_without_a_price_is_not_added_under_a_price_per_label():
    learner = priced_learner()
    with pytest.raises(InputError, match="price_per_cost for every label, got none for 'z'"):
        learner.add_label("z")
    assert learner.classes_.tolist() == ["a", "b"]
    assert learner.ask([[1.0]]).mask.shape == (1, 2)


def test_a_renamed_label_keeps_its_price():
    learner = priced_learner().tell([[1.0]], [[0.1, 0.9]])
    spent = learner.spent_
    assert learner.rename_label("a", "c").spent_ == spent == pytest.approx(0.3)
    assert Budget.of(learner.budget).prices_of(["c", "b"]).tolist() == [0.1, 0.2]


@pytest.mark.parametrize("kind", [MemoryLedger, JsonLinesLedger])
def test_a_budget_that_began_just_before_a_change_of_labels_is_in_the_ledger(kind, tmp_path):
    ledger = kind() if kind is MemoryLedger else kind(tmp_path / "answers.jsonl")
    learner = priced_learner(ledger).rename_label("a", "z").add_label("c")
    again = CoalClassifier.from_ledger(ledger if kind is MemoryLedger else kind(tmp_path / "answers.jsonl"))
    assert plain_budget(again) == plain_budget(learner)
    assert again.ask([[1.0]]).mask.tolist() == learner.ask([[1.0]]).mask.tolist()


@pytest.mark.parametrize(
    ("settings", "budget", "message"),
    [
        ({"model": "forest"}, {"costs": 5, "over": 10}, "budget needs model='auto' or 'online'"),
        ({"price_of_truth": 2}, {"price": 5, "price_per_cost": PRICES}, "budget has a price per label, and price_of"),
        ({}, {"price": 5, "price_per_cost": {"a": 0.1}}, "price_per_cost for every label, got none for 'b'"),
    ],
)
@pytest.mark.parametrize("begun", [False, True])
def test_a_budget_that_the_learner_cannot_keep_is_refused_when_it_starts(settings, budget, message, begun):
    learner = CoalClassifier(["a", "b"], **settings)
    learner = learner.begin() if begun else learner
    with pytest.raises(InputError, match=message) as caught:
        learner.start_budget(Budget(**budget))
    assert "\n" not in str(caught.value)
    assert learner.budget is None


def test_a_learner_without_labels_yet_starts_a_budget():
    learner = CoalClassifier().start_budget(Budget(price=5, price_per_cost=PRICES))
    assert learner.fit([[1.0]], ["a"]).budget is not None
