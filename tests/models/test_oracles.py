"""Oracles against a general solver, and against what their classes promise."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from coalface.errors import InputError
from coalface.paper.oracles import BallOracle, BoundedLinearOracle, RidgeOracle, least_distance
from coalface.paper.user_oracles import FiniteOracle, SklearnOracle, oracle_of

seeds = st.integers(0, 10_000)


def problem(seed, n=12, d=3):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d)) * 10.0 ** random.uniform(-1, 1)
    return X, random.random(n), random.random(n) * (random.random(n) < 0.8)


def loss(X, targets, weights, w):
    return float(weights @ (X @ w - targets) ** 2)


def solved(X, targets, weights, constraints, start):
    found = minimize(
        lambda w: loss(X, targets, weights, w),
        start,
        jac=lambda w: 2 * X.T @ (weights * (X @ w - targets)),
        constraints=constraints,
        method="SLSQP",
        options={"maxiter": 1000, "ftol": 1e-15},
    )
    return found.fun


@given(seeds, st.floats(0.01, 3.0))
def test_the_ball_is_solved_exactly(seed, radius):
    X, targets, weights = problem(seed)
    w = BallOracle(radius).solve(X, targets, weights).coefficients
    inside = {"type": "ineq", "fun": lambda w: radius**2 - w @ w, "jac": lambda w: -2 * w}
    assert np.linalg.norm(w) <= radius * (1 + 1e-9)
    expected = solved(X, targets, weights, [inside], np.zeros(3))
    assert loss(X, targets, weights, w) == pytest.approx(expected, rel=1e-6, abs=1e-9)


@given(seeds)
def test_a_ball_that_is_large_enough_makes_no_difference(seed):
    X, targets, weights = problem(seed)
    root = np.sqrt(weights)
    expected = np.linalg.lstsq(X * root[:, None], targets * root, rcond=None)[0]
    found = BallOracle(1e9).solve(X, targets, weights).coefficients
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)


@given(seeds)
def test_fewer_rows_than_features_have_the_smallest_solution(seed):
    X, targets, _ = problem(seed, n=2, d=5)
    expected = np.linalg.pinv(X) @ targets
    found = RidgeOracle().solve(X, targets, np.ones(2)).coefficients
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-8)


@given(seeds)
def test_a_penalty_is_a_prior(seed):
    X, targets, weights = problem(seed)
    prior, zeros = RidgeOracle(0.7).prior(3)
    found = RidgeOracle(0.7).solve(np.vstack([prior, X]), np.append(zeros, targets), np.append(np.ones(3), weights))
    expected = Ridge(alpha=0.7, fit_intercept=False).fit(X, targets, sample_weight=weights).coef_
    np.testing.assert_allclose(found.coefficients, expected, rtol=1e-6, atol=1e-9)


def beside_a_constant(seed, scale):
    """Rows with a constant 1 beside features of this size, and costs that need both."""
    random = np.random.default_rng(seed)
    rows = np.column_stack([np.ones(30), scale * random.normal(size=(30, 3))])
    return rows, np.clip(0.5 + 0.1 * random.normal(size=30) + 0.1 * rows[:, 1] / scale, 0, 1)


@pytest.mark.parametrize("scale", [1.0, 1e4, 1e6, 1e8, 1e10])
def test_a_constant_beside_large_features_is_not_lost(scale):
    for seed in range(5):
        X, targets = beside_a_constant(seed, scale)
        units = np.array([1.0, scale, scale, scale])
        expected = np.linalg.lstsq(X / units, targets, rcond=None)[0] / units
        ball = BallOracle(radius=2.0).solve(X, targets, np.ones(30))
        np.testing.assert_allclose(ball.coefficients * units, expected * units, atol=1e-6)
        prior, zeros = RidgeOracle(0.5).prior(4)
        together, goal = np.vstack([prior, X]), np.append(zeros, targets)
        expected = np.linalg.lstsq(together / units, goal, rcond=None)[0] / units
        ridge = RidgeOracle(0.5).solve(together, goal, np.ones(34))
        np.testing.assert_allclose(ridge.coefficients * units, expected * units, atol=1e-6)


@pytest.mark.parametrize("scale", [1e-8, 1e6, 1e10])
def test_bounded_predictions_do_not_depend_on_the_unit_of_the_features(scale):
    for seed in range(5):
        (X, targets), (scaled, _) = beside_a_constant(seed, 1.0), beside_a_constant(seed, scale)
        plain, other = (BoundedLinearOracle().solve(rows, targets, np.ones(30)).predict(rows) for rows in (X, scaled))
        np.testing.assert_allclose(other, plain, atol=1e-6)


@given(seeds)
def test_bounded_predictions_are_bounded_and_no_worse_than_the_solvers(seed):
    X, targets, weights = problem(seed)
    w = BoundedLinearOracle().solve(X, targets, weights).coefficients
    assert (X @ w).min() >= -1e-7
    assert (X @ w).max() <= 1 + 1e-7
    sides = {"type": "ineq", "fun": lambda w: np.append(X @ w, 1 - X @ w), "jac": lambda _: np.vstack([X, -X])}
    expected = solved(X, targets, weights, [sides], np.zeros(3))
    assert loss(X, targets, weights, w) == pytest.approx(expected, rel=1e-5, abs=1e-7)


@given(seeds, st.integers(1, 4), st.integers(1, 8))
def test_the_nearest_point_of_a_polyhedron(seed, d, n):
    random = np.random.default_rng(seed)
    normals, offsets = random.normal(size=(n, d)), random.normal(size=n)
    point, shares = least_distance(normals, offsets)
    assert (shares >= 0).all()
    if point is None:  # the shares prove it
        np.testing.assert_allclose(shares @ normals, 0, atol=1e-6)
        assert shares @ offsets > 0
        return
    assert (normals @ point >= offsets - 1e-6).all()
    found = minimize(
        lambda y: y @ y,
        point + 0.1,
        jac=lambda y: 2 * y,
        constraints={"type": "ineq", "fun": lambda y: normals @ y - offsets, "jac": lambda _: normals},
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-14},
    )
    assert point @ point <= found.fun + 1e-6


@given(seeds)
def test_a_finite_class_is_searched(seed):
    random = np.random.default_rng(seed)
    table = random.random((6, 4))
    points, targets, weights = random.integers(0, 4, 9), random.random(9), random.random(9)
    found = FiniteOracle.of_table(table).solve(points[:, None].astype(float), targets, weights)
    losses = [(weights * (row[points] - targets) ** 2).sum() for row in table]
    np.testing.assert_array_equal(found.predict(np.arange(4.0)[:, None]), table[int(np.argmin(losses))])


def test_a_sklearn_regressor_is_fitted_with_the_weights_and_cut_to_the_scale():
    X, targets, weights = problem(1)
    tree = DecisionTreeRegressor(max_depth=2, random_state=0).fit(
        X[weights > 0], 3 * targets[weights > 0] - 1, sample_weight=weights[weights > 0]
    )
    found = SklearnOracle(DecisionTreeRegressor(max_depth=2)).solve(X, 3 * targets - 1, weights)
    np.testing.assert_array_equal(found.predict(X), np.clip(tree.predict(X), 0, 1))
    wide = np.column_stack([X, np.ones(len(X))])  # a feature that it has not seen
    np.testing.assert_array_equal(found.predict(wide), found.predict(X))


def test_without_weights_there_is_nothing_to_fit():
    X, targets, _ = problem(1)
    for oracle in (SklearnOracle(DecisionTreeRegressor()), BallOracle(), RidgeOracle(), BoundedLinearOracle()):
        assert oracle.solve(X, targets, np.zeros(len(X))).predict(X).tolist() == [0.0] * len(X)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: SklearnOracle(KNeighborsRegressor()),
            "in fit, but KNeighborsRegressor does not",
        ),
        (
            lambda: SklearnOracle(DecisionTreeClassifier()),
            "must be a scikit-learn regressor, got DecisionTreeClassifier",
        ),
        (lambda: oracle_of("ridge"), "must be a scikit-learn regressor, got str"),
        (lambda: oracle_of({"kind": "cube"}), "must have one of the kinds 'ball', .* got 'cube'"),
        (
            lambda: oracle_of({"kind": "ball", "penalty": 1}),
            "cannot have exactly these parameters: penalty",
        ),
        (lambda: BallOracle(0), "radius must be a finite number greater than 0, got 0"),
        (lambda: RidgeOracle("much"), "penalty must be a finite number greater than 0, got 'much'"),
        (lambda: FiniteOracle([]), "at least one function"),
        (lambda: FiniteOracle.of_table([[0.5, 1.5]]), r"costs in \[0, 1\]"),
        (lambda: FiniteOracle([abs]).plain(), "which a file or ledger cannot hold"),
        (lambda: SklearnOracle(Ridge()).plain(), "Ridge cannot be saved to a file or ledger"),
        (lambda: FiniteOracle.of_table([[0.5]]).predictions(np.array([[3.0]])), "must be a point between 0 and 0, got"),
        (
            lambda: FiniteOracle.of_table([[0.5, 0.1]]).predictions(np.array([[0.7]])),
            "between 0 and 1, got 0.7",
        ),
        (lambda: SklearnOracle(Ridge), "must be a scikit-learn regressor, got the class Ridge. Pass Ridge()"),
        (lambda: FiniteOracle.of_table("many"), r"costs in \[0, 1\], functions x points, got 'many'"),
        (lambda: FiniteOracle(3), "must be a list of functions, got 3"),
        (lambda: FiniteOracle([3]), "must be a list of functions, got \\[3\\]"),
        (lambda: FiniteOracle([lambda X: X]).predictions(np.eye(3)), r"a cost for all 3 rows, got shape \(3, 3\)"),
        (
            lambda: FiniteOracle([lambda X: X[:, 0] / np.nan]).predictions(np.eye(3)),
            "return finite costs, got nan",
        ),
    ],
)
def test_invalid_parameters_are_refused_in_one_line(make, message):
    with pytest.raises(InputError, match=message) as refused:
        make()
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "oracle", [BallOracle(2.0), RidgeOracle(0.1), BoundedLinearOracle(), FiniteOracle.of_table([[0.1, 0.2]])]
)
def test_oracles_of_coalface_are_rebuilt_from_their_description(oracle):
    again = oracle_of(oracle.plain())
    assert type(again) is type(oracle)
    assert again.plain() == oracle.plain()
