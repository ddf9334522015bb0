"""Forecasts: they start wide, narrow as a run goes on, and stay within what is possible."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coalface import Audits, Budget, Coal, CoalClassifier, MemoryLedger, simulate
from coalface.errors import InputError
from coalface.kernels.history import mark_rounds
from coalface.learner.forecast import asked_history

from ..problems import ask_and_tell, dense_problem, sparse_problem


@given(
    st.integers(0, 10**6),
    st.integers(0, 80),
    st.integers(0, 10**7),
    st.sampled_from(
        [
            {},
            {"rule": Coal(warm_up=0)},
            {"rule": Coal(warm_up=60)},
            {"audits": None},
            {"price_of_truth": 2},
            {"rule": "passive"},
        ]
    ),
)
def test_a_forecast_is_ordered_and_possible(seed, n_done, n_more, settings):
    X, cost = dense_problem(seed, 4, 80)
    if "price_of_truth" in settings:
        cost = 1.0 - np.eye(4)[cost.argmin(axis=1)]
    learner = CoalClassifier(range(4), model="online", **settings)
    if n_done:
        simulate(learner, X[:n_done], cost[:n_done])
    found = learner.forecast(n_more, price=0.5, price_per_example=1.0)
    most = min(4, settings.get("price_of_truth", 4)) * n_more
    for interval, limit in ((found.costs, most), (found.examples, n_more), (found.money, 0.5 * most + n_more)):
        assert 0.0 <= interval.lowest <= interval.expected <= interval.highest <= limit * (1 + 1e-12)
    spent = learner.totals_.price
    assert spent <= found.costs.plus(spent).lowest  # the total contains what is spent already
    assert found.money.expected == pytest.approx(0.5 * found.costs.expected + found.examples.expected)
    assert str(found).startswith(f"the next {n_more:,} example")


def test_the_interval_narrows_and_the_end_lies_within_it():
    X, cost = sparse_problem(5, 6, 3000)
    learner, widths, seen = CoalClassifier(range(6), model="online"), [], []
    for start, stop in ((0, 0), (0, 30), (30, 150), (150, 600), (600, 1500), (1500, 2700)):
        if stop:
            simulate(learner, X[start:stop], cost[start:stop])
        total = learner.forecast(3000 - stop).costs.plus(learner.costs_queried_)
        widths.append(total.highest / total.lowest)
        seen.append(total)
    simulate(learner, X[2700:], cost[2700:])
    assert all(total.lowest <= learner.costs_queried_ <= total.highest for total in seen)
    assert widths == sorted(widths, reverse=True)
    assert widths[-1] < 1.15 < 3.0 < widths[0]


def test_the_history_has_the_counts_at_marked_rounds_however_they_were_reached(tmp_path):
    X, cost = dense_problem(1, 5, 100)
    ledger = MemoryLedger()
    learners = [CoalClassifier(range(5), model="online", shuffle=False) for _ in range(3)]
    counts = []
    for i in range(100):
        learners[0].record_to(ledger) if i == 0 else None
        simulate(learners[0], X[i : i + 1], cost[i : i + 1])
        counts.append((learners[0].examples_queried_, learners[0].costs_queried_, learners[0].totals_.truths))
    simulate(learners[1], X, cost)
    ask_and_tell(learners[2], X, cost)
    learners[0].save(tmp_path / "model.coalface")
    loaded, replayed = CoalClassifier.load(tmp_path / "model.coalface"), CoalClassifier.from_ledger(ledger)
    marks = [mark for mark in mark_rounds() if mark <= 100]
    for learner in (*learners[:2], loaded, replayed):
        history = asked_history(learner.model_.state.counters)
        assert history.rounds.tolist() == [0, *marks]
        assert list(zip(*(column[1:] for column in history[1:]), strict=True)) == [counts[mark - 1] for mark in marks]
    assert mark_rounds()[:8] == [4, 5, 6, 7, 8, 10, 12, 14]


def test_what_was_told_without_being_asked_says_little_about_questions():
    X, cost = dense_problem(3, 4, 500)
    learner = CoalClassifier(range(4), model="online").tell(X, cost)
    found = learner.forecast(500)
    assert found.costs.lowest < 0.25 * 2000 < found.costs.highest


def test_a_budget_limits_the_forecast_and_gives_its_prices():
    X, cost = dense_problem(4, 4, 60)
    prices = dict.fromkeys(range(4), 0.25)
    learner = CoalClassifier(range(4), model="online", budget=Budget(price=20, price_per_cost=prices))
    assert learner.forecast(10**6).costs.highest == 80
    assert learner.forecast(10**6).money.highest == 20
    learner.interview(X[:10], lambda i, label: cost[i, label])
    assert learner.forecast(10**6).money.plus(learner.spent_).highest == pytest.approx(20)
    assert CoalClassifier(range(4), budget=Budget(examples=7)).forecast(100).examples.highest == 7


@pytest.mark.parametrize(
    ("budget", "left"),
    [
        (Budget(costs=40), "40 costs, all that is left of the budget, on "),
        (Budget(price=20, price_per_example=1, price_per_cost=0.25), "80 costs, all that is left of the budget, on "),
        (Budget(examples=40), "160 costs on 40 examples"),
    ],
)
def test_what_is_left_of_a_budget_is_said_to_be_that_and_a_spent_budget_forecasts_nothing(budget, left):
    X, cost = dense_problem(4, 4, 200)
    learner = CoalClassifier(range(4), model="online", budget=budget, rule=Coal(warm_up=200))
    found = learner.forecast(10**6)
    assert left in str(found)
    assert found.examples.highest <= 40
    assert found.costs.highest >= found.examples.highest  # an example that is asked about takes a cost or more
    assert "left of the budget" not in str(learner.forecast(2))
    learner.interview(X, lambda i, label: cost[i, label])
    spent = learner.forecast(500, price=0.5, price_per_example=2.0)
    assert str(spent) == "the next 500 examples: 0 costs, because the budget is spent; price 0"
    assert [*spent.examples, *spent.costs, *spent.money] == [0.0] * 9
    assert "budget" not in str(learner.forecast(0))


def test_a_notebook_shows_a_forecast_and_a_saving_as_tables():
    X, cost = dense_problem(4, 4, 300)
    learner = CoalClassifier(range(4), model="online", audits=Audits(0.3))
    simulate(learner, X, cost)
    found, saving = learner.forecast(100, price=2.0), learner.saving_
    for shown, words in ((found, ("costs", "examples asked about", "price")), (saving, ("estimate", "at best"))):
        table = ET.fromstring(shown._repr_html_())
        names = [row[0].text for row in table.iter("tr")]
        assert set(words) <= set(names)
    assert ET.fromstring(found._repr_html_()).find("caption").text == str(found)
    cells = [cell.text for cell in ET.fromstring(saving._repr_html_()).iter("td")]
    assert cells[:2] == ["estimate", f"{saving.estimate:.3g}"]


def test_prices_by_label_follow_the_labels_that_are_asked_about():
    X, cost = dense_problem(6, 3, 200)
    learner = CoalClassifier(range(3), model="online", rule=Coal(warm_up=2))
    before = learner.forecast(1000, price={0: 1.0, 1: 1.0, 2: 10.0}).money
    assert before.lowest < before.expected < before.highest
    simulate(learner, X, cost)
    asked = learner.model_.state.asked[:3]
    found = learner.forecast(1000, price={0: 1.0, 1: 1.0, 2: 10.0})
    mean = (asked * [1.0, 1.0, 10.0]).sum() / asked.sum()
    assert found.money.expected == pytest.approx(mean * found.costs.expected, rel=0.05)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_examples": -1}, "n_examples must be a whole number of at least 0"),
        ({"n_examples": 5, "price": -1}, "price_per_cost must be a finite number at least 0"),
        ({"n_examples": 5, "price": {0: 1}}, "price_per_cost for every label"),
        ({"n_examples": 5, "price": 1, "price_per_example": -2}, "price_per_example must be a finite number"),
    ],
)
def test_a_wrong_question_is_one_line(arguments, message):
    with pytest.raises(InputError, match=message) as caught:
        CoalClassifier(range(2)).forecast(**arguments)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("rule", ["coal", "passive"])
def test_retired_labels_are_not_in_the_forecast(rule):
    learner = CoalClassifier(range(4), model="online", rule=rule).begin().retire_label(0).retire_label(2)
    alone = CoalClassifier([1, 3], model="online", rule=rule)
    assert learner.forecast(100, price=1).money == alone.forecast(100, price=1).money
    dear = {0: 1000.0, 1: 1.0, 2: 0.0, 3: 1.0}
    assert learner.forecast(100, price=dear).money == alone.forecast(100, price=1).money
