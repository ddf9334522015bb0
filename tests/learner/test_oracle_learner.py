"""The exact learner: Algorithm 1 through ask and tell, saved, replayed, and told in batches of any size."""

import pickle

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.tree import DecisionTreeRegressor

from coalface import Coal, CoalClassifier, MemoryLedger, RidgeModel, simulate
from coalface.data.rows import check_rows
from coalface.errors import EmptyVersionSpaceWarning, FileFormatError, InputError
from coalface.learner.state import settings_of
from coalface.paper import ExactModel
from coalface.paper.model import ENGINES
from coalface.paper.oracles import BallOracle, BoundedLinearOracle, RidgeOracle
from coalface.paper.schedule import TheorySchedule
from coalface.paper.user_oracles import FiniteOracle

from ..problems import exact_learner

TREE = DecisionTreeRegressor(max_depth=2)
SETUPS = {
    "dual": {"ranges": "dual", "oracle": BallOracle(2.0)},
    "dual-bounded": {"ranges": "dual", "oracle": BoundedLinearOracle()},
    "multiplicative-weights": {"ranges": "multiplicative-weights", "oracle": BallOracle(2.0)},
    "bisection": {"ranges": "bisection", "oracle": BallOracle(2.0)},
    "ellipsoid": {"ranges": "ellipsoid", "oracle": RidgeOracle(0.1)},
    "enumeration": {
        "ranges": "enumeration",
        "oracle": FiniteOracle.of_table(np.random.default_rng(0).random((9, 4))),
    },
    "ensemble": {"ranges": "ensemble", "oracle": TREE},
}
KEEPABLE = sorted(set(SETUPS) - {"ensemble"})


def problem(seed, n=40, n_labels=3, points=4):
    """Rows that name one of a few points in their last feature, so that finite classes can be had as well."""
    random = np.random.default_rng(seed)
    X = np.column_stack([random.normal(size=(n, 2)), random.integers(0, points, n)])
    expected = 0.5 + 0.1 * X @ random.normal(size=(3, n_labels))
    return X, np.clip(expected + random.normal(scale=0.05, size=expected.shape), 0, 1)


def learner_for(name, **others):
    width_scale = 4.0 if name == "multiplicative-weights" else 1.0
    rule = Coal(width_scale=width_scale, in_turn=False, warm_up=2)
    return exact_learner(range(3), model=ExactModel(**SETUPS[name]), rule=rule).set_params(**others)


def played(learner, X, cost):
    for row, answer in zip(X, cost, strict=True):
        queries = learner.ask([row])
        learner.tell([row], np.where(queries.mask, answer, np.nan), asked=queries)
    return learner


def state_of(learner):
    return {name: array.copy() for name, array in learner.model_.arrays().items()}


def assert_same_state(one, other):
    for name, array in state_of(one).items():
        np.testing.assert_array_equal(state_of(other)[name], array, err_msg=name)


def test_every_engine_has_its_learner_here():
    assert {setup["ranges"] for setup in SETUPS.values()} == set(ENGINES)


@pytest.mark.parametrize("name", SETUPS)
def test_it_learns_to_predict_and_asks_for_less_than_everything(name):
    X, cost = problem(1, n=60)
    learner = played(learner_for(name, mellowness=0.3), X, cost)
    assert learner.round_ == 61
    assert 0 < learner.costs_queried_ < cost.size
    chosen = cost[np.arange(60), learner.predict(X)].mean()
    assert chosen < cost.mean() - 0.02
    ranges = learner.cost_range(X)
    assert (ranges.lowest <= ranges.highest).all()
    assert ranges.lowest.min() >= 0
    assert ranges.highest.max() <= 1


@pytest.mark.parametrize("name", SETUPS)
def test_simulate_plays_the_same_rounds(name):
    X, cost = problem(2)
    one, other = played(learner_for(name), X, cost), learner_for(name)
    curve = simulate(other, X, cost)
    assert curve.costs_queried[-1] == one.costs_queried_
    assert_same_state(one, other)


