"""How far a cost may lie from its prediction: the root of a cubic."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coalface.kernels.ranges import printed_slack, pull_each, summed_slack
from coalface.models.exact.schedule import Schedule

unit = st.floats(0, 1, width=32)
budgets = st.one_of(unit, st.floats(0, 2.0**-20, width=32), st.floats(0, 2.0**100, width=32))
EPSILON = float(np.finfo(np.float32).eps)


def pull(gap, budget):
    gaps, budgets_, out = (np.array([number], np.float32) for number in (gap, budget, np.nan))
    pull_each(gaps, budgets_, out)
    return float(out[0])


def exact(gap, budget):
    """The root in double precision, by halving."""
    if gap**3 <= budget:
        return gap
    below, above = 0.0, gap
    for _ in range(200):
        middle = (below + above) / 2
        below, above = (middle, above) if middle**2 * (2 * gap - middle) <= budget else (below, middle)
    return below


@given(st.floats(2.0**-20, 1, width=32), st.floats(0, 1, width=32))
def test_it_is_the_root_to_single_precision(gap, share):
    budget = float(np.float32(gap**3 * share))
    root = exact(gap, budget)
    # Next to the end of the scale the cubic is steep enough, next to 0 the root itself is relative to its size.
    assert abs(pull(gap, budget) - root) <= 8 * EPSILON * gap


@given(unit, budgets)
def test_it_lies_between_nothing_and_the_gap(gap, budget):
    assert 0.0 <= pull(gap, budget) <= gap


@given(unit, budgets)
def test_it_is_the_whole_gap_if_the_slack_allows_everything(gap, budget):
    clearly = gap**3 * (1 + 4 * EPSILON) <= budget and (gap > 2.0**-30 or budget > 2.0**-90)
    if clearly:
        assert pull(gap, budget) == gap


@given(unit, budgets, budgets)
def test_a_larger_budget_never_pulls_less(gap, one, other):
    less, more = sorted((one, other))
    assert pull(gap, less) <= pull(gap, more) + 4 * EPSILON * gap


@given(unit)
def test_a_budget_of_zero_pulls_nothing_and_nan_the_whole_gap(gap):
    assert pull(gap, 0.0) == 0.0
    assert pull(gap, np.inf) == gap
    assert pull(gap, np.nan) == gap


def test_a_whole_grid_agrees_with_halving_in_double_precision():
    gap, share = np.meshgrid(np.linspace(1e-3, 1, 200), np.linspace(0, 1.2, 1000))
    gap, share = gap.ravel().astype(np.float32), share.ravel()
    budget = (gap.astype(np.float64) ** 3 * share).astype(np.float32)
    out = np.empty_like(gap)
    pull_each(gap, budget, out)
    g, b = gap.astype(np.float64), budget.astype(np.float64)
    below, above = np.zeros_like(g), g.copy()
    for _ in range(50):
        middle = (below + above) / 2
        enough = middle**2 * (2 * g - middle) <= b
        below, above = np.where(enough, middle, below), np.where(enough, above, middle)
    assert np.max(np.abs(out - np.where(g**3 <= b, g, below)) / g) <= 8 * EPSILON


@pytest.mark.parametrize(("n_labels", "round_number", "counted"), [(4, 11, 40), (1, 11, 20), (4, 1, 4), (4, 2, 4)])
def test_the_summed_slack_is_a_logarithm_and_one_label_counts_as_two(n_labels, round_number, counted):
    settings = SimpleNamespace(n_labels=n_labels, mellowness=0.01)
    assert summed_slack.py_func(settings, round_number) == pytest.approx(0.01 * np.log(counted))


@pytest.mark.parametrize(("features", "past"), [(3, 1), (3, 50), (20, 1000)])
def test_the_printed_slack_is_that_of_the_exact_schedule(features, past):
    settings = SimpleNamespace(n_labels=4, mellowness=0.5)
    nu = Schedule(n_labels=4, dimension=features, failure_probability=0.05).log_factor(past)
    assert printed_slack.py_func(settings, features, past + 1) == pytest.approx(0.5 * float(nu) / past)
