"""The ridge model for a GPU, with NumPy in place of CuPy: results, files and moves are those of the CPU."""

import copy
import pickle
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coalface import Coal, CoalClassifier, MemoryLedger, simulate
from coalface.data.rows import check_rows
from coalface.errors import FileFormatError, InputError
from coalface.learner.pool import possible_savings
from coalface.models import device
from coalface.models.device import SINGLE, TF32, HostArrays
from coalface.models.ridge import RidgeModel, root_regression
from coalface.models.ridge.regression import FactorRegression
from coalface.models.ridge.root_regression import RootRegression

from .host_gpu import MirrorArrays, MirrorSteps, as_tf32
from .test_ridge import plain, problem, settings

TOLERANCE = 2e-5  # of predictions and ranges, whose scale is 1


@pytest.fixture(autouse=True)
def numpy_for_cupy(monkeypatch):
    monkeypatch.setattr(device, "CudaArrays", MirrorArrays)
    monkeypatch.setattr(root_regression, "CudaSteps", MirrorSteps)


def begun(n_labels=3, where="cuda", **params):
    return RidgeModel(device=where, **params).begin(n_labels, settings(n_labels))


def learned(X, cost, where="cuda", **params):
    model = begun(cost.shape[1], where, **params)
    model.learn(check_rows(X), cost, settings(cost.shape[1]), 1)
    return model


def assert_agree(one, other, X, atol=TOLERANCE, **params):
    rows, own = check_rows(X), settings(one.n_labels, **params)
    for ours, theirs in zip(one.ranges(rows, own, 30), other.ranges(rows, own, 30), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=atol)
    np.testing.assert_allclose(one.predict(rows), other.predict(rows), atol=atol)
    for name in ("squared_residuals", "answered"):
        np.testing.assert_allclose(getattr(one.state, name), getattr(other.state, name), rtol=1e-4)


@given(
    seed=st.integers(0, 10_000),
    n_features=st.integers(1, 40),
    known=st.floats(0.02, 1.0),
    weighted=st.booleans(),
    together=st.sampled_from([1, 7, 48]),
    slack=st.sampled_from(["published", "noise-scaled"]),
)
def test_batches_give_the_results_of_the_cpu(seed, n_features, known, weighted, together, slack):
    X, cost = problem(seed, n_features=n_features, known=known)
    weights = np.random.default_rng(seed).choice([0.0, 0.5, 1.0, 4.0], cost.shape).astype(np.float32)
    models = begun(), begun(where="cpu")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(device, "CudaArrays", MirrorArrays)
        patch.setattr(root_regression, "CudaSteps", MirrorSteps)
        patch.setattr(root_regression, "TOGETHER", together)
        for model in models:
            for part in (slice(0, 1), slice(1, 21), slice(21, 60)):
                rows = check_rows(X[part])
                model.learn(rows, cost[part], settings(3), 1, *([weights[part]] if weighted else []))
    assert_agree(*models, X, rule__slack=slack)


def test_predictions_and_ranges_follow_the_formula():
    X, cost = problem(1, n_features=30)
    found = learned(X, cost, regularization=0.5).ranges(check_rows(X), settings(3), 50)
    for label in range(3):
        exact = plain(X, cost[:, label], 0.5, 0.1 * np.log(3 * (49 + np.arange(60))), X)
        for ours, theirs in zip(found, exact, strict=True):
            np.testing.assert_allclose(ours[:, label], theirs, atol=TOLERANCE)


def test_a_long_stream_stays_with_the_formula_in_64_bits():
    random = np.random.default_rng(2)
    X = (random.normal(size=(4000, 24)) * np.geomspace(1.0, 1e-3, 24)).astype(np.float32)  # badly conditioned
    cost = np.where(random.random((4000, 2)) < 0.5, random.random((4000, 2)), np.nan).astype(np.float32)
    model = begun(2, regularization=0.1)
    for start in range(0, 4000, 50):
        model.learn(check_rows(X[start : start + 50]), cost[start : start + 50], settings(2), 1)
    found = model.ranges(check_rows(X[:100]), settings(2), 50)
    for label in range(2):
        exact = plain(X, cost[:, label], 0.1, 0.1 * np.log(2 * (49 + np.arange(100))), X[:100])
        for ours, theirs in zip(found, exact, strict=True):
            np.testing.assert_allclose(ours[:, label], theirs, atol=TOLERANCE)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_wider_rows_sparse_rows_and_unseen_features_are_as_on_the_cpu(kernel):
    X, cost = problem(3, n_features=50)
    X[:20, 10:] = 0
    X[::3, ::2] = 0
    models = [begun(where=where, kernel=kernel) for where in ("cuda", "cpu")]
    for model in models:
        model.learn(check_rows(X[:20, :10]), cost[:20], settings(3), 1)
    assert_agree(*models, 0.2 * X)
    for model in models:
        model.learn(check_rows(X[20:]), cost[20:], settings(3), 1)
    assert_agree(*models, 0.2 * np.hstack([X, X]))


