"""The exact engine where its class cannot hold the truth: it warns, or chooses its unit and holds it."""

import numpy as np
import pytest
from benchmarks.misspecified import outside, problem
from sklearn.base import clone

from coalface import CoalClassifier
from coalface.errors import InputError, MisspecifiedWarning
from coalface.paper.engine import certified_range
from coalface.paper.engines import Bisection, Enumeration
from coalface.paper.model import ExactModel
from coalface.paper.oracles import BallOracle
from coalface.paper.user_oracles import FiniteOracle
from coalface.paper.version_space import LabelAnswers, VersionSpace

from ..problems import exact_learner

N = 40


def told(oracle, X, cost, **params):
    return exact_learner(range(cost.shape[1]), model__oracle=oracle, **params).tell(X, cost)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_no_true_cost_is_outside_its_range_once_the_unit_is_chosen(scale):
    X, expected, cost = problem(N + 100, n_features=2, scale=scale)
    learner = told("auto", X[:N], cost[:N])
    assert outside(learner, X[N:], expected[N:]) == 0
    assert learner.model_.unit == pytest.approx(np.linalg.norm(X[0]), rel=1e-6)


def test_a_ball_that_is_too_small_warns_once_and_loses_most_true_costs():
    X, expected, cost = problem(N + 100, n_features=2, scale=1e-3)
    with pytest.warns(MisspecifiedWarning, match=r"outside BallOracle\(radius=1.0\).*oracle='auto'") as caught:
        learner = told(BallOracle(1.0), X[:N], cost[:N])
    assert len(caught) == 1
    assert outside(learner, X[N:], expected[N:]) > 100


def test_a_ball_that_is_large_enough_does_not_warn():
    X, expected, cost = problem(N + 100, n_features=2, scale=1.0)
    assert outside(told(BallOracle(2.0), X[:N], cost[:N]), X[N:], expected[N:]) == 0


def test_the_ball_grows_until_functions_outside_it_are_not_better():
    X, expected, cost = problem(N + 100, n_features=2, scale=1.0)
    X[:, 1] /= 300  # the first row says little about the unit of this feature
    learner = told("auto", X[:N], cost[:N])
    assert learner.model_.checked_oracle.radius > 10
    assert outside(learner, X[N:], expected[N:]) == 0


def test_the_unit_of_the_features_does_not_change_a_decision():
    X, _, cost = problem(N, n_features=2, scale=1.0)
    masks = []
    for scale in (1.0, 2.0**-20, 2.0**20):
        learner = exact_learner(range(3), rule__warm_up=0)
        for i in range(15):
            queries = learner.ask(scale * X[i : i + 1])
            learner.tell(scale * X[i : i + 1], np.where(queries.mask, cost[i : i + 1], np.nan), asked=queries)
            masks.append(queries.mask[0].tolist())
    assert masks[:15] == masks[15:30] == masks[30:]


def test_the_chosen_ball_is_saved_and_restored(tmp_path):
    X, _, cost = problem(N, n_features=2, scale=1e-3)
    learner = told("auto", X, cost)
    learner.save(tmp_path / "model")
    again = CoalClassifier.load(tmp_path / "model")
    assert (again.model_.unit, again.model_.checked_oracle) == (learner.model_.unit, learner.model_.checked_oracle)
    np.testing.assert_array_equal(again.cost_range(X[:3]).highest, learner.cost_range(X[:3]).highest)
    assert ExactModel().plain()["oracle"] == "auto"


def test_multiplicative_weights_without_a_width_threshold_are_refused_instead_of_running_for_ever():
    refused = "width_scale must be above 0 with ranges='multiplicative-weights'.* Use ranges='dual'"
    model = ExactModel(BallOracle(2.0), "multiplicative-weights")
    learner = exact_learner(range(2), model=model, rule__width_scale=0.0)
    with pytest.raises(InputError, match=refused):
        learner.ask([[1.0]])
    learner = exact_learner(range(2), model=model)
    learner.tell([[0.5], [1.0]], [[0.2, 0.8], [0.1, 0.9]]).set_params(rule__width_scale=0.0)
    with pytest.raises(InputError, match=refused):
        learner.cost_range([[0.7]])


def test_the_theory_takes_its_constant():
    theory = ExactModel(schedule="theory", dimension=3, horizon=50)
    published = exact_learner(range(2), model=theory)
    learner = clone(published).set_params(model__constant=0.01)
    slacks = [one.begin().model_.theory.summed_slack(40) for one in (learner, published)]
    assert slacks[0] == pytest.approx(3 * 0.01 * (3 * np.log(50) + np.log(8 * 2 * np.e * 4 * 50**2 / 0.05)))
    assert slacks[1] == 3 * 39
    with pytest.raises(InputError, match="constant must be"):
        clone(published).set_params(model__constant=0).ask([[1.0]])


def test_the_theory_refuses_a_horizon_that_has_passed_and_a_dimension_below_the_data():
    X, cost = np.eye(3)[[0, 1, 2, 0]], np.tile([0.1, 0.9], (4, 1))
    new = exact_learner(range(2), model=ExactModel(schedule="theory", dimension=4, horizon=3))
    learner = clone(new)
    learner.tell(X[:3], cost[:3]).cost_range(X)  # a last look
    before = learner.costs_queried_, learner.round_
    with pytest.raises(InputError, match="horizon=3 is the number of examples in all, got example 5"):
        learner.tell(X[:1], cost[:1]).ask(X[:1])
    with pytest.raises(InputError, match="horizon=3 is the number of examples in all, got example 4"):
        clone(new).tell(X, cost)
    with pytest.raises(InputError, match=r"dimension must be at least 4, .* got 3"):
        clone(new).set_params(model__dimension=3, model__horizon=9).tell(X, cost)
    assert before[1] == 4


def test_bisection_over_a_finite_class_is_too_wide_by_its_duality_gap_and_never_too_narrow():
    oracle = FiniteOracle.of_table([[0.9, 0.05], [0.68, 0.95]])  # the second member is just implausible
    space = VersionSpace(LabelAnswers(oracle)).with_answer(np.array([0.0]), 0.9).alone(2, slack=0.048)
    exact, found = (certified_range(engine(space), np.array([1.0]), 1e-6) for engine in (Enumeration, Bisection))
    assert (exact.lowest, exact.highest) == (0.05, 0.05)
    assert found.lowest <= 0.05
    assert found.highest > 0.05 + 0.66
