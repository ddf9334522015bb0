"""Offline evaluation: exact expectations by enumeration, intervals that cover, and clear errors."""

from itertools import product

import numpy as np
import pytest

from coalface import CoalClassifier
from coalface.errors import InputError
from coalface.evaluate.logged import evaluate_logged, policy_estimates

COST = np.array([[0.1, 0.7, 0.4], [0.9, 0.2, 0.6], [0.3, 0.8, 0.5]])
LOGGING = np.array([[0.5, 0.3, 0.2], [0.1, 0.6, 0.3], [0.25, 0.25, 0.5]])
POLICY = np.array([[0.7, 0.3, 0.0], [0.0, 0.0, 1.0], [0.2, 0.5, 0.3]])


@pytest.mark.parametrize("method", ["inverse propensity", "doubly robust"])
def test_the_expectation_over_every_possible_log_is_the_cost_of_the_policy(method: str) -> None:
    predicted = np.random.default_rng(0).random(COST.shape)  # any predictions, however wrong
    rows, expected = np.arange(3), 0.0
    for served in product(range(3), repeat=3):
        labels = np.array(served)
        chances = LOGGING[rows, labels]
        report = policy_estimates(labels, COST[rows, labels], chances, POLICY, predicted, (-99.0, 99.0))  # no cut
        expected += chances.prod() * report[method].mean
    assert expected == pytest.approx((POLICY * COST).sum(axis=1).mean(), abs=1e-12)


def test_exact_predictions_make_the_doubly_robust_estimate_exact() -> None:
    labels = np.array([2, 0, 1])
    chances = LOGGING[np.arange(3), labels]
    report = policy_estimates(labels, COST[np.arange(3), labels], chances, POLICY, COST)
    assert report["doubly robust"].mean == pytest.approx((POLICY * COST).sum(axis=1).mean(), abs=1e-12)


def test_the_logging_policy_itself_costs_what_was_logged() -> None:
    random = np.random.default_rng(1)
    labels, cost = random.integers(3, size=50), random.random(50)
    policy = np.full((50, 3), 1 / 3)
    report = policy_estimates(labels, cost, np.full(50, 1 / 3), policy, np.zeros((50, 3)))
    assert all(one.mean == pytest.approx(cost.mean()) for one in report.estimates)
    assert report.effective_rows == pytest.approx(50)


def test_intervals_cover_the_true_cost_about_as_often_as_they_say() -> None:
    random, n, covered = np.random.default_rng(2), 400, np.zeros(3)
    chances = np.array([0.5, 0.3, 0.2])
    policy = np.tile([0.1, 0.2, 0.7], (n, 1))
    means = np.array([0.3, 0.6, 0.4])
    predicted = np.tile([0.4, 0.4, 0.4], (n, 1))
    truth = float(policy[0] @ means)
    for _ in range(300):
        labels = random.choice(3, size=n, p=chances)
        cost = (random.random(n) < means[labels]).astype(float)
        report = policy_estimates(labels, cost, chances[labels], policy, predicted)
        covered += [one.low <= truth <= one.high for one in report.estimates]
    assert (covered / 300 > 0.91).all()  # 3.2 standard deviations below 0.95
    assert (covered / 300 < 0.99).all()


@pytest.mark.parametrize("cost", [0.0, 1.0])
def test_a_mean_and_its_interval_are_cut_off_at_the_same_bounds(cost: float) -> None:
    labels, policy = np.array([0, 1] * 10), np.tile([1.0, 0.0], (20, 1))  # predictions that are wrong by 1
    chances = np.array([0.2, 0.8] * 10)
    report = policy_estimates(labels, np.full(20, cost), chances, policy, np.full((20, 2), 1.0 - cost))
    assert all(0.0 <= one.low <= one.mean <= one.high <= 1.0 for one in report.estimates)
    assert report["doubly robust"].mean == cost


@pytest.mark.parametrize("scale", [1.0, 5.0])
def test_equal_costs_leave_room_for_the_share_of_other_costs_that_may_be_unseen(scale: float) -> None:
    labels, policy = np.zeros(60, np.int64), np.tile([1.0, 0.0], (60, 1))
    cost, predicted = np.full(60, 0.4 * scale), np.full((60, 2), 0.4 * scale)
    report = policy_estimates(labels, cost, np.ones(60), policy, predicted, (0.0, scale))
    unseen = 3 / 60  # with this share of other costs, 60 rows without any have a chance of 5 %
    assert (1 - unseen) ** 60 == pytest.approx(0.05, abs=0.005)
    for one in report.estimates:
        assert (one.low, one.high) == pytest.approx(((0.4 - unseen) * scale, (0.4 + unseen) * scale))


def test_nothing_is_known_about_a_policy_that_hardly_ever_serves_what_was_served() -> None:
    labels, policy = np.zeros(100, np.int64), np.tile([0.0, 1.0], (100, 1))
    report = policy_estimates(labels, np.full(100, 0.3), np.full(100, 0.9), policy, np.full((100, 2), 0.5))
    assert report.matched == 0
    assert all((one.low, one.high) == (0.0, 1.0) for one in report.estimates)


def test_a_learner_is_evaluated_by_what_it_predicts() -> None:
    X = np.eye(2)[np.arange(200) % 2]
    learner = CoalClassifier(["a", "b"], model="online").fit(X, np.array(["a", "b"])[np.arange(200) % 2])
    served = np.array(["a", "a", "b", "b"] * 50)
    cost = (served != np.array(["a", "b"])[np.arange(200) % 2]).astype(float)
    report = evaluate_logged(learner, X, served, cost, np.full(200, 0.5))
    assert report["self-normalised"].mean == 0.0
    assert report.logged_cost == 0.5


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"probability": [0.0, 0.5]}, "probability must be above 0.* Pass that with which each label was served"),
        ({"cost": [0.5, 2.0]}, r"cost must have numbers in \[0, 1\]"),
        ({"label": ["a"]}, "label must have one entry per row, 2"),
    ],
)
def test_a_log_that_cannot_be_right_is_refused(parts: dict[str, list[object]], message: str) -> None:
    log = {"label": ["a", "b"], "cost": [0.1, 0.2], "probability": [0.5, 0.5], **parts}
    with pytest.raises(InputError, match=message):
        evaluate_logged(CoalClassifier(["a", "b"]), [[1.0], [2.0]], **log)  # type: ignore[arg-type]
