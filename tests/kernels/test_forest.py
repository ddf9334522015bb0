"""Forests of randomised trees: against plain Python, their laws, and the error of scikit-learn's forests."""

import itertools
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits, make_friedman1
from sklearn.ensemble import RandomForestRegressor

from coalface.kernels import draws, forest, tree_reading
from coalface.kernels.forest import LEAF, GrownTree, KnownCosts, new_tree_scratch, varying_columns
from coalface.kernels.tree_reading import read
from coalface.models.forest.model import _joined, _only_leaves

from ..reference import forest as reference

SEEDS = st.integers(0, 10**6)


def answers_of(costs, weights=None):
    """The known costs of a table (n, K)."""
    costs = np.asarray(costs, np.float64).reshape(len(costs), -1)
    rows, labels = np.nonzero(~np.isnan(costs))
    weights = np.ones(costs.shape) if weights is None else np.broadcast_to(weights, costs.shape)
    starts = np.searchsorted(rows, np.arange(len(costs) + 1))
    return KnownCosts(starts, labels, costs[rows, labels], weights[rows, labels].astype(np.float64))


def listed(answers):
    """The answers as the reference takes them."""
    each = list(zip(answers.labels.tolist(), answers.costs.tolist(), answers.weights.tolist(), strict=True))
    return [each[a:b] for a, b in pairwise(answers.starts)]


def room_for(n_rows, n_values):
    nodes = np.empty(2 * n_rows, np.int32), np.empty(2 * n_rows, np.float32), np.empty(2 * n_rows, np.int32)
    return GrownTree(*nodes, np.empty((2 * n_rows, n_values), np.float32))


def one_tree(X, answers, times=None, n_labels=1, n_tried=2, shared=0.0, random=0, strengths=(1.0,)):
    """A single tree; without ``times``, over all rows once."""
    table, n = np.ascontiguousarray(X.T, np.float32), len(X)
    times = np.ones(n, np.int64) if times is None else times
    scratch, room = new_tree_scratch(varying_columns(table, n), n, n_labels), room_for(n, n_labels * len(strengths))
    state = np.array([random], np.uint64) if np.isscalar(random) else random
    n_nodes = forest.grow_tree(table, answers, times, n_tried, shared, np.array(strengths), scratch, state, room)
    return GrownTree(*(array[:n_nodes].copy() for array in room))


def grown(X, answers, *, n_labels=1, n_trees=10, n_drawn=None, n_tried=None, shared=0.0, seed=0, strengths=(1.0,)):
    """A forest over rows X."""
    trees, n = [], len(X)
    for number in range(n_trees):
        times = np.empty(n, np.int64)
        random = forest.draw_rows(n, n_drawn or n, seed, number, times)
        tree = one_tree(X, answers, times, n_labels, n_tried or X.shape[1], shared, random, strengths)
        trees.append(leaves_of(tree))
    return _joined(trees)


def leaves_of(tree):
    return _only_leaves(tree, len(tree.columns))


def predicted(trees, X, read=read):
    mean, variance = (np.empty((len(X), trees.values.shape[1]), np.float32) for _ in range(2))
    read(trees, np.ascontiguousarray(X, np.float32), mean, variance)
    return mean, variance


def alone(tree, X):
    """What one tree predicts."""
    return predicted(_joined([leaves_of(tree)]), X)[0]


def same(one, other):
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def problem(seed, n=40, n_columns=4, missing=0.0, ties=True, n_labels=3, known=0.7):
    random = np.random.default_rng(seed)
    X = random.integers(-3, 4, (n, n_columns)) if ties else random.normal(size=(n, n_columns))
    X = np.where(random.random(X.shape) < missing, np.nan, X).astype(np.float32)
    costs = random.choice([0.0, 0.25, 1.0], (n, n_labels)) if seed % 2 else random.random((n, n_labels))
    costs[random.random(costs.shape) > known] = np.nan
    costs[np.isnan(costs).all(axis=1), 0] = 0.5
    return X, answers_of(costs, random.integers(1, 5, costs.shape) / 2)


