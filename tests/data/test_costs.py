"""Costs on the user's scale and on the internal scale."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from coalface.data.costs import CostScale, check_cost
from coalface.data.targets import given_costs
from coalface.errors import InputError

numbers = st.floats(-1e12, 1e12)


@st.composite
def scales(draw):
    low, high = sorted((draw(numbers), draw(numbers)))
    assume(high > low)
    return CostScale.of((low, high))


@given(scales(), st.floats(0, 1))
def test_converting_a_cost_and_back_changes_nothing(scale, share):
    cost = scale.from_unit(np.array(share))
    largest = max(abs(scale.floor), abs(scale.ceiling))
    precision = 4 * np.finfo(np.float64).eps * largest / (scale.ceiling - scale.floor)
    assert abs(scale.to_unit(cost) - share) <= precision + 1e-15


@given(scales())
def test_the_bounds_convert_exactly(scale):
    bounds = np.array([scale.floor, scale.ceiling])
    assert scale.to_unit(bounds).tolist() == [0.0, 1.0]
    assert scale.from_unit(np.array([0.0, 1.0])).tolist() == bounds.tolist()


@given(scales(), st.floats(0, 1))
def test_costs_within_the_bounds_are_taken_in_either_precision_and_stay_in_the_unit_interval(scale, share):
    cost = scale.within(scale.from_unit(np.array([[share]])))
    for array in (cost, cost.astype(np.float32)):
        unit = check_cost(array, 1, np.array(["a"]), scale)
        assert unit.dtype == np.float32
        assert 0.0 <= unit[0, 0] <= 1.0


@given(scales(), st.floats(1e-6, 10))
def test_costs_beyond_the_bounds_are_refused(scale, beyond):
    span = scale.ceiling - scale.floor
    for cost in (scale.ceiling + beyond * span, scale.floor - beyond * span):
        assume(not scale.floor <= cost <= scale.ceiling)
        with pytest.raises(InputError, match="cost of label 'b'"):
            check_cost(np.array([[np.nan, cost]]), 1, np.array(["a", "b"]), scale)


def test_unknown_costs_stay_unknown():
    unit = check_cost([[np.nan, 5.0]], 1, np.array(["a", "b"]), CostScale.of((0, 10)))
    assert np.isnan(unit[0, 0])
    assert unit[0, 1] == 0.5


@pytest.mark.filterwarnings("ignore:cost_matrix")
@given(st.lists(st.integers(0, 3), min_size=1, max_size=8))
def test_the_costs_of_class_labels(labels):
    classes = np.array(["a", "b", "c", "d"])
    names = classes[labels]
    plain = given_costs(names, None, len(names), classes, None, CostScale(0.0, 1.0))
    assert np.all((plain == 0) == (names[:, None] == classes))
    matrix = np.arange(16.0).reshape(4, 4)
    scale = CostScale(0.0, 15.0)
    np.testing.assert_array_equal(given_costs(names, None, len(names), classes, matrix, scale), matrix[labels])
