"""Generated problems have the margin and the noise asked for."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coalface.errors import InputError
from coalface.paper import MassartProblem, growth, margins

PROBLEMS = st.builds(
    MassartProblem,
    n_features=st.integers(2, 8),
    n_labels=st.integers(2, 6),
    margin=st.floats(0, 0.05),
    noise=st.floats(0, 0.3),
    seed=st.integers(0, 100),
)


@settings(deadline=None, max_examples=40)
@given(PROBLEMS, st.integers(1, 200), st.integers(0, 100))
def test_every_margin_is_large_enough_and_every_cost_lies_in_0_1(problem, n, seed):
    X, expected, cost = problem.draw(n, seed)
    assert len(X) == n
    assert margins(expected).min() >= problem.margin
    assert cost.min() >= 0
    assert cost.max() <= 1
    assert np.abs(cost - expected).max() <= problem.noise + 1e-12


def test_costs_are_linear_in_the_features_and_right_on_average():
    problem = MassartProblem(n_features=3, n_labels=3, margin=0.1, noise=0.3)
    X, expected, cost = problem.draw(20_000, seed=0)
    weights, left, *_ = np.linalg.lstsq(np.c_[X, np.ones(len(X))], expected, rcond=None)
    assert left.max() < 1e-20
    fitted, *_ = np.linalg.lstsq(np.c_[X, np.ones(len(X))], cost, rcond=None)
    assert np.abs(fitted - weights).max() < 0.02
    assert (cost - expected).std() == pytest.approx(0.3 / np.sqrt(3), rel=0.02)


def test_the_same_seeds_give_the_same_problem_and_others_do_not():
    one, same = (MassartProblem(seed=3).draw(50, seed=1) for _ in range(2))
    assert all(np.array_equal(a, b) for a, b in zip(one, same, strict=True))
    assert not np.array_equal(one.X, MassartProblem(seed=3).draw(50, seed=2).X)
    assert not np.array_equal(MassartProblem(seed=3).weights, MassartProblem(seed=4).weights)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: MassartProblem(n_labels=1), "n_labels"),
        (lambda: MassartProblem(noise=0.5), "noise"),
        (lambda: MassartProblem(margin=0.9), "margin"),
        (lambda: MassartProblem(n_features=30, n_labels=30, margin=0.75).draw(10, 0), "smaller"),
        (lambda: growth([1, 2], [1, 2]), "rounds"),
        (lambda: growth([1, 2, 3], [1, -2, 3]), "count"),
    ],
)
def test_bad_input_is_one_clear_line(call, words):
    with pytest.raises(InputError, match=words) as caught:
        call()
    assert "\n" not in str(caught.value)


@given(st.floats(1, 100), st.floats(0, 1000), st.floats(0.1, 1))
def test_growth_tells_logarithms_from_powers(slope, start, power):
    n = np.geomspace(100, 100_000, 13)
    log, line = growth(n, start + slope * np.log(n)), growth(n, slope * n**power)
    assert (log.slope, log.by_log) == pytest.approx((slope, 1))
    assert log.by_line < log.by_log
    assert line.power == pytest.approx(power)


def test_a_constant_count_has_no_slope():
    assert growth([100, 1000, 10_000], [5, 5, 5])[::3] == (0, 0)
    assert growth([100, 1000, 10_000], [0, 0, 0]).power == 0
