"""Ridge with a Gaussian kernel: against scikit-learn, its bandwidth, splits over calls, memory and files."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_circles
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from sklearn.kernel_approximation import Nystroem
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.metrics import pairwise_distances

from coalface import CoalClassifier, simulate
from coalface.data.rows import check_rows
from coalface.errors import FileFormatError, InputError
from coalface.models import device
from coalface.models.ridge import RidgeModel
from coalface.models.ridge.regression import FactorRegression

from .test_ridge import problem, settings

PENALTY = 0.3


def begun(n_labels=3, n_components=500, regularization=PENALTY, intercept=False):
    model = RidgeModel(regularization, "rbf", n_components, fit_intercept=intercept)
    return model.begin(n_labels, settings(n_labels, model__fit_intercept=intercept))


def learned(X, cost, **params):
    model = begun(cost.shape[1], **params)
    model.learn(check_rows(X), cost, settings(cost.shape[1]), 1)
    return model


def bandwidth_of(model):
    return float(model.arrays()["bandwidth"][0])


def state_of(model):
    return {name: array.tobytes() for name, array in model.saved().items()}


def test_it_predicts_what_scikit_learns_kernel_ridge_predicts():
    (X, cost), (tests, _) = problem(1), problem(2)
    model = learned(X, cost)
    for label in range(3):
        known = ~np.isnan(cost[:, label])
        reference = KernelRidge(alpha=PENALTY, kernel="rbf", gamma=0.5 / bandwidth_of(model) ** 2)
        reference.fit(X[known], cost[known, label])
        np.testing.assert_allclose(model.predict(check_rows(tests))[:, label], reference.predict(tests), atol=1e-4)


@pytest.mark.parametrize("intercept", [False, True])
def test_ranges_are_those_of_scikit_learns_gaussian_process(intercept):
    X, cost = problem(3)
    tests = np.vstack([0.5 * X[:10], problem(4)[0][:10], 30 + X[:2]])  # near and far
    model = learned(X, cost, intercept=intercept)
    predicted, lowest, highest = model.ranges(check_rows(tests), settings(3, mellowness=0.002), 50)
    slack = 0.002 * np.log(3 * (49 + np.arange(len(tests))))
    for label in range(3):
        known = ~np.isnan(cost[:, label])
        kernel = RBF(bandwidth_of(model)) + ConstantKernel(1.0) if intercept else RBF(bandwidth_of(model))
        process = GaussianProcessRegressor(kernel, alpha=PENALTY, optimizer=None).fit(X[known], cost[known, label])
        mean, deviation = process.predict(tests, return_std=True)
        np.testing.assert_allclose(predicted[:, label], mean, atol=1e-4)
        reach, inside = np.sqrt(slack / PENALTY) * deviation, mean.clip(0, 1)
        np.testing.assert_allclose(lowest[:, label], np.maximum(inside - reach, 0), atol=1e-3)
        np.testing.assert_allclose(highest[:, label], np.minimum(inside + reach, 1), atol=1e-3)


def test_with_few_landmarks_it_predicts_what_ridge_on_scikit_learns_nystroem_predicts():
    (X, cost), (tests, _) = problem(5, known=1.0), problem(6)
    model = learned(X, cost, n_components=20)
    features = Nystroem(gamma=0.5 / bandwidth_of(model) ** 2, n_components=20).fit(X[:20])
    reference = Ridge(alpha=PENALTY, fit_intercept=False).fit(features.transform(X), cost)
    expected = reference.predict(features.transform(tests))
    np.testing.assert_allclose(model.predict(check_rows(tests)), expected, atol=1e-3)


@pytest.mark.parametrize(("n_rows", "counted"), [(1, 1), (3, 2), (5, 4), (31, 16), (32, 32), (60, 32)])
def test_the_bandwidth_is_the_median_distance_among_the_first_rows(n_rows, counted):
    X, cost = problem(7, n_rows=60, known=1.0)
    first = X[:counted].astype(np.float64)
    distances = pairwise_distances(first)[np.triu_indices(counted, 1)]
    expected = np.median(distances) if counted > 1 else np.linalg.norm(first[0])
    assert bandwidth_of(learned(X[:n_rows], cost[:n_rows])) == pytest.approx(expected)


def test_rows_without_a_cost_do_not_count_and_equal_rows_have_no_distance():
    X, cost = problem(8, n_rows=8, known=1.0)
    X[1:4] = X[0]
    cost[5:] = np.nan
    model = learned(X, cost)
    assert bandwidth_of(model) == pytest.approx(np.linalg.norm(X[0]))  # four equal rows had costs, then one more
    assert model.arrays()["used"][0] == 2


def test_rows_of_zeros_are_learned():
    model = learned(np.zeros((3, 2)), np.full((3, 2), 0.5, np.float32))
    assert (np.abs(model.predict(check_rows(np.zeros((1, 2)))) - 0.5) < 0.1).all()


@given(
    seed=st.integers(0, 10_000), cuts=st.sets(st.integers(1, 69), max_size=6), n_components=st.sampled_from([7, 500])
)
def test_learning_does_not_depend_on_how_rows_are_split_over_calls(seed, cuts, n_components):
    X, cost = problem(seed, n_rows=70)
    X[:20, 3:] = 0  # features that appear later
    weights = np.random.default_rng(seed).choice([0.0, 0.5, 2.0], cost.shape).astype(np.float32)
    whole, pieces = (begun(n_components=n_components, intercept=True) for _ in range(2))
    whole.learn(check_rows(X), cost, settings(3), 1, weights)
    for start, stop in pairwise([0, *sorted(cuts), 70]):
        width = 3 if stop <= 20 else 5
        pieces.learn(check_rows(X[start:stop, :width]), cost[start:stop], settings(3), 1, weights[start:stop])
    assert state_of(pieces) == state_of(whole)


@given(seed=st.integers(0, 10_000), power=st.integers(-20, 20))
def test_the_scale_of_the_features_does_not_matter(seed, power):
    X, cost = problem(seed)
    plain, scaled = learned(X, cost), learned(X * 2.0**power, cost)
    ours, theirs = (
        model.ranges(check_rows(each), settings(3), 9) for model, each in ((plain, X), (scaled, X * 2.0**power))
    )
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(one, other)


def test_first_rows_that_are_learned_again_count_once():
    X, cost = problem(9, n_rows=20)
    model = learned(X, cost)
    assert model.state.answered[:3].tolist() == (~np.isnan(cost)).sum(axis=0).tolist()
    assert (model.state.squared_residuals[:3] <= model.state.answered[:3]).all()


def test_blocks_of_rows_change_nothing(monkeypatch):
    X, cost = problem(10, n_rows=200)
    at_once = learned(X, cost, n_components=50)
    predicted = at_once.predict(check_rows(X))
    monkeypatch.setattr(FactorRegression, "block", 16)
    assert state_of(learned(X, cost, n_components=50)) == state_of(at_once)
    np.testing.assert_allclose(at_once.predict(check_rows(X)), predicted, atol=1e-6)


def test_far_rows_are_uncertain_while_there_is_room_for_landmarks():
    X, cost = problem(11, n_rows=40, known=1.0)
    far = check_rows(X[:5] + 1000)
    found = learned(X, cost).ranges(far, settings(3, mellowness=10.0), 40)
    assert (found.highest - found.lowest == 1.0).all()


def test_it_learns_circles_that_no_line_separates():
    X, inner = make_circles(600, noise=0.1, factor=0.4, random_state=0)
    cost = np.eye(2)[1 - inner]
    ends = {}
    for kernel in ("linear", "rbf"):
        learner = CoalClassifier(classes=[0, 1], model=RidgeModel(kernel=kernel))
        simulate(learner, X[:400], cost[:400])
        ends[kernel] = -learner.score(X[400:], cost=cost[400:]), learner.costs_queried_
    assert ends["rbf"][0] < 0.05 < 0.3 < ends["linear"][0]
    assert ends["rbf"][1] < 300


def test_memory_is_counted_and_refused_if_less_is_available(monkeypatch):
    model = begun(5, n_components=100)
    model.check(check_rows(np.ones((1, 30))))
    assert model.nbytes > 100 * 100 * 8
    monkeypatch.setattr(device, "available_bytes", lambda: 10_000)
    with pytest.raises(InputError, match=r"n_components must be small enough .* got 100 features and 5 labels"):
        model.check(check_rows(np.ones((1, 30))))
    with pytest.raises(InputError, match=r"X must lie within 1e\+15 of 0"):
        model.check(check_rows([[2e15]]))


@pytest.mark.parametrize("value", [0, -1, 2.5, None, "many", 10_001])
def test_n_components_must_be_a_sensible_number(value):
    with pytest.raises(InputError, match="n_components must be"):
        CoalClassifier(["a", "b"], model=RidgeModel(kernel="rbf", n_components=value)).tell([[1.0]], [[0.0, 1.0]])


def test_an_unknown_kernel_is_named():
    with pytest.raises(InputError, match="kernel must be one of 'linear', 'rbf', got 'cubic'"):
        CoalClassifier(["a", "b"], model=RidgeModel(kernel="cubic")).tell([[1.0]], [[0.0, 1.0]])


def test_damaged_arrays_are_refused():
    X, cost = problem(12)
    model = learned(X, cost, n_components=20)
    arrays = model.arrays()
    for name, array in arrays.items():
        shorter = array[:-1] if name == "first_rows" else array[..., :-1]  # a narrower one is another model's
        shorter = array[:3] if name == "tally_counters" else shorter  # earlier versions had one counter less
        for damaged in (shorter, np.zeros(array.shape, np.int16)):
            with pytest.raises(FileFormatError, match="no usable array"):
                begun(n_components=20).restore({**arrays, name: damaged})
    for name, value in (("used", 21), ("used", -1), ("first_count", 40), ("bandwidth", 0.0)):
        damaged = np.full_like(arrays[name], value)
        with pytest.raises(FileFormatError, match="out of range; it is damaged"):
            begun(n_components=20).restore({**arrays, name: damaged})
    few = learned(X[:5], cost[:5], n_components=20).arrays()
    with pytest.raises(FileFormatError, match="The model has weights for 15 features but 20 landmarks"):
        begun(n_components=20).restore({**arrays, **{name: few[name] for name in ("weights", "variances", "factors")}})
