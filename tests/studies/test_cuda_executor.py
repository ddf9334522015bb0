"""The executor ``cuda`` of sweeps, with an emulated device: the same results, resumed and reported in the same way."""

import threading

import numpy as np
import pytest

from coalface.errors import InputError
from coalface.studies import Study
from coalface.studies.cuda.executor import CudaExecutor
from coalface.studies.cuda.playing import DeviceProblem
from coalface.studies.executors import executor_for
from coalface.studies.results import Results
from coalface.studies.sweep import _Sweep, run_sweep
from tests.kernels.emulated_device import COMPILER, EmulatedDevice

pytestmark = pytest.mark.skipif(COMPILER is None, reason="no C++ compiler")

STUDY = """
data = ["digits"]
permutations = 2
[lines.coal]
mellowness = [0.1, 0.01]
[lines.random]
learner = "ridge"
"""


def run_on_device(study, folder, device=None):
    executor = CudaExecutor(lambda: executor_for("threads", 2), device or EmulatedDevice())
    try:
        return _Sweep(study, folder, executor).run(None)
    finally:
        executor.close()


def test_a_sweep_gives_the_same_curves_as_on_the_cpu(tmp_path):
    study = Study.from_toml(STUDY)
    on_device, on_cpu = tmp_path / "device", tmp_path / "cpu"
    assert run_on_device(study, on_device).finished == 6
    run_sweep(study, on_cpu)
    found, expected = Results(on_device).finished, Results(on_cpu).finished
    assert found.keys() == expected.keys()
    for key, record in found.items():
        assert record["curve"]["costs_queried"] == expected[key]["curve"]["costs_queried"]
        np.testing.assert_allclose(record["curve"]["test_cost"], expected[key]["curve"]["test_cost"], rtol=1e-6)


def test_another_executor_continues_where_the_device_stopped(tmp_path):
    study = Study.from_toml(STUDY)
    run_on_device(study, tmp_path)
    assert run_sweep(study, tmp_path).finished_before == 6


def test_cells_that_the_device_cannot_run_go_to_the_cpu(tmp_path, monkeypatch):
    played = []
    play = DeviceProblem.play
    monkeypatch.setattr(
        DeviceProblem, "play", lambda self, tasks, **more: played.extend(tasks) or play(self, tasks, **more)
    )
    outcome = run_on_device(Study.from_toml(STUDY), tmp_path)
    assert outcome.failed == 0
    assert len(played) == 4  # not the runs of random-costs


def test_an_error_of_the_device_is_recorded_and_the_other_cells_go_on(tmp_path, monkeypatch):
    def fail(self, tasks, **more):
        raise InputError("The device is out of order.")

    monkeypatch.setattr(DeviceProblem, "play", fail)
    outcome = run_on_device(Study.from_toml(STUDY), tmp_path)
    assert (outcome.finished, outcome.failed) == (2, 4)
    assert set(Results(tmp_path).failed.values()) == {"The device is out of order"}


def test_stopping_drops_what_is_waiting(tmp_path):
    executor = CudaExecutor(lambda: executor_for("threads", 1), EmulatedDevice())
    executor.stop()
    executor.close()
    assert "cuda" not in [thread.name for thread in threading.enumerate()]


def test_memory_limits_how_many_runs_are_played_side_by_side():
    class Small(EmulatedDevice):
        memory = 30_000

        def n_blocks(self, shape):  # noqa: ARG002
            return 8

    from tests.kernels.test_cuda import digits, task_for

    problem = digits(distance=False)
    tasks = [task_for({"rule.in_turn": False}, problem)] * 5
    assert DeviceProblem(Small(), problem, (0.0, 1.0)).n_side_by_side(tasks) == 1
    Small.memory = 10_000
    with pytest.raises(InputError, match=r"emulated device has 0\.0 GB free"):
        DeviceProblem(Small(), problem, (0.0, 1.0)).n_side_by_side(tasks)


def test_without_cupy_one_line_says_what_to_install():
    with pytest.raises(InputError, match=r"^executor 'cuda' needs CuPy, .*Run: pip install 'coalface\[cuda\]'"):
        executor_for("cuda")
