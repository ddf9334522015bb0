"""The schedule and the bounds on the excess cost: by hand, by brute force, and their laws."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coalface.errors import InputError
from coalface.paper import Schedule, Tsybakov, excess_cost, excess_cost_massart, excess_cost_tsybakov, oracle_calls
from coalface.paper.schedule import width_threshold

SCHEDULES = st.builds(
    Schedule,
    n_labels=st.integers(2, 50),
    dimension=st.floats(1, 100),
    failure_probability=st.floats(0.001, 0.3),
    constant=st.sampled_from([0.01, 1.0, 324.0]),
)
ROUNDS = st.integers(10, 10**9)


def test_the_constants_are_the_papers():
    n, d, k, delta = 1000.0, 7, 4, 0.1
    by_hand = 324 * (d * np.log(n) + np.log(8 * k * np.e * (d + 1) * n**2 / delta))
    schedule = Schedule(n_labels=k, dimension=d, failure_probability=delta)
    assert schedule.log_factor(n) == pytest.approx(by_hand)
    assert schedule.loss_slack(10**6, 1000) == pytest.approx(3 * by_hand / (10**6 - 1))
    assert schedule.loss_slack([1, 2], 1000).tolist() == [3, 3]
    assert width_threshold(16) == 0.25


def test_for_a_finite_class_the_logarithm_of_its_size_replaces_dimension_times_log_rounds():
    n, size, k, delta = 1000.0, 500, 2, 0.05
    by_hand = 324 * (np.log(size) + np.log(8 * k * np.e * n**2 / delta))
    assert Schedule(n_labels=k, class_size=size).log_factor(n) == pytest.approx(by_hand)


def test_nothing_is_excluded_before_the_slack_is_below_the_largest_loss():
    schedule = Schedule(n_labels=3, dimension=4)
    first = schedule.first_exclusion()
    assert schedule.loss_slack(first, first) < 1 <= schedule.loss_slack(first - 1, first - 1)


@given(SCHEDULES, ROUNDS, st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_the_best_threshold_between_small_and_large_margins_is_found(schedule, n, margins):
    price = 32 * schedule.n_labels * schedule.log_factor(n) / n
    found = excess_cost(schedule, n, margins=margins)
    grid = np.r_[np.geomspace(1e-6, 1e9, 2000), margins, np.nextafter(margins, 0), np.sqrt(price * np.arange(1, 50))]
    grid = grid[grid > 1e-200]
    each = grid * (np.asarray(margins) <= grid[:, None]).mean(axis=1) + price / grid
    assert found <= each.min() * (1 + 1e-9)
    assert found >= each.min() * 0.97  # the grid is coarse


@given(SCHEDULES, ROUNDS, st.floats(0.01, 1))
def test_a_margin_everywhere_gives_massarts_bound_or_the_worst_case(schedule, n, margin):
    everywhere = excess_cost(schedule, n, margins=[margin] * 5)
    best = np.minimum(excess_cost_massart(schedule, n, margin), excess_cost(schedule, n))
    assert everywhere == pytest.approx(best)


@given(SCHEDULES, ROUNDS, st.floats(0.1, 4), st.floats(0.2, 5), st.floats(0.05, 1))
def test_tsybakovs_bound_is_the_least_over_thresholds_that_it_may_use(schedule, n, alpha, beta, up_to):
    price = 32 * schedule.n_labels * schedule.log_factor(n) / n
    zeta = np.geomspace(1e-4, 1, 4000) * up_to
    least = (beta * zeta ** (alpha + 1) + price / zeta).min()
    found = excess_cost_tsybakov(schedule, n, Tsybakov(alpha, beta, up_to))
    # The paper balances the two terms, which is at most twice the least sum.
    assert least * (1 - 1e-6) <= found <= 2.02 * least
    if price <= beta * up_to ** (alpha + 2):
        closed = 2 * beta ** (1 / (alpha + 2)) * price ** ((alpha + 1) / (alpha + 2))
        assert found == pytest.approx(closed)


@given(SCHEDULES, st.integers(10, 10**6), st.integers(2, 1000))
def test_longer_runs_end_better_within_one_horizon(schedule, n, times):
    horizon, noise = n * times, Tsybakov(1.0, 1.0, 0.5)
    for bound in (
        lambda i: excess_cost(schedule, i, horizon=horizon),
        lambda i: excess_cost(schedule, i, horizon=horizon, margins=[0.1, 0.2, 0.7]),
        lambda i: excess_cost_massart(schedule, i, 0.2, horizon=horizon),
        lambda i: excess_cost_tsybakov(schedule, i, noise, horizon=horizon),
    ):
        assert bound(horizon) <= bound(n) * (1 + 1e-9)


def test_the_calls_of_the_oracle_are_the_steps_of_the_proof_for_every_halving():
    schedule, tolerance = Schedule(n_labels=2, class_size=10), 0.1
    steps = np.ceil(np.log(51) * (72 / 3) ** 2 / tolerance**4)  # the slack is still 3
    width, halvings = 1.0, 0
    while width > tolerance**2 / 2:
        width, halvings = width / 2, halvings + 1
    assert oracle_calls(schedule, 50, tolerance=tolerance) == halvings * steps
    assert oracle_calls(schedule, 50) == oracle_calls(schedule, 50, tolerance=1 / np.sqrt(50) / 4)


def test_curves_come_from_arrays():
    schedule, n = Schedule(n_labels=3, dimension=4), np.array([100.0, 1000.0])
    for bound in (lambda i: excess_cost(schedule, i), lambda i: excess_cost(schedule, i, margins=[0.1, 0.4])):
        assert bound(n).tolist() == pytest.approx([float(bound(100.0)), float(bound(1000.0))])


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: Schedule(n_labels=3), "dimension"),
        (lambda: Schedule(n_labels=3, dimension=4, class_size=5), "class_size"),
        (lambda: Schedule(n_labels=0, dimension=4), "n_labels"),
        (lambda: Schedule(n_labels=3, dimension=4, failure_probability=0.5), "1/e"),
        (lambda: Schedule(n_labels=3, dimension=4, constant=0), "324"),
        (lambda: Schedule(n_labels=3, dimension=4).log_factor(0), "horizon"),
        (lambda: excess_cost_massart(Schedule(n_labels=3, dimension=4), 10, 0.0), "margin"),
    ],
)
def test_bad_input_is_one_clear_line(call, words):
    with pytest.raises(InputError, match=words) as caught:
        call()
    assert "\n" not in str(caught.value)
