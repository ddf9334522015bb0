"""Learning cost by cost agrees with a direct solution, and gives the same bits for any split into calls."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coalface.kernels.ridge import WIDE, fill_panels, learn_costs, list_costs, spread_of, starts_of
from coalface.models.contract import NO_WEIGHTS


class Label:
    """The arrays of labels that have learned nothing yet."""

    def __init__(self, n_columns, n_labels=1, penalty=1.0):
        self.starts = starts_of(n_columns)
        self.factors = np.zeros((n_labels, self.starts[-1]), np.float32)
        self.factors[:, self.starts[:-1] + np.arange(n_columns)] = 1.0
        self.variances = np.full((n_labels, n_columns), 1.0 / penalty)
        self.weights = np.zeros((n_labels, n_columns))
        self.residuals = np.zeros(n_labels)

    def learn(self, rows, costs, by=learn_costs):
        by(self.factors, self.variances, self.weights, self.starts, rows, costs, NO_WEIGHTS, self.residuals)
        return self

    def spread(self, rows):
        found = np.zeros((len(rows), len(self.factors)), np.float32)
        spread_of(self.factors, self.variances, self.starts, rows, found)
        return found

    def state(self):
        return [array.tobytes() for array in (self.factors, self.variances, self.weights, self.residuals)]


def problem(seed, n_rows, n_columns, n_labels=3, known=0.7):
    random = np.random.default_rng(seed)
    rows = random.normal(size=(n_rows, n_columns)).astype(np.float32)
    costs = random.random((n_rows, n_labels)).astype(np.float32)
    costs[random.random(costs.shape) > known] = np.nan
    return rows, costs


def solution(rows, costs, penalty):
    """Matrix, weights and summed squares of the clipped residuals, each before its row, in plain NumPy."""
    rows, costs = rows.astype(np.float64), costs.astype(np.float64)
    matrix, moment, squares = penalty * np.eye(rows.shape[1]), np.zeros(rows.shape[1]), 0.0
    for row, cost in zip(rows, costs, strict=True):
        squares += (np.clip(row @ np.linalg.solve(matrix, moment), 0, 1) - cost) ** 2
        matrix += np.outer(row, row)
        moment += cost * row
    return matrix, np.linalg.solve(matrix, moment), squares


@given(
    seed=st.integers(0, 10_000), n_rows=st.integers(1, 80), vectors=st.integers(1, 3), penalty=st.floats(0.01, 100.0)
)
def test_weights_spreads_and_residuals_are_those_of_a_direct_solution(seed, n_rows, vectors, penalty):
    rows, costs = problem(seed, n_rows, vectors * WIDE)
    learned = Label(vectors * WIDE, 3, penalty).learn(rows, costs)
    spread = learned.spread(rows)
    for label in range(3):
        known = ~np.isnan(costs[:, label])
        matrix, weights, squares = solution(rows[known], costs[known, label], penalty)
        exact = np.einsum("ij,ji->i", rows, np.linalg.solve(matrix, rows.T))
        np.testing.assert_allclose(learned.weights[label], weights, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(spread[:, label], exact, rtol=1e-4)
        np.testing.assert_allclose(learned.residuals[label], squares, rtol=1e-4, atol=1e-6)


@given(seed=st.integers(0, 10_000), n_rows=st.integers(2, 150), cuts=st.sets(st.integers(1, 149), max_size=8))
def test_any_split_into_calls_gives_the_same_bits(seed, n_rows, cuts):
    rows, costs = problem(seed, n_rows, 2 * WIDE)
    whole, pieces = Label(2 * WIDE, 3).learn(rows, costs), Label(2 * WIDE, 3)
    for some_rows, some_costs in zip(np.split(rows, sorted(cuts)), np.split(costs, sorted(cuts)), strict=True):
        pieces.learn(some_rows, some_costs)
    assert pieces.state() == whole.state()


@pytest.mark.parametrize("kind", ["isotropic", "on six decades", "correlated"])
def test_after_a_million_costs_it_agrees_with_a_direct_solution(kind):
    random, n, width = np.random.default_rng(3), 1_000_000, WIDE
    mixing = {"isotropic": np.eye(width), "on six decades": np.diag(np.logspace(-3, 3, width))}.get(kind)
    if mixing is None:
        turned, _ = np.linalg.qr(random.normal(size=(width, width)))
        mixing = np.diag(np.logspace(-2, 1, width)) @ turned
    truth, learned = np.linalg.solve(mixing, random.normal(size=width)), Label(width)
    matrix, moment = np.eye(width), np.zeros(width)
    for _ in range(10):
        rows = (random.normal(size=(n // 10, width)) @ mixing).astype(np.float32)
        costs = np.clip(0.5 + 0.05 * rows @ truth + 0.1 * random.normal(size=len(rows)), 0, 1).astype(np.float32)
        learned.learn(rows, costs[:, None])
        matrix += rows.T.astype(np.float64) @ rows
        moment += rows.T.astype(np.float64) @ costs
    test = rows[:1000].astype(np.float64)
    np.testing.assert_allclose(test @ learned.weights[0], test @ np.linalg.solve(matrix, moment), atol=1e-4)
    exact = np.einsum("ij,ji->i", test, np.linalg.solve(matrix, test.T))
    np.testing.assert_allclose(learned.spread(rows[:1000])[:, 0], exact, rtol=1e-2)
    assert (learned.variances > 0).all()


def test_panels_give_the_same_spread_as_columns_one_by_one():
    rows, costs = problem(1, 50, 3 * WIDE)
    learned = Label(3 * WIDE, 3).learn(rows, costs)
    panels = np.full((3, WIDE, 2 * WIDE), np.nan, np.float32)
    fill_panels(learned.factors, learned.variances, learned.starts, WIDE, panels)
    by_panels = ((rows[:, : 2 * WIDE] @ panels.transpose(0, 2, 1)) ** 2).sum(axis=2).T
    alone = Label(3 * WIDE, 3)
    alone.factors, alone.variances = learned.factors, learned.variances.copy()
    alone.variances[:, :WIDE] = alone.variances[:, 2 * WIDE :] = 0.0  # only the columns of the panel count
    np.testing.assert_allclose(by_panels, alone.spread(rows), rtol=1e-4)


def test_the_compiled_loop_is_what_the_source_says():
    rows, costs = problem(2, 6, WIDE)
    assert Label(WIDE, 3).learn(rows, costs, learn_costs.py_func).state() == Label(WIDE, 3).learn(rows, costs).state()


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("by", [list_costs, list_costs.py_func])
def test_known_costs_are_listed_by_label_in_the_order_of_the_rows(by, weighted):
    nan = np.nan
    costs = np.array([[nan, 0.25, 0.5], [nan, nan, 0.75], [nan, 1.0, 0.0]], np.float32)
    importance = np.full((3, 3) if weighted else (0, 0), 4.0, np.float32)
    rows, answers, deviations = np.full((3, 4), -1), np.zeros((3, 4)), np.ones((3, 4))
    by(costs, ~np.isnan(costs), importance, rows, answers, deviations, counts := np.zeros(3, np.int64))
    assert counts.tolist() == [0, 2, 3]
    assert rows.tolist() == [[-1, -1, -1, -1], [0, 2, -1, -1], [0, 1, 2, -1]]
    assert answers.tolist() == [[0, 0, 0, 0], [0.25, 1.0, 0, 0], [0.5, 0.75, 0, 0]]
    of_a_cost = 0.5 if weighted else 1.0
    assert deviations[2].tolist() == [of_a_cost, of_a_cost, of_a_cost, 1.0]
