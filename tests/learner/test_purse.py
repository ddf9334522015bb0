"""A purse buys exactly what fits, question by question."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from coalface.learner.budget import Budget
from coalface.learner.purse import Purse

PRICES = {"a": 1.0, "b": 2.5}
PER_EXAMPLE, LIMIT = 0.5, 12.0


@given(st.lists(st.tuples(st.integers(0, 1), st.booleans()), max_size=30))
def test_a_cost_is_bought_where_and_only_where_it_fits(wanted):
    budget = Budget(price=LIMIT, price_per_example=PER_EXAMPLE, price_per_cost=PRICES)
    purse, spent, bought = Purse(budget, list(PRICES)), 0.0, [0, 0]
    for label, new in wanted:
        price = list(PRICES.values())[label] + PER_EXAMPLE * new
        fits = spent + price <= LIMIT
        assert purse.buys_cost(label, new) == fits
        spent, bought[label] = spent + price * fits, bought[label] + fits
        assert (purse.spent, purse.left) == (spent, LIMIT - spent)
        assert purse.asked.tolist() == bought
        assert purse.empty == (LIMIT - spent < PER_EXAMPLE + 1.0)


def test_costs_that_were_asked_before_count():
    purse = Purse(Budget(costs=5), ["a", "b"])
    purse.add(examples=3, asked=np.array([3, 1]))
    assert [purse.buys_cost(0, False), purse.buys_cost(0, False)] == [True, False]