@pytest.mark.parametrize("name", SETUPS)
def test_learning_does_not_depend_on_how_rows_are_split(name):
    X, cost = problem(3, n=20)
    cost[np.random.default_rng(3).random(cost.shape) < 0.3] = np.nan
    together = learner_for(name).tell(X, cost).tell(X[:4], cost[:4], late=True)
    apart = learner_for(name)
    for row in range(20):
        apart.tell(X[row : row + 1], cost[row : row + 1])
    for row in range(4):
        apart.tell(X[row : row + 1], cost[row : row + 1], late=True)
    assert_same_state(together, apart)


@pytest.mark.parametrize("name", KEEPABLE)
def test_saved_and_loaded_it_goes_on_as_if_nothing_had_happened(name, tmp_path):
    X, cost = problem(4)
    learner = played(learner_for(name), X[:25], cost[:25])
    learner.save(tmp_path / "model.coalface")
    again = CoalClassifier.load(tmp_path / "model.coalface")
    assert_same_state(played(learner, X[25:], cost[25:]), played(again, X[25:], cost[25:]))
    np.testing.assert_array_equal(learner.cost_range(X).highest, again.cost_range(X).highest)


@pytest.mark.parametrize("name", ["dual", "ellipsoid"])
def test_a_ledger_makes_the_same_learner(name):
    X, cost = problem(5, n=20)
    ledger = MemoryLedger()
    learner = played(learner_for(name).record_to(ledger), X, cost)
    assert_same_state(CoalClassifier.from_ledger(ledger), learner)
    learner.mellowness = 0.3
    with pytest.raises(InputError, match="mellowness must stay"):
        learner.tell(X[:1], cost[:1])


def test_features_may_appear_later(tmp_path):
    random = np.random.default_rng(0)
    for oracle in (BallOracle(2.0), RidgeOracle(0.5), BoundedLinearOracle()):
        learner = exact_learner(range(2), model__oracle=oracle, rule__slack="published")
        learner.tell(random.random((5, 2)), random.random((5, 2)))
        narrow = learner.cost_range(csr_array(random.random((1, 4))))  # two unseen features
        assert narrow.width.shape == (1, 2)
        learner.tell(csr_array(random.random((1, 3))), [[0.5, np.nan]])
        learner.tell(csr_array(random.random((3, 4))), random.random((3, 2)))
        learner.save(tmp_path / "model.coalface")
        again = CoalClassifier.load(tmp_path / "model.coalface")
        assert_same_state(learner, again)
        rows = random.random((3, 4))
        np.testing.assert_array_equal(again.predict_cost(rows), learner.predict_cost(rows))


def test_ranges_hold_the_true_costs_if_the_slack_covers_the_noise():
    random = np.random.default_rng(6)
    X = random.normal(size=(60, 2)) / 2
    truth = 0.5 + X @ np.array([[0.2, -0.1], [0.1, 0.2]])
    cost = truth + random.uniform(-0.02, 0.02, truth.shape)
    learner = played(exact_learner(range(2), model__oracle=BallOracle(2.0)), X, cost)
    ranges = learner.cost_range(X)
    assert ((ranges.lowest <= truth) & (truth <= ranges.highest)).all()
    assert learner.costs_queried_ < 120


def ridge_by_hand(X, cost, penalty=0.1):
    """Coefficients, spread and noise of one label told row by row, from the closed form and nothing else."""
    table = np.column_stack([np.ones(len(X)), X])
    gram, moments, squared = penalty * np.eye(table.shape[1]), np.zeros(table.shape[1]), 0.0
    for row, answer in zip(table, cost, strict=True):
        squared += (np.clip(row @ np.linalg.solve(gram, moments), 0, 1) - answer) ** 2
        gram += np.outer(row, row)
        moments += answer * row
    return np.linalg.solve(gram, moments), np.linalg.inv(gram), (1 + squared) / (1 + len(X))


