"""Budgets are never exceeded, nearly used up, and spread over the stream as planned."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from coalface import Audits, Budget, CoalClassifier, MemoryLedger, simulate
from coalface.errors import InputError

from ..problems import ask_and_tell, dense_problem, sparse_problem, state_of

ROWS = 1500
LEARNER = {"mellowness": 0.03, "rule__slack": "noise-scaled", "audits": Audits(0.1), "learning_rate": 0.3}
prices = st.sampled_from([0.0, 0.1, 0.3, 1.0, 7.0])


lengths = st.integers(1, 300)


@st.composite
def budgets(draw, over=lengths):
    """Any budget; amounts from nothing to more than everything."""
    amount = draw(st.sampled_from([0, 1, 3, 0.7, 10, 33.3, 100, 1000, 10_000]))
    kind = draw(st.sampled_from(["costs", "examples", "price"]))
    if kind != "price":
        return Budget(over=draw(over), **{kind: amount})
    per_example, per_cost = draw(st.tuples(prices, prices).filter(any))
    return Budget(price=amount, over=draw(over), price_per_example=per_example, price_per_cost=per_cost)


def learner_with(n_labels, budget, **params):
    return CoalClassifier.as_published(
        classes=range(n_labels), budget=budget, **{"rule__warm_up": 3, "shuffle": False, **LEARNER, **params}
    )


def spending(learner, X, cost, pieces):
    """What was spent after each piece of a run."""
    spent = []
    for rows in np.array_split(np.arange(len(X)), pieces):
        simulate(learner, X, cost, order=rows)
        spent.append(learner.spent_)
    return np.array(spent)


# -- never exceeded


@given(
    st.integers(0, 10**6),
    st.sampled_from([1, 2, 5, 9]),
    budgets(),
    st.sampled_from(["coal", "all-or-none", "no-domination", "passive"]),
    st.sampled_from([0.0, 0.2, 1.0]),
    st.sampled_from([0, 10, 1000]),
)
def test_no_stream_spends_more_than_the_budget(seed, n_labels, budget, rule, audit_rate, warm_up):
    X, cost = sparse_problem(seed, n_labels, 100)
    learner = learner_with(n_labels, budget, rule=rule, audits=Audits(audit_rate), rule__warm_up=warm_up)
    simulate(learner, X, cost)
    assert learner.spent_ == budget.price_of(learner.examples_queried_, learner.costs_queried_) <= budget.amount


@given(st.integers(0, 10**6), budgets(over=st.just(60)), st.sampled_from([0.0, 1.0]))
def test_no_batch_spends_more_than_the_budget(seed, budget, audit_rate):
    X, cost = dense_problem(seed, 4, 100)
    learner = learner_with(4, budget, audits=Audits(audit_rate))
    simulate(learner, X[:40], cost[:40])
    queries = learner.ask(X[40:])
    examples, costs = learner.examples_queried_ + queries.examples_asked, learner.costs_queried_ + queries.costs_asked
    assert budget.price_of(examples, costs) <= budget.amount


def test_a_budget_of_nothing_asks_for_nothing_and_says_why():
    X, cost = dense_problem(1, 3, 50)
    learner = learner_with(3, Budget(costs=0, over=50), audits=Audits(1.0))
    simulate(learner, X, cost)
    assert (learner.costs_queried_, learner.round_) == (0, 51)
    fresh = learner_with(3, Budget(costs=0, over=50)).ask([[1.0]])
    assert set(fresh.reasons.ravel()) == {"over the budget, or ahead of its plan"}


def test_told_more_than_was_asked_for_a_learner_asks_for_nothing_more():
    X, cost = dense_problem(2, 3, 50)
    learner = learner_with(3, Budget(costs=60, over=50)).tell(X[:30], cost[:30])
    assert learner.spent_ == 90
    assert not learner.ask(X[30:]).mask.any()


# -- nearly used up, and evenly


@pytest.mark.parametrize("share", [0.95, 0.5, 0.2, 0.05, 0.02])
@pytest.mark.parametrize("n_labels", [2, 12])
@pytest.mark.parametrize("mellowness", [0.001, 0.03, 1.0])
def test_a_budget_of_costs_is_spent_at_the_end_and_follows_its_plan(share, n_labels, mellowness):
    X, cost = dense_problem(3, n_labels, ROWS)
    amount = round(share * cost.size)
    spent = spending(learner_with(n_labels, Budget(costs=amount, over=ROWS), mellowness=mellowness), X, cost, 50)
    done = np.arange(1, 51) / 50
    ahead = spent / amount - (0.2 + 0.8 * done)
    assert spent[-1] >= 0.97 * amount
    assert np.all(ahead <= np.maximum(0.05, 1 / amount) + 1e-12)
    if share <= 0.5:  # all examples are needed for more than that
        assert np.all(ahead[done >= 0.5] >= -0.2)


@pytest.mark.parametrize("share", [0.5, 0.1, 0.03])
@pytest.mark.parametrize("price_per_example", [1.0, 20.0])
@pytest.mark.parametrize("price_per_cost", [0.0, 1.0])
def test_a_budget_with_a_price_per_example_is_spent_at_the_end_but_for_one_example(
    share, price_per_example, price_per_cost
):
    X, cost = dense_problem(4, 6, ROWS)
    whole = price_per_example + 6 * price_per_cost
    amount = share * ROWS * whole
    budget = Budget(price=amount, over=ROWS, price_per_example=price_per_example, price_per_cost=price_per_cost)
    spent = spending(learner_with(6, budget), X, cost, 50)
    done = np.arange(1, 51) / 50
    assert amount - max(0.03 * amount, whole) <= spent[-1] <= amount
    assert np.all(spent <= amount * (0.25 + 0.8 * done) + whole)
    assert np.all(spent[done >= 0.5] >= amount * (0.05 + 0.8 * done[done >= 0.5]) - whole)


def test_a_budget_for_more_than_everything_asks_for_everything():
    X, cost = dense_problem(5, 4, ROWS)
    learner = learner_with(4, Budget(costs=2 * cost.size, over=ROWS), mellowness=0.001)
    simulate(learner, X, cost)
    assert learner.costs_queried_ == cost.size


def test_a_stream_shorter_than_planned_has_its_share_and_a_longer_one_nothing_more():
    X, cost = dense_problem(6, 4, ROWS)
    half = spending(learner_with(4, Budget(costs=300, over=2 * ROWS)), X, cost, 1)
    assert 0.45 * 300 < half[-1] < 0.75 * 300  # a fifth at once and half of the rest
    long = learner_with(4, Budget(costs=300, over=ROWS // 3))
    spent = spending(long, X, cost, 3)
    assert 0.97 * 300 < spent[0] <= spent[1] == spent[2] == 300
    assert not long.ask(X).mask.any()


def test_what_is_left_when_the_planned_examples_are_over_is_spent_on_the_next_ones():
    X, cost = dense_problem(7, 4, 400)
    learner = learner_with(4, Budget(costs=500, over=100))
    learner.tell(X[:200], np.full((200, 4), np.nan))  # rounds in which nothing was asked
    simulate(learner, X[200:], cost[200:])
    assert learner.spent_ == 500


def test_a_warm_up_takes_a_fifth_of_the_budget_at_most():
    X, _ = dense_problem(8, 10, 40)
    learner = learner_with(10, Budget(costs=160, over=1000), rule__warm_up=100, audits=None)
    reasons = learner.ask(X).reasons
    assert np.all(reasons[:3] == "warm-up")  # 30 of 32
    assert not np.any(reasons[3:] == "warm-up")


def test_few_costs_over_many_examples_come_one_by_one():
    X, cost = dense_problem(9, 10, ROWS)
    learner = learner_with(10, Budget(costs=5, over=ROWS))
    spent = spending(learner, X, cost, 5)
    assert spent.tolist() == sorted(spent.tolist())
    assert 1 <= spent[0] < 5 == spent[-1]


# -- the price of an example


@given(st.integers(0, 10**6), st.sampled_from([0.5, 4.0]))
def test_an_example_that_is_looked_at_is_asked_about_at_least_as_much_as_without_its_price(seed, per_example):
    X, cost = dense_problem(seed, 6, 60)
    learner = learner_with(6, None, mellowness=0.003, audits=None)
    simulate(learner, X, cost)
    rows = dense_problem(seed + 1, 6, 30)[0]
    asked = []
    for price in (0.0, per_example):
        budget = Budget(price=1e9, over=10**9, price_per_example=price)  # so large that it stays at its plan
        asked.append([learner.start_budget(budget).ask(row[None]).mask[0] for row in rows])
    free, dear = np.array(asked[0]), np.array(asked[1])
    np.testing.assert_array_equal(free.any(axis=1), dear.any(axis=1))
    assert not np.any(free & ~dear)


def test_with_a_budget_of_examples_every_candidate_of_an_example_is_asked_for_or_none():
    X, cost = dense_problem(10, 6, 400)
    candidates = np.random.default_rng(10).random(cost.shape) < 0.7
    learner = learner_with(6, Budget(examples=60, over=400), audits=None)
    simulate(learner, X[:300], cost[:300], candidates=candidates[:300])
    mask = learner.ask(X[300:], candidates=candidates[300:]).mask
    opened = mask.any(axis=1)
    assert 0 < opened.sum() < 60
    np.testing.assert_array_equal(mask[opened], candidates[300:][opened])


@pytest.mark.parametrize("audit_rate", [0.01, 1.0])
def test_audits_take_a_tenth_of_what_a_round_may_spend_and_keep_their_recorded_chance(audit_rate):
    X, cost = dense_problem(11, 5, 1000)
    learner = learner_with(5, Budget(costs=6000, over=4000), audits=Audits(audit_rate))
    simulate(learner, X, cost)
    per_round = (6000 - learner.spent_) / 3000
    chances = [learner.ask(row[None]).propensity[0] for row in X[:200]]
    chances = np.array([np.where(chance < 1, chance, 0).sum() for chance in chances])
    expected = min(audit_rate, 0.1 * per_round)
    np.testing.assert_allclose(chances[chances > 0], expected, rtol=1e-12)
    assert (chances > 0).sum() > 100
    many = [learner.set_params(random_state=seed).ask(X[:1]).audit.any() for seed in range(3000)]
    assert abs(np.mean(many) - chances[0]) < 4 * np.sqrt(expected / 3000)


# -- the same however it is reached

KINDS = [
    Budget(costs=120, over=120),
    Budget(examples=15, over=100),
    Budget(price=150.5, over=150, price_per_example=2.5, price_per_cost=0.5),
]


@pytest.mark.parametrize("budget", KINDS, ids=str)
def test_a_batch_is_paced_as_if_its_rows_came_one_by_one(budget):
    X, cost = dense_problem(12, 5, 90)
    batch, rows = (learner_with(5, budget, audits=None) for _ in range(2))
    for learner in (batch, rows):
        simulate(learner, X[:30], cost[:30])
    questions = batch.ask(X[30:])
    one_by_one = []
    for row in X[30:]:
        asked = rows.ask(row[None])
        one_by_one.append(asked.mask[0])
        rows.tell(row[None], np.full((1, 5), np.nan), asked=asked)  # all "can't tell": nothing is learned
    np.testing.assert_array_equal(questions.mask, one_by_one)
    assert 0 < questions.costs_asked < questions.mask.size


@pytest.mark.parametrize("budget", KINDS, ids=str)
def test_the_ledger_makes_the_same_learner_with_the_same_budget(budget):
    X, cost = dense_problem(13, 5, 90)
    ledger = MemoryLedger()
    learner = learner_with(5, budget).record_to(ledger)
    simulate(learner, X[:40], cost[:40])
    again = CoalClassifier.from_ledger(ledger)
    assert again.spent_ == learner.spent_ > 0
    ask_and_tell(again, X[40:], cost[40:])
    simulate(learner, X[40:], cost[40:])
    assert state_of(again) == state_of(learner)


@pytest.mark.parametrize("budget", KINDS, ids=str)
def test_a_budget_survives_clones_and_files(budget, tmp_path):
    learner = learner_with(5, budget)
    assert clone(learner).budget == budget
    learner.save(tmp_path / "model")
    loaded = CoalClassifier.load(tmp_path / "model")
    assert Budget.of(loaded.budget) == budget
    assert Budget.of(clone(loaded).budget) == budget


def test_a_budget_begins_where_it_is_started():
    X, cost = dense_problem(14, 4, 900)
    learner = learner_with(4, None).partial_fit(X[:300], cost=cost[:300])
    learner.start_budget({"costs": 120, "over": 600})
    assert learner.spent_ == 0
    first = spending(learner, X[300:], cost[300:], 10)
    assert 0.2 * 120 <= first[1] < 0.5 * 120
    assert 0.97 * 120 <= first[-1] <= 120
    assert learner.costs_queried_ == 1200 + first[-1]
    simulate(learner.start_budget(Budget(examples=20, over=600)), X[300:], cost[300:])
    assert learner.spent_ == 20


def test_without_a_budget_nothing_is_paced_and_spending_is_costs():
    X, cost = dense_problem(15, 4, 200)
    plain, lifted = learner_with(4, None), learner_with(4, Budget(costs=1, over=200))
    simulate(plain, X, cost)
    ask_and_tell(lifted.set_params(budget=None), X, cost)
    assert state_of(plain) == state_of(lifted)
    assert plain.spent_ == plain.costs_queried_ > 100


def test_the_range_of_a_cost_has_nothing_to_do_with_the_budget():
    X, cost = dense_problem(16, 4, 200)
    learner = learner_with(4, Budget(costs=100, over=400))
    simulate(learner, X, cost)
    within = learner.cost_range(X)
    assert np.any(learner.ask(X).ranges.width != within.width)
    np.testing.assert_array_equal(within.width, learner.set_params(budget=None).cost_range(X).width)


def test_a_learner_whose_budget_is_spent_is_silent_without_a_warning():
    X, cost = dense_problem(17, 4, 900)
    X[:] = 0.0  # nothing can be learned, and the answers show it
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        learner = learner_with(4, Budget(costs=12, over=20), audits=None)
        simulate(learner, X, cost)
    assert learner.spent_ <= 12


# -- what is refused

BAD = {
    "nothing": ({"over": 5}, "one of costs, examples and price, got none of them"),
    "two kinds": ({"over": 5, "costs": 1, "price": 2}, "one of costs, examples and price, got costs, price"),
    "an end at 0": ({"costs": 5, "over": 0}, "over must be a whole number of at least 1, got 0"),
    "half an example": ({"costs": 5, "over": 2.5}, "over must be a whole number of at least 1, got 2.5"),
    "less than nothing": ({"costs": -1, "over": 5}, "costs must be a finite number at least 0, got -1"),
    "infinitely much": ({"price": np.inf, "over": 5}, "price must be a finite number at least 0, got inf"),
    "not a number": ({"examples": "many", "over": 5}, "examples must be a finite number at least 0, got 'many'"),
    "a truth": ({"examples": True, "over": 5}, "examples must be a finite number at least 0, got True"),
    "free": ({"price": 5, "over": 5, "price_per_cost": 0}, "above 0, got 0 for both"),
    "a price of a count": ({"costs": 5, "over": 5, "price_per_example": 2}, "got costs=... with the prices 2 and 1"),
    "a negative price": (
        {"price": 5, "over": 5, "price_per_cost": -1},
        "price_per_cost must be a finite number at least 0, got -1",
    ),
    "an unknown key": ({"costs": 5, "over": 5, "cost": 1}, "has no 'cost'. Use some of over, costs"),
    "a wrong beginning": (
        {"costs": 5, "over": 5, "since": [1]},
        "the counts rounds, examples, costs, truths, asked, got",
    ),
    "prices that are not pairs": ({"price": 1, "price_per_cost": [[1, 2, 3]]}, "pairs of a label and its price, got"),
    "a list as a label": ({"price": 1, "price_per_cost": [[[1], 2]]}, "pairs of a label and its price, got"),
    "a text": ("5", "must be a number of costs, a Budget, or a mapping"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_budget_is_one_line(name, learner):
    value, words = BAD[name]
    before = state_of(learner)
    for call in (lambda: learner.ask(np.eye(3)), lambda: learner.tell(np.eye(3), np.eye(3))):
        learner.budget = value
        with pytest.raises(InputError, match=r"^budget .*" + words.replace("(", r"\(")) as caught:
            call()
        assert "\n" not in str(caught.value)
    with pytest.raises(InputError):
        learner.start_budget(value)
    assert state_of(learner) == before


def test_a_budget_cannot_pace_a_learner_without_slack():
    with pytest.raises(InputError, match="mellowness must be above 0 with a budget"):
        learner_with(2, Budget(costs=5, over=5), mellowness=0.0).ask([[1.0]])


@settings(max_examples=20)
@given(budgets())
def test_a_budget_is_what_its_plain_values_say(budget):
    assert Budget.of(budget.plain()) == budget
