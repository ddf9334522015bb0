"""A purse buys exactly what fits, question by question."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coalface.learner.account import RemainingBudget
from coalface.learner.budget import Budget

PRICES = {"a": 1.0, "b": 2.5}
PER_EXAMPLE, LIMIT = 0.5, 12.0


@given(st.lists(st.tuples(st.integers(0, 1), st.booleans()), max_size=30))
def test_a_cost_is_bought_where_and_only_where_it_fits(wanted):
    budget = Budget(price=LIMIT, price_per_example=PER_EXAMPLE, price_per_cost=PRICES)
    purse, spent, bought = RemainingBudget(budget, list(PRICES)), 0.0, [0, 0]
    for label, new in wanted:
        price = list(PRICES.values())[label] + PER_EXAMPLE * new
        fits = spent + price <= LIMIT
        assert purse.buys_cost(label, new) == fits
        spent, bought[label] = spent + price * fits, bought[label] + fits
        assert (purse.spent, purse.left) == (spent, LIMIT - spent)
        assert purse.asked.tolist() == bought
        assert purse.empty == (LIMIT - spent < PER_EXAMPLE + 1.0)


def test_costs_that_were_asked_before_count():
    purse = RemainingBudget(Budget(costs=5), ["a", "b"])
    purse.add(examples=3, asked=np.array([3, 1]))
    assert [purse.buys_cost(0, False), purse.buys_cost(0, False)] == [True, False]


@pytest.mark.parametrize("price_of_truth", [0.5, 1.0, 1.5, 3.0])  # in costs
@pytest.mark.parametrize("labels", [["a"], ["a", "b"]])
@given(wanted=st.lists(st.tuples(st.booleans(), st.booleans()), max_size=30))
def test_true_labels_and_costs_share_one_limit(labels, price_of_truth, wanted):
    budget = Budget(price=LIMIT, price_per_example=PER_EXAMPLE, price_per_cost=2.0)
    purse, spent, truths = RemainingBudget(budget, labels, price_of_truth), 0.0, 0
    for truth, new in wanted:
        price = 2.0 * (price_of_truth if truth else 1.0) + PER_EXAMPLE * new
        fits = spent + price <= LIMIT
        assert (purse.buys_truth(new) if truth else purse.buys_cost(0, new)) == fits
        spent, truths = spent + price * fits, truths + (fits and truth)
        assert (purse.spent, purse.left, purse.truths) == (spent, LIMIT - spent, truths)
        assert purse.empty == (LIMIT - spent < PER_EXAMPLE + 2.0 * min(price_of_truth, 1.0))


def test_examples_and_true_labels_that_were_asked_before_count():
    purse = RemainingBudget(Budget(price=LIMIT, price_per_example=PER_EXAMPLE, price_per_cost=1.0), ["a", "b"], 3.0)
    purse.add(examples=4, asked=np.array([1, 0]), truths=2)
    purse.add(examples=2, asked=np.array([0, 1]), truths=1)
    assert purse.spent == 6 * 0.5 + 2 * 1.0 + 3 * 3.0


@pytest.mark.parametrize(("price_of_truth", "dearest"), [(np.inf, 4.0), (1.0, 4.0), (2.0, 4.0), (3.0, 4.0), (3.5, 4.5)])
def test_the_dearest_example_is_one_with_all_costs_or_with_the_true_label_if_that_costs_more(price_of_truth, dearest):
    budget = Budget(price=LIMIT, price_per_example=1.0, price_per_cost=1.0)
    assert RemainingBudget(budget, ["a", "b", "c"], price_of_truth).most_expensive_example == dearest