@given(SEEDS, st.sampled_from([0.0, 0.2, 0.9]), st.booleans(), st.integers(1, 20), st.integers(1, 4))
@settings(max_examples=40)
def test_trees_are_those_of_the_plain_reference(seed, missing, ties, n, n_tried):
    X, answers = problem(seed, n, 4, missing, ties)
    n_drawn, shared, strength = max(n - seed % 3, 1), (seed % 4) / 4, (0.0, 0.3, 1.0, 10.0)[seed % 7 % 4]
    table = np.ascontiguousarray(X.T)
    plain = reference.grown_forest(table, listed(answers), 3, 3, n_drawn, n_tried, shared, seed, strength)
    chosen = {"n_drawn": n_drawn, "n_tried": n_tried, "shared": shared, "seed": seed, "strengths": (strength,)}
    trees = grown(X, answers, n_labels=3, n_trees=3, **chosen)
    tests = np.concatenate([X, problem(seed + 1, 10, 4, missing, ties)[0]])
    each = np.array([[reference.read_tree(tree, row) for tree in plain] for row in tests])
    mean, variance = predicted(trees, tests)
    np.testing.assert_allclose(mean, each.mean(axis=1), atol=1e-6)
    differences = each - each.mean(axis=2, keepdims=True)
    np.testing.assert_allclose(variance, differences.var(axis=1), atol=1e-6)


@given(SEEDS, st.sampled_from([0.0, 0.2]))
@settings(max_examples=5)
def test_machine_code_does_what_the_python_text_says(seed, missing):
    X, answers = problem(seed, 15, 3, missing)
    settings = {"n_labels": 3, "n_trees": 3, "n_tried": 2, "shared": 0.5, "seed": 2**61 + seed, "strengths": (1.0, 3.0)}
    compiled = grown(X, answers, **settings)
    means, drawn = predicted(compiled, X), np.random.default_rng(seed).random((3, 15)) < 0.6
    left_out, plain = np.empty((2, 15, 6)), np.empty((2, 15, 6))
    tree_reading.read_left_out(compiled, np.ascontiguousarray(X.T), drawn, *left_out)
    varying = varying_columns(np.ascontiguousarray(X.T), 15)
    with pytest.MonkeyPatch.context() as patch, np.errstate(over="ignore"):  # integers wrap around, as they should
        for module in (draws, forest, tree_reading):
            for name, function in vars(module).copy().items():
                if hasattr(function, "py_func"):
                    patch.setattr(module, name, function.py_func)
        assert same(grown(X, answers, **settings), compiled)
        assert same(predicted(compiled, X, tree_reading.read), means)
        with np.errstate(invalid="ignore"):
            tree_reading.read_left_out(compiled, np.ascontiguousarray(X.T), drawn, *plain)
        np.testing.assert_array_equal(plain, left_out)
        np.testing.assert_array_equal(forest.varying_columns(np.ascontiguousarray(X.T), 15), varying)


def test_only_trees_grown_without_a_row_are_read_for_it():
    X, answers = problem(1, 12, 3)
    trees = [one_tree(X, answers, n_labels=3, random=seed, n_tried=1) for seed in range(4)]
    drawn = np.random.default_rng(0).random((4, 12)) < 0.5
    drawn[:, 0] = True
    left_out, doubt, each = np.empty((12, 3)), np.empty((12, 3)), np.array([alone(tree, X) for tree in trees])
    table = np.ascontiguousarray(X.T, np.float32)
    tree_reading.read_left_out(_joined([leaves_of(tree) for tree in trees]), table, drawn, left_out, doubt)
    assert np.isnan(left_out[0]).all()
    for row in range(1, 12):
        those = each[~drawn[:, row], row]
        np.testing.assert_allclose(left_out[row], those.mean(axis=0), atol=1e-6)
        if len(those) > 1:
            np.testing.assert_allclose(doubt[row], those.var(axis=0, ddof=1) / len(those), atol=1e-6)
        else:
            assert np.isnan(doubt[row]).all()
    assert {1, 2} <= set((~drawn).sum(axis=0))


@given(SEEDS, st.sampled_from([0.0, 0.75]))
def test_each_of_several_leanings_has_the_estimates_that_it_has_alone(seed, shared):
    X, answers = problem(seed, 25, 3)
    strengths = (1.0, 0.0, 0.3, 10.0)
    chosen = {"n_labels": 3, "shared": shared, "random": seed}
    together = one_tree(X, answers, strengths=strengths, **chosen)
    for i, strength in enumerate(strengths):
        single = one_tree(X, answers, strengths=(strength,), **chosen)
        assert same(together[:3], single[:3])
        np.testing.assert_array_equal(together.values[:, 3 * i : 3 * i + 3], single.values)


@given(SEEDS, st.sampled_from([0.0, 0.3]))
def test_only_the_order_of_a_columns_values_matters(seed, missing):
    X, answers = problem(seed, 30, 3, missing, ties=seed % 3 > 0)
    other = np.stack([np.exp(X[:, 0]), 1e30 * X[:, 1], X[:, 2] ** 3 - 1], axis=1).astype(np.float32)
    one, two = (one_tree(rows, answers, n_labels=3, random=seed) for rows in (X, other))
    assert same((one.columns, one.left, one.values), (two.columns, two.left, two.values))
    np.testing.assert_array_equal(alone(two, other), alone(one, X))


