"""The plain NumPy reference does what Vowpal Wabbit does, decision by decision."""

from dataclasses import dataclass

import numpy as np
import pytest

from .online import ReferenceCoal, pull
from .vw import run_cs_active, run_csoaa

N_FEATURES = 8


def noisy_problem(seed, n_labels, n=150, *, decades=0.0, real_costs=False):
    """Half-empty rows whose values are spread over so many decades, and costs that depend on their signs."""
    random = np.random.default_rng(seed)
    directions = random.normal(size=(n, N_FEATURES)) * (random.random((n, N_FEATURES)) < 0.5)
    scores = directions @ random.normal(size=(N_FEATURES, n_labels)) + random.normal(size=(n, n_labels))
    sizes = 10.0 ** random.uniform(-decades / 2, decades / 2, directions.shape)
    costs = 1 / (1 + np.exp(-scores)) if real_costs else (scores > scores.min(axis=1, keepdims=True))
    return (directions * sizes).astype(np.float32), costs.astype(np.float32)


@dataclass(frozen=True)
class Run:
    predicted: np.ndarray
    terms: np.ndarray  # the sum of |weight * value|, of which the prediction is what cancellation leaves
    sensitivity: np.ndarray
    lowest: np.ndarray
    highest: np.ndarray
    queried: np.ndarray


def run_reference(X, costs, *, learned, listed=None, **settings):
    """What the reference would do on each example, while it learns the costs that ``learned`` says."""
    coal = ReferenceCoal(costs.shape[1], X.shape[1], **settings)
    listed = np.ones(costs.shape, bool) if listed is None else listed
    decisions, terms = [], []
    for row, row_costs, row_learned, row_listed in zip(X, costs, learned, listed, strict=True):
        decisions.append(coal.decide(row, row_listed))
        terms.append(np.abs(np.append(row, 1.0)[: len(coal.weights)]) @ np.abs(coal.weights))
        coal.learn(row, row_costs, row_learned, row_listed)
    predicted, *others = (
        np.array([getattr(decision, name) for decision in decisions])
        for name in ("predicted", "sensitivity", "lowest", "highest", "mask")
    )
    return Run(predicted, np.array(terms), *others)


def run_as_wheel(wheel, X, costs, **settings):
    """The reference with the wheel's habits; it learns what the wheel asked for lest a tie breed more."""
    return run_reference(X, costs, learned=wheel.queried, stale_state=True, vw_bisection=True, **settings)


def run_passively(X, costs, **settings):
    """The reference as a learner of all costs; like csoaa, it clips to the costs met so far."""
    everything = np.ones(costs.shape, bool)
    return run_reference(X, costs, learned=everything, mellowness=1.0, rule="passive", label_range=(0, 0), **settings)


def disagreements(reference, wheel):
    """Decisions that differ though neither test of the rule hangs on less than VW's bisection can resolve.

    VW stops at an excess of 1e-6, where its range may still be 1e-3 off, so that the last bit of a prediction
    can move the end of a range by that much.
    """
    guaranteed_cost = np.nanmin(reference.highest, axis=1, keepdims=True)
    threshold = 0.5 / np.sqrt(1 + np.arange(len(reference.lowest)))[:, None]
    from_domination = np.abs(reference.lowest - guaranteed_cost)
    from_threshold = np.abs(reference.highest - reference.lowest - threshold)
    clear = np.minimum(from_domination, from_threshold) > 1e-3
    return (reference.queried != wheel.queried) & clear


def assert_same_predictions(reference, predicted, *, rtol, listed=...):
    """Equal relative to the terms of the sum: where they cancel, the rest is no better known than they."""
    error = np.abs(reference.predicted - predicted)
    assert np.all(error[listed] <= rtol * reference.terms[listed])


def assert_same_run(reference, wheel, *, rtol, listed=...):
    assert not disagreements(reference, wheel).any()
    assert np.sum(reference.queried != wheel.queried) <= 1
    assert_same_predictions(reference, wheel.predicted, rtol=rtol, listed=listed)
    # Looser: under adagrad the sensitivity of a prediction close to 0 goes with one over that prediction.
    np.testing.assert_allclose(reference.sensitivity[listed], wheel.sensitivity[listed], rtol=1e-3)


