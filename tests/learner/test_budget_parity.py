"""A learner with a budget asks for what the plain NumPy reference asks for."""

import numpy as np
import pytest

from coalface import Budget, CoalClassifier

from ..problems import dense_problem, parts_of
from ..reference.pacing import PacedCoal, Purse
from .test_learner_parity import MARGIN

BUDGETS = [
    {"costs": 90},
    {"costs": 7},
    {"examples": 20},
    {"price": 120, "price_per_example": 5},
    {"price": 37.3, "price_per_example": 0.7, "price_per_cost": 0.3},
    {"costs": 0},
    {"costs": 1200},
]


def depends_on_rounding(decision, threshold):
    """Whether some label is asked for, or wider than another, by less than rounding can move."""
    ends = [np.abs(decision.lowest - np.nanmin(decision.highest)), np.abs(decision.width - threshold)]
    between = np.diff(np.sort(decision.width[~np.isnan(decision.width)]))
    return min(np.nanmin(ends), between[between > 0].min(initial=np.inf)) < MARGIN


@pytest.mark.parametrize("kind", BUDGETS, ids=str)
@pytest.mark.parametrize(("n_labels", "over"), [(2, 120), (7, 120), (7, 30), (7, 240)])
@pytest.mark.parametrize("rule", ["coal", "passive"])
def test_every_question_within_a_budget_is_the_references(kind, n_labels, over, rule):
    X, costs = dense_problem(n_labels, n_labels, 120)
    candidates = np.random.default_rng(1).random(costs.shape) < 0.8
    candidates[:, 0] = True
    params = {"rule": rule, "mellowness": 0.02, "rule__slack": "noise-scaled", "rule__warm_up": 4}
    budget = Budget(over=over, **kind)
    learner = CoalClassifier.as_published(classes=range(n_labels), budget=budget, **params)
    purse = Purse(budget.amount, over, *budget.prices)
    reference = PacedCoal(n_labels, X.shape[1], purse=purse, **parts_of(params))
    asked_at, close_calls = [], 0
    for i in range(len(X)):
        queries = learner.ask(X[i : i + 1], candidates=candidates[i : i + 1])
        decision = reference.decide(X[i], candidates[i])
        if not np.array_equal(queries.mask[0], decision.mask):
            assert depends_on_rounding(decision, reference.width_threshold()), i
            close_calls += 1
        answers = np.where(decision.mask, costs[i], np.nan)[None]
        learner.tell(X[i : i + 1], answers, asked=decision.mask[None], candidates=candidates[i : i + 1])
        reference.learn(X[i], costs[i], decision.mask, candidates[i])
        asked_at.append(decision.mask.sum())
    assert close_calls <= 4
    assert learner.spent_ == purse.price(reference.examples, reference.costs) <= budget.amount
    assert (sum(asked_at) > 0) == (budget.amount > 0)
