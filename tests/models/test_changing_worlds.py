"""A committee where rows come in an order that says something, or where the world changes."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from coalface import CoalClassifier
from coalface.errors import DoubtfulDataWarning

in_long_runs = pytest.mark.filterwarnings(f"ignore::{DoubtfulDataWarning.__module__}.{DoubtfulDataWarning.__name__}")


def digits():
    X, y = load_digits(return_X_y=True)
    return X[:600] / 16, y[:600], X[600:1400] / 16, y[600:1400]


@in_long_runs
def test_digits_sorted_by_label_end_close_to_shuffled_ones_without_a_shuffle():
    X, y, X_test, y_test = digits()
    shares = []
    for order in (np.random.default_rng(0).permutation(600), np.argsort(y, kind="stable")):
        learner = CoalClassifier(range(10)).partial_fit(X[order], y[order])
        shares.append((learner.predict(X_test) == y_test).mean())
    assert shares[1] > shares[0] - 0.05


@in_long_runs
def test_fit_learns_sorted_digits_as_if_they_were_mixed_and_as_given_without_shuffle():
    X, y, X_test, _ = digits()
    order = np.argsort(y, kind="stable")
    fitted = CoalClassifier(range(10), random_state=3).fit(X[order], y[order])
    mixed = np.random.default_rng(3).permutation(600)
    by_hand = CoalClassifier(range(10), random_state=3).partial_fit(X[order][mixed], y[order][mixed])
    np.testing.assert_array_equal(fitted.predict_cost(X_test), by_hand.predict_cost(X_test))
    as_given = CoalClassifier(range(10), random_state=3, shuffle=False).fit(X[order], y[order])
    told = CoalClassifier(range(10), random_state=3).partial_fit(X[order], y[order])
    np.testing.assert_array_equal(as_given.predict_cost(X_test), told.predict_cost(X_test))


def test_a_member_that_was_dropped_comes_back_after_the_world_changes():
    X = np.random.default_rng(0).normal(size=(900, 4)).astype(np.float32)
    parity = ((X[:, 0] > 0) ^ (X[:, 1] > 0)).astype(int)  # which a linear model cannot tell
    linear = (X[:, 0] + X[:, 1] > 0).astype(int)
    learner, dropped = CoalClassifier(range(2)).partial_fit(X[:500], parity[:500]), []
    for start in range(500, 900, 20):
        dropped.append({member.name for member in learner.committee_ if member.dropped})
        learner.partial_fit(X[start : start + 20], linear[start : start + 20])
    assert "online" in dropped[0]
    assert any("online" not in names for names in dropped)
    assert (learner.predict(X[500:]) == linear[500:]).mean() > 0.9
