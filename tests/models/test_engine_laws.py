"""Two laws of the paper about the imaginary example that ``bisection`` uses."""

import numpy as np
import pytest

from coalface.paper.engine import certified_range
from coalface.paper.engines import Bisection
from coalface.paper.oracles import BallOracle, BoundedLinearOracle, RidgeOracle
from coalface.paper.user_oracles import FiniteOracle
from tests.models.contract import ENDS
from tests.models.histories import history, learned, slack_of

FUNCTIONS = np.random.default_rng(2).normal(scale=0.4, size=(40, 4)) + np.array([0.5, 0, 0, 0])
ORACLES = {
    "ball": BallOracle(1.2),
    "ridge": RidgeOracle(0.3),
    "bounded": BoundedLinearOracle(),
    "finite": FiniteOracle([lambda X, w=w: np.clip(X @ w, 0, 1) for w in FUNCTIONS]),
}


def pulled(space, row, end, weight):
    """The best regressor with one imaginary example more: its loss on the true ones, and its prediction."""
    X, targets = space.answers.examples(len(row))
    together, goal = np.vstack([X, row]), np.append(targets, end)
    found = space.answers.oracle.solve(together, goal, np.append(np.ones(len(X)), weight))
    return float(((found.predict(X) - targets) ** 2).sum()), float(found.predict(row[None, :])[0])


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("name", ORACLES)
def test_a_heavier_imaginary_example_costs_more_and_comes_nearer(name, end):
    for seed in range(5):
        rounds, rows = history(seed)
        space = learned(ORACLES[name], rounds, slack_of(0.1))
        for row in rows:
            losses, costs = np.array([pulled(space, row, end, 10.0**power) for power in range(-3, 4)]).T
            assert (np.diff(losses) >= -1e-9).all()
            assert (np.diff((costs - end) ** 2) <= 1e-9).all()


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("name", ["ball", "ridge", "bounded"])
def test_an_upper_bound_for_the_excess_loss_only_narrows(name, end):
    """The excess loss is at most weight * (distance before - distance after): asking that of it excludes more."""
    narrower = 0
    for seed in range(5):
        rounds, rows = history(seed)
        space, slack = learned(ORACLES[name], rounds, slack_of(0.1), monotone=False), slack_of(0.1)(len(rounds) + 1)
        for row in rows:
            least, reached = pulled(space, row, end, 0.0)
            start = (reached - end) ** 2
            for weight in np.geomspace(1e-3, 1e3, 60):
                loss, cost = pulled(space, row, end, weight)
                upper = weight * (start - (cost - end) ** 2)
                assert loss - least <= upper + 1e-9
                if upper <= slack:
                    reached = cost
            exact = certified_range(Bisection(space), row, 1e-6)
            limit = exact.highest if end else exact.lowest
            assert np.clip(reached, 0, 1) <= limit + 1e-5 if end else np.clip(reached, 0, 1) >= limit - 1e-5
            narrower += abs(np.clip(reached, 0, 1) - limit) > 1e-3
    assert narrower
