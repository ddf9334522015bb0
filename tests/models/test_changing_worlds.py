"""A committee where rows come in an order that says something, or where the world changes."""

import numpy as np
from sklearn.datasets import load_digits

from coalface import CoalClassifier


def digits():
    X, y = load_digits(return_X_y=True)
    return X[:600] / 16, y[:600], X[600:1400] / 16, y[600:1400]


def test_digits_sorted_by_label_end_close_to_shuffled_ones_without_a_shuffle():
    X, y, X_test, y_test = digits()
    shares = []
    for order in (np.random.default_rng(0).permutation(600), np.argsort(y, kind="stable")):
        learner = CoalClassifier(range(10)).partial_fit(X[order], y[order])
        shares.append((learner.predict(X_test) == y_test).mean())
    assert shares[1] > shares[0] - 0.05


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
    random = np.random.default_rng(0)
    X = random.normal(size=(1000, 6)).astype(np.float32)
    linear = (X[:, 0] + X[:, 1] > 0).astype(int)
    parity = ((X[:, 0] > 0) ^ (X[:, 1] > 0)).astype(int)  # which a linear model cannot tell
    learner = CoalClassifier(range(2)).partial_fit(X[:400], linear[:400])
    while all(not member.dropped for member in learner.committee_):
        rows = random.normal(size=(50, 6)).astype(np.float32)
        learner.partial_fit(rows, (rows[:, 0] + rows[:, 1] > 0).astype(int))
        assert learner.round_ < 3000
    dropped = {member.name for member in learner.committee_ if member.dropped}
    came_back = False
    for start in range(400, 1000, 10):
        learner.partial_fit(X[start : start + 10], parity[start : start + 10])
        came_back |= any(member.name in dropped and not member.dropped for member in learner.committee_)
    assert came_back
