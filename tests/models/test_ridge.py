"""Ridge model: ranges against an optimiser and plain NumPy, features that appear later, memory, files."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import minimize

from coalface import CoalClassifier
from coalface.data.rows import check_rows
from coalface.errors import FileFormatError, InputError
from coalface.learner.parameters import settings_for
from coalface.models import device
from coalface.models.ridge import RidgeModel, regression
from coalface.models.ridge.regression import FactorRegression


def settings(n_labels, **params):
    return settings_for(n_labels, vars(CoalClassifier.as_published(**{"mellowness": 0.1, **params})))


def problem(seed, n_rows=60, n_features=5, n_labels=3, known=0.7):
    random = np.random.default_rng(seed)
    X, cost = random.normal(size=(n_rows, n_features)).astype(np.float32), random.random((n_rows, n_labels))
    return X, np.where(random.random(cost.shape) < known, cost, np.nan).astype(np.float32)


def begun(n_labels, regularization="auto", intercept=True):
    own = settings(n_labels, model__fit_intercept=intercept)
    return RidgeModel(regularization, fit_intercept=intercept).begin(n_labels, own)


def learned(X, cost, penalty=1.0, intercept=True):
    model = begun(cost.shape[1], penalty, intercept)
    model.learn(check_rows(X), cost, settings(cost.shape[1]), 1)
    return model


def plain(X, cost, penalty, slack, tests, intercept=True):
    """Predicted, lowest and highest costs of one label by the formula."""

    def with_intercept(rows):
        return np.hstack([np.full((len(rows), 1), float(intercept)), rows]).astype(np.float64)

    known = ~np.isnan(cost)
    rows, tests = with_intercept(X[known]), with_intercept(tests)
    matrix = penalty * np.eye(rows.shape[1]) + rows.T @ rows
    predicted = tests @ np.linalg.solve(matrix, rows.T @ cost[known])
    reach = np.sqrt(slack * np.einsum("ij,ji->i", tests, np.linalg.solve(matrix, tests.T)))
    inside = np.clip(predicted, 0, 1)
    return predicted, np.maximum(inside - reach, 0), np.minimum(inside + reach, 1)


@given(
    seed=st.integers(0, 10_000),
    n_features=st.integers(1, 40),
    n_tests=st.integers(1, 9),
    penalty=st.floats(0.05, 20.0),
    intercept=st.booleans(),
    scale=st.sampled_from([1e-3, 1.0, 1e3]),
)
def test_predictions_and_ranges_follow_the_formula_for_few_rows_and_many(
    seed, n_features, n_tests, penalty, intercept, scale
):
    X, cost = problem(seed, n_features=n_features)
    X *= scale
    tests = scale * problem(seed + 1, n_tests, n_features)[0]
    model = learned(X, cost, penalty, intercept=intercept)
    found = model.ranges(check_rows(tests), settings(3), first_round=50)
    np.testing.assert_array_equal(model.predict(check_rows(tests)), found[0])
    slack = 0.1 * np.log(3 * (49 + np.arange(n_tests)))
    for label in range(3):
        exact = plain(X, cost[:, label], penalty, slack, tests, intercept)
        for ours, theirs in zip(found, exact, strict=True):
            np.testing.assert_allclose(ours[:, label], theirs, atol=2e-4)


def test_slack_follows_each_labels_residuals_if_it_is_scaled_by_noise():
    X, cost = problem(4)
    model = learned(X, cost)
    tests = check_rows(X[:20])
    _, low, high = model.ranges(tests, settings(3, rule__slack="noise-scaled"), first_round=9)
    for label in range(3):
        answered = int((~np.isnan(cost[:, label])).sum())
        assert model.state.answered[label] == answered
        noise = (1 + model.state.squared_residuals[label]) / (1 + answered)
        slack = 0.1 * noise * np.log(3 * (8 + np.arange(20)))
        _, lowest, highest = plain(X, cost[:, label], 1.0, slack, X[:20])
        np.testing.assert_allclose(low[:, label], lowest, atol=1e-5)
        np.testing.assert_allclose(high[:, label], highest, atol=1e-5)


def test_no_regressor_within_the_slack_predicts_beyond_the_range_and_one_reaches_it():
    X, cost = problem(7, n_rows=30, n_features=3, n_labels=2, known=1.0)
    penalty, slack, test = 2.0, 0.1 * np.log(2 * 9), 0.2 * X[:1]
    model = learned(X, cost, penalty)
    predicted, lowest, highest = model.ranges(check_rows(test), settings(2), first_round=10)
    rows, row = np.hstack([np.ones((30, 1)), X]), np.append(1.0, test[0])
    for label in range(2):
        assert 0 < lowest[0, label] < predicted[0, label] < highest[0, label] < 1  # nothing is clipped

        def loss(weights, answers=cost[:, label]):
            return ((rows @ weights - answers) ** 2).sum() + penalty * (weights**2).sum()

        best = minimize(loss, np.zeros(4), options={"gtol": 1e-9})
        within = {"type": "ineq", "fun": lambda weights, loss=loss, least=best.fun: least + slack - loss(weights)}
        for sign, end in ((1.0, lowest), (-1.0, highest)):
            found = minimize(lambda w, sign=sign: sign * (w @ row), best.x, constraints=within, method="SLSQP")
            assert found.success
            np.testing.assert_allclose(found.x @ row, end[0, label], atol=1e-4)


@given(seed=st.integers(0, 10_000), more=st.floats(1.0, 100.0))
def test_more_slack_never_narrows_a_range_and_the_clipped_prediction_is_inside(seed, more):
    X, cost = problem(seed)
    model, tests = learned(X, cost), check_rows(3 * X)
    predicted, lowest, highest = model.ranges(tests, settings(3), 30)
    _, lower, higher = model.ranges(tests, settings(3, mellowness=0.1 * more), 30)
    inside = np.clip(predicted, 0, 1)
    assert ((lowest >= 0) & (lowest <= inside) & (inside <= highest) & (highest <= 1)).all()
    assert ((lower <= lowest) & (higher >= highest)).all()


def test_features_that_appear_later_count_as_zero_before():
    X, cost = problem(5, n_rows=40, n_features=50)
    X[:20, 10:] = 0
    narrow, wide = begun(3, 1.0), learned(X, cost)
    for rows, costs in ((X[:20, :10], cost[:20]), (X[20:], cost[20:])):
        narrow.learn(check_rows(rows), costs, settings(3), 1)
    for name, array in wide.arrays().items():
        np.testing.assert_array_equal(narrow.arrays()[name], array, err_msg=name)


def test_features_never_learned_widen_ranges_as_if_they_were_there():
    X, cost = problem(6, n_features=20)
    tests = 0.1 * problem(8, 30, 60)[0]
    found = learned(X, cost).ranges(check_rows(tests), settings(3), 20)
    wide = np.hstack([X, np.zeros((len(X), 40), np.float32)])
    for label in range(3):
        exact = plain(wide, cost[:, label], 1.0, 0.1 * np.log(3 * (19 + np.arange(30))), tests)
        for ours, theirs in zip(found, exact, strict=True):
            np.testing.assert_allclose(ours[:, label], theirs, atol=1e-5)


@given(seed=st.integers(0, 10_000), power=st.integers(-20, 20), empty=st.integers(0, 3))
def test_without_a_penalty_given_only_proportions_count(seed, power, empty):
    X, cost = problem(seed)
    X[:empty] = 0  # rows without a length give no unit
    plain, scaled = learned(X, cost, "auto"), learned(X * 2.0**power, cost, "auto")
    for name, array in plain.arrays().items():
        if name != "unit":
            np.testing.assert_array_equal(scaled.arrays()[name], array, err_msg=name)
    first = np.flatnonzero(~np.isnan(cost).all(axis=1) & X.any(axis=1))[0]
    np.testing.assert_allclose(plain.arrays()["unit"], np.linalg.norm(X[first]), rtol=1e-6)
    tests = np.hstack([X, X[:, ::-1]])  # with features never learned
    for one, other in zip(
        plain.ranges(check_rows(tests), settings(3), 9),
        scaled.ranges(check_rows(tests * 2.0**power), settings(3), 9),
        strict=True,
    ):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(("word", "penalty"), [("light", 0.5), ("auto", 1.0)])
def test_a_penalty_in_words_is_this_number_on_rows_of_length_one(word, penalty):
    X, cost = problem(11)
    unit = float(np.linalg.norm(X[0]))
    found, same = learned(X, cost, word), learned(X / np.float32(unit), cost, penalty)
    np.testing.assert_allclose(found.predict(check_rows(X)), same.predict(check_rows(X / unit)), atol=1e-5)


def test_blocks_of_rows_change_nothing(monkeypatch):
    X, cost = problem(9, n_rows=200, n_features=150)
    at_once = learned(X, cost)
    ranges = at_once.ranges(check_rows(X), settings(3), 1)
    monkeypatch.setattr(FactorRegression, "block", 64)
    monkeypatch.setattr(regression, "_PRODUCT_SIZE", 1)
    in_blocks = learned(X, cost)
    for ours, theirs in zip(in_blocks.ranges(check_rows(X), settings(3), 1), ranges, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-5)
    np.testing.assert_array_equal(in_blocks.regression.weights, at_once.regression.weights)


def test_memory_is_as_computed_and_refused_if_less_is_available(monkeypatch):
    model = begun(5)
    model.learn(check_rows(np.ones((1, 300))), np.ones((1, 5), np.float32), settings(5), 1)
    assert model.nbytes == model.bytes_for(300) < 1.2 * 2 * 5 * 300**2
    monkeypatch.setattr(device, "available_bytes", lambda: model.bytes_for(500))
    model.check(check_rows(np.ones((1, 500))))
    with pytest.raises(InputError, match="got 600 features and 5 labels, which take"):
        model.check(check_rows(np.ones((1, 600))))
    monkeypatch.setattr(device, "available_bytes", lambda: 0)
    model.check(check_rows(np.ones((1, 300))))  # they are there already


def test_values_that_would_overflow_are_refused():
    with pytest.raises(InputError, match=r"X must lie within 1e\+15 of 0, got 2e\+15"):
        begun(2).check(check_rows([[1.0, -2e15]]))


@pytest.mark.parametrize("zeros", [0, 2])
def test_values_out_of_all_proportion_to_the_first_row_are_refused_in_one_call_as_in_two(zeros):
    X = np.vstack([np.zeros((zeros, 3)), np.full((1, 3), 1e-20), np.ones((1, 3))])
    with pytest.raises(InputError, match=r"because the first row learned has .* Pass a number as regularization"):
        begun(2).check(check_rows(X))
    model = begun(2)
    model.learn(check_rows(X[:-1]), np.ones((len(X) - 1, 2), np.float32), settings(2), 1)
    with pytest.raises(InputError, match=r"because the first row learned has .* Pass a number as regularization"):
        model.check(check_rows(X[-1:]))
    begun(2, 1.0).check(check_rows(X))


@pytest.mark.parametrize("n_rows", [1, 10])
def test_rows_of_any_size_have_ranges(n_rows):
    X, cost = problem(3)
    model = learned(X / 1000, cost, "auto")
    rows = check_rows(np.tile(np.array([3e38, -3e38, 3e38, -3e38, 1e-38], np.float32), (n_rows, 1)))
    predicted, lowest, highest = model.ranges(rows, settings(3), 100)
    assert np.isfinite(predicted).all()
    assert (lowest <= np.clip(predicted, 0, 1)).all()
    assert (highest - lowest == 1.0).all()


def test_rows_as_wide_as_can_be_are_refused_without_taking_memory():
    wide = check_rows(sparse.csr_array(([1.0], ([0], [2**31 - 2])), shape=(1, 2**31 - 1)))
    tracemalloc.start()
    with pytest.raises(InputError, match="got 2,147,483,647 features and 5 labels, which take"):
        begun(5).check(wide)
    assert tracemalloc.get_traced_memory()[1] < 1e6
    tracemalloc.stop()


def test_arrays_restore_the_same_model_and_damaged_ones_are_refused():
    model, again = learned(*problem(3), 0.5, intercept=False), begun(3, 0.5, intercept=False)
    again.restore(model.arrays())
    for name, array in model.arrays().items():
        np.testing.assert_array_equal(again.arrays()[name], array, err_msg=name)
    np.testing.assert_array_equal(again.predict(check_rows(np.eye(5))), model.predict(check_rows(np.eye(5))))
    for name, array in model.arrays().items():
        for damaged in (
            {name: array[..., : 3 if name == "tally_counters" else -1] if array.size else array[..., None]},
            {name: np.zeros(array.shape, np.int16)},
        ):
            with pytest.raises(FileFormatError, match="no usable array"):
                begun(3, 0.5).restore({**model.arrays(), **damaged})
    with pytest.raises(FileFormatError, match="no usable array 'unit'"):
        begun(3, 0.5).restore({})
