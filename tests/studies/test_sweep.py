"""A sweep runs every cell once, with any executor and after any failure."""

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from coalface import CoalClassifier, OnlineModel, simulate
from coalface.data.dataset import TrainTest
from coalface.errors import FileBusyError, InputError
from coalface.evaluate.curve import Curve
from coalface.files.atomic import exclusive
from coalface.studies import sweep as sweeping
from coalface.studies import tasks
from coalface.studies.cells import Stopped, cells_of
from coalface.studies.collect_results import collect_results
from coalface.studies.executors import ProcessExecutor, WorkerLostError, executor_for
from coalface.studies.known.catalogue import load_known
from coalface.studies.results import FILE, Results
from coalface.studies.sweep import run_sweep

from .studies import lines_of, numbers_of, small_study


class AtOnce(Executor):
    """The plainest executor there is: it runs a task when it gets it."""

    def submit(self, function, /, *args, **kwargs):
        future = Future()
        try:
            future.set_result(function(*args, **kwargs))
        except BaseException as problem:
            future.set_exception(problem)
        return future


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """What the small study gives on one thread."""
    folder = tmp_path_factory.mktemp("undisturbed")
    run_sweep(small_study(), folder, "threads", 1)
    return numbers_of(folder)


@pytest.mark.parametrize("executor", ["threads", "processes", AtOnce()], ids=["threads", "processes", "any"])
def test_every_executor_finds_the_same_numbers_and_each_cell_once(executor, undisturbed, tmp_path):
    seen = []
    outcome = run_sweep(small_study(), tmp_path, executor, 2, lambda *now: seen.append(now))
    assert (outcome.cells, outcome.finished, outcome.failed, outcome.interrupted) == (12, 12, 0, False)
    assert seen == [(done, 12, 0) for done in range(1, 13)]
    assert numbers_of(tmp_path) == undisturbed
    assert sorted(lines_of(tmp_path)) == sorted(undisturbed)


def test_a_cell_is_the_run_that_simulate_makes(undisturbed):
    record = next(record for record in undisturbed.values() if record["line"] == "coal 0.01")
    train, test = load_known("iris")
    settings = dict(record["settings"])
    rate = {"learning_rate": settings.pop("learning_rate")}
    expected = simulate(
        CoalClassifier(train.classes, random_state=record["permutation"], model=OnlineModel(**rate), **settings),
        train.X,
        train.cost,
        X_test=test.X,
        cost_test=test.cost,
        order=np.random.default_rng(record["permutation"]).permutation(len(train)),
        checkpoints="quarter-doubling",
    )
    found = Curve.from_values({**record["curve"], "seconds": 0.0})
    assert found.costs_queried.tolist() == expected.costs_queried.tolist()
    assert found.test_cost.tolist() == expected.test_cost.tolist()
    assert found.auc == expected.auc


def test_a_second_sweep_runs_nothing_and_a_wider_study_only_what_is_new(undisturbed, tmp_path):
    run_sweep(small_study(), tmp_path)
    size = (tmp_path / FILE).stat().st_size
    again = run_sweep(small_study(), tmp_path)
    assert (again.finished_before, again.finished) == (12, 0)
    assert (tmp_path / FILE).stat().st_size == size
    wider = run_sweep(small_study(permutations=3), tmp_path)
    assert (wider.finished_before, wider.finished, wider.cells) == (12, 6, 18)
    assert undisturbed.items() <= numbers_of(tmp_path).items()


def test_a_failing_cell_is_recorded_with_its_error_and_the_rest_goes_on(tmp_path):
    study = small_study(lines="[lines.coal]\n[lines.narrow]\ncost_bounds = [0.0, 0.5]")
    outcome = run_sweep(study, tmp_path)
    assert (outcome.finished, outcome.failed) == (2, 2)
    errors = set(Results(tmp_path).failed.values())
    assert len(errors) == 1
    assert "must lie in [0, 0.5], got 1" in errors.pop()
    findings = collect_results(Results(tmp_path))
    assert (len(findings.runs), len(findings.failures), findings.missing) == (2, 2, 0)
    assert findings.failures[0].startswith("iris, narrow (cost_bounds")
    assert run_sweep(study, tmp_path).failed == 2  # tried again


