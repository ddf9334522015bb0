"""Every range engine against its contract, and against an independent solver of the same program."""

import numpy as np
import pytest
from sklearn.tree import DecisionTreeRegressor

from coalface.errors import InputError
from coalface.learner.estimator import CoalClassifier
from coalface.paper.dual import Dual
from coalface.paper.engine import certified_range
from coalface.paper.engines import (
    N_MEMBERS,
    Bisection,
    Ellipsoid,
    Ensemble,
    Enumeration,
    MultiplicativeWeights,
    theoretical_cap,
)
from coalface.paper.model import ENGINES, ExactModel
from coalface.paper.oracles import BallOracle, BoundedLinearOracle, RidgeOracle
from coalface.paper.user_oracles import FiniteOracle, SklearnOracle
from tests.models.contract import ENDS, Counting, RangeEngineContract
from tests.models.histories import history, learned, slack_of
from tests.reference.convex import LinearClass, Round, best, extreme_cost, summed_loss, version_space

SOLVER = 2e-6  # the accuracy of the solver that the tests compare with


class AgainstSolver(RangeEngineContract):
    """Engines whose ends are certified: the solver's value lies in the interval, which is no wider than asked for."""

    family: LinearClass
    n_seeds = 12

    @pytest.mark.parametrize("end", ENDS)
    def test_the_certified_interval_contains_the_solvers_value(self, end):
        for seed in range(self.n_seeds):
            rounds, _ = self.history(seed)
            space, rows = self.space(seed)
            engine = self.engine(space)
            slack = slack_of(self.mellowness)
            constraints = version_space(self.family, rounds, slack, latest_only=not self.engine.monotone)
            start = best(self.family, rounds, len(rows[0]))
            for row in rows[:2]:
                found, expected = engine.reach(row, end, self.tol), extreme_cost(constraints, row, end, start)
                near, far = sorted([found.reached, found.limit])
                assert near - SOLVER <= expected <= far + SOLVER
                assert far - near <= self.tol


class TestDualInABall(AgainstSolver):
    engine, family, n_seeds = Dual, LinearClass("ball", 1.2), 25

    def oracle(self):
        return BallOracle(1.2)


class TestDualInATightVersionSpace(AgainstSolver):
    engine, family, tol, mellowness = Dual, LinearClass("ball", 1.2), 1e-5, 0.03

    def oracle(self):
        return BallOracle(1.2)


class TestDualForRidge(AgainstSolver):
    engine, family, tol, mellowness = Dual, LinearClass("ridge", 0.05), 1e-3, 0.1

    def oracle(self):
        return RidgeOracle(0.05)


class TestDualForBoundedPredictions(AgainstSolver):
    engine, family, tol = Dual, LinearClass("bounded"), 1e-3

    def oracle(self):
        return BoundedLinearOracle()


class TestMultiplicativeWeights(AgainstSolver):
    engine, family, tol = MultiplicativeWeights, LinearClass("ball", 1.2), 0.1

    def oracle(self):
        return BallOracle(1.2)


class TestMultiplicativeWeightsInATightVersionSpace(AgainstSolver):
    engine, family, tol, mellowness = MultiplicativeWeights, LinearClass("ball", 1.2), 0.05, 0.03

    def oracle(self):
        return BallOracle(1.2)


class TestBisection(AgainstSolver):
    engine, family, tol = Bisection, LinearClass("ball", 1.2), 1e-4

    def oracle(self):
        return BallOracle(1.2)


class TestEllipsoid(AgainstSolver):
    engine, family, tol = Ellipsoid, LinearClass("ridge", 0.5), 1e-9

    def oracle(self):
        return RidgeOracle(0.5)

    def test_it_equals_bisection(self):
        compared = 0
        for seed in range(20):
            space, rows = self.space(seed)
            for row in rows:
                one, other = (certified_range(kind(space), row, 1e-7) for kind in (Ellipsoid, Bisection))
                if one.lowest > 0 and one.highest < 1:  # nothing is cut
                    compared += 1
                    assert one.lowest == pytest.approx(other.lowest, abs=1e-6)
                    assert one.highest == pytest.approx(other.highest, abs=1e-6)
        assert compared > 20

    @pytest.mark.parametrize("scale", [1e4, 1e8, 1e10])
    def test_a_constant_beside_large_features_keeps_its_spread(self, scale):
        rounds, rows = history(1)
        units, alike = np.array([1.0, scale, scale, scale]), np.array([1.0, 0.0, 0.0, 0.0])
        told = [Round(one.row * units, one.cost) for one in rounds]
        large = learned(self.oracle(), told, slack_of(0.01), monotone=False)
        free = [one for one in rounds if one.cost is not None]
        # so large that their penalty does not count: least squares with a penalty on the constant alone
        A = sum(np.outer(one.row, one.row) for one in free) + 0.5 * np.outer(alike, alike)
        for row in rows:
            found = certified_range(Ellipsoid(large), row * units, 0.0)
            best = np.linalg.solve(A, sum(one.row * one.cost for one in free))
            half = np.sqrt(slack_of(0.01)(len(rounds) + 1) * (row @ np.linalg.solve(A, row)))
            expected = np.clip([row @ best - half, row @ best + half], 0, 1)
            assert [found.lowest, found.highest] == pytest.approx(expected, abs=1e-4)

    def test_a_new_feature_has_but_its_penalty(self):
        space, rows = self.space(0)
        wide = np.append(rows[0], 0.3)
        one, other = (certified_range(kind(space), wide, 1e-7) for kind in (Ellipsoid, Bisection))
        assert one.highest == pytest.approx(other.highest, abs=1e-6)
        assert one.highest > certified_range(Ellipsoid(space), rows[0], 1e-7).highest


