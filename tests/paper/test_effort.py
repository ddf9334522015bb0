"""The bounds on the questions, against the sums that the proofs end with, and their laws."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coalface.errors import InputError
from coalface.paper import (
    Schedule,
    Tsybakov,
    begins_to_save,
    effort_any_noise,
    effort_massart,
    effort_multiclass,
    effort_tsybakov,
)
from coalface.paper.effort import begins_to_save_linear

# A small constant, so that the slack shrinks within the few rounds that are added up one by one.
SCHEDULES = st.builds(
    Schedule,
    n_labels=st.integers(2, 8),
    dimension=st.floats(1, 10),
    failure_probability=st.floats(0.01, 0.3),
    constant=st.sampled_from([0.001, 0.1, 1.0]),
)
ROUNDS = st.integers(50, 2000)
THETA = st.floats(0.1, 20)


def radii(schedule, n, noise_up_to, zetas):
    """The radius of the version space at rounds 2 to n: the least sum of noise and 44 K slack / threshold."""
    slack = schedule.loss_slack(np.arange(2, n + 1), n)[:, None]
    return (zetas * noise_up_to(zetas) + 44 * schedule.n_labels * slack / zetas).min(axis=1)


def luck(schedule):
    return 3 * np.log(2 / schedule.failure_probability)


@settings(deadline=None, max_examples=60)
@given(SCHEDULES, ROUNDS, THETA, THETA)
def test_without_assumptions_the_bound_covers_the_sum_of_the_proof(schedule, n, one, two):
    r = radii(schedule, n, lambda zeta: np.ones_like(zeta), np.geomspace(1e-3, 1e3, 400))
    total = (r * np.sqrt(np.arange(2, n + 1))).sum()  # divided by the width threshold
    effort = effort_any_noise(schedule, n, by_examples=one, by_costs=two)
    assert effort.examples >= (4 * one * total + luck(schedule)) * 0.999
    assert effort.costs >= (4 * two * total + schedule.n_labels * luck(schedule)) * 0.999


@settings(deadline=None, max_examples=60)
@given(SCHEDULES, ROUNDS, THETA, st.floats(0.05, 1))
def test_with_a_margin_the_bound_covers_the_sum_of_the_proof_and_not_much_more(schedule, n, theta, margin):
    r = radii(schedule, n, lambda zeta: np.zeros_like(zeta), np.array([margin]))
    start = np.ceil(1 / margin**2) + luck(schedule)
    for given_as, factor in (("by_examples", 8), ("by_labels", 2)):
        exact = start + factor * theta / margin * r.sum()
        bound = effort_massart(schedule, n, margin, **{given_as: theta})
        assert exact <= bound.examples * (1 + 1e-9)
        if schedule.log_factor(n) < 1:  # else the slack is cut at the start, and the bound does not know
            assert bound.examples <= 1.5 * exact
        assert bound.costs == pytest.approx(schedule.n_labels * bound.examples)


@settings(deadline=None, max_examples=60)
@given(SCHEDULES, ROUNDS, THETA, st.floats(0.2, 4), st.floats(0.2, 4), st.floats(0.1, 1))
def test_with_rare_small_margins_the_bound_covers_the_sum_of_the_proof(schedule, n, theta, alpha, beta, up_to):
    noise = Tsybakov(alpha, beta, up_to)
    zetas = np.geomspace(1e-4, 1, 500) * up_to
    amount = 44 * schedule.n_labels * 3 * schedule.log_factor(n)
    early = min(n, int(np.ceil(1 + amount / (beta * up_to ** (alpha + 2)))))  # asked about in full
    late = radii(schedule, n, lambda zeta: beta * zeta**alpha, zetas)[early - 1 :].sum()
    for given_as, factor in (("by_examples", 8), ("by_labels", 4)):
        rest = np.ceil(1 / zetas**2) + factor * theta / zetas * late + 2 * n * beta * zetas**alpha
        bound = effort_tsybakov(schedule, n, noise, **{given_as: theta})
        assert bound.examples >= min(n, (early + rest.min() + luck(schedule)) * 0.98)
        assert bound.costs == pytest.approx(schedule.n_labels * bound.examples)


def test_the_bound_for_rare_small_margins_is_not_far_above_the_sum_of_the_proof():
    schedule, noise, n = Schedule(n_labels=3, dimension=2, constant=1e-3), Tsybakov(1.5, 1.0, 1.0), 20_000
    zetas = np.geomspace(1e-3, 1, 200)
    late = radii(schedule, n, lambda zeta: zeta**1.5, zetas).sum()
    rest = np.ceil(1 / zetas**2) + 8 / zetas * late + 2 * n * zetas**1.5
    bound = effort_tsybakov(schedule, n, noise, by_examples=1.0).examples
    assert rest.min() < bound < 2.5 * rest.min()


@settings(deadline=None, max_examples=60)
@given(SCHEDULES, ROUNDS, THETA, st.floats(0, 1))
def test_with_one_true_label_the_bound_covers_the_sum_of_the_proof(schedule, n, theta, error):
    r = radii(schedule, n, lambda zeta: 4 * error + 0 * zeta, np.geomspace(1e-5, 0.5, 2000)).sum()
    exact = theta * (4 * n * error + 2 * r) + luck(schedule)
    bound = effort_multiclass(schedule, n, error=error, by_labels=theta)
    assert exact * 0.999 <= bound.examples + theta * 4 * error


def test_with_one_true_label_the_bound_is_not_far_above_the_sum_of_the_proof():
    schedule, n = Schedule(n_labels=3, dimension=2, constant=1e-4), 20_000
    r = radii(schedule, n, lambda zeta: 4 * np.ones_like(zeta), np.geomspace(1e-4, 0.5, 500)).sum()
    bound = effort_multiclass(schedule, n, error=1.0, by_labels=1.0).examples - 4 * n
    assert 2 * r < bound < 2.2 * r


def test_rounds_before_the_analysis_can_begin_count_in_full():
    bound = effort_tsybakov(Schedule(n_labels=3, dimension=2), 1000, Tsybakov(1.0, 0.1, 0.1), by_examples=0.0)
    assert bound.examples >= 1000


LARGE = st.integers(10, 10**12)
ANY = st.builds(Schedule, n_labels=st.integers(2, 50), dimension=st.floats(1, 100))
NOISE = st.builds(Tsybakov, st.floats(0.1, 5), st.floats(0.1, 5), st.floats(0.01, 1))


@given(ANY, LARGE, st.integers(2, 1000), NOISE, THETA)
def test_more_rounds_never_have_a_smaller_bound_and_rarely_a_larger_share(schedule, n, times, noise, theta):
    for effort in (
        lambda n: effort_any_noise(schedule, n, by_examples=theta, by_costs=theta),
        lambda n: effort_massart(schedule, n, 0.2, by_examples=theta),
        lambda n: effort_massart(schedule, n, 0.2, by_labels=theta),
        lambda n: effort_tsybakov(schedule, n, noise, by_examples=theta),
        lambda n: effort_tsybakov(schedule, n, noise, by_labels=theta),
        lambda n: effort_multiclass(schedule, n, error=0.1, by_labels=theta),
    ):
        few, many = effort(n), effort(n * times)
        assert few.examples <= many.examples * (1 + 1e-9)
        assert few.costs <= many.costs * (1 + 1e-9)


@given(ANY, THETA, st.floats(1.1, 3))
def test_larger_margins_and_smaller_coefficients_mean_fewer_questions(schedule, theta, more):
    base = effort_massart(schedule, 1e6, 0.2, by_examples=theta)
    assert effort_massart(schedule, 1e6, 0.2 * more, by_examples=theta).examples < base.examples
    assert effort_massart(schedule, 1e6, 0.2, by_examples=theta * more).examples > base.examples
    assert effort_massart(schedule, 1e6, 0.2, by_labels=theta).examples < base.examples


def test_the_bound_begins_to_save_where_it_crosses_asking_for_everything():
    schedule = Schedule(n_labels=4, dimension=5)
    first = begins_to_save(lambda n: effort_massart(schedule, n, 0.2, by_labels=3.0), 4)
    assert effort_massart(schedule, first, 0.2, by_labels=3.0).examples < first
    assert effort_massart(schedule, first - 1, 0.2, by_labels=3.0).examples >= first - 1


def test_nothing_can_be_saved_before_anything_can_be_excluded():
    schedule = Schedule(n_labels=4, dimension=5)
    assert schedule.first_exclusion() < begins_to_save_linear(schedule, 5, 0.2)
    assert begins_to_save_linear(schedule, 5, 0.4) < begins_to_save_linear(schedule, 5, 0.2)


def test_a_bound_that_is_never_below_everything_says_so():
    schedule = Schedule(n_labels=4, dimension=5)
    with pytest.raises(InputError, match="the condition must hold for some number up to"):
        begins_to_save(lambda n: effort_any_noise(schedule, n, by_examples=1.0, by_costs=1.0), 4)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda s: effort_massart(s, 100, 0.2), "by_labels"),
        (lambda s: effort_massart(s, 100, 0.2, by_examples=1, by_labels=1), "by_labels"),
        (lambda s: effort_massart(s, 100, -0.2, by_examples=1), "margin"),
        (lambda s: effort_massart(s, 100, 0.2, by_examples=-1), "coefficient"),
        (lambda s: effort_any_noise(s, 100, by_examples=1, by_costs=float("nan")), "by_costs"),
        (lambda s: effort_massart(s, 0, 0.2, by_examples=1), "horizon"),
        (lambda s: effort_multiclass(s, 100, error=2, by_labels=1), "error"),
    ],
)
def test_bad_input_is_one_clear_line(call, words):
    with pytest.raises(InputError, match=words) as caught:
        call(Schedule(n_labels=3, dimension=4))
    assert "\n" not in str(caught.value)