@pytest.mark.parametrize("accumulator", ["adax", "adagrad"])
@pytest.mark.parametrize("n_labels", [2, 3, 7, 12])
@pytest.mark.parametrize(("decades", "rtol"), [(0, 1e-5), (4, 1e-3)])
@pytest.mark.parametrize(
    ("mellowness", "real_costs"), [(0.001, True), (0.01, False), (0.01, True), (0.1, False), (1.0, True)]
)
def test_every_query_and_prediction_is_the_wheels(accumulator, n_labels, decades, rtol, mellowness, real_costs):
    seed = round(1000 * mellowness) + n_labels
    X, costs = noisy_problem(seed, n_labels, n=100, decades=decades, real_costs=real_costs)
    wheel = run_cs_active(X, costs, mellowness=mellowness, accumulator=accumulator)
    reference = run_as_wheel(wheel, X, costs, mellowness=mellowness, accumulator=accumulator)
    assert_same_run(reference, wheel, rtol=rtol)


@pytest.mark.parametrize("learning_rate", [1e-7, 0.05, 10.0])
def test_the_learning_rate_is_the_wheels(learning_rate):
    X, costs = noisy_problem(1, n_labels=3)
    wheel = run_cs_active(X, costs, mellowness=0.01, learning_rate=learning_rate)
    reference = run_as_wheel(wheel, X, costs, mellowness=0.01, learning_rate=learning_rate)
    assert_same_run(reference, wheel, rtol=1e-5)


def test_without_the_constant_even_empty_rows_are_decided_as_by_the_wheel():
    X, costs = noisy_problem(2, n_labels=3)
    X[::10] = 0  # no feature at all: the first round teaches nothing but still counts as an update
    wheel = run_cs_active(X, costs, mellowness=0.01, fit_intercept=False)
    reference = run_as_wheel(wheel, X, costs, mellowness=0.01, fit_intercept=False)
    assert_same_run(reference, wheel, rtol=1e-5)


def test_without_domination_every_query_is_still_the_wheels():
    X, costs = noisy_problem(3, n_labels=7)
    wheel = run_cs_active(X, costs, mellowness=0.001, options="--domination 0")
    reference = run_as_wheel(wheel, X, costs, mellowness=0.001, rule="no-domination")
    assert_same_run(reference, wheel, rtol=1e-5)
    assert wheel.queried.sum() != run_cs_active(X, costs, mellowness=0.001).queried.sum()


@pytest.mark.parametrize("seed", range(3))
def test_only_listed_labels_are_considered_and_only_known_costs_learned(seed):
    X, costs = noisy_problem(seed, n_labels=7)
    random = np.random.default_rng(seed)
    listed = random.random(costs.shape) < 0.6
    unknown = random.random(costs.shape) < 0.2
    hopeless = ~np.any(listed & ~unknown, axis=1)
    listed[hopeless], unknown[hopeless] = True, False
    costs[unknown] = np.nan
    wheel = run_cs_active(X, costs, mellowness=0.001, listed=listed)
    reference = run_as_wheel(wheel, X, costs, mellowness=0.001, listed=listed)
    assert_same_run(reference, wheel, rtol=1e-5, listed=listed)
    assert np.any(wheel.queried & np.isnan(costs))


def test_the_ranges_are_the_wheels_to_its_tolerance_without_its_bisection():
    X, costs = noisy_problem(4, n_labels=3, real_costs=True)
    wheel = run_cs_active(X, costs, mellowness=0.1)
    reference = run_reference(X, costs, learned=wheel.queried, mellowness=0.1, stale_state=True)
    np.testing.assert_allclose(reference.lowest, wheel.lowest, atol=1e-3)
    np.testing.assert_allclose(reference.highest, wheel.highest, atol=1e-3)


def test_the_wheel_has_the_stale_state_defect():
    X, costs = noisy_problem(5, n_labels=12)
    wheel = run_cs_active(X, costs, mellowness=0.01)
    sound = run_reference(X, costs, learned=wheel.queried, mellowness=0.01, vw_bisection=True)
    assert disagreements(sound, wheel).any()
    # The state in question is the first label's, whose own sensitivity is therefore right.
    np.testing.assert_allclose(sound.sensitivity[:, 0], wheel.sensitivity[:, 0], rtol=1e-5)


# The three examples of VW's own regression tests of cs_active: features a, b, c, d and costs up to 2.
VW_TEST_X = np.array([[1, 1, 1, 0], [0, 1, 1, 1], [1, 1, 1, 0]], np.float32)
VW_TEST_COSTS = np.array([[1, 0, 2], [1, 0, np.nan], [1, np.nan, 2]], np.float32)