@pytest.mark.parametrize("name", ["ellipsoid", "bisection"])
@pytest.mark.parametrize("slack", ["published", "noise-scaled"])
def test_ranges_have_the_slack_of_their_round(name, slack):
    X, cost = problem(10, n=15)
    learner = learner_for(
        name, model__oracle=RidgeOracle(0.1), rule__slack=slack, mellowness=0.02, rule__width_scale=1e-3
    )
    learner.tell(X[:10], cost[:10]).tell(X[10:], np.full((5, 3), np.nan))  # five rounds without an answer
    ranges = learner.cost_range(X)
    for label in range(3):
        coefficients, spread, noise = ridge_by_hand(X[:10], cost[:10, label])
        for r, row in enumerate(np.column_stack([np.ones(15), X])):
            round_number = 16 + r
            summed = 0.02 * np.log(3 * (round_number - 1)) * (noise if slack == "noise-scaled" else 1)
            half, predicted = np.sqrt(summed * row @ spread @ row), row @ coefficients
            expected = np.clip([predicted - half, predicted + half], 0, 1)
            found = ranges.lowest[r, label], ranges.highest[r, label]
            np.testing.assert_allclose(found, expected, atol=1e-4 if name == "bisection" else 1e-5)


def test_the_ellipsoid_is_that_of_the_second_order_learner():
    X, cost = problem(13, n=60)
    exact = exact_learner(range(3), model=ExactModel(RidgeOracle(0.5), "ellipsoid"), mellowness=0.05)
    streaming = clone(exact).set_params(model=RidgeModel(regularization=0.5))
    exact.tell(X[:40], cost[:40])
    streaming.tell(X[:40], cost[:40])
    one, other, predicted = exact.cost_range(X), streaming.cost_range(X), exact.predict_cost(X)
    inside = (predicted >= 0) & (predicted <= 1)  # elsewhere one clips predictions first, the other only ranges
    assert inside.mean() > 0.5
    np.testing.assert_allclose(one.lowest[inside], other.lowest[inside], atol=1e-5)
    np.testing.assert_allclose(one.highest[inside], other.highest[inside], atol=1e-5)


def test_a_constraint_has_the_slack_of_the_round_after_its_answer():
    X, cost = problem(11, n=8)
    learner = learner_for("dual", rule__slack="published", mellowness=0.5).tell(X, cost)
    constraints = learner.model_.spaces[1].constraints
    assert constraints.divisors.tolist() == list(range(1, 9))
    np.testing.assert_allclose(constraints.slacks, [0.5 * np.log(3 * past) for past in range(1, 9)])


def test_ranges_are_certified_to_a_quarter_of_the_width_threshold():
    X, cost = problem(12)
    learner = learner_for("dual", mellowness=0.1).tell(X, cost)
    rows = learner.model_._dense(check_rows(X))
    found = [one for row in rows for one in learner.model_.certified(row, settings_of(learner), 400)]
    gaps = [end.reached - end.limit for one in found for end in (one.low, one.high)]
    assert np.abs(gaps).max() <= 1 / 80


def test_without_a_width_threshold_ranges_still_end():
    X, cost = problem(4, n=12)
    learner = learner_for("dual", rule__width_scale=0.0).tell(X, cost)
    model, settings = learner.model_, settings_of(learner)
    for row in model._dense(check_rows(X[:2])):
        for found in model.certified(row, settings, learner.round_):
            assert found.oracle_calls < 200
            assert found.high.limit - found.high.reached <= 1e-6


def test_the_constraints_of_the_theory_exclude_nothing_for_a_long_time():
    X, cost = problem(7, n=30)
    model = ExactModel(BoundedLinearOracle(), schedule="theory", dimension=4, horizon=30)
    learner = exact_learner(range(3), model=model)
    simulate(learner, X, cost)
    assert learner.costs_queried_ == 90
    schedule = TheorySchedule.of(3, BallOracle(), 4, 30, 0.05)
    expected = 324 * (4 * np.log(30) + np.log(8 * 3 * np.e * 5 * 30**2 / 0.05))
    assert schedule.summed_slack(10**9) == pytest.approx(3 * expected)


def test_a_finite_class_has_its_size_for_a_dimension():
    schedule = TheorySchedule.of(3, FiniteOracle.of_table([[0.1], [0.2]]), None, 100, 0.05)
    deviation = 324 * (np.log(2) + np.log(8 * 3 * np.e * 100**2 / 0.05))
    assert schedule.summed_slack(10**9) == pytest.approx(3 * deviation)