def test_blocks_change_nothing_but_rounding(monkeypatch):
    X, cost = problem(4, n_rows=200, n_features=40)
    at_once = learned(X, cost)
    monkeypatch.setattr(RootRegression, "block", 64)
    monkeypatch.setattr(root_regression, "_WORKING", 1)
    assert_agree(learned(X, cost), at_once, X)


def test_a_new_label_is_as_on_the_cpu():
    X, cost = problem(5)
    models = [learned(X, cost, where) for where in ("cuda", "cpu")]
    for model in models:
        model.add_label(first_round=61)
    assert_agree(*models, X)
    more = np.hstack([cost, cost[:, :1]])
    for model in models:
        model.learn(check_rows(X[:5]), more[:5], settings(4), 61)
    assert_agree(*models, X)


def test_a_model_moves_to_the_other_device_and_back():
    X, cost = problem(6, n_features=20)
    for where, other in (("cuda", "cpu"), ("cpu", "cuda")):
        model = learned(X[:40], cost[:40], where)
        moved = model.moved(other)
        assert type(moved.regression) is not type(model.regression)
        back = moved.moved(where)
        for each in (model, moved, back):
            each.learn(check_rows(X[40:]), cost[40:], settings(3), 41)
        for each in (moved, back):
            assert_agree(model, each, X)


@pytest.mark.parametrize(("saved_on", "loaded_on"), [("cuda", "cpu"), ("cpu", "cuda"), ("cuda", "cuda")])
def test_a_file_of_one_device_loads_on_the_other(saved_on, loaded_on, tmp_path):
    X, cost = problem(7, known=1.0)
    learner = CoalClassifier(range(3), model=RidgeModel(device=saved_on)).tell(X[:30], cost[:30])
    learner.save(tmp_path / "model")
    again = CoalClassifier.load(tmp_path / "model")
    assert (again.model_.device, again.round_) == ("cpu", 31)
    again.model_ = again.model_.moved(loaded_on)
    for each in (learner, again):
        each.tell(X[30:], cost[30:])
    assert_agree(learner.model_, again.model_, X)
    assert isinstance(again.model_.regression, RootRegression if loaded_on == "cuda" else FactorRegression)


def test_a_file_of_the_gpu_goes_on_bit_by_bit_on_the_gpu(tmp_path):
    X, cost = problem(8, known=1.0)
    learner = CoalClassifier(range(3), model=RidgeModel(device="cuda")).tell(X[:30], cost[:30])
    learner.save(tmp_path / "model")
    again = CoalClassifier.load(tmp_path / "model", RidgeModel(device="cuda"))
    copies = [again, copy.deepcopy(learner), pickle.loads(pickle.dumps(learner))]
    for each in (learner, *copies):
        each.tell(X[30:], cost[30:])
    for each in copies:
        for name, array in learner.model_.arrays().items():
            np.testing.assert_array_equal(each.model_.arrays()[name], array, err_msg=name)


def test_damaged_roots_are_refused_on_either_device():
    model = learned(*problem(9))
    arrays = model.arrays()
    for where in ("cuda", "cpu"):
        for damaged in ({"roots": arrays["roots"][:2]}, {"roots": arrays["roots"].astype(np.float64)}, {"weights": 0}):
            wrong = {name: np.asarray(array) for name, array in {**arrays, **damaged}.items()}
            with pytest.raises(FileFormatError, match="no usable array"):
                begun(where=where).restore(wrong)
    for value in (0.0, np.nan):
        with pytest.raises(FileFormatError, match="'roots' of the model has no inverse; it is damaged"):
            begun(where="cpu").restore({**arrays, "roots": np.full_like(arrays["roots"], value)})


def test_the_same_questions_are_asked_as_on_the_cpu_and_a_ledger_replays():
    random = np.random.default_rng(10)
    X = random.normal(size=(300, 12))
    cost = np.clip(0.5 + 0.2 * X[:, :4] + 0.1 * random.normal(size=(300, 4)), 0, 1)
    learners = [
        CoalClassifier(range(4), model=RidgeModel(device=where), rule=Coal(warm_up=5)) for where in ("cuda", "cpu")
    ]
    learners[0].record_to(ledger := MemoryLedger())
    for start in range(0, 300, 30):
        batch = slice(start, start + 30)
        for learner in learners:
            queries = learner.ask(X[batch])
            learner.tell(X[batch], np.where(queries.mask, cost[batch], np.nan), asked=queries)
    assert 0 < learners[0].costs_queried_ < cost.size
    assert learners[0].costs_queried_ == learners[1].costs_queried_
    assert_agree(learners[0].model_, learners[1].model_, X)
    assert_agree(learners[0].model_, CoalClassifier.from_ledger(ledger).model_, X)
    assert_agree(learners[0].model_, learners[0].model_.moved("cuda", "tf32"), X, atol=2e-3)