class TestEnumeration(RangeEngineContract):
    engine = Enumeration
    weights = np.random.default_rng(5).normal(scale=0.4, size=(60, 4)) + np.array([0.5, 0, 0, 0])

    def oracle(self):
        return FiniteOracle([lambda X, w=w: np.clip(X @ w, 0, 1) for w in self.weights])

    @pytest.mark.parametrize("mellowness", [0.05, 0.2, 1.0])
    def test_it_equals_brute_force(self, mellowness):
        for seed in range(8):
            rounds, rows = history(seed)
            values = np.clip(np.array([told.row for told in rounds]) @ self.weights.T, 0, 1)
            plausible = np.ones(60, bool)
            for j in range(2, len(rounds) + 2):
                before = [m for m in range(j - 1) if rounds[m].cost is not None]
                risks = sum((values[m] - rounds[m].cost) ** 2 for m in before) / (j - 1)
                plausible &= risks <= risks.min() + slack_of(mellowness)(j) / (j - 1) + 1e-15
            space, _ = self.space(seed, mellowness)
            np.testing.assert_array_equal(Enumeration(space).plausible, plausible)
            for row in rows if plausible.any() else []:
                costs = np.clip(self.weights[plausible] @ row, 0, 1)
                found = certified_range(Enumeration(space), row, 0.0)
                assert (found.lowest, found.highest) == pytest.approx((costs.min(), costs.max()), abs=1e-12)


class TestBisectionOverTrees(RangeEngineContract):
    engine = Bisection

    def oracle(self):
        return SklearnOracle(DecisionTreeRegressor(max_depth=2))


class TestEnsemble(RangeEngineContract):
    engine = Ensemble

    def oracle(self):
        return RidgeOracle(0.1)


class TestEnsembleOfTrees(TestEnsemble):
    def oracle(self):
        return SklearnOracle(DecisionTreeRegressor(max_depth=2))

    def test_an_answer_more_leaves_the_weights_of_the_others_alone(self):
        weights = []
        for n_rounds in (18, 12):
            oracle = Counting(self.oracle())
            space = learned(oracle, history(0)[0][:n_rounds], slack_of(0.1), monotone=False)
            assert space.answers.best  # solved before we look
            given = []
            oracle.solve = lambda *problem, given=given: given.append(problem[2])
            assert len(Ensemble(space).members) == 1 + N_MEMBERS
            weights.append(np.array(given))
        longer, shorter = weights
        assert shorter.shape[1] < longer.shape[1]
        np.testing.assert_array_equal(longer[:, : shorter.shape[1]], shorter)
        assert len(np.unique(longer, axis=0)) == N_MEMBERS
        assert longer.mean() == pytest.approx(1.0, abs=0.3)


def test_the_solver_finds_the_best_regressor():
    """The reference itself: with the penalty, the best regressor has a closed form."""
    rounds, _ = history(3)
    told = [one for one in rounds if one.cost is not None]
    X, c = np.array([one.row for one in told]), np.array([one.cost for one in told])
    closed = np.linalg.solve(X.T @ X + 0.5 * np.eye(4), X.T @ c)
    family = LinearClass("ridge", 0.5)
    assert summed_loss(family, rounds, best(family, rounds, 4)) == pytest.approx(summed_loss(family, rounds, closed))


def test_the_proofs_cap_is_far_away():
    assert theoretical_cap(100, 0.05, 0.1) == pytest.approx(np.log(101) * (72 / 0.05) ** 2 / 0.1**4)


def begun(oracle, ranges):
    return CoalClassifier(["a", "b"], model=ExactModel(oracle, ranges)).begin().model_


@pytest.mark.parametrize("name", ENGINES)
def test_engines_refuse_classes_that_they_cannot_handle(name):
    for oracle in (BallOracle(), RidgeOracle(), FiniteOracle.of_table([[0.5]]), SklearnOracle(DecisionTreeRegressor())):
        if ENGINES[name].suits(oracle):
            assert begun(oracle, name).engine is ENGINES[name]
        else:
            with pytest.raises(InputError, match=f"ranges='{name}' needs .*, got {type(oracle).__name__}"):
                begun(oracle, name)


def test_unknown_engines_are_refused():
    with pytest.raises(InputError, match=r"ranges must be one of .* got 'magic'"):
        begun(BallOracle(), "magic")
