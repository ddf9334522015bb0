"""Baselines from the literature: laws and independent references for what each of them asks."""

from itertools import product

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from baselines.iwal import chances
from baselines.online_regression import RidgeOracle
from baselines.strategies import UNKNOWN, Badge
from coalface import CoalClassifier, simulate
from tests.studies.baseline_problems import BASELINES, MATRIX, order_of, pets, with_table


def test_epochs_of_one_example_are_coal_itself():
    train, test, order = pets(60), pets(40, seed=1), order_of(pets(60))
    given = {"growth": 1.0, "mellowness": 0.05, "learning_rate": 0.3}
    curve = BASELINES["regcb-epochs"].curve(given, train, test, order)
    learner = CoalClassifier.as_published(mellowness=0.05, learning_rate=0.3, classes=[0, 1, 2])
    coal = simulate(learner, train.X, train.cost, X_test=test.X, cost_test=test.cost, order=order)
    assert curve.costs_queried.tolist() == coal.costs_queried.tolist()
    assert curve.test_cost == pytest.approx(coal.test_cost, abs=1e-6)


def test_longer_epochs_ask_for_at_least_all_of_the_first_and_differ_from_coal():
    train, test = pets(60), pets(40, seed=1)
    asked = [
        BASELINES["regcb-epochs"].curve({"growth": g, "mellowness": 0.02}, train, test, range(60)).costs_queried[-1]
        for g in (1.0, 2.0, 100.0)
    ]
    assert asked[2] > asked[0]  # one long epoch asks as if nothing but the first example were known


def test_the_oracle_is_ridge_regression():
    random = np.random.default_rng(0)
    X, cost, new = random.normal(size=(30, 5)), random.random((30, 3)), random.normal(size=5)
    oracle = RidgeOracle(5, 3, regularization=2.0)
    for row, costs in zip(X, cost, strict=True):
        oracle.learn(row, costs)
    expected = Ridge(alpha=2.0, fit_intercept=False).fit(X, cost).predict(new[None])[0]
    assert oracle.predict(new) == pytest.approx(expected)


def test_no_regressor_within_reach_differs_by_more_than_delta_and_one_does_by_as_much():
    random = np.random.default_rng(1)
    X, new = random.normal(size=(20, 4)), random.normal(size=4)
    oracle = RidgeOracle(4, 1, regularization=1.0)
    for row in X:
        oracle.learn(row, np.zeros(1))
    squares = X.T @ X + np.eye(4)
    root = np.linalg.cholesky(squares)
    directions = random.normal(size=(20_000, 4))
    at_reach = np.linalg.solve(root.T, (directions / np.linalg.norm(directions, axis=1)[:, None]).T)  # w'Sw = 1
    differences = np.abs(new @ at_reach)
    delta = np.sqrt(oracle.squared_norm(new))
    assert differences.max() <= delta + 1e-12
    assert differences.max() > 0.95 * delta


def test_online_regression_asks_nothing_where_it_is_certain_and_everything_at_a_wide_reach():
    train, test = pets(60), pets(40, seed=1)
    runs = [
        BASELINES["online-regression"].curve({"mellowness": mellowness}, train, test, range(60)).costs_queried[-1]
        for mellowness in (0.0, 0.001, 100.0)
    ]
    assert runs[0] < runs[1] < runs[2] == 180


def test_the_chance_of_iwal_is_the_largest_difference_of_losses():
    random = np.random.default_rng(2)
    predictions = random.integers(3, size=(4, 25))
    for i, found in enumerate(chances(predictions, MATRIX, 0.1)):
        pairs = product(predictions[:, i], predictions[:, i], range(3))
        assert found == pytest.approx(
            0.1 + 0.9 * max(MATRIX[truth, one] - MATRIX[truth, two] for one, two, truth in pairs)
        )


def test_labels_that_iwal_asks_for_stand_for_all_examples():
    random = np.random.default_rng(3)
    chance, losses = chances(random.integers(3, size=(3, 500)), MATRIX, 0.2), random.random(500)
    drawn = random.random((4000, 500)) < chance
    estimates = (drawn * losses / chance).sum(axis=1)
    assert estimates.mean() == pytest.approx(losses.sum(), abs=4 * estimates.std() / np.sqrt(4000))


def test_iwal_needs_true_labels():
    with pytest.raises(ValueError, match="needs data with true labels"):
        BASELINES["iwal"].curve({}, with_table(pets()), pets(40, seed=1), range(70))


def test_badge_asks_about_different_unlabelled_examples_and_repeats_itself():
    pytest.importorskip("skactiveml")
    data = pets(60)
    labels = np.full(60, UNKNOWN)
    labels[:9] = data.truth[:9]
    X = data.X.toarray().astype(float)
    chosen = [Badge(X, MATRIX, 5).choose(labels, 12).tolist() for _ in range(2)]
    assert chosen[0] == chosen[1]
    assert len(set(chosen[0])) == 12
    assert min(chosen[0]) >= 9
