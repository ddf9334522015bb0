"""A plan puts the questions that the learner itself would put, one after the other."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coalface import CoalClassifier
from coalface.service.desk.plan import Plan
from tests.problems import dense_problem

K = 5


def taught(bounds, seed):
    X, cost = dense_problem(seed, K, 120)
    low, high = bounds
    learner = CoalClassifier(classes=list("abcde"), cost_bounds=bounds, random_state=seed, mellowness=0.3, warm_up=10)
    return learner.interview(X[:30], lambda i, label: low + (high - low) * cost[i, "abcde".index(label)]), X, cost


@pytest.mark.parametrize("bounds", [(0.0, 1.0), (-3.0, 7.0)])
@pytest.mark.parametrize("seed", range(3))
def test_it_asks_what_an_interview_asks(bounds, seed):
    learner, X, unit = taught(bounds, seed)
    cost = bounds[0] + (bounds[1] - bounds[0]) * unit
    turns = set()
    for i in range(30, 90):
        row, known, asked = X[i : i + 1], np.full((1, K), np.nan), np.zeros((1, K), np.bool_)
        queries = learner.ask(row)
        plan, answers, n = Plan.of(queries, 0), {}, 0
        while queries.next.any():  # as ``interview`` does, without telling
            labels = queries.classes[queries.next[0]].tolist()
            assert sorted(plan.next(answers, bounds)) == sorted(labels)
            for label in labels:
                k = "abcde".index(label)
                tells = (i + k) % 7 > 0  # now and then nobody can tell
                known[0, k], asked[0, k] = cost[i, k] if tells else np.nan, True
                answers[label] = float(cost[i, k]) if tells else None
            queries = learner.ask(row, known=known, asked=asked)
            n += 1
        assert plan is None or plan.next(answers, bounds) == []
        turns.add(n)
    assert max(turns) > 1


@given(st.lists(st.floats(0, 1), min_size=1, max_size=6), st.lists(st.one_of(st.none(), st.floats(0, 1)), max_size=7))
def test_it_ends_and_asks_nothing_twice(lowest, answers):
    plan = Plan(["first"], [[f"label {k}", low] for k, low in enumerate(lowest)])
    known, given_answers = {}, iter(answers)
    while labels := plan.next(known):
        assert not set(labels) & set(known)
        known |= {label: next(given_answers, None) for label in labels}
    assert set(known) <= set(plan.labels)