def test_a_simulated_run_and_pool_scores_are_as_on_the_cpu():
    random = np.random.default_rng(11)
    X = random.normal(size=(120, 6))
    cost = np.clip(0.5 + 0.2 * X[:, :3], 0, 1)
    learners = [
        CoalClassifier(range(3), model=RidgeModel(device=where), rule=Coal(warm_up=5)) for where in ("cuda", "cpu")
    ]
    for learner in learners:
        simulate(learner, X, cost)
    for method in (CoalClassifier.predict, CoalClassifier.predict_cost, possible_savings):
        ours, theirs = (method(learner, X) for learner in learners)
        np.testing.assert_allclose(ours, theirs, atol=TOLERANCE)


def test_tf32_rounds_factors_to_11_bits_and_sums_in_full():
    random = np.random.default_rng(12)
    left, right = (random.normal(size=(2, 30, 30)).astype(np.float32) for _ in range(2))
    exact = left.astype(np.float64) @ right
    single, tf32 = (np.abs(MirrorArrays().product(left, right, how) - exact).max() for how in (SINGLE, TF32))
    assert single < 1e-5 < tf32 < 30 * 2.0**-11
    rounded = as_tf32(left)
    assert (np.abs(rounded - left) <= 2.0**-11 * np.abs(left)).all()
    assert not (rounded.view(np.uint32) & 0x1FFF).any()


def test_tf32_costs_little_accuracy():
    X, cost = problem(13, n_features=40, n_rows=200)
    exact, rough = learned(X, cost), learned(X, cost, precision="tf32")
    ranges = [model.ranges(check_rows(X), settings(3), 50) for model in (exact, rough)]
    for one, other in zip(*ranges, strict=True):
        assert 0 < np.abs(one - other).max() < 2e-3


def test_memory_is_as_computed_and_refused_if_the_device_has_less(monkeypatch):
    model = learned(np.ones((1, 300)), np.ones((1, 5), np.float32))
    assert model.nbytes == model.bytes_for(300) == sum(model.arrays()[name].nbytes for name in ("roots", "weights"))
    monkeypatch.setattr(HostArrays, "available_bytes", lambda _: 10_000)
    with pytest.raises(InputError, match="got 600 features and 5 labels, which take"):
        model.check(check_rows(np.ones((1, 600))))


def test_wrong_devices_and_precisions_are_refused_in_one_line():
    for params, words in (
        ({"device": "gpu"}, "device must be one of 'cpu', 'cuda', got 'gpu'"),
        ({"device": "cuda", "precision": "half"}, "precision must be one of 'single', 'tf32', got 'half'"),
        ({"device": "cpu", "precision": "tf32"}, r"precision must be 'single' on the CPU, got 'tf32'\. Pass device="),
    ):
        with pytest.raises(InputError, match=words):
            CoalClassifier(range(3), model=RidgeModel(**params)).ask([[1.0]])


def test_a_device_that_is_not_there_is_refused_and_nothing_is_changed(monkeypatch):
    monkeypatch.undo()
    monkeypatch.setitem(sys.modules, "cupy", None)
    learner = CoalClassifier(range(3), model="ridge").tell([[1.0, 2.0]], [[0.1, 0.2, 0.3]])
    for refused in (
        lambda: CoalClassifier(range(3), model=RidgeModel(device="cuda")).ask([[1.0]]),
        lambda: learner.model_.moved("cuda"),
    ):
        with pytest.raises(
            InputError, match=r"^device='cuda' needs CuPy, which is not installed\. Run: pip install"
        ) as e:
            refused()
        assert "coalface[cuda]" in str(e.value)
        assert "\n" not in str(e.value)
    assert learner.model_.device == "cpu"
    assert learner.predict_cost([[1.0, 2.0]]).shape == (1, 3)


@pytest.mark.parametrize(("ratio", "tolerance"), [(10.0, 2e-5), (100.0, 2e-3)])
def test_rows_much_longer_than_the_first_one_cost_accuracy_and_nothing_else(ratio, tolerance):
    X, cost = problem(14, n_features=2, known=1.0)
    X[0] /= ratio * np.linalg.norm(X[0])
    models = [begun(where=where) for where in ("cuda", "cpu")]
    for model in models:
        for part in (slice(0, 1), slice(1, 30), slice(30, 60)):
            model.learn(check_rows(X[part]), cost[part], settings(3), 1)
    assert_agree(*models, X, atol=tolerance)


def test_rows_of_any_length_give_finite_ranges():
    X, cost = problem(15, known=1.0)
    X[0] *= 1e-12
    model = begun()
    for part in (slice(0, 1), slice(1, 60)):
        model.learn(check_rows(X[part]), cost[part], settings(3), 1)
    for found in model.ranges(check_rows(X), settings(3), 30):
        assert np.isfinite(found).all()
