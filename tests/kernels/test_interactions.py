"""The products of a row, and the numbers of their features."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from coalface.data.rows import check_rows
from coalface.kernels.features import INTERCEPT
from coalface.kernels.interactions import append_products, product_feature
from coalface.kernels.state import new_scratch
from coalface.models.interactions import column_ranges, most_products
from coalface.models.online import OnlineModel
from tests.models.test_contract import settings
from tests.reference.interactions import pairs_of

UNSEEN_SLOT = np.iinfo(np.int32).min
EXACT = 65_535  # columns
any_column = st.integers(0, 2**31 - 2)
WIDTH = 12
RANGES = [2, [((0, 5), (5, 12))], [((3, 9), (3, 9)), ((0, 3), (9, 10))], [((5, 100), (0, 2))]]


@given(st.integers(0, EXACT - 1), st.integers(0, EXACT - 1))
def test_the_pair_of_small_columns_can_be_told_from_its_number(one, other):
    low, high = min(one, other), max(one, other)
    place = -2 - product_feature(low, high)
    root = (math.isqrt(8 * place + 1) - 1) // 2
    assert (place - root * (root + 1) // 2, root) == (low, high)


@given(any_column, any_column)
def test_a_number_is_that_of_no_column_nor_of_the_intercept_nor_of_the_unseen_slot(one, other):
    low, high = min(one, other), max(one, other)
    number = product_feature(low, high)
    assert UNSEEN_SLOT < number < INTERCEPT
    assert number == product_feature(np.int32(low), np.int32(high)) == product_feature.py_func(low, high)


def test_numbers_of_large_columns_collide_as_rarely_as_random_ones():
    columns = np.sort(np.random.default_rng(0).choice(2**31 - 1, 400, replace=False))
    regular = 1_000_000 + 4096 * np.arange(400)
    for some in (columns, regular):
        numbers = {product_feature(int(low), int(high)) for k, high in enumerate(some) for low in some[: k + 1]}
        assert 400 * 401 // 2 - len(numbers) <= 10  # by chance alone: 1.5


def row_of(row, ranges, intercept):
    """A gathered row: the features, then the intercept."""
    columns = np.flatnonzero(row)
    scratch = new_scratch(3, len(row) + 1 + most_products(column_ranges(ranges), len(row)))
    n = len(columns) + intercept
    scratch.columns[:n] = np.append(columns, INTERCEPT)[:n]
    scratch.sizes[:n] = np.append(np.abs(row[columns]), 1.0)[:n]
    scratch.values[:n] = np.append(np.sign(row[columns]), 1.0)[:n]
    return scratch, n


numbers = st.sampled_from([0.0, 0.0, 1.0, -2.0, 0.3, -1e30, 1e-30, 3e38])


@given(st.lists(numbers, min_size=WIDTH, max_size=WIDTH), st.sampled_from(RANGES), st.booleans(), st.booleans())
def test_the_products_are_those_of_the_table(row, ranges, intercept, learned):
    row = np.array(row, np.float32)
    model = OnlineModel(interactions=ranges).begin(3, settings())
    if learned:  # units and slots of features that are known already
        model.learn(check_rows(np.ones((1, WIDTH))), np.zeros((1, 3), np.float32), settings(), 1)
        model.learn(check_rows(np.ones((1, WIDTH))), np.ones((1, 3), np.float32), settings(), 2)
    lines = []
    for append in (append_products, append_products.py_func):
        scratch, n = row_of(row, ranges, intercept)
        with np.errstate(over="ignore", under="ignore"):
            end = append(model.state, settings(model=OnlineModel(fit_intercept=intercept)), scratch, n)
        lines.append([array[n:end] for array in (scratch.columns, scratch.sizes, scratch.values, scratch.slots)])
    for compiled, python in zip(*lines, strict=True):
        np.testing.assert_array_equal(compiled, python)
    wanted = [(i, j, float(row[i]) * float(row[j])) for i, j in pairs_of(ranges, WIDTH)]
    wanted = [(i, j, value) for i, j, value in wanted if np.float32(min(abs(value), 1e38)) != 0]
    columns, sizes, values, slots = lines[0]
    assert columns.tolist() == [-2 - (j * (j + 1) // 2 + i) for i, j, _ in wanted]
    largest = float(np.finfo(np.float32).max)
    np.testing.assert_array_equal(sizes, np.array([min(abs(value), largest) for *_, value in wanted], np.float32))
    np.testing.assert_array_equal(np.sign(values), np.sign([value for *_, value in wanted]))
    assert (slots > 0).all() if learned else (slots == 0).all()
    assert np.isfinite(values).all()


def test_no_row_has_more_products_than_memory_is_made_for():
    random = np.random.default_rng(1)
    for ranges in RANGES:
        for share in (0.2, 0.7, 1.0):
            row = (random.random(WIDTH) < share).astype(np.float32)
            scratch, n = row_of(row, ranges, True)
            state = OnlineModel(interactions=ranges).begin(3, settings()).state
            made = append_products(state, settings(), scratch, n) - n
            assert made <= most_products(column_ranges(ranges), n - 1)
            if ranges == 2:
                assert made == most_products(column_ranges(ranges), n - 1)
