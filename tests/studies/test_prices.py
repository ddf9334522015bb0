"""What a simulated run spends where costs have prices."""

import numpy as np
import pytest

from coalface import CoalClassifier, Curve, MemoryLedger, simulate
from coalface.errors import InputError

from ..problems import dense_problem


def test_the_price_of_a_run_is_the_sum_of_the_prices_of_the_costs_it_asked_for():
    X, cost = dense_problem(3, 3)
    price = np.random.default_rng(0).uniform(1, 9, cost.shape).astype(np.float32)
    ledger, order = MemoryLedger(), np.random.default_rng(1).permutation(len(X))
    learner = CoalClassifier(classes=[0, 1, 2], mellowness=0.003)
    learner.record_to(ledger)
    curve = simulate(learner, X, cost, X_test=X, cost_test=cost, order=order, checkpoints=[30, 45], price=price)
    asked = [(order[one.number - 1], int(label)) for one in ledger for label in one.costs]
    paid = np.cumsum([price[row, label] for row, label in asked])
    assert curve.spent == pytest.approx(paid[curve.costs_queried - 1])
    assert curve.costs_queried[-1] < cost.size
    assert Curve.from_json(curve.to_json()).spent.tolist() == curve.spent.tolist()


def test_a_price_must_be_known_and_not_negative():
    X, cost = dense_problem(3, 3)
    with pytest.raises(InputError, match=r"price must be at least 0, got -1"):
        simulate(CoalClassifier(), X, cost, price=np.full(cost.shape, -1.0))
