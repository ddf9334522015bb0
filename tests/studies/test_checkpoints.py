"""Checkpoints on the common axis of all runs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coalface.errors import InputError
from coalface.evaluate.checkpoints import checkpoint_costs, doubling_costs


@given(st.integers(1, 500), st.integers(1, 10**7))
def test_doublings_start_at_ten_examples_and_end_beyond_the_last(n_labels, n_examples):
    costs = checkpoint_costs("doubling", n_labels, n_examples)
    assert costs[0] == 10 * n_labels
    assert np.all(costs[1:] == 2 * costs[:-1])
    assert costs[-1] > n_labels * n_examples
    assert costs[-1] <= max(4 * n_labels * n_examples, 20 * n_labels)


@given(st.integers(1, 500), st.integers(1, 10**7))
def test_quarter_doublings_contain_the_doublings(n_labels, n_examples):
    fine = checkpoint_costs("quarter-doubling", n_labels, n_examples)
    np.testing.assert_array_equal(fine[::4], checkpoint_costs("doubling", n_labels, n_examples))
    assert np.all(np.diff(fine) > 0)
    ratios = fine[1:] / fine[:-1]
    assert np.all(np.abs(ratios - 2**0.25) <= 2.5 / fine[:-1])  # each is rounded up


@given(st.integers(0, 10**9))
def test_the_last_doubling_is_the_least_that_passes_the_data(n_examples):
    q = len(doubling_costs(1, n_examples)) - 1
    assert 10 * 2 ** (q - 1) > n_examples
    assert q == 1 or 10 * 2 ** (q - 2) <= n_examples


def test_numbers_are_taken_as_they_are():
    assert checkpoint_costs([3, 10, 11], 5, 100).tolist() == [3, 10, 11]


@pytest.mark.parametrize("bad", ["twice", [2, 1], [1, 1], [0], [-1], [0.5], [[1]], None, 3, [True]], ids=str)
def test_others_are_refused(bad):
    with pytest.raises(InputError, match=r"checkpoints must be .*got"):
        checkpoint_costs(bad, 5, 100)