def test_bounds_that_follow_the_costs_of_labels_are_0_and_1(tmp_path):
    study = small_study(lines='[lines.coal]\n[lines.found]\ncost_bounds = "auto"')
    assert run_sweep(study, tmp_path).failed == 0
    runs = collect_results(Results(tmp_path)).runs
    plain, found = ([run.auc for run in runs if run.line == line] for line in ("coal", "found"))
    assert len(found) == 2
    assert found == plain


def test_two_sweeps_cannot_write_into_one_folder(tmp_path):
    with (
        exclusive(tmp_path / FILE),
        pytest.raises(FileBusyError, match="one process at a time; another process is"),
    ):
        run_sweep(small_study(), tmp_path)
    assert not (tmp_path / FILE).exists()


@pytest.mark.parametrize(
    ("executor", "workers", "rule"),
    [
        ("gpu", None, "executor must be threads, processes, cuda or dask://HOST:PORT, got 'gpu'"),
        ("dask://", None, "executor must be"),
        ("threads", 0, "workers must be at least 1, got 0"),
        ("dask://127.0.0.1:1", None, "There is no Dask scheduler at 127.0.0.1:1"),
    ],
)
def test_an_executor_that_cannot_be_is_one_line(executor, workers, rule, monkeypatch):
    if executor.endswith(":1"):
        monkeypatch.setattr("distributed.Client.__init__", _refusing)
    with pytest.raises(InputError, match=rule) as caught:
        executor_for(executor, workers)
    assert "\n" not in str(caught.value)


def _refusing(*_args, **_kwargs):
    raise OSError("Timed out trying to connect")


def test_ctrl_c_keeps_what_is_finished_and_the_next_sweep_goes_on(undisturbed, tmp_path):
    def press(done, total, failed):
        if done == 5:
            raise KeyboardInterrupt

    outcome = run_sweep(small_study(), tmp_path, "threads", 1, press)
    assert outcome.interrupted
    assert 5 <= outcome.finished < 12  # what ended together with the fifth run is kept, too
    assert len(numbers_of(tmp_path)) == outcome.finished
    assert run_sweep(small_study(), tmp_path).finished == 12 - outcome.finished
    assert numbers_of(tmp_path) == undisturbed


def test_runs_that_end_together_are_counted_even_if_the_first_of_them_is_interrupted(tmp_path):
    def press(*_):
        raise KeyboardInterrupt

    outcome = run_sweep(small_study(), tmp_path, AtOnce(), 2, press)
    assert (outcome.interrupted, outcome.finished) == (True, 6)
    assert len(numbers_of(tmp_path)) == 6


def test_a_cell_under_way_stops_when_the_sweep_stops(tmp_path):
    threads, study = executor_for("threads", 1), small_study(data='["digits"]', permutations=1, lines="[lines.coal]")
    cell = next(cells_of(study, {"digits": "x"}, {"coal": "y"}))
    digits = load_known("digits")
    long = TrainTest(digits.train.subset(np.tile(np.arange(1297), 300)), digits.test)  # seconds of work
    future = threads.submit(threads.share(long, tmp_path), cell)
    while not future.running():
        time.sleep(0.01)
    threads.stop()
    with pytest.raises(Stopped):
        future.result(timeout=120)


class Fragile(ProcessExecutor):
    """An executor one of whose processes is killed while it works."""

    killed = ()

    def submit(self, shared, cell):
        future = super().submit(shared, cell)
        if not self.killed:
            type(self).killed = (self._one_of(future),)
            os.kill(self.killed[0], signal.SIGKILL)
        return future

    def _one_of(self, future):
        while not future.running():
            time.sleep(0.01)
        return next(iter(self._pool._processes))


