"""The joint model learns from questions in turn as from a fair sample, on rows of any width."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.linear_model import Ridge

from coalface import CoalClassifier, MemoryLedger, simulate
from coalface.data.rows import check_row, check_rows
from coalface.errors import DoubtfulDataWarning, FileFormatError
from coalface.learner.recorder import bundled, from_bundle
from coalface.models import joint
from coalface.models.joint import INTERCEPT_PENALTY, PENALTY, JointModel, first_joint, fitted, inverse_of
from coalface.models.random_projection import MOST_PLACES, projected
from coalface.models.ridge import RidgeModel


def related_costs(n, seed, shared=0.7):
    """0/1 costs of two labels that fail on the same rows, whatever the features."""
    random = np.random.default_rng(seed)
    hard = random.random(n) < 0.4
    chance = np.where(hard[:, None], [0.95, 0.5], [0.1, 0.02])
    return random.normal(size=(n, 4)), (random.random((n, 2)) < shared * chance).astype(float)


@pytest.mark.parametrize("seed", range(3))
def test_a_label_that_is_asked_about_where_another_failed_seems_no_worse_than_it_is(seed):
    X, cost = related_costs(3000, seed)
    seen = cost.copy()
    seen[cost[:, 0] == 0.0, 1] = np.nan  # the second cost is known only where the first is 1
    seen[:50] = cost[:50]
    biased = CoalClassifier(["first", "second"], model=RidgeModel()).tell(X, seen).predict_cost(X)[:, 1].mean()
    fair = CoalClassifier(["first", "second"], model=JointModel()).tell(X, seen).predict_cost(X)[:, 1].mean()
    true = cost[:, 1].mean()
    assert biased - true > 0.1
    assert abs(fair - true) < 0.04


def test_with_all_costs_known_it_is_ridge_regression():
    random = np.random.default_rng(5)
    X, cost = random.normal(size=(60, 5)), random.random((60, 3))
    table = np.hstack([np.ones((60, 1)), X])
    times = random.integers(1, 4, 60).astype(float)
    found = fitted(table, cost, times, inverse_of(table, times), first_joint(6, 3), n_steps=2)
    scaled = table / np.sqrt(np.r_[INTERCEPT_PENALTY, np.full(5, PENALTY)])
    expected = Ridge(alpha=1.0, fit_intercept=False).fit(scaled, cost, sample_weight=times).predict(scaled)
    np.testing.assert_allclose(table @ found.weights, expected, atol=1e-9)


def test_steps_of_em_converge():
    random = np.random.default_rng(6)
    X, cost = related_costs(300, 6)
    table = np.hstack([np.ones((300, 1)), X])
    seen = np.where(random.random(cost.shape) < 0.6, cost, np.nan)
    seen = seen[~np.isnan(seen).all(axis=1)]
    table, times = table[: len(seen)], np.ones(len(seen))
    inverse, now, errors = inverse_of(table, times), first_joint(5, 2), []
    for _ in range(60):
        now = fitted(table, seen, times, inverse, now, 1)
        errors.append(now.weights)
    moves = [np.abs(after - before).max() for before, after in pairwise(errors)]
    assert moves[-1] < 1e-4 < moves[0]  # it converges


def test_wide_rows_keep_their_lengths_and_angles():
    random = np.random.default_rng(0)
    X = csr_array(np.where(random.random((40, 5000)) < 0.02, random.normal(size=(40, 5000)), 0.0))
    rows = check_rows(X)
    table = projected(rows, MOST_PLACES).astype(np.float64)
    lengths = np.sqrt((X.toarray() ** 2).sum(axis=1))
    products = (table @ table.T) / np.outer(lengths, lengths)
    true = (X @ X.T).toarray() / np.outer(lengths, lengths)
    np.testing.assert_allclose(products, true, atol=0.25)
    assert np.sqrt(np.square(products - true).mean()) < 0.06


def test_the_first_columns_stay_as_they_are_and_a_row_does_not_depend_on_others():
    X = np.zeros((2, 700), np.float32)
    X[0, 3], X[1, 3], X[1, 650] = 2.0, 5.0, 1.0
    together = projected(check_rows(X), MOST_PLACES)
    assert together[0].tolist() == projected(check_row([3], [2.0], 0), MOST_PLACES)[0].tolist()
    assert together[0, 3] == 2.0
    assert np.linalg.norm(together[1] - 5.0 * np.eye(MOST_PLACES)[3]) == pytest.approx(1.0)


def test_a_run_on_sparse_rows_replays_saves_and_equals_an_interview_bit_for_bit(tmp_path):
    random = np.random.default_rng(2)
    X = csr_array((random.random((90, 3000)) < 0.01).astype(np.float32))
    cost = (random.random((90, 3)) < 0.4).astype(float)
    played, asked = (CoalClassifier(list("abc"), model="joint", shuffle=False) for _ in range(2))
    played.record_to(ledger := MemoryLedger())
    simulate(played, X, cost)
    for i, costs in enumerate(cost):
        asked.interview(X[[i]], lambda _, label, costs=costs: costs["abc".index(label)])
    played.save(tmp_path / "model")
    for other in (asked, CoalClassifier.load(tmp_path / "model"), CoalClassifier.from_ledger(ledger)):
        np.testing.assert_array_equal(other.predict_cost(X), played.predict_cost(X))
        for name, array in played.model_.saved().items():
            np.testing.assert_array_equal(other.model_.saved()[name], array, err_msg=name)


def test_only_the_last_rows_are_stored(monkeypatch):
    monkeypatch.setattr(joint, "_MOST_ROWS", 50)
    X, cost = related_costs(400, 3)
    learner = CoalClassifier(["first", "second"], model=JointModel()).tell(X, cost)
    assert int(learner.model_.progress[0]) <= 50 + 50 // 5 + 400 // 5
    assert np.isfinite(learner.predict_cost(X)).all()


def test_a_label_added_later_begins_as_the_mean_of_the_others_with_any_cost_possible():
    X, cost = related_costs(200, 4)
    learner = CoalClassifier(["first", "second"], model=JointModel()).tell(X, cost)
    mean = learner.predict_cost(X).mean(axis=1)
    learner.add_label("third")
    np.testing.assert_allclose(learner.model_.predict(check_rows(X))[:, 2], mean, atol=1e-6)
    ranges = learner.cost_range(X)
    assert (ranges.lowest[:, 2] == 0).all()
    assert (ranges.highest[:, 2] == 1).all()


def test_errors_of_a_label_added_later_could_be_so_and_its_answers_teach_it():
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 3))
    cost = np.outer(0.5 + 0.1 * np.tanh(X[:, 0]), [1.0, 0.98, 0.9])  # nearly exact, so that errors are small
    learner = CoalClassifier(["first", "second", "third"], model=JointModel()).tell(X[:200], cost[:200])
    learner.add_label("late")
    assert np.linalg.eigvalsh(learner.model_.joint.covariance).min() > 0
    with pytest.warns(DoubtfulDataWarning, match="200 rows in a row had the best label 'third'"):
        learner.tell(X[200:], np.hstack([cost, 0.5 * cost[:, :1]])[200:])
    assert np.linalg.eigvalsh(learner.model_.joint.covariance).min() > 0
    np.testing.assert_allclose(learner.predict_cost(X)[:, 3], 0.5 * cost[:, 0], atol=0.15)


def changed(array, value):
    """A copy whose last number is another one."""
    array = array.copy()
    array.flat[-1] = value
    return array


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        *((name, lambda array: changed(array, np.nan)) for name in ("joint_rows", "joint_times", "weights")),
        *((name, lambda array: changed(array, np.inf)) for name in ("joint_rows", "joint_times", "covariance")),
        ("joint_rows", lambda array: array[:, :-1]),
        ("joint_times", lambda array: changed(array, -1.0)),
        ("joint_times", lambda array: changed(array, 1e300)),
        ("joint_costs", lambda array: changed(array, 2.0)),
        ("joint_costs", lambda array: changed(array, -np.inf)),
        ("weights", lambda array: array[:0]),
        ("weights", lambda array: np.vstack([array, array])),
        ("weights", lambda array: changed(array, 1e300)),
        ("covariance", np.zeros_like),
        ("covariance", lambda array: -array),
        *(("progress", lambda array, at=at: np.where(np.arange(4) == at, -1, array)) for at in range(4)),
        ("progress", lambda array: np.where(np.arange(4) == 2, np.iinfo(np.int64).max, array)),
    ],
)
def test_arrays_that_cannot_be_are_refused(name, damage):
    X, cost = related_costs(40, 7)
    learner = CoalClassifier(["first", "second"], model=JointModel()).tell(X, cost)
    meta, arrays = bundled(learner)
    with pytest.raises(FileFormatError, match=r"^[^\n]*$"):
        from_bundle(CoalClassifier, meta, {**arrays, name: damage(arrays[name])})


def test_a_row_beyond_all_that_was_learned_has_finite_predictions_and_any_cost():
    X, cost = related_costs(60, 8)
    learner = CoalClassifier(["first", "second"], model=JointModel()).tell(1e-6 * X, cost)
    far = np.full((2, 4), 3e38)
    assert np.isfinite(learner.predict_cost(far)).all()
    ranges = learner.cost_range(far)
    assert (ranges.lowest == 0).all()
    assert (ranges.highest == 1).all()
    learner.ask(far)
    learner.tell(far, cost[:2])
    assert np.isfinite(learner.predict_cost(np.vstack([far, X]))).all()


def test_the_first_fit_of_a_label_added_late_is_near_its_answers():
    random = np.random.default_rng(1)
    X = random.normal(size=(2600, 3))
    cost = np.hstack([random.random((2600, 3)) < 0.3, random.random((2600, 1)) < 0.9]).astype(float)
    learner = CoalClassifier(list("abc"), model=JointModel()).tell(X[:2000], cost[:2000, :3])
    learner.add_label("late")
    cost[np.arange(2600) % 5 > 0, 3] = np.nan  # it is asked about now and then
    learner.tell(X[2000:], cost[2000:])
    np.testing.assert_allclose(learner.predict_cost(X)[:, 3].mean(), 0.9, atol=0.1)
