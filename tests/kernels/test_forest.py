"""Forests of randomised trees: against plain Python, their laws, and the error of scikit-learn's forests."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits, make_friedman1
from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor

from coalface.kernels import draws, forest
from coalface.kernels.forest import LEAF, Sample, Scratch, Trees, best_split, grow, read, varying_columns

from ..reference import forest as reference

SEEDS = st.integers(0, 10**6)


def new_trees(n_trees, n_drawn):
    room = 2 * n_drawn * n_trees
    numbers = np.empty(room, np.int32), np.empty(room, np.float32), np.empty(room, np.int32)
    return Trees(np.empty(n_trees, np.int32), *numbers)


def sample_of(costs, weights=None):
    weights = np.ones(len(costs), np.float32) if weights is None else weights.astype(np.float32)
    return Sample(np.arange(len(costs)), costs.astype(np.float32), weights)


def grown(X, costs, weights=None, *, n_trees=10, n_drawn=None, n_tried=None, seed=0, label=0, grow=grow):
    """The trees over rows X, with only the nodes that are used."""
    table, sample = np.ascontiguousarray(X.T, np.float32), sample_of(costs, weights)
    n_drawn, varying = n_drawn or len(costs), varying_columns(table, sample.rows)
    trees = new_trees(n_trees, n_drawn)
    n_nodes = grow(table, sample, varying, n_drawn, n_tried or max(len(varying), 1), seed, label, trees)
    return Trees(trees.roots, *(array[:n_nodes].copy() for array in trees[1:]))


def new_scratch(columns, n):
    return Scratch(columns, np.empty(n, np.float32), np.empty(n), np.empty((n + 1, 3), np.int64))


def one_tree(X, costs, weights=None, seed=0, n_tried=2):
    """A single tree over all rows, without a bootstrap."""
    table, sample, trees = np.ascontiguousarray(X.T, np.float32), sample_of(costs, weights), new_trees(1, len(costs))
    scratch, random = new_scratch(varying_columns(table, sample.rows), len(costs)), np.array([seed], np.uint64)
    n_nodes = forest.grow_tree(table, sample, len(costs), n_tried, scratch, random, trees, 0)
    trees.roots[0] = 0
    return Trees(trees.roots, *(array[:n_nodes].copy() for array in trees[1:]))


def predicted(trees, X, read=read):
    mean, variance = np.empty(len(X), np.float32), np.empty(len(X), np.float32)
    read(trees, np.ascontiguousarray(X, np.float32), mean, variance)
    return mean, variance


def leaves_of(trees, X):
    """The leaf of the first tree that each row reaches."""
    found = []
    for row in X:
        node = trees.roots[0]
        while trees.columns[node] != LEAF:
            value, child = row[trees.columns[node]], trees.left[node]
            child, missing_left = (~child, True) if child < 0 else (child, False)
            node = child if (missing_left if np.isnan(value) else value <= trees.numbers[node]) else child + 1
        found.append(int(node))
    return np.array(found)


def same(one, other):
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def problem(seed, n=40, n_columns=4, missing=0.0, ties=True):
    random = np.random.default_rng(seed)
    X = random.integers(-3, 4, (n, n_columns)) if ties else random.normal(size=(n, n_columns))
    X = np.where(random.random(X.shape) < missing, np.nan, X).astype(np.float32)
    costs = random.choice([0.0, 0.25, 1.0], n) if seed % 2 else random.random(n)
    return X, costs.astype(np.float32), random.integers(1, 5, n).astype(np.float32) / 2


@given(SEEDS, st.sampled_from([0.0, 0.2, 0.9]), st.booleans(), st.integers(1, 30), st.integers(1, 4))
def test_trees_are_those_of_the_plain_reference(seed, missing, ties, n, n_tried):
    X, costs, weights = problem(seed, n, 4, missing, ties)
    n_drawn = max(n - seed % 3, 1)
    table = np.ascontiguousarray(X.T)
    plain = reference.grown_forest(table, costs, weights, 4, n_drawn, n_tried, seed, label=seed % 7)
    trees = grown(X, costs, weights, n_trees=4, n_drawn=n_drawn, n_tried=n_tried, seed=seed, label=seed % 7)
    tests = np.concatenate([X, problem(seed + 1, 20, 4, missing, ties)[0]])
    each = np.array([[reference.read_tree(tree, row) for tree in plain] for row in tests])
    mean, variance = predicted(trees, tests)
    np.testing.assert_allclose(mean, each.mean(axis=1), atol=1e-7)
    np.testing.assert_allclose(variance, each.var(axis=1), atol=1e-7)


@given(SEEDS, st.sampled_from([0.0, 0.2]))
@settings(max_examples=10)
def test_machine_code_does_what_the_python_text_says(seed, missing):
    X, costs, weights = problem(seed, 20, 3, missing)
    compiled = grown(X, costs, weights, n_trees=3, n_tried=2, seed=2**61 + seed)
    means = predicted(compiled, X)
    varying = varying_columns(np.ascontiguousarray(X.T), np.arange(20))
    with pytest.MonkeyPatch.context() as patch, np.errstate(over="ignore"):  # integers wrap around, as they should
        for module in (draws, forest):
            for name, function in vars(module).copy().items():
                if hasattr(function, "py_func"):
                    patch.setattr(module, name, function.py_func)
        python = grown(X, costs, weights, n_trees=3, n_tried=2, seed=2**61 + seed, grow=forest.grow)
        assert same(python, compiled)
        assert same(predicted(compiled, X, forest.read), means)
        np.testing.assert_array_equal(forest.varying_columns(np.ascontiguousarray(X.T), np.arange(20)), varying)


@given(SEEDS, st.sampled_from([0.0, 0.3]), st.booleans())
def test_leaves_divide_the_sample_and_have_the_weighted_means_of_their_rows(seed, missing, ties):
    X, costs, weights = problem(seed, 30, 3, missing, ties)
    trees = one_tree(X, costs, weights, seed)
    leaves = leaves_of(trees, X)
    assert set(leaves) == set(np.flatnonzero(trees.columns == LEAF))  # none is empty
    for leaf in set(leaves):
        there = leaves == leaf
        assert trees.numbers[leaf] == pytest.approx(np.average(costs[there], weights=weights[there]), abs=1e-6)
        alike = np.array([np.array_equal(row, X[there][0], equal_nan=True) for row in X[there]])
        assert len(set(costs[there])) == 1 or alike.all()  # split until nothing is left to tell apart


@given(SEEDS, st.sampled_from([0.0, 0.3]))
def test_only_the_order_of_a_columns_values_matters(seed, missing):
    X, costs, weights = problem(seed, 30, 3, missing, ties=seed % 3 > 0)
    other = np.stack([np.exp(X[:, 0]), 1e30 * X[:, 1], X[:, 2] ** 3 - 1], axis=1).astype(np.float32)
    one, two = grown(X, costs, weights, seed=seed), grown(other, costs, weights, seed=seed)
    for name in ("roots", "columns", "left"):
        np.testing.assert_array_equal(getattr(two, name), getattr(one, name), err_msg=name)
    one, two = one_tree(X, costs, weights, seed), one_tree(other, costs, weights, seed)
    np.testing.assert_array_equal(predicted(two, other)[0], predicted(one, X)[0])


@given(SEEDS, st.sampled_from([0.0, 7.5, np.nan]))
def test_a_constant_column_changes_nothing_wherever_it_stands(seed, constant):
    X, costs, weights = problem(seed, 30, 3)
    wide = np.insert(X, seed % 4, np.float32(constant), axis=1)
    one, two = (grown(rows, costs, weights, n_tried=1, seed=seed) for rows in (X, wide))
    used, place = two.columns, seed % 4
    assert not (used == place).any()
    np.testing.assert_array_equal(np.where(used > place, used - 1, used), one.columns)
    assert same((one.roots, one.numbers, one.left), (two.roots, two.numbers, two.left))


def test_without_a_column_that_varies_a_tree_is_its_mean():
    X, costs = np.full((8, 2), 3.0), np.linspace(0, 1, 8)
    mean, variance = predicted(one_tree(X, costs), X)
    assert mean.tolist() == [0.5] * 8
    assert variance.tolist() == [0.0] * 8


def test_missing_values_all_go_to_the_side_that_fits_better():
    X = np.array([[1.0], [2.0], [np.nan], [np.nan]])
    for low, high, missing in ((0.0, 1.0, 1.0), (0.0, 1.0, 0.0)):
        trees = one_tree(X, np.array([low, high, missing, missing]))
        assert len(trees.columns) == 3  # one split tells all
        assert predicted(trees, np.array([[0.0], [9.0], [np.nan]]))[0].tolist() == [low, high, missing]
    only = one_tree(np.array([[1.0], [1.0], [np.nan]]), np.array([0.25, 0.25, 1.0]))
    assert predicted(only, np.array([[1.0], [np.nan]]))[0].tolist() == [0.25, 1.0]


def test_missing_values_that_explain_nothing_leave_no_side_empty():
    X = np.array([[np.nan], [1.0]] * 4)
    for seed in range(100):
        random = np.random.default_rng(seed)
        costs, weights = random.random(4), 10.0 ** random.uniform(-9, 3, 4)  # sums of such weights are rounded
        both = np.stack([random.permutation(4), random.permutation(4)], axis=1).ravel()
        trees = one_tree(X, costs[both], weights[both], seed)
        assert len(trees.columns) <= 3
        assert np.isfinite(trees.numbers).all()


@given(SEEDS, st.sampled_from([0.0, 0.3]))
def test_predictions_lie_within_the_costs(seed, missing):
    X, costs, weights = problem(seed, 25, 3, missing)
    mean, variance = predicted(grown(X, costs, weights, seed=seed), 100 * problem(seed + 1, 50, 3, missing)[0])
    assert mean.min() >= costs.min() - 1e-6
    assert mean.max() <= costs.max() + 1e-6
    assert variance.max() <= (costs.max() - costs.min()) ** 2 / 4 + 1e-6


def test_seed_label_and_number_of_answers_decide_the_trees():
    X, costs, _ = problem(3, 40, ties=False)
    assert same(grown(X, costs, seed=5, label=2), grown(X, costs, seed=5, label=2))
    firsts = [grown(X, costs, **other) for other in ({}, {"seed": 1}, {"label": 1})] + [grown(X[:39], costs[:39])]
    roots = [(trees.columns[:20].tolist(), trees.numbers[:20].tolist()) for trees in firsts]
    assert all(roots[i] != roots[j] for i in range(4) for j in range(i))


def test_values_at_the_ends_of_single_precision_are_told_apart():
    largest = np.finfo(np.float32).max
    for values in ([-largest, largest], [0.0, 1e-45], [-largest, -1e-45, 0.0, largest]):
        X, costs = np.array(values)[:, None], np.arange(len(values)) / 4
        np.testing.assert_array_equal(predicted(one_tree(X, costs), X)[0], costs)


@given(SEEDS, st.integers(1, 12))
def test_fewer_draws_than_answers_give_smaller_trees_over_answers_that_were_drawn(seed, n_drawn):
    X, costs, _ = problem(2 * seed, 60, ties=False)
    trees = grown(X, costs, n_drawn=n_drawn, n_trees=5, seed=seed)
    assert (np.diff([*trees.roots, len(trees.columns)]) <= 2 * n_drawn - 1).all()
    assert set(trees.numbers[trees.columns == LEAF]) <= set(costs)  # costs differ, so leaves are single answers


def test_an_answer_of_weight_three_counts_like_three_answers():
    X, costs, _ = problem(1, 12, 1)
    X = np.sign(X)  # few different rows, so that leaves have several answers
    weights = np.where(np.arange(12) < 3, 3.0, 1.0)
    often = np.repeat(np.arange(12), weights.astype(int))
    one, three = one_tree(X, costs, weights, n_tried=2), one_tree(X[often], costs[often], n_tried=2)
    np.testing.assert_allclose(predicted(one, X)[0], predicted(three, X)[0], atol=1e-6)  # leaves of equal rows


@given(SEEDS)
def test_with_enough_draws_a_split_is_the_best_there_is(seed):
    X, costs, weights = problem(seed, 12, 2)
    X = np.sign(X)  # at most two thresholds per column
    table, sample = np.ascontiguousarray(X.T), sample_of(costs, weights)
    items = [(i, float(costs[i]), float(weights[i])) for i in range(12)]
    fits = {
        (j, value): reference.explained(items, [item for item in items if X[item[0], j] <= value])
        for j in range(2)
        for value in np.unique(X[:, j])[:-1]
    }
    scratch, total = new_scratch(np.arange(2), 12), reference.weighted_sums(items)
    scratch.products[:] = weights.astype(np.float64) * costs
    found = []
    for start in range(50):
        scratch.columns[:] = np.arange(2)
        column, threshold, _ = best_split(table, sample, 0, 12, total, 2, scratch, np.array([start], np.uint64))
        found.append(fits[column, threshold])
    assert max(found) == max(fits.values())
    assert np.mean(found) > np.mean(list(fits.values())) or len(set(fits.values())) == 1


def friedman(seed, n):
    X, y = make_friedman1(n + 1000, 10, noise=1.0, random_state=seed)
    return X, (y - y.min()) / (y.max() - y.min())


def digits(seed, n):
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(seed).permutation(len(y))[: n + 1000]
    return X[order], (y[order] != 3).astype(float)


@pytest.mark.parametrize(
    ("data", "kind", "factor"),
    [
        (friedman, RandomForestRegressor, 1.1),
        (friedman, ExtraTreesRegressor, 1.1),
        (digits, RandomForestRegressor, 1.1),
        (digits, ExtraTreesRegressor, 1.4),  # its trees see all rows; ours a bootstrap each, to learn how sure they are
    ],
)
def test_the_error_is_near_that_of_scikit_learns_forests(data, kind, factor):
    n, ours, theirs = 400, [], []
    for seed in range(2):
        X, y = data(seed, n)
        trees = grown(X[:n], y[:n], n_trees=50, n_tried=-(-X.shape[1] // 3), seed=seed)
        ours.append(np.mean((predicted(trees, X[n:])[0] - y[n:]) ** 2))
        rival = kind(50, max_features=1 / 3, random_state=seed).fit(X[:n], y[:n])
        theirs.append(np.mean((rival.predict(X[n:]) - y[n:]) ** 2))
    assert np.mean(ours) < factor * np.mean(theirs)