# Python's own thread may stumble over a process that is begun while another one is found dead; the pool goes anyway.
@pytest.mark.filterwarnings(
    "ignore:(?s).*dictionary changed size during iteration:pytest.PytestUnhandledThreadExceptionWarning"
)
def test_a_killed_process_costs_nothing_but_time(undisturbed, tmp_path, monkeypatch):
    Fragile.killed = ()
    monkeypatch.setattr(sweeping, "executor_for", lambda *_: Fragile(2))
    outcome = run_sweep(small_study(), tmp_path)
    assert len(Fragile.killed) == 1
    assert (outcome.finished, outcome.failed) == (12, 0)
    assert numbers_of(tmp_path) == undisturbed
    assert len(lines_of(tmp_path)) == 12


@pytest.mark.parametrize("problem", [OSError("handle is closed"), ValueError("bad value(s) in fds_to_keep")])
def test_a_pool_that_closes_its_pipes_is_replaced(problem, monkeypatch):
    executor = ProcessExecutor(1)

    def fail(*_given):
        raise problem

    monkeypatch.setattr(executor._pool, "submit", fail)
    try:
        assert executor.start(abs, -3).result(timeout=120) == 3
    finally:
        executor.close()


WORST_MOMENT = """
import signal, sys, threading, time
sys.path.insert(0, {root!r})
from pathlib import Path
from coalface.studies.sweep import run_sweep
from tests.studies.studies import small_study

signal.signal(signal.SIGINT, signal.default_int_handler)
restore, notify_all = threading.Condition._acquire_restore, threading.Condition.notify_all
started, interrupted = threading.Event(), threading.Event()

def slow_notify_all(self):
    if started.is_set() and threading.current_thread().name.startswith("cell"):
        time.sleep(0.05)
    return notify_all(self)

def interrupted_restore(self, state):
    waits_for_event = sys._getframe(2).f_code is threading.Event.wait.__code__  # not for a semaphore of the pool
    waits = waits_for_event and threading.current_thread() is threading.main_thread()
    if waits and started.is_set() and not interrupted.is_set():
        for _ in range(1000):
            if getattr(self._lock, "locked", lambda: False)():
                interrupted.set()
                signal.raise_signal(signal.SIGINT)
                break
            time.sleep(0.001)
    return restore(self, state)

threading.Condition._acquire_restore, threading.Condition.notify_all = interrupted_restore, slow_notify_all
study = small_study(data='["digits"]', permutations=20)
outcome = run_sweep(study, Path({out!r}), workers=2, progress=lambda *_: started.set())
print("interrupted" if outcome.interrupted and interrupted.is_set() else outcome)
"""

FRAGILE = """
import sys
from pathlib import Path
if __name__ == "__main__":
    sys.path.insert(0, {root!r})
    from coalface.studies import sweep
    from tests.studies.studies import small_study
    from tests.studies.test_sweep import Fragile
    sweep.executor_for = lambda *_: Fragile(2)
    assert sweep.run_sweep(small_study(), Path({out!r})).finished == 12
    assert Fragile.killed
"""


@pytest.mark.slow
def test_a_program_whose_sweep_lost_a_process_comes_to_its_end(tmp_path):
    code = FRAGILE.format(root=str(Path(__file__).parents[2]), out=str(tmp_path))
    assert subprocess.run([sys.executable, "-c", code], timeout=120).returncode == 0
    assert len(lines_of(tmp_path)) == 12


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc").exists(), reason="processes are looked up in /proc")
def test_workers_do_not_outlive_a_killed_sweep(tmp_path):
    code = RUN.format(root=str(Path(__file__).parents[2]), out=str(tmp_path), executor="processes", permutations=2000)
    process = subprocess.Popen([sys.executable, "-c", code])
    _wait_for_lines(tmp_path, 1, process)
    children = [int(pid) for pid in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()]
    process.kill()
    process.wait()
    deadline = time.monotonic() + 60
    while any(Path(f"/proc/{pid}/stat").exists() for pid in children) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert children
    assert not [pid for pid in children if Path(f"/proc/{pid}/stat").exists()]


def test_an_executor_of_the_caller_that_broke_is_one_line_and_keeps_what_is_finished(tmp_path):
    class Broken(AtOnce):
        left = 3

        def submit(self, *task):
            if not self.left:
                raise BrokenExecutor("a process is gone")
            self.left -= 1
            return super().submit(*task)

    with pytest.raises(WorkerLostError, match=r"The Broken has lost a worker .* \(a process is gone\)"):
        run_sweep(small_study(), tmp_path, Broken(), 1)
    assert run_sweep(small_study(), tmp_path).finished >= 9


