"""The range of a cost as a value, and the weight of an imaginary example."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from coalface import CostRanges
from coalface.kernels.ranges import pull_each

positive = st.floats(2.0**-10, 2.0**10, width=32)


def pull_weight(gap, sensitivity, loss_slack):
    """The largest weight of an imaginary example, ``gap`` away, that the slack allows."""
    gaps, rates, slacks = np.broadcast_arrays(
        np.asarray(gap, np.float32), np.asarray(sensitivity, np.float32), np.asarray(loss_slack, np.float32)
    )
    moves = np.empty(gaps.size, np.float32)
    pull_each(np.ascontiguousarray(gaps).ravel(), np.ascontiguousarray(slacks * rates).ravel(), moves)
    return np.asarray(moves.reshape(gaps.shape) / rates)


@given(st.floats(2.0**-10, 1, width=32), positive, positive)
def test_the_weight_is_the_largest_that_the_slack_allows(gap, sensitivity, loss_slack):
    weight = float(pull_weight(gap, sensitivity, loss_slack))

    def excused(w):
        return w * (gap**2 - (gap - sensitivity * w) ** 2)

    assert 0 <= weight <= gap / sensitivity * (1 + 1e-6)
    assert excused(weight) <= loss_slack * (1 + 1e-4)
    if weight < gap / sensitivity * (1 - 1e-6):
        assert excused(weight * (1 + 1e-3)) > loss_slack * (1 - 1e-4)


def test_it_works_on_arrays_of_any_shape():
    gaps = np.linspace(0.1, 1, 6).reshape(2, 3)
    together = pull_weight(gaps, 0.5, 0.01)
    assert together.shape == (2, 3)
    assert together[1, 2] == pull_weight(gaps[1, 2], 0.5, 0.01)


@given(st.integers(1, 5), st.integers(1, 5), st.integers(0, 1000))
def test_width_and_guaranteed_cost(n, k, seed):
    lowest, highest = np.sort(np.random.default_rng(seed).random((2, n, k)), axis=0)
    ranges = CostRanges(lowest, highest)
    assert np.all(ranges.width >= 0)
    for i in range(n):
        assert ranges.guaranteed_cost[i] == min(highest[i])
