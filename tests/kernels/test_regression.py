"""All labels are updated in one pass, but each learns as if it were alone."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coalface import Coal, CoalClassifier, OnlineModel

from ..problems import dense_problem


def online(classes, *, rule="coal", **of_model):
    return CoalClassifier(classes, rule=rule, model=OnlineModel(**of_model))


@pytest.mark.parametrize("accumulator", ["adax", "adagrad"])
def test_few_labels_among_many_learn_what_they_would_among_few(accumulator):
    # Three of forty are updated one by one, three of three all at once: the same arithmetic.
    X, cost = dense_problem(1, 3)
    among_many = np.full((len(X), 40), np.nan)
    among_many[:, [0, 17, 39]] = cost
    many = online(classes=range(40), accumulator=accumulator).tell(X, among_many)
    few = online(classes=range(3), accumulator=accumulator).tell(X, cost)
    np.testing.assert_array_equal(many.predict_cost(X)[:, [0, 17, 39]], few.predict_cost(X))
    others = np.setdiff1d(np.arange(40), [0, 17, 39])
    assert np.all(many.predict_cost(X)[:, others] == 0)


@pytest.mark.parametrize("accumulator", ["adax", "adagrad"])
@pytest.mark.parametrize("sensitivity", ["shadow", "seen-only", "derivative"])
def test_labels_do_not_affect_each_other(accumulator, sensitivity):
    X, cost = dense_problem(2, 9)
    settings = {"accumulator": accumulator, "sensitivity": sensitivity}
    together = online(classes=range(9), **settings).tell(X, cost)
    for label in (0, 8):
        column = np.full_like(cost, np.nan)
        column[:, label] = cost[:, label]
        alone = online(classes=range(9), **settings).tell(X, column)
        one, other = together.ask(X), alone.ask(X)
        np.testing.assert_array_equal(one.predicted[:, label], other.predicted[:, label])
        np.testing.assert_array_equal(one.ranges.lowest[:, label], other.ranges.lowest[:, label])


def test_a_prediction_that_is_exactly_right_changes_nothing():
    learner = online(classes=["a"])
    learner.tell([[1.0, 2.0]], [[0.0]])  # the prediction of a new learner is 0
    assert learner.model_.arrays()["updates"][0] == 0
    assert learner.model_.arrays()["cells"].shape[0] == 1
    assert learner.round_ == 2


@given(st.floats(2.0**-100, 2.0**100, width=32), st.floats(2.0**-100, 2.0**100, width=32))
def test_the_first_two_updates_are_the_formula(first, second):
    """With one feature and no constant the update of ALGORITHM can be followed by hand, in doubles."""
    learner = CoalClassifier.as_published(classes=["a"], model__fit_intercept=False, learning_rate=0.3)
    w = G = N = S = W = 0.0
    unit = float(first)
    for value, cost in ((first, 0.75), (second, 0.25)):
        x = min(max(float(value) / unit, 1e-15), 1e15)  # the documented limits of a value in its feature's unit
        p = min(max(w * x, 0.0), 1.0)
        assert learner.predict_cost([[value]])[0, 0] == pytest.approx(w * x, rel=1e-5, abs=1e-30)
        learner.tell([[value]], [[cost]])
        G += x * x
        if x > N:
            w, N = (w * N / x if N > 0 else w), x
        rate = 1 / (np.sqrt(G) * N)
        S, W = S + x * x / N**2, W + 1
        m = np.sqrt(W / S)
        reach = x * x * rate * m
        u = (cost - p) * (-np.expm1(-2 * 0.3 * reach) / reach if 0.3 * reach >= 1e-6 else 2 * 0.3)
        terms = abs(w) + abs(u * m * x * rate)  # where they cancel, the error is relative to these terms
        w += u * m * x * rate
    assert abs(learner.predict_cost([[first]])[0, 0] - w) <= 1e-5 * terms


@pytest.mark.parametrize("accumulator", ["adax", "adagrad"])
@pytest.mark.parametrize("sensitivity", ["shadow", "seen-only", "derivative"])
@given(st.lists(st.sampled_from([1e-38, 1e-30, 1e-45, 1.0, 1e30, 3e38, -1e-30, -3e38, 0.0]), min_size=3, max_size=12))
def test_no_value_however_large_or_small_gives_nan_or_infinity(accumulator, sensitivity, values):
    learner = online(["a", "b"], rule=Coal(warm_up=0), accumulator=accumulator, sensitivity=sensitivity)
    for i, value in enumerate(values):
        row = np.array([[value, values[-1 - i]]], np.float32)
        queries = learner.ask(row)
        assert np.isfinite(queries.predicted).all()
        assert np.isfinite(queries.ranges.width).all()
        learner.tell(row, [[i % 2, 0.3]])
    for name, array in learner.model_.arrays().items():
        assert np.isfinite(array).all(), name
