"""How far a cost may lie from its prediction: the root of a cubic."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coalface.kernels.codes import DERIVATIVE, NOISE_SCALED, PRINTED, PUBLISHED, SHADOW
from coalface.kernels.ranges import bound_costs, printed_slack, pull_each, summed_slack
from coalface.kernels.state import SLACK_FACTOR, SLOTS_USED
from coalface.paper.schedule import Schedule

from .decisions import counts_of, scratch_of, settings_of

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
    params = SimpleNamespace(n_labels=n_labels, mellowness=0.01)
    assert summed_slack.py_func(params, round_number) == pytest.approx(0.01 * np.log(counted))


@pytest.mark.parametrize(("features", "past"), [(3, 1), (3, 50), (20, 1000)])
def test_the_printed_slack_is_that_of_the_exact_schedule(features, past):
    params = SimpleNamespace(n_labels=4, mellowness=0.5)
    nu = Schedule(n_labels=4, dimension=features, failure_probability=0.05).log_factor(past)
    assert printed_slack.py_func(params, features, past + 1) == pytest.approx(0.5 * float(nu) / past)


# -- the ranges of one row

K = 4
ROUND_NUMBER, SLOTS = 9, 6
predictions = st.lists(st.floats(-0.25, 1.25, width=32), min_size=K, max_size=K)
sensitivities = st.lists(st.sampled_from([0.0, 1e-4, 0.03, 0.5, 40.0, np.inf, np.nan]), min_size=K, max_size=K)
residuals = st.lists(st.sampled_from([0.0, 0.25, 3.0]), min_size=K, max_size=K)
answered = st.lists(st.integers(0, 5), min_size=K, max_size=K)


def expected_ranges(predicted, sensitivity, slack, directed):
    """The ends by halving, in double precision: full if the sensitivity is not finite."""
    lowest, highest = np.zeros(K), np.ones(K)
    for k in np.flatnonzero(np.isfinite(sensitivity)):
        p = min(max(predicted[k], 0.0), 1.0)
        down, up = p, 1 - p
        lowest[k] = p - exact(down, sensitivity[k] * slack[k] * (2 * down if directed else 1))
        highest[k] = p + exact(up, sensitivity[k] * slack[k] * (2 * up if directed else 1))
    return lowest, highest


@settings(max_examples=200)
@given(
    predictions,
    sensitivities,
    residuals,
    answered,
    st.sampled_from([PUBLISHED, NOISE_SCALED, PRINTED]),
    st.sampled_from([SHADOW, DERIVATIVE]),
    st.sampled_from([1.0, 0.25, 7.0]),
)
def test_the_range_of_a_row_is_where_an_imagined_example_uses_up_the_slack(
    predicted, sensitivity, squared, n_answers, slack, kind, factor
):
    scratch = scratch_of(np.zeros(K), np.zeros(K), predicted=predicted, sensitivity=sensitivity)
    scratch.pacing[SLACK_FACTOR] = factor
    counts = counts_of(K, squared_residuals=squared, answered=n_answers)
    counts.counters[SLOTS_USED] = SLOTS
    bound_costs(counts, settings_of(K, slack=slack, sensitivity=kind), scratch, ROUND_NUMBER)
    allowed = factor * 0.1 * np.log(K * (ROUND_NUMBER - 1)) * np.ones(K)
    if slack == NOISE_SCALED:
        allowed *= (1 + np.array(squared)) / (1 + np.array(n_answers))
    if slack == PRINTED:
        nu = Schedule(n_labels=K, dimension=SLOTS - 1, failure_probability=0.05).log_factor(ROUND_NUMBER - 1)
        allowed = factor * 0.1 * float(nu) / (ROUND_NUMBER - 1) * np.ones(K)
    lowest, highest = expected_ranges(predicted, sensitivity, allowed, kind == DERIVATIVE)
    np.testing.assert_allclose(scratch.lowest[:K], lowest, atol=2e-6)
    np.testing.assert_allclose(scratch.highest[:K], highest, atol=2e-6)


@pytest.mark.parametrize(
    ("round_number", "full"), [(1, [True] * 3), (2, [False, False, True]), (9, [False, False, True])]
)
def test_the_first_round_and_labels_in_their_own_warm_up_have_full_ranges(round_number, full):
    scratch = scratch_of(np.zeros(3), np.zeros(3), predicted=0.5, sensitivity=1e-3)
    counts = counts_of(3, since=[0, 1, 1], answered=[0, 5, 0])
    bound_costs(counts, settings_of(3), scratch, round_number)
    np.testing.assert_array_equal(scratch.lowest[:3] == 0, full)
    np.testing.assert_array_equal(scratch.highest[:3] == 1, full)