@pytest.mark.parametrize("name", ["dual", "multiplicative-weights", "enumeration"])
def test_an_emptied_version_space_is_warned_about_once_and_survived(name):
    random = np.random.default_rng(8)
    X, cost = problem(8)
    contradictory = random.integers(0, 2, cost.shape).astype(float)
    learner = learner_for(name, mellowness=1e-3)
    with pytest.warns(EmptyVersionSpaceWarning, match="label [0-2] was within the slack") as caught:
        learner.tell(X, contradictory)
    assert len(caught) == 1
    ranges = played(learner, X[:5], contradictory[:5]).cost_range(X)  # and no warning any more
    assert (ranges.lowest <= ranges.highest).all()


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"ranges": "enumeration"}, "ranges='enumeration' needs a finite class, got BallOracle"),
        (
            {"ranges": "dual", "oracle": TREE},
            "ranges='dual' needs a convex class, got SklearnOracle. Use one of 'bis",
        ),
        ({"ranges": "ellipsoid", "oracle": BallOracle()}, "needs a RidgeOracle"),
        ({"schedule": "hopeful"}, "schedule must be one of 'practical', 'theory', got 'hopeful'"),
        ({"schedule": "theory", "horizon": 100}, "needs the horizon .* and the dimension"),
        ({"schedule": "theory", "horizon": 1, "dimension": 3}, "horizon must be a whole number of at least 2, got 1"),
        ({"schedule": "theory", "horizon": 9, "dimension": 3, "failure_probability": 0.5}, "at most 1/e, got 0.5"),
        ({"oracle": 3}, "must be a scikit-learn regressor, got int"),
    ],
)
def test_bad_parameters_are_refused_in_one_line(params, message):
    learner = exact_learner(["a", "b"], model=ExactModel(**params))
    with pytest.raises(InputError, match=message) as refused:
        learner.ask([[1.0]])
    assert "\n" not in str(refused.value)
    assert not hasattr(learner, "model_")


def test_oracles_of_users_cannot_be_saved(tmp_path):
    learner = learner_for("ensemble").tell([[0.0, 0.0, 1.0]], [[0.1, 0.2, 0.3]])
    with pytest.raises(InputError, match="DecisionTreeRegressor cannot be saved to a file or ledger"):
        learner.save(tmp_path / "model.coalface")
    assert not list(tmp_path.iterdir())


def test_rows_outside_the_table_leave_no_trace():
    ledger = MemoryLedger()
    table = FiniteOracle.of_table([[0.1, 0.9], [0.8, 0.2]])
    learner = exact_learner(["a", "b"], model=ExactModel(table, "enumeration")).record_to(ledger)
    learner.tell([[1.0]], [[0.1, 0.2]])
    with pytest.raises(InputError, match="the last feature must be a point between 0 and 1, got 5"):
        learner.tell([[0.0], [5.0]], [[0.1, 0.2], [0.3, 0.4]])
    with pytest.raises(InputError, match=r"X must stay 1 wide, because .* table of costs, got 2"):
        learner.tell(csr_array([[0.0, 1.0]]), [[0.1, 0.2]])
    assert learner.round_ == 2
    assert_same_state(CoalClassifier.from_ledger(ledger), learner)


def test_a_damaged_file_is_refused(tmp_path):
    learner = learner_for("dual").tell([[0.0, 0.0, 1.0]], [[0.1, 0.2, 0.3]])
    arrays = learner.model_.arrays()
    for name in ("answer_rows", "answer_costs", "constraint_bounds", "n_answers"):
        with pytest.raises(FileFormatError, match="no usable answers"):
            learner.model_.restore({key: array for key, array in arrays.items() if key != name})


@pytest.mark.parametrize("name", SETUPS)
def test_a_copy_goes_on_alone(name):
    X, cost = problem(9, n=12)
    learner = learner_for(name).tell(X[:9], cost[:9])
    copy = pickle.loads(pickle.dumps(learner))
    assert_same_state(copy, learner)
    copy.tell(X[9:], cost[9:])
    assert learner.round_ == 10
    assert_same_state(copy, learner.tell(X[9:], cost[9:]))


def test_it_can_be_cloned():
    learner = clone(learner_for("dual"))
    assert learner.model.oracle == BallOracle(2.0)
    assert clone(learner_for("ensemble")).model.oracle.max_depth == 2
