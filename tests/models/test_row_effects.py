"""How hard rows are: against the best linear prediction, and nothing where costs have nothing in common."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coalface.kernels.forest import KnownCosts
from coalface.models.forest.row_effects import label_means, row_effects, shared_error, without_row_effects

from ..kernels.test_forest import answers_of


def some_costs(seed, n=200, n_labels=4, hard=0.3, known=0.7):
    random = np.random.default_rng(seed)
    cost = 0.5 + hard * random.normal(size=(n, 1)) + 0.2 * random.normal(size=(n, n_labels))
    return np.where(random.random(cost.shape) < known, cost, np.nan)


@given(st.integers(0, 10_000))
def test_a_row_effect_is_the_best_linear_prediction_of_what_errors_share(seed):
    cost = some_costs(seed)
    answers, predicted = answers_of(cost), np.full((200, 4), 0.5)
    shared, found = shared_error(answers, predicted), row_effects(answers, predicted)
    for row in range(20):
        errors = (cost[row] - 0.5)[~np.isnan(cost[row])]
        covariance = (1 - shared) * np.eye(len(errors)) + shared
        assert found[row] == pytest.approx(shared * np.linalg.solve(covariance, errors).sum(), abs=1e-9)


def test_shared_errors_are_the_correlation_of_the_errors_of_two_labels():
    found = [shared_error(answers_of(some_costs(3, 4000, hard=hard)), np.full((1, 4), 0.5)) for hard in (0.0, 0.2, 0.4)]
    assert found == pytest.approx([0.0, 0.5, 0.8], abs=0.03)


def test_errors_that_exclude_each_other_are_not_shared():
    cost = 1.0 - np.eye(5)[np.random.default_rng(0).integers(0, 5, 300)]
    answers = answers_of(cost)
    assert shared_error(answers, label_means(answers, 5)) == 0.0
    assert (row_effects(answers, np.full((300, 5), 0.8)) == 0.0).all()


def test_rows_that_no_tree_was_grown_without_are_not_hard():
    answers = answers_of(some_costs(1))
    predicted = np.full((200, 4), 0.5)
    predicted[:7] = np.nan
    found = row_effects(answers, predicted)
    assert (found[:7] == 0.0).all()
    assert (found[7:] != 0.0).any()


def test_what_is_taken_out_of_a_row_is_taken_out_of_each_of_its_costs():
    answers = KnownCosts(np.array([0, 2, 2, 3]), np.array([0, 2, 1]), np.array([0.5, 0.75, 0.25]), np.ones(3))
    assert without_row_effects(answers, np.array([0.25, 9.0, -0.25])).costs.tolist() == [0.25, 0.5, 0.5]


def test_the_mean_of_a_label_is_weighted():
    answers = KnownCosts(np.array([0, 1, 2]), np.array([1, 1]), np.array([0.0, 1.0]), np.array([3.0, 1.0]))
    assert label_means(answers, 3).tolist() == [[0.0, 0.25, 0.0]]
