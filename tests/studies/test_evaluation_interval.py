"""The 95 % interval of a mean: how often it holds, and that it is Wilson's for 0/1 costs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from coalface.data.costs import CostScale
from coalface.evaluate.report import estimated_mean

UNIT = CostScale(0.0, 1.0)
DRAWS = 600


def zero_one(chance):
    return lambda random, shape: (random.random(shape) < chance).astype(float)


def rare(chance):
    return lambda random, shape: (random.random(shape) < chance) * random.random(shape)


COSTS = {  # how costs are drawn, and their mean
    "0/1, half": (zero_one(0.5), 0.5),
    "0/1, few": (zero_one(0.05), 0.05),
    "any": (lambda random, shape: random.random(shape), 0.5),
    "skewed": (lambda random, shape: random.beta(0.5, 4, shape), 0.5 / 4.5),
    "within a small part of the scale": (lambda random, shape: 0.05 + 0.02 * random.random(shape), 0.06),
    "rare and of any size": (rare(0.1), 0.05),
}


@pytest.mark.parametrize("n", [12, 50, 300])
@pytest.mark.parametrize("kind", COSTS)
def test_it_holds_the_mean_about_95_times_of_100(kind, n):
    draw, mean = COSTS[kind]
    found = [estimated_mean(row, UNIT) for row in draw(np.random.default_rng(n), (DRAWS, n))]
    held = np.mean([one.low <= mean <= one.high for one in found])
    assert held > 0.9
    if n == 300:
        assert held < 0.985  # it is not merely wide


def test_no_mistake_is_not_proof_of_none_while_a_normal_interval_says_so():
    random = np.random.default_rng(0)
    rows = zero_one(0.02)(random, (DRAWS, 50))
    held = np.mean([(one := estimated_mean(row, UNIT)).low <= 0.02 <= one.high for row in rows])
    error = 2.01 * rows.std(axis=1, ddof=1) / 50**0.5
    normal = np.mean(np.abs(rows.mean(axis=1) - 0.02) <= error)
    assert normal < 0.7
    assert held > 0.9


@pytest.mark.parametrize(("k", "n"), [(0, 400), (3, 400), (200, 400), (400, 400)])
def test_for_zero_one_costs_it_is_the_interval_of_wilson(k, n):
    found = estimated_mean(np.repeat([1.0, 0.0], [k, n - k]), UNIT)
    wilson = binomtest(k, n).proportion_ci(method="wilson")
    assert (found.low, found.high) == (pytest.approx(wilson.low, abs=3e-4), pytest.approx(wilson.high, abs=3e-4))


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_it_lies_within_the_bounds_around_the_mean(values):
    found = estimated_mean(np.array(values), UNIT)
    assert 0 <= found.low <= found.mean + 1e-9
    assert found.mean - 1e-9 <= found.high <= 1


@given(st.lists(st.integers(0, 16), min_size=1, max_size=30), st.floats(-5, 5), st.floats(0.1, 9))
def test_it_moves_with_the_scale(values, floor, width):
    shares, scale = np.array(values) / 16, CostScale(floor, floor + width)
    unit, scaled = estimated_mean(shares, UNIT), estimated_mean(scale.from_unit(shares), scale)
    for end in ("low", "high", "mean"):
        assert getattr(scaled, end) == pytest.approx(floor + width * getattr(unit, end), abs=1e-6)


def test_one_row_says_nothing_about_the_mean():
    found = estimated_mean(np.array([0.3]), UNIT)
    assert (found.mean, found.low, found.high, found.rows) == (0.3, 0.0, 1.0, 1)
