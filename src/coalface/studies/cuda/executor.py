"""The executor ``cuda`` of sweeps: the cells that a GPU can run go there in batches, the others to the CPU."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from coalface.data import TrainTest
from coalface.errors import CoalfaceError, in_one_line
from coalface.kernels import CudaDevice, Device
from coalface.studies.cells import Cell, Record, new_record
from coalface.studies.cuda.playing import DeviceProblem, Task, task_of
from coalface.studies.executors import SweepExecutor

T = TypeVar("T")
_MOST_RUNS = 20_000  # that wait at the same time: the device takes them in batches
_PATIENCE = 0.05  # seconds without a new cell after which a batch begins


class _Waiting(NamedTuple):
    """A cell that waits for the device."""

    cell: Cell
    task: Task
    future: "Future[Record]"


class CudaExecutor(SweepExecutor):
    """Runs cells of the online model on a GPU, one batch per dataset, and all other cells on ``others``.

    A batch has the cells that were submitted so far for one dataset and one set of checkpoints. A thread plays it and
    completes its futures.
    """

    name = "cuda"
    n_workers = _MOST_RUNS

    def __init__(self, start_others: Callable[[], SweepExecutor], device: Device | None = None) -> None:
        self._device = device or CudaDevice(chosen_by="executor 'cuda'")  # before any process is started
        self._others = start_others()
        self._problems: dict[int, TrainTest] = {}
        self._on_device: tuple[Any, DeviceProblem] | None = None
        self._waiting: list[tuple[Any, _Waiting]] = []
        self._changed, self._closing, self._stopping = threading.Condition(), False, threading.Event()
        self._thread = threading.Thread(target=self._play_batches, name="cuda", daemon=True)
        self._thread.start()

    def share(self, problem: TrainTest, folder: Path) -> tuple[int, Any]:
        """The number of the data here, and what the other executor shares."""
        number = len(self._problems)
        self._problems[number] = problem
        return number, self._others.share(problem, folder)

    def submit(self, shared: Any, cell: Cell) -> "Future[Record]":
        """Start a cell on the device if it can run there, otherwise on the other executor."""
        number, elsewhere = shared
        task = task_of(cell, self._problems[number])
        if task is None:
            return self._others.submit(elsewhere, cell)
        future: Future[Record] = Future()
        with self._changed:
            self._waiting.append(((number, task.cost_bounds, str(task.checkpoints)), _Waiting(cell, task, future)))
            self._changed.notify()
        return future

    def share_file(self, path: Path) -> Any:
        """What the other executor shares: files of pools are read on the CPU."""
        return self._others.share_file(path)

    def start(self, task: Callable[..., T], *given: Any) -> "Future[T]":
        """Call a task on the other executor."""
        return self._others.start(task, *given)

    def stop(self) -> None:
        """Drop waiting cells; running ones end within a few hundred examples."""
        self._stopping.set()
        self._others.stop()

    def close(self) -> None:
        """Wait for the device to end."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        self._thread.join()
        self._others.close()

    def _play_batches(self) -> None:
        while (found := self._next_batch()) is not None:
            key, batch = found
            batch = [waiting for waiting in batch if waiting.future.set_running_or_notify_cancel()]
            try:
                self._play(key, batch)
            except Exception as problem:  # a failed batch must not end the thread
                error = in_one_line(problem)
                why = error if isinstance(problem, CoalfaceError) else f"{type(problem).__name__}: {error}"
                for waiting in batch:
                    if not waiting.future.done():
                        waiting.future.set_result({**new_record(waiting.cell), "error": why, "seconds": 0.0})

    def _next_batch(self) -> tuple[Any, list[_Waiting]] | None:
        """The waiting cells of one dataset, once no more are submitted; None at the end."""
        with self._changed:
            while True:
                before = len(self._waiting)
                self._changed.wait(_PATIENCE if before else None)
                if self._closing or self._stopping.is_set():
                    for _, waiting in self._waiting:
                        waiting.future.cancel()
                    return None
                if before and len(self._waiting) == before:
                    break
            key = self._waiting[0][0]
            batch = [waiting for of, waiting in self._waiting if of == key]
            problem = self._problem_for(key)
            batch = batch[: problem.batch_size([waiting.task for waiting in batch])]
            taken = {id(waiting) for waiting in batch}
            self._waiting = [pair for pair in self._waiting if id(pair[1]) not in taken]
            return key, batch

    def _problem_for(self, key: Any) -> DeviceProblem:
        """The data on the device; that of the batch before makes room for other data."""
        number, cost_bounds, _ = key
        if self._on_device is None or self._on_device[0] != (number, cost_bounds):
            self._on_device = None
            self._on_device = ((number, cost_bounds), DeviceProblem(self._device, self._problems[number], cost_bounds))
        return self._on_device[1]

    def _play(self, key: Any, batch: list[_Waiting]) -> None:
        batch = sorted(batch, key=lambda waiting: waiting.task.settings.rule, reverse=True)  # passive runs are longest
        played = self._problem_for(key).play([waiting.task for waiting in batch], stop=self._stopping.is_set)
        if self._stopping.is_set() or not played.complete:
            return
        curves = [played.curve(number) for number in range(len(batch))]
        for waiting, curve in zip(batch, curves, strict=True):  # together: one write to disk takes them all
            record = {**new_record(waiting.cell), "curve": curve.to_values(), "seconds": curve.seconds}
            waiting.future.set_result(record)
