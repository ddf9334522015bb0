"""Costs that answers imply: against plain NumPy, right where costs follow from a true label, and silent elsewhere."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coalface.kernels import implied_costs
from coalface.kernels.implied_costs import Due, no_implications, store_until_due

from ..reference.implied_costs import ReferenceFillIn

SEEDS = st.integers(0, 10**6)
NEVER = 10**9


def stored(given_costs, implications=None, store=store_until_due):
    """The costs with what they imply."""
    n, n_labels = given_costs.shape
    implications = no_implications(n_labels) if implications is None else implications
    filled, counts = np.empty((n, n_labels), np.float32), np.zeros(n_labels, np.int64)
    due = Due(NEVER, NEVER, np.full(n_labels, NEVER), False)
    assert store(implications, given_costs, filled, counts, due) == n
    np.testing.assert_array_equal(counts, (~np.isnan(filled)).sum(axis=0))
    return filled


def some_of(cost, random, n_answers):
    """Costs of so many random labels per row; the one of least cost is among them half of the time."""
    answered = random.random(cost.shape).argsort(axis=1) < n_answers
    rows = np.flatnonzero(random.random(len(cost)) < 0.5)
    answered[rows, cost[rows].argmin(axis=1)] = True
    return np.where(answered, cost, np.float32(np.nan))


def right_or_wrong(random, n, n_labels):
    return 1 - np.eye(n_labels, dtype=np.float32)[random.integers(0, n_labels, n)]


def by_matrix(random, n, n_labels):
    """Costs above 0.2 by true label, 0 for that label itself."""
    matrix = random.uniform(0.2, 1, (n_labels, n_labels)).astype(np.float32)
    np.fill_diagonal(matrix, 0)
    return matrix[random.integers(0, n_labels, n)]


@given(SEEDS, st.integers(1, 6), st.sampled_from(["right or wrong", "matrix", "levels", "any"]))
@settings(max_examples=30)
def test_state_and_costs_are_those_of_the_plain_reference(seed, n_labels, kind):
    random, n = np.random.default_rng(seed), 60
    cost = {
        "right or wrong": right_or_wrong(random, n, n_labels),
        "matrix": by_matrix(random, n, n_labels),
        "levels": np.float32(random.integers(0, 9, (n, n_labels)) / 8),
        "any": random.random((n, n_labels), np.float32),
    }[kind]
    answers, implications, plain = some_of(cost, random, 3), no_implications(n_labels), ReferenceFillIn(n_labels)
    filled, expected = stored(answers, implications), []
    for costs in answers:
        plain.learn(costs)
        expected.append(plain.filled(costs))
    np.testing.assert_allclose(filled, expected, atol=1e-5)
    for (level, source, label), costs in plain.pairs.items():
        assert implications.pairs[level, source, label] == pytest.approx([len(costs), np.mean(costs or 0)], abs=1e-5)
    for tests, of_plain in ((implications.pair_tests, plain.pair_tests), (implications.level_tests, plain.level_tests)):
        for level, found in of_plain.items():
            errors, others, own_errors = np.array(found).reshape(-1, 3).T
            sums = [errors.sum(), len(found), others.sum(), own_errors.sum()]
            assert tests[level] == pytest.approx(sums, abs=1e-4)


@given(SEEDS)
@settings(max_examples=5)
def test_machine_code_does_what_the_python_text_says(seed):
    random = np.random.default_rng(seed)
    answers = some_of(by_matrix(random, 60, 4), random, 3)
    implications, again = no_implications(4), no_implications(4)
    filled = stored(answers, implications)
    with pytest.MonkeyPatch.context() as patch:
        for name, function in vars(implied_costs).copy().items():
            if hasattr(function, "py_func"):
                patch.setattr(implied_costs, name, function.py_func)
        np.testing.assert_array_equal(stored(answers, again, implied_costs.store_until_due), filled)
    for one, other in zip(implications, again, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("n_labels", [2, 3, 10, 40, 100, 300])
@pytest.mark.parametrize("n_answers", [2, 5, 20])
def test_where_one_label_is_right_implied_costs_are_never_wrong(n_labels, n_answers):
    n_implied = 0
    for seed in range(3):
        random = np.random.default_rng(seed)
        cost = right_or_wrong(random, 800, n_labels)
        answers = some_of(cost, random, n_answers)
        implied = np.isnan(answers) & ~np.isnan(filled := stored(answers))
        np.testing.assert_array_equal(filled[implied], cost[implied])
        n_implied += implied[-200:].sum()
    assert n_implied > 0 or n_labels <= n_answers or n_labels > 50 * n_answers


def test_once_trusted_the_right_label_implies_all_others():
    random = np.random.default_rng(0)
    cost = right_or_wrong(random, 400, 10)
    answers = some_of(cost, random, 2)
    filled = stored(answers)
    found = (answers == 0).any(axis=1)
    assert not np.isnan(filled[300:][found[300:]]).any()
    assert np.isnan(filled[300:][~found[300:]]).any(axis=1).all()  # wrong labels imply nothing


def test_costs_by_true_label_are_implied_by_the_label_of_cost_0():
    for seed in range(5):
        random = np.random.default_rng(seed)
        cost = by_matrix(random, 1500, 8)
        answers = some_of(cost, random, 4)
        filled = stored(answers)
        implied = np.isnan(answers) & ~np.isnan(filled)
        by_best = implied & (answers == 0).any(axis=1)[:, None]
        by_best[:500] = False
        assert by_best.sum() > 1000
        first = (answers == 0).argmax(axis=1) == np.argmax(~np.isnan(answers), axis=1)  # else another label may imply
        np.testing.assert_allclose(filled[by_best & first[:, None]], cost[by_best & first[:, None]], atol=1e-6)
        assert np.mean((filled - cost)[implied] ** 2) < 0.02


@given(SEEDS, st.integers(2, 20), st.integers(2, 20))
@settings(max_examples=20)
def test_costs_that_have_nothing_to_do_with_each_other_imply_nothing(seed, n_labels, n_answers):
    random = np.random.default_rng(seed)
    answers = some_of(random.random((300, n_labels), np.float32), random, n_answers)
    np.testing.assert_array_equal(stored(answers), answers)


def test_costs_that_are_all_the_same_imply_nothing():
    answers = some_of(np.full((300, 5), 0.5, np.float32), np.random.default_rng(0), 2)
    np.testing.assert_array_equal(stored(answers), answers)


def test_a_label_never_seen_takes_the_average_over_all_pairs():
    cost = right_or_wrong(np.random.default_rng(0), 200, 6)
    answers = cost[cost[:, 5] > 0]
    answers[:, 5] = np.nan
    filled = stored(answers)
    assert np.isnan(filled[0, 5])
    assert (filled[-50:, 5] == 1).all()


@given(SEEDS, st.integers(1, 4), st.booleans())
def test_storing_stops_with_the_first_row_that_makes_the_model_due(seed, n_labels, firsts):
    random, n = np.random.default_rng(seed), 40
    cost = np.where(random.random((n, n_labels)) < 0.5, np.float32(0.5), np.float32(np.nan))
    counts, doubled = random.integers(0, 3, n_labels), random.integers(3, 12, n_labels)
    total, some = int(random.integers(8, 80)), int(random.integers(4, 40))
    before, filled = counts.copy(), np.full((n, n_labels), -1, np.float32)
    done = store_until_due(no_implications(0), cost, filled, counts, Due(total, some, doubled, firsts))
    so_far = before + np.cumsum(~np.isnan(cost), axis=0)
    sums = so_far.sum(axis=1)
    first = (so_far == 1) & ~np.isnan(cost)
    is_due = (sums >= total) | ((sums >= some) & (so_far >= doubled).any(axis=1)) | (firsts & first.any(axis=1))
    due = np.flatnonzero(is_due)
    assert done == (due[0] + 1 if len(due) else n)
    np.testing.assert_array_equal(counts, so_far[done - 1])
    np.testing.assert_array_equal(filled[:done], cost[:done])
    assert (filled[done:] == -1).all()


def test_without_room_for_implications_nothing_is_implied():
    cost = right_or_wrong(np.random.default_rng(0), 300, 4)
    answers = some_of(cost, np.random.default_rng(1), 2)
    np.testing.assert_array_equal(stored(answers, no_implications(0)), answers)
    assert not np.array_equal(stored(answers), answers, equal_nan=True)


@pytest.mark.parametrize("n_labels", [2, 3, 10])
@pytest.mark.parametrize("kind", ["narrow", "seldom right", "seldom wrong"])
def test_costs_that_hardly_vary_are_not_implied(kind, n_labels):
    random = np.random.default_rng(n_labels)
    shape = (600, n_labels)
    cost = {
        "narrow": random.normal(0.5, 0.05, shape).clip(0, 1),
        "seldom right": (random.random(shape) > 0.01).astype(float),
        "seldom wrong": (random.random(shape) < 0.01).astype(float),
    }[kind].astype(np.float32)
    answers = some_of(cost, random, 2)
    assert (np.isnan(stored(answers, no_implications(n_labels))) == np.isnan(answers)).all()
