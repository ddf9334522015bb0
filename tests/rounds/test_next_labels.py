"""A round asks about the labels that the learner itself would ask about, one after the other."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coalface import Coal, CoalClassifier
from coalface.rounds.round import Round
from tests.problems import dense_problem

K = 5


def taught(bounds, seed):
    X, cost = dense_problem(seed, K, 120)
    low, high = bounds
    learner = CoalClassifier(
        classes=list("abcde"), cost_bounds=bounds, random_state=seed, mellowness=0.3, rule=Coal(warm_up=10)
    )
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
        found, n = queries.round(0), 0
        while queries.next.any():  # as ``interview`` does, without telling
            labels = queries.classes[queries.next[0]].tolist()
            assert sorted(found.next_labels(bounds)) == sorted(labels)
            for label in labels:
                k = "abcde".index(label)
                tells = (i + k) % 7 > 0  # now and then the annotator cannot tell
                known[0, k], asked[0, k] = cost[i, k] if tells else np.nan, True
                found = found.with_answers({label: float(cost[i, k]) if tells else None})
            queries = learner.ask(row, known=known, asked=asked)
            n += 1
        assert found.next_labels(bounds) == ()
        turns.add(n)
    assert max(turns) > 1


@given(st.lists(st.floats(0, 1), min_size=1, max_size=6), st.lists(st.one_of(st.none(), st.floats(0, 1)), max_size=7))
def test_it_ends_and_asks_nothing_twice(lowest, answers):
    ranges = {f"label {k}": (low, 1.0) for k, low in enumerate(lowest)}
    found = Round(1, ask=("first", *ranges), first=1, ranges=ranges)
    given_answers = iter(answers)
    while labels := found.next_labels():
        assert not set(labels) & set(found.costs)
        found = found.with_answers({label: next(given_answers, None) for label in labels})
    assert set(found.costs) <= set(found.ask)


def test_predicted_costs_are_shown_within_the_bounds_of_costs():
    learner = CoalClassifier(classes=["a", "b"], cost_bounds=(-3.0, 7.0), model="online")
    learner.tell([[1.0], [-1.0]] * 30, [[-3.0, 7.0], [7.0, -3.0]] * 30)
    queries = learner.ask([[5.0], [-5.0]])
    assert queries.predicted.min() < -3.0
    assert queries.predicted.max() > 7.0
    np.testing.assert_array_equal(queries.shown_costs, queries.predicted.clip(-3.0, 7.0))
    shown = [float(line.split("predicted")[1].split()[0]) for line in queries.reason(0).splitlines()[1:]]
    assert shown == [-3.0, 7.0]
