"""Version spaces: which constraints they keep and drop, and how they shrink."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coalface.paper.dual import Dual
from coalface.paper.engine import certified_range, middle_of
from coalface.paper.engines import Enumeration
from coalface.paper.oracles import BallOracle, RidgeOracle
from coalface.paper.user_oracles import FiniteOracle
from coalface.paper.version_space import LabelAnswers, VersionSpace
from tests.models.histories import history, learned, slack_of
from tests.reference.convex import LinearClass, best, solve, summed_loss, version_space


@settings(max_examples=20)
@given(st.integers(0, 10_000), st.floats(0.01, 1.0), st.booleans())
def test_what_is_kept_excludes_as_much_as_all_rounds_word_for_word(seed, mellowness, falling):
    rounds, _ = history(seed, n_rounds=12, n_features=2, asked=0.5)
    decline = 0.8 if falling else 1.0  # noise-scaled slack may fall

    def slack(j):
        return decline**j * slack_of(mellowness)(j)

    family, space = LinearClass("ridge", 0.3), learned(RidgeOracle(0.3), rounds, slack)
    X, _ = space.answers.examples(3)
    random, all_rounds = np.random.default_rng(seed), version_space(family, rounds, slack)
    for w in space.answers.best.coefficients + random.normal(scale=0.3, size=(50, 3)):
        literal = min(constraint["fun"](w) for constraint in all_rounds)
        kept = (space.constraints.bounds - space.losses(X @ w)).min()
        if abs(literal) > 1e-6:
            assert (literal > 0) == (kept > 0)


def test_rounds_without_an_answer_add_nothing():
    rounds, _ = history(0, asked=0.3)
    space = learned(BallOracle(), rounds, slack_of(0.1))
    assert len(space.constraints) == sum(one.cost is not None for one in rounds)
    assert (np.diff(space.constraints.counts) > 0).all()
    assert (np.diff(space.constraints.bounds) > 0).all()


def test_a_later_and_stricter_constraint_replaces_the_ones_that_it_implies():
    space = VersionSpace(LabelAnswers(BallOracle())).with_answer(np.ones(1), 0.5).with_constraint(2, slack=1.0)
    space = space.with_answer(np.ones(1), 0.5).with_constraint(3, slack=0.1)
    assert space.constraints.counts.tolist() == [2]
    assert space.with_constraint(9, slack=0.5) is not space
    assert space.with_constraint(9, slack=0.5).constraints is space.constraints
    assert space.with_constraint(9, slack=0.05).constraints.bounds.tolist() == [0.05]


@pytest.mark.parametrize("seed", range(6))
def test_merged_weights_are_the_weighted_sum_of_the_constraints_losses(seed):
    rounds, _ = history(seed)
    space = learned(RidgeOracle(0.2), rounds, slack_of(0.1))
    random = np.random.default_rng(seed)
    multipliers, w = random.random(len(space.constraints)), random.normal(size=4)
    X, targets = space.answers.examples(4)
    merged = space.weights(multipliers, n_prior=4) @ (X @ w - targets) ** 2
    family = LinearClass("ridge", 0.2)
    asked = [one for one in rounds if one.cost is not None]
    each = [summed_loss(family, asked[:count], w) for count in space.constraints.counts]
    assert merged == pytest.approx(multipliers @ each)
    np.testing.assert_allclose(space.losses(X @ w), each)


def test_a_function_once_excluded_never_widens_a_range_again():
    """The low function fits the first answers badly and all of them well: it was out, so it stays out."""
    table = np.array([[0.5, 0.5], [0.0, 0.9]])  # function x point
    space = VersionSpace(LabelAnswers(FiniteOracle.of_table(table)))
    plausible, alone = [], []
    for number, (point, cost) in enumerate([(0, 0.9)] + [(1, 0.9)] * 10, start=1):
        space = space.with_answer(np.array([float(point)]), cost).with_constraint(number + 1, slack=0.3)
        plausible.append(Enumeration(space).plausible[1])
        alone.append(Enumeration(space.alone(number + 1, 0.3)).plausible[1])
        if Enumeration(space).empty:
            break
    assert not plausible[0]
    assert alone[-1]  # by the latest constraint alone it would be back
    assert not any(plausible)


def test_ranges_only_ever_shrink():
    assert sum(widenings_without_the_past(seed) for seed in range(6)) > 0  # the past makes a difference


def widenings_without_the_past(seed):
    """Ranges that would have widened, had earlier constraints not counted; none widens."""
    rounds, rows = history(seed, n_rounds=25)
    space, before, widened_alone = VersionSpace(LabelAnswers(BallOracle(1.2))), None, 0
    for number, told in enumerate(rounds, start=1):
        if told.cost is None:
            continue
        space = space.with_answer(told.row, told.cost).with_constraint(number + 1, slack_of(0.03)(number + 1))
        if Dual(space).empty:
            break
        now = [certified_range(Dual(space), row, 1e-4) for row in rows]
        alone = [certified_range(Dual(space.latest_alone()), row, 1e-4) for row in rows]
        for one, other, freed in zip(now, before or now, alone, strict=True):
            assert one.low.reached >= other.low.limit - 1e-9
            assert one.high.reached <= other.high.limit + 1e-9
            widened_alone += freed.high.reached > other.high.limit or freed.low.reached < other.low.limit
        before = now
    return widened_alone


@pytest.mark.parametrize("mellowness", [0.1, 0.02, 0.01, 0.004])
def test_empty_version_spaces_are_detected(mellowness):
    """Against the solver: the least worst excess over the constraints is negative where there is something inside."""
    for seed in range(6):
        rounds, _ = history(seed, n_rounds=14)
        family, space = LinearClass("ball", 1.2), learned(BallOracle(1.2), rounds, slack_of(mellowness))
        ball, *limits = version_space(family, rounds, slack_of(mellowness))
        start = np.append(best(family, rounds, 4), 1.0)
        raised = [{"type": "ineq", "fun": lambda z, limit=limit: limit["fun"](z[:-1]) + z[-1]} for limit in limits]
        raised.append({"type": "ineq", "fun": lambda z, ball=ball: ball["fun"](z[:-1])})
        least = solve(lambda z: z[-1], None, raised, start)[-1]
        middle = middle_of(space)
        if abs(least) > 1e-5:
            assert (middle is None) == (least > 0)
        if middle is not None:
            X, _ = space.answers.examples(4)
            assert (space.losses(middle.predict(X)) < space.constraints.bounds).all()


def test_a_vanishing_slack_leaves_the_best_regressor():
    space = VersionSpace(LabelAnswers(BallOracle())).with_answer(np.ones(1), 0.4).with_constraint(2, slack=0.0)
    found = certified_range(Dual(space), np.ones(1), 1e-3)
    assert found.lowest == pytest.approx(0.4, abs=1e-3)
    assert found.highest == pytest.approx(0.4, abs=1e-3)


def test_asking_an_empty_version_space_is_an_error_of_the_caller():
    space = VersionSpace(LabelAnswers(BallOracle()))
    for number, cost in enumerate([0.0, 1.0, 1.0], start=1):
        space = space.with_answer(np.ones(1), cost).with_constraint(number + 1, slack=1e-4)
    assert Dual(space).empty
    with pytest.raises(ValueError, match="empty version space"):
        Dual(space).reach(np.ones(1), 1.0, 0.1)