@given(SEEDS, st.sampled_from([0.0, 7.5, np.nan]))
def test_a_constant_column_changes_nothing_wherever_it_stands(seed, constant):
    X, answers = problem(seed, 30, 3)
    wide = np.insert(X, seed % 4, np.float32(constant), axis=1)
    one, two = (grown(rows, answers, n_labels=3, n_tried=1, seed=seed) for rows in (X, wide))
    used, place = two.columns, seed % 4
    assert not (used == place).any()
    np.testing.assert_array_equal(np.where(used > place, used - 1, used), one.columns)
    assert same((one.roots, one.numbers, one.left, one.values), (two.roots, two.numbers, two.left, two.values))


def test_without_a_column_that_varies_a_tree_is_the_mean_of_each_label():
    X, costs = np.full((8, 2), 3.0), np.stack([np.linspace(0, 1, 8), np.full(8, 0.25)], axis=1)
    tree = one_tree(X, answers_of(costs), n_labels=2)
    assert alone(tree, X).tolist() == [[0.5, 0.25]] * 8


def test_leaves_split_until_nothing_is_left_to_tell_apart_and_lean_on_the_nodes_above():
    X, costs = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0.0, 0.0, 1.0, 1.0])
    for seed, strength in itertools.product(range(5), (0.0, 0.5, 1.0, 2.0)):
        tree = one_tree(X, answers_of(costs), n_tried=1, random=seed, strengths=(strength,))
        first, last = alone(tree, np.array([[0.0], [3.0]]))[:, 0]
        if len(tree.columns) == 3:  # the first split tells all: (0 + 0 + strength / 2) / (2 + strength)
            leant = strength / 2 / (2 + strength)
            assert (first, last) == (pytest.approx(leant), pytest.approx(1 - leant))
        assert first < 0.4 < 0.6 < last


def test_a_label_without_answers_in_a_leaf_moves_with_the_others_as_far_as_errors_are_shared():
    X = np.array([[0.0], [0.0], [1.0], [1.0]])
    costs = np.array([[0.2, 0.3], [0.2, 0.3], [0.8, np.nan], [0.8, np.nan]])
    for shared, moved in ((0.0, 0.0), (0.5, 0.15), (1.0, 0.3)):
        tree = one_tree(X, answers_of(costs), n_labels=2, n_tried=1, shared=shared)
        hard = alone(tree, np.array([[1.0]]))[0]  # the first label goes from 0.5 to 0.8, but leans on the root
        assert hard[1] == pytest.approx(0.3 + moved, abs=1e-6)
        assert hard[0] == pytest.approx((1.6 + 0.5 + moved) / 3, abs=1e-6)


def test_missing_values_all_go_to_the_side_that_fits_better():
    X = np.array([[1.0], [2.0], [np.nan], [np.nan]])
    for missing in (1.0, 0.0):
        tree = one_tree(X, answers_of(np.array([0.0, 1.0, missing, missing])))
        assert len(tree.columns) == 3  # one split tells all
        low, high, lost = alone(tree, np.array([[0.0], [9.0], [np.nan]]))[:, 0]
        assert lost == (high if missing else low)
    only = one_tree(np.array([[1.0], [1.0], [np.nan]]), answers_of(np.array([0.25, 0.25, 1.0])))
    low, lost = alone(only, np.array([[1.0], [np.nan]]))[:, 0]
    assert low < 0.5 < lost


def test_missing_values_that_explain_nothing_leave_no_side_empty():
    X = np.array([[np.nan], [1.0]] * 4)
    for seed in range(100):
        random = np.random.default_rng(seed)
        costs, weights = random.random(4), 10.0 ** random.uniform(-9, 3, 4)  # sums of such weights are rounded
        both = np.stack([random.permutation(4), random.permutation(4)], axis=1).ravel()
        tree = one_tree(X, answers_of(costs[both], weights[both][:, None]), random=seed)
        assert len(tree.columns) <= 3
        assert np.isfinite(tree.values).all()


@given(SEEDS, st.sampled_from([0.0, 0.3]))
def test_predictions_lie_between_0_and_1(seed, missing):
    X, answers = problem(seed, 25, 3, missing)
    trees = grown(X, answers, n_labels=3, seed=seed, shared=1.0)
    mean, variance = predicted(trees, 100 * problem(seed + 1, 50, 3, missing)[0])
    assert ((mean >= 0) & (mean <= 1) & (variance >= 0) & (variance <= 1)).all()


