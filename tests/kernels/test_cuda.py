"""The CUDA source, compiled as plain C++, against the compiled loop of the online model."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_digits

from coalface.data.dataset import CostDataset, TrainTest
from coalface.data.rows import check_rows
from coalface.kernels.cuda.layout import BlockShape, bytes_per_run, stride_for
from coalface.kernels.cuda.source import source
from coalface.kernels.state import NO_ROUNDS, lanes_for
from coalface.learner.intake import Examples
from coalface.learner.play import play, start_run
from coalface.studies import learners
from coalface.studies.cells import Cell
from coalface.studies.cuda.playing import DeviceProblem, task_of
from coalface.studies.learners import order_of
from tests.kernels.emulated_device import COMPILER, EmulatedDevice

N_ROWS, PERMUTATION = 400, 3
PUBLISHED = {
    "rule.slack": "published",
    "rule.in_turn": False,
    "audits.rate": 0.0,
    "rule.warm_up": 10,
    "mellowness": 0.01,
    "model.learning_rate": 0.5,
}
LEARNERS = {
    "default": {},
    "published": PUBLISHED,
    "passive": {**PUBLISHED, "rule": "passive"},
    "all-or-none": {**PUBLISHED, "rule": "all-or-none"},
    "no-domination": {**PUBLISHED, "rule": "no-domination", "mellowness": 0.001},
    "adagrad": {**PUBLISHED, "model.accumulator": "adagrad"},
    "seen-only": {**PUBLISHED, "model.sensitivity": "seen-only"},
    "as printed": {
        **PUBLISHED,
        "model.accumulator": "adagrad",
        "model.sensitivity": "derivative",
        "rule.slack": "printed",
        "mellowness": 1e-5,
    },
    "noise-scaled": {**PUBLISHED, "rule.slack": "noise-scaled"},
    "audits": {**PUBLISHED, "audits.rate": 0.2},
    "in turn": {**PUBLISHED, "rule.in_turn": True},
    "misses": {"rule.miss_rate": 0.05},
    "budget of costs": {"budget": {"share": 0.1}},
    "budget of examples": {"budget": {"examples": 60}},
    "budget with two prices": {"budget": {"price": 500.0, "price_per_example": 3.0, "price_per_cost": 1.0}},
    "passive budget": {**PUBLISHED, "rule": "passive", "budget": {"share": 0.2}},
    "abstaining": {"abstain.cost": 0.3},
    "no intercept": {"model.fit_intercept": False},
}
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="no C++ compiler")


def digits(distance, candidates=None):
    X, y = load_digits(return_X_y=True)
    costs = np.abs(np.arange(10)[:, None] - np.arange(10)) / 9 if distance else 1.0 - np.eye(10)
    parts = slice(0, N_ROWS), slice(N_ROWS, 600)
    allowed = [None if candidates is None else candidates[part] for part in parts]
    return TrainTest(
        *(CostDataset(X[part], costs[y[part]], candidates=mask) for part, mask in zip(parts, allowed, strict=True))
    )


def task_for(settings, problem, learner="coal"):
    cell = Cell("key", "data", "line", learner, tuple(sorted(settings.items())), PERMUTATION, "doubling")
    return task_of(cell, problem)


def questions_on_cpu(settings, problem):
    train = problem.train
    learner = learners.new_classifier("coal", settings, train, PERMUTATION)
    given, examples = NO_ROUNDS._replace(costs=train.cost), Examples(train.X, check_rows(train.X))
    examples = replace(examples, candidates=train.candidates)
    order = order_of(PERMUTATION, N_ROWS)
    run = start_run(learner, examples, train.classes, train.cost, given, order, record=True)
    play(learner, run, N_ROWS)
    return run.arrays.record.mask


def assert_same_run(settings, problem):
    task = task_for(settings, problem)
    played = DeviceProblem(EmulatedDevice(), problem, task.cost_bounds).play([task], n_traced=N_ROWS)
    np.testing.assert_array_equal(played.traced[0], questions_on_cpu(settings, problem))
    curve, expected = played.curve(0), learners.LEARNERS["coal"].run(settings, problem, PERMUTATION, "doubling")
    np.testing.assert_array_equal(curve.costs_queried, expected.costs_queried)
    np.testing.assert_array_equal(curve.examples_queried, expected.examples_queried)
    np.testing.assert_allclose(curve.test_cost, expected.test_cost, rtol=1e-6)
    np.testing.assert_allclose(curve.at_doublings, expected.at_doublings, rtol=1e-6)


@needs_compiler
@pytest.mark.parametrize("distance", [False, True], ids=["right-or-wrong", "distance"])
@pytest.mark.parametrize("name", LEARNERS)
def test_a_run_in_cuda_asks_and_learns_as_on_the_cpu(name, distance):
    assert_same_run(LEARNERS[name], digits(distance))


@needs_compiler
def test_labels_that_are_not_candidates_are_not_asked_about():
    candidates = np.random.default_rng(0).random((1797, 10)) < 0.7
    candidates[:, 0] = True
    assert_same_run({}, digits(distance=True, candidates=candidates))


@needs_compiler
def test_runs_with_different_settings_do_not_disturb_each_other():
    problem = digits(distance=False)
    tasks = [task_for(LEARNERS[name], problem) for name in ("default", "passive", "default", "misses")]
    together = DeviceProblem(EmulatedDevice(), problem, (0.0, 1.0)).play(tasks)
    for number, task in enumerate(tasks):
        alone = DeviceProblem(EmulatedDevice(), problem, (0.0, 1.0)).play([task])
        np.testing.assert_array_equal(together.counts[number], alone.counts[0])


@needs_compiler
def test_long_rows_are_kept_in_global_memory(monkeypatch):
    monkeypatch.setattr("coalface.kernels.cuda.layout._ROW_BYTES", 0)
    assert_same_run({}, digits(distance=False))


@needs_compiler
def test_costs_of_another_scale_give_the_same_questions_and_scaled_test_costs():
    plain = digits(distance=True)
    scaled = TrainTest(*(CostDataset(part.X, 10.0 * part.cost + 5.0) for part in plain))
    settings = {"cost_bounds": (5.0, 15.0)}
    task = task_for(settings, scaled)
    played = DeviceProblem(EmulatedDevice(), scaled, task.cost_bounds).play([task])
    expected = learners.LEARNERS["coal"].run(settings, scaled, PERMUTATION, "doubling")
    np.testing.assert_array_equal(played.curve(0).costs_queried, expected.costs_queried)
    np.testing.assert_allclose(played.curve(0).test_cost, expected.test_cost, rtol=1e-6)


@pytest.mark.parametrize(
    ("learner", "settings"),
    [
        ("coal", {"batch": 5}),
        ("coal", {"stop_saving": 0.01, "audits.rate": 0.1}),
        ("coal", {"model": "forest"}),
        ("coal", {"mellowness": -1.0}),
        ("coal", {"cost_bounds": "auto"}),
        ("ridge", {}),
    ],
)
def test_what_the_device_cannot_run_is_left_to_the_cpu(learner, settings):
    assert task_for(settings, digits(distance=False), learner) is None


def test_stored_zeros_are_dropped():
    from scipy.sparse import csr_array

    stored = csr_array((np.array([1.0, 0.0, 2.0, 0.0]), np.array([0, 1, 0, 1]), np.array([0, 2, 4])), shape=(2, 2))
    rows = check_rows(stored).without_zeros()
    assert rows.indptr.tolist() == [0, 1, 2]
    assert rows.values.tolist() == [1.0, 2.0]


@pytest.mark.parametrize("longest_row", [1, 100, 1500, 100_000])
@pytest.mark.parametrize("n_labels", [2, 8, 9, 40, 102, 129, 1000])
def test_threads_of_a_block_are_whole_warps_and_whole_groups(n_labels, longest_row):
    shape = BlockShape.of(n_labels, longest_row)
    assert shape.n_threads % 32 == 0
    assert shape.n_threads % shape.group_size == 0
    assert shape.shared_bytes <= 227 * 1024
    assert shape.blocks_per_processor * (shape.shared_bytes + 1024) <= 228 * 1024


def test_a_block_with_long_rows_has_more_threads():
    assert BlockShape.of(40, longest_row=100).n_threads < BlockShape.of(40, longest_row=1500).n_threads


@pytest.mark.parametrize("n_labels", [2, 8, 9, 40, 102, 129, 1000])
def test_cells_of_a_feature_begin_at_a_line_of_the_cache(n_labels):
    assert stride_for(n_labels) * 4 % 128 == 0
    assert 0 <= stride_for(n_labels) - 3 * lanes_for(n_labels) < 32


@pytest.mark.parametrize("n_blocks", [1, 2, 4, 8])
@pytest.mark.parametrize(("n_labels", "longest_row"), [(2, 5), (40, 1100), (102, 500), (1000, 500)])
def test_copies_of_cells_leave_room_for_the_other_blocks(n_labels, longest_row, n_blocks):
    shape = BlockShape.of(n_labels, longest_row).with_room(n_blocks)
    assert shape.n_kept <= max(shape.row_capacity, 1)
    assert shape.n_kept == 0 or n_blocks * (shape.shared_bytes + 1024) <= 228 * 1024


def test_memory_of_a_run_is_that_of_its_weights():
    weights = 47_238 * 1280  # of a feature: 104 lanes x 3 numbers of 4 bytes, in whole lines of 128 bytes
    assert weights < bytes_per_run(102, 47_236, 100, implies=False) < 1.02 * weights


def test_the_source_has_the_numbers_of_the_python_kernels():
    assert "constexpr int LEVELS = 9;" in source()
    assert "constexpr double OPENING_SHARE = 0.2;" in source()
