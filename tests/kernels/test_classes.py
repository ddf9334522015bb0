"""Logistic regression on sparse rows: its loss has the gradient that differences show, and ranges hold every move."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coalface.kernels import classes as kernels
from coalface.models.class_fit import Encoded, LogisticProblem


def encoded(dense):
    rows, columns = np.nonzero(dense)
    indptr = np.concatenate([[0], np.cumsum((dense != 0).sum(axis=1))])
    return Encoded(indptr, columns.astype(np.int64), dense[rows, columns].astype(np.float64))


def problem(seed, n=9, n_columns=4, n_classes=3):
    random = np.random.default_rng(seed)
    dense = random.normal(size=(n, n_columns)) * (random.random((n, n_columns)) < 0.6)
    classes, importance = random.integers(0, n_classes, n), random.random(n) + 0.5
    return LogisticProblem(encoded(dense), classes, importance, random.normal(size=n_columns), n_classes), dense, random


def probabilities(logits):
    raised = np.exp(logits - logits.max(axis=1, keepdims=True))
    return raised / raised.sum(axis=1, keepdims=True)


@given(seed=st.integers(0, 10_000))
def test_sparse_products_are_those_of_the_dense_table(seed):
    one, dense, random = problem(seed)
    table, errors = random.normal(size=(dense.shape[1], 3)), random.normal(size=(len(dense), 3))
    products, sums = np.ones((len(dense), 3)), np.ones((dense.shape[1], 3))
    kernels.add_products(*one.rows, table, products)
    kernels.add_columns(*one.rows, errors, sums)
    np.testing.assert_allclose(products, 1 + dense @ table, atol=1e-12)
    np.testing.assert_allclose(sums, 1 + dense.T @ errors, atol=1e-12)


def test_a_column_without_a_slot_adds_nothing():
    products = np.zeros((1, 2))
    kernels.add_products(np.array([0, 2]), np.array([-1, 0]), np.array([5.0, 2.0]), np.ones((1, 2)), products)
    assert products.tolist() == [[2.0, 2.0]]


@given(seed=st.integers(0, 10_000))
def test_residuals_are_the_gradient_of_the_log_loss(seed):
    random = np.random.default_rng(seed)
    logits, classes, weights = random.normal(size=(4, 3)) * 5, random.integers(0, 3, 4), random.random(4)
    residuals = logits.copy()
    loss = kernels.to_residuals(residuals, classes, weights)
    chances = probabilities(logits)
    assert loss == pytest.approx(-(weights * np.log(chances[np.arange(4), classes])).sum())
    np.testing.assert_allclose(residuals, weights[:, None] * (chances - np.eye(3)[classes]), atol=1e-12)


@given(seed=st.integers(0, 10_000))
def test_the_gradient_of_the_whole_problem_is_what_differences_show(seed):
    one, dense, random = problem(seed)
    point, step = random.normal(size=(1 + dense.shape[1]) * 3), 1e-6
    _, gradient = one.loss(point)
    for place in range(len(point)):
        ends = [one.loss(point + sign * step * np.eye(len(point))[place])[0] for sign in (1, -1)]
        assert gradient[place] == pytest.approx((ends[0] - ends[1]) / (2 * step), abs=1e-5)


@given(seed=st.integers(0, 10_000))
def test_the_curvature_is_what_differences_of_the_gradient_show(seed):
    one, dense, random = problem(seed)
    point, step = random.normal(size=(1 + dense.shape[1], 3)), 1e-6
    penalised = one.curvature(point) + 0.1
    for place in np.ndindex(penalised.shape):
        moved = point.copy()
        moved[1 + place[0], place[1]] += step
        change = one.loss(moved.ravel())[1] - one.loss(point.ravel())[1]
        assert penalised[place] == pytest.approx(change.reshape(point.shape)[1 + place[0], place[1]] / step, abs=1e-4)


@given(seed=st.integers(0, 10_000))
def test_ranges_hold_the_costs_of_every_move_of_one_logit_and_reach_them(seed):
    random = np.random.default_rng(seed)
    logits, means = random.normal(size=(5, 3)) * 3, random.random((3, 3))
    up, down = random.random((2, 5, 3)) * 4
    chances = probabilities(logits)
    expected = chances @ means
    lowest, highest = np.empty((5, 3), np.float32), np.empty((5, 3), np.float32)
    kernels.cost_ranges(chances, up, down, means, expected, lowest, highest)
    moves = [(c, ends[:, c] * share) for c in range(3) for ends in (up, -down) for share in (0.3, 1.0)]
    moved = [probabilities(logits + np.outer(move, np.eye(3)[c])) @ means for c, move in moves]
    costs = [expected, *moved]
    np.testing.assert_allclose(lowest, np.min(costs, axis=0), atol=1e-5)
    np.testing.assert_allclose(highest, np.max(costs, axis=0), atol=1e-5)


def test_a_class_that_may_be_impossible_leaves_the_others():
    chances, means = np.array([[1.0, 0.0], [0.75, 0.25]]), 1.0 - np.eye(2)
    lowest, highest = np.empty((2, 2), np.float32), np.empty((2, 2), np.float32)
    moves = np.full((2, 2), np.inf)
    kernels.cost_ranges(chances, np.zeros((2, 2)), moves, means, chances @ means, lowest, highest)
    assert lowest[1].tolist() == [0.0, 0.0]
    assert highest[1].tolist() == [1.0, 1.0]
    assert np.isfinite(lowest).all()
    assert np.isfinite(highest).all()


@pytest.mark.parametrize(
    "name", ["add_products", "add_columns", "to_residuals", "to_probabilities", "expected_costs", "cost_ranges"]
)
def test_machine_code_equals_the_python_body(name):
    one, _, random = problem(3)
    table, errors, chances = (
        random.normal(size=(4, 3)),
        random.normal(size=(9, 3)),
        probabilities(random.random((9, 3))),
    )
    costs = [np.empty((9, 3), np.float32) for _ in range(2)]
    arguments = {
        "add_products": (*one.rows, table, np.zeros((9, 3))),
        "add_columns": (*one.rows, errors, np.zeros((4, 3))),
        "to_residuals": (errors, one.classes, one.importance),
        "to_probabilities": (errors,),
        "expected_costs": (chances, table[:3], np.empty((9, 3))),
        "cost_ranges": (chances, errors**2, errors**2, table[:3] ** 2, chances, *costs),
    }[name]
    ours, theirs = ([np.array(each) for each in arguments] for _ in range(2))
    kernel = getattr(kernels, name)
    assert kernel(*ours) == pytest.approx(kernel.py_func(*theirs))
    for one_array, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(one_array, other, rtol=1e-6, atol=1e-12)