def test_what_all_labels_share_does_not_widen_the_variance():
    X, _ = problem(3, 40, ties=False)
    costs = np.random.default_rng(0).random((40, 1)) * 0.5 + np.array([[0.0, 0.2, 0.4]])
    mean, variance = predicted(grown(X, answers_of(costs), n_labels=3), X)
    assert variance.max() < 1e-6  # the differences are 0.2 in every row
    np.testing.assert_allclose(mean[:, 1:] - mean[:, :1], [[0.2, 0.4]] * 40, atol=1e-5)


def test_seed_number_and_rows_decide_the_trees():
    X, answers = problem(3, 40, ties=False)
    assert same(grown(X, answers, n_labels=3, seed=5), grown(X, answers, n_labels=3, seed=5))
    fewer = KnownCosts(answers.starts[:40], *(of[: answers.starts[39]] for of in answers[1:]))
    firsts = [grown(X, answers, n_labels=3), grown(X, answers, n_labels=3, seed=1), grown(X[:39], fewer, n_labels=3)]
    roots = [(trees.columns[:20].tolist(), trees.numbers[:20].tolist()) for trees in firsts]
    assert all(roots[i] != roots[j] for i in range(3) for j in range(i))
    each = [firsts[0].columns[root] for root in firsts[0].roots]
    assert len(set(each)) > 1


def test_values_at_the_ends_of_single_precision_are_told_apart():
    largest = np.finfo(np.float32).max
    for values in ([-largest, largest], [0.0, 1e-45], [-largest, -1e-45, 0.0, largest]):
        X, costs = np.array(values)[:, None], np.arange(len(values)) / 4
        found = alone(one_tree(X, answers_of(costs), n_tried=1), X)[:, 0]
        assert (np.diff(found) > 0).all()


@given(SEEDS, st.integers(1, 12))
def test_fewer_draws_than_rows_give_smaller_trees(seed, n_drawn):
    X, answers = problem(2 * seed, 60, ties=False)
    trees = grown(X, answers, n_labels=3, n_drawn=n_drawn, n_trees=5, seed=seed)
    assert (np.diff([*trees.roots, len(trees.columns)]) <= 2 * n_drawn - 1).all()


def test_an_answer_of_weight_three_counts_like_three_answers():
    X, _ = problem(1, 12, 1)
    X, costs = np.sign(X), np.random.default_rng(1).choice([0.0, 0.25, 1.0], 12)  # leaves have several answers
    weights = np.where(np.arange(12) < 3, 3.0, 1.0)
    often = np.repeat(np.arange(12), weights.astype(int))
    one = one_tree(X, answers_of(costs, weights[:, None]), n_tried=2)
    three = one_tree(X[often], answers_of(costs[often]), n_tried=2)
    np.testing.assert_allclose(alone(one, X), alone(three, X), atol=1e-6)


def friedman(seed, n):
    X, y = make_friedman1(n + 1000, 10, noise=1.0, random_state=seed)
    y = (y - y.min()) / (y.max() - y.min())
    return X, np.stack([y, 1 - y], axis=1)


def digits(seed, n):
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(seed).permutation(len(y))[: n + 1000]
    return X[order], 1.0 - np.eye(10)[y[order]]


@pytest.mark.parametrize(("data", "factor"), [(friedman, 1.15), (digits, 1.1)])
def test_the_error_is_near_that_of_scikit_learns_forests(data, factor):
    n, ours, theirs = 400, [], []
    for seed in range(2):
        X, y = data(seed, n)
        n_tried, n_labels = -(-X.shape[1] // 3), y.shape[1]
        trees = grown(X[:n], answers_of(y[:n]), n_labels=n_labels, n_trees=50, n_tried=n_tried, seed=seed)
        ours.append(np.mean((predicted(trees, X[n:])[0] - y[n:]) ** 2))
        rival = RandomForestRegressor(50, max_features=1 / 3, random_state=seed).fit(X[:n], y[:n])
        theirs.append(np.mean((rival.predict(X[n:]) - y[n:]) ** 2))
    assert np.mean(ours) < factor * np.mean(theirs)


def test_leaves_are_marked_and_numbered():
    X, answers = problem(5, 30, 3)
    trees = grown(X, answers, n_labels=3, n_trees=4)
    leaves = np.sort(trees.left[trees.columns == LEAF])
    np.testing.assert_array_equal(leaves, np.arange(len(trees.values)))
