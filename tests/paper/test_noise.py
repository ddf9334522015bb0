"""Margins and what they say about a problem, against laws and against problems whose noise is known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from coalface.errors import InputError
from coalface.paper import margins, massart_margin, noise_level, tsybakov

COSTS = arrays(np.float64, st.tuples(st.integers(1, 30), st.integers(2, 5)), elements=st.floats(0, 1))


def with_margins(gaps):
    return np.c_[np.zeros(len(gaps)), np.ones(len(gaps)), gaps]


@given(COSTS)
def test_a_margin_is_how_far_the_best_label_beats_the_second_best(costs):
    for row, margin in zip(costs, margins(costs), strict=True):
        best = row.argmin()
        assert margin == min(row[y] - row[best] for y in range(len(row)) if y != best)


@given(COSTS, st.floats(0, 1), st.floats(0, 1))
def test_more_examples_are_within_a_larger_distance(costs, one, other):
    near, far = (noise_level(costs, zeta) for zeta in sorted((one, other)))
    for less, more in zip(near, far, strict=True):
        assert less <= more + 1e-12


@given(COSTS, st.floats(0, 1), st.floats(0, 0.3))
def test_doubt_about_the_predictions_widens_the_interval(costs, zeta, off_by):
    sure, unsure = noise_level(costs, zeta), noise_level(costs, zeta, off_by=off_by)
    assert unsure.low <= sure.low <= sure.value <= sure.high <= unsure.high


def test_the_interval_covers_the_truth_as_often_as_it_says():
    rng = np.random.default_rng(0)
    found = [noise_level(with_margins(rng.uniform(size=60)), 0.3) for _ in range(400)]
    inside = np.mean([level.low <= 0.3 <= level.high for level in found])
    assert 0.93 <= inside <= 0.995  # exact intervals are a little too wide


def test_margins_may_be_off_by_twice_as_much_as_predictions():
    expected = np.tile([0.4, 0.55, 0.9], (30, 1))
    predicted = np.add(expected, [-0.05, 0.05, 0.0])
    assert noise_level(predicted, 0.16).value == 0
    assert noise_level(predicted, 0.16, off_by=0.05).high == 1
    assert massart_margin(predicted, off_by=0.05).margin == pytest.approx(0.15)


@given(COSTS)
def test_nothing_is_closer_than_the_massart_margin(costs):
    found = massart_margin(costs)
    assert noise_level(costs, found.margin).value > 0
    if found.margin > 0:
        assert noise_level(costs, np.nextafter(found.margin, 0)).value == 0


def test_may_be_below_is_the_largest_share_that_a_sample_can_miss():
    found = massart_margin(with_margins(np.linspace(0.3, 0.9, 50)))
    assert (1 - found.may_be_below) ** 50 == pytest.approx(0.05)  # not seen in 50 draws, once in 20 samples


@pytest.mark.parametrize("exponent", [0.5, 1.0, 3.0])
def test_the_exponent_of_a_power_law_is_found(exponent):
    rng = np.random.default_rng(2)
    fits = []
    for _ in range(400):
        gaps = rng.uniform(size=200) ** (1 / exponent)  # P(margin <= t) = t**exponent
        fits.append(tsybakov(with_margins(np.minimum(gaps, 0.999)), up_to=0.7))
    assert np.median([fit.condition.constant for fit in fits]) == pytest.approx(1, abs=0.05)
    # Each end of the interval should miss the truth in 10 cases of 400.
    assert 3 <= sum(exponent < fit.exponent.low for fit in fits) <= 20
    assert 3 <= sum(exponent > fit.exponent.high for fit in fits) <= 20


@given(
    arrays(
        np.float64, st.tuples(st.integers(1, 30), st.integers(2, 4)), elements=st.integers(0, 64).map(lambda k: k / 64)
    ),
    st.integers(4, 64).map(lambda k: k / 64),
)
def test_the_covering_constant_is_the_least_for_which_the_condition_holds_on_the_sample(costs, up_to):
    found = margins(costs)
    small = found[found <= up_to]
    with np.errstate(divide="ignore"):
        steep = 100 * np.log(up_to / small).sum() < len(small)
    if len(small) == 0 or steep:
        with pytest.raises(InputError, match="up_to"):
            tsybakov(costs, up_to=up_to)
        return
    fit = tsybakov(costs, up_to=up_to)
    exponent = fit.condition.exponent
    ratios = [(found <= t).mean() / t**exponent for t in small if t > 0 or exponent == 0]
    assert fit.covering_constant == pytest.approx(max(ratios))
    assert fit.condition.constant <= fit.covering_constant * (1 + 1e-9)


def test_with_ties_the_exponent_is_0():
    fit = tsybakov([[0.5, 0.5], [0.2, 0.3], [0.1, 0.9]], up_to=0.2)
    assert (fit.condition.exponent, fit.n_margins) == (0.0, 2)
    assert fit.condition.constant == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: margins([0.1, 0.2]), "axes"),
        (lambda: margins([[0.1]]), "two labels"),
        (lambda: margins([[0.1, np.nan]]), "finite"),
        (lambda: margins([["a", "b"]]), "numbers"),
        (lambda: noise_level([[0.1, 0.3]], 0.1, confidence=1.0), "confidence"),
        (lambda: noise_level([[0.1, 0.3]], 0.1, off_by=-1), "off_by"),
        (lambda: tsybakov([[0.1, 0.9]], up_to=0.2), "Massart"),
        (lambda: tsybakov([[0.1, 0.9]], up_to=0), "up_to"),
    ],
)
def test_bad_input_is_one_clear_line(call, words):
    with pytest.raises(InputError, match=words) as caught:
        call()
    assert "\n" not in str(caught.value)