def run_vw_test(**settings):
    listed = ~np.isnan(VW_TEST_COSTS)
    wheel = run_cs_active(VW_TEST_X, VW_TEST_COSTS, listed=listed, options="--cost_max 2", **settings)
    reference = run_as_wheel(wheel, VW_TEST_X, VW_TEST_COSTS, label_range=(0, 2), listed=listed, **settings)
    return reference, wheel


def test_the_trace_of_vws_own_test_475_is_reproduced():
    nan = np.nan
    predicted = [[0, 0, 0], [0.648499, 0, nan], [1.053387, nan, 1.729329]]
    sensitivity = [[1, 1, 1], [0.780330, 1, nan], [0.609789, nan, 0.707107]]
    lowest = [[0, 0, 0], [0, 0, nan], [0.527622, nan, 1.321778]]
    highest = [[2, 2, 2], [1.033086, 0.346830, nan], [1.629399, nan, 2]]
    queried = [[True, True, True], [True, False, False], [True, False, True]]
    for run in run_vw_test(mellowness=0.1):
        np.testing.assert_array_equal(run.queried, queried)
        listed = ~np.isnan(VW_TEST_COSTS)
        np.testing.assert_allclose(run.predicted[listed], np.array(predicted)[listed], atol=1e-6)
        np.testing.assert_allclose(run.sensitivity[listed], np.array(sensitivity)[listed], atol=1e-6)
        np.testing.assert_allclose(run.lowest, lowest, atol=1e-6)
        np.testing.assert_allclose(run.highest, highest, atol=1e-6)


@pytest.mark.parametrize(
    ("vw_test", "mellowness", "accumulator", "total_queries"),
    [(162, 0.01, "adax", 3), (163, 1.0, "adax", 7), (475, 0.1, "adax", 6), (543, 0.5, "adagrad", 7)],
)
def test_the_query_count_of_vws_own_tests_is_reproduced(vw_test, mellowness, accumulator, total_queries):
    for run in run_vw_test(mellowness=mellowness, accumulator=accumulator):
        assert run.queried.sum() == total_queries


@pytest.mark.parametrize("accumulator", ["adax", "adagrad"])
@pytest.mark.parametrize("n_labels", [2, 7])
@pytest.mark.parametrize(("decades", "rtol"), [(0, 1e-5), (4, 1e-3)])
@pytest.mark.parametrize("real_costs", [False, True])
def test_a_passive_learner_predicts_what_csoaa_does(accumulator, n_labels, decades, rtol, real_costs):
    X, costs = noisy_problem(n_labels, n_labels, decades=decades, real_costs=real_costs)
    wheel = run_csoaa(X, costs, accumulator=accumulator)
    reference = run_passively(X, costs, accumulator=accumulator)
    assert_same_predictions(reference, wheel, rtol=rtol)


def test_csoaa_clips_to_the_costs_it_has_met():
    # The costs of the first example end at 0.5, and the large feature of the second leads beyond.
    X = np.array([[1.0], [3.0], [1.0], [2.0]], np.float32)
    costs = np.array([[0.5, 0.25], [0.5, 0.0], [1.0, 0.0], [0.0, 1.0]], np.float32)
    wheel = run_csoaa(X, costs)
    np.testing.assert_allclose(run_passively(X, costs).predicted, wheel, rtol=1e-5)
    assert wheel[1, 0] > 0.5


def test_in_double_precision_only_rounding_separates_the_reference_from_csoaa():
    X, costs = noisy_problem(6, n_labels=3)
    exact = run_passively(X, costs, dtype=np.float64).predicted
    assert exact.dtype == np.float64
    np.testing.assert_allclose(exact, run_csoaa(X, costs), atol=1e-5)


@pytest.mark.parametrize("seed", range(20))
def test_the_range_end_is_the_root_of_its_cubic(seed):
    random = np.random.default_rng(seed)
    gap, sensitivity = random.uniform(0.01, 1), 10 ** random.uniform(-4, 1)
    loss_slack = random.uniform(0, 1) * gap**3 / sensitivity
    roots = np.roots([-1, 2 * gap, 0, -loss_slack * sensitivity])
    inside = roots[(roots.real > 0) & (roots.real <= gap)].real
    np.testing.assert_allclose(inside, [pull(gap, sensitivity, loss_slack)], rtol=1e-9)