@pytest.mark.parametrize("torn", ["wait", "submit"])
def test_ctrl_c_never_cuts_into_the_locks_of_the_futures(tmp_path, monkeypatch, torn):
    """An interrupt inside ``wait`` or ``submit`` may release a lock that a worker holds, which then fails."""
    cut_short = []

    def under_interrupt(function):
        def interrupted(*args, **options):
            try:
                signal.raise_signal(signal.SIGINT)
            except KeyboardInterrupt:
                cut_short.append(torn)
                raise
            return function(*args, **options)

        return interrupted

    if torn == "wait":
        monkeypatch.setattr(tasks, "wait", under_interrupt(tasks.wait))
    else:
        monkeypatch.setattr(ThreadPoolExecutor, "submit", under_interrupt(ThreadPoolExecutor.submit))
    outcome = run_sweep(small_study(), tmp_path, "threads", 1)
    assert outcome.interrupted
    assert cut_short == []
    assert outcome.finished == len(Results(tmp_path).finished)


def test_no_worker_prints_a_traceback_after_ctrl_c_at_the_worst_moment(tmp_path):
    """The sweep is about to take the lock of an event again while a worker holds it to report its result."""
    code = WORST_MOMENT.format(root=str(Path(__file__).parents[2]), out=str(tmp_path))
    done = subprocess.run([sys.executable, "-c", code], timeout=120, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "interrupted\n", "")


def test_what_waits_is_cancelled_when_the_sweep_ends_early(tmp_path):
    class Waiting(Executor):
        futures: ClassVar = []

        def submit(self, function, /, *args):
            future = AtOnce().submit(function, *args) if not self.futures else Future()
            self.futures.append(future)
            return future

    def press(*_):
        raise KeyboardInterrupt

    assert run_sweep(small_study(), tmp_path, Waiting(), 2, press).interrupted
    assert [future.cancelled() for future in Waiting.futures] == [False] + [True] * 5


class Deadly(AtOnce):
    """An executor whose workers die of one line."""

    def submit(self, function, shared, cell):
        if cell.line == "passive":
            future = Future()
            future.set_exception(RuntimeError("the worker died"))
            return future
        return super().submit(function, shared, cell)


def test_a_cell_that_kills_its_workers_is_given_up_alone(tmp_path):
    outcome = run_sweep(small_study(), tmp_path, Deadly(), 2)
    assert (outcome.finished, outcome.failed) == (8, 4)
    assert set(Results(tmp_path).failed.values()) == {"lost its worker 3 times: RuntimeError: the worker died"}


RUN = """
import sys
from pathlib import Path
if __name__ == "__main__":
    sys.path.insert(0, {root!r})
    from tests.studies.studies import small_study
    from coalface.studies.sweep import run_sweep
    run_sweep(small_study(permutations={permutations}), Path({out!r}), {executor!r}, 2)
"""


@pytest.mark.slow
def test_kill_9_in_the_middle_changes_nothing(undisturbed, tmp_path):
    code = RUN.format(root=str(Path(__file__).parents[2]), out=str(tmp_path), executor="threads", permutations=2)
    for finished in (0, 1, 4, 7):  # how far the sweep has come when it is killed
        process = subprocess.Popen([sys.executable, "-c", code])
        _wait_for_lines(tmp_path, finished, process)
        process.kill()
        process.wait()
    subprocess.run([sys.executable, "-c", code], check=True)
    assert numbers_of(tmp_path) == undisturbed
    assert len(lines_of(tmp_path)) == len(set(lines_of(tmp_path))) == 12


def _wait_for_lines(folder, n_lines, process):
    """Until so many cells are in the journal, or the process has ended."""
    while process.poll() is None:
        if (folder / FILE).exists() and (folder / FILE).read_bytes().count(b'"curve"') >= n_lines:
            return
        time.sleep(0.002)
