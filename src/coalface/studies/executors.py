"""Who runs the cells: threads, processes, a Dask cluster, or any ``concurrent.futures`` executor.

A crew knows how its workers get the data (one copy in memory, files mapped into memory, or sent once) and how to
stop what is under way. Everything else is the same for all of them.
"""

import os
import signal
import threading
import warnings
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache, partial
from multiprocessing import get_context, parent_process
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any, Protocol

from threadpoolctl import threadpool_limits

from coalface.data.dataset import TrainTest
from coalface.errors import CoalfaceError, CollapseWarning, InputError, in_one_line
from coalface.studies.cells import Cell, Record, run_cell, save_problem


class BrokenCrewError(CoalfaceError):
    """An executor of the caller's cannot go on; what was finished is kept."""


_GLANCE = 0.1  # seconds between two looks of a process at whether it should leave
NAMES = "threads, processes or dask://HOST:PORT"


class Crew(Protocol):
    """The workers of a sweep."""

    name: str
    n_workers: int

    def share(self, problem: TrainTest, folder: Path) -> Any:
        """Make the data reachable for all workers; what comes back travels with every task."""
        ...

    def submit(self, shared: Any, cell: Cell) -> "Future[Record]":
        """Have a cell run."""
        ...

    def stop(self) -> None:
        """Drop what waits, and cut what is under way short where that is possible."""
        ...

    def close(self) -> None:
        """Let the workers go."""
        ...


def crew_for(executor: "str | Executor", workers: int | None = None) -> Crew:
    """The crew of a name, an address or an executor of the caller's.

    >>> crew = crew_for("threads", 2)
    >>> crew.name, crew.n_workers
    ('threads', 2)
    >>> crew.close()
    """
    if isinstance(executor, Executor):
        return ExecutorCrew(executor, workers)
    if workers is not None and workers < 1:
        raise InputError(f"workers must be at least 1, got {workers}.")
    if executor == "threads":
        return ThreadCrew(workers or _cores())
    if executor == "processes":
        return ProcessCrew(workers or _cores())
    if isinstance(executor, str) and executor.startswith("dask://") and len(executor) > len("dask://"):
        return DaskCrew(executor.removeprefix("dask://"))
    raise InputError(f"executor must be {NAMES}, got {executor!r}.")


class ThreadCrew:
    """Threads of this process over one copy of the data; the compiled loops run side by side."""

    name = "threads"

    def __init__(self, n_workers: int) -> None:
        self.n_workers = n_workers
        self._stopping = threading.Event()
        self._pool = ThreadPoolExecutor(n_workers, thread_name_prefix="cell")

    def share(self, problem: TrainTest, folder: Path) -> TrainTest:  # noqa: ARG002
        """The data itself, its costs unfolded once for all threads."""
        _ = problem.train.cost, problem.test.cost
        return problem

    def submit(self, shared: Any, cell: Cell) -> "Future[Record]":
        """Have a cell run."""
        return self._pool.submit(run_cell, shared, cell, self._stopping.is_set)

    def stop(self) -> None:
        """Cells under way notice within a tenth of a second."""
        self._stopping.set()
        self._pool.shutdown(wait=False, cancel_futures=True)

    def close(self) -> None:
        """Wait for the threads to end."""
        self._pool.shutdown()


class ProcessCrew:
    """Processes of this machine; the data is mapped into each from the same files.

    They hold nothing that could be lost, so they may go at any moment. A pool that lost a process is replaced, and
    its other processes are dismissed: it may have begun one that it does not know to end.
    """

    name = "processes"

    def __init__(self, n_workers: int) -> None:
        self.n_workers = n_workers
        self._context = get_context("spawn")  # a fork would copy locks in whatever state they are
        self._begin()

    def _begin(self) -> None:
        self._dismissed = self._context.RawValue("b", 0)  # without a lock, which a killed process might hold
        self._pool = ProcessPoolExecutor(
            self.n_workers, mp_context=self._context, initializer=_enlist, initargs=(self._dismissed,)
        )

    def share(self, problem: TrainTest, folder: Path) -> str:
        """The folder that each process maps."""
        return save_problem(problem, folder)

    def submit(self, shared: Any, cell: Cell) -> "Future[Record]":
        """Have a cell run."""
        with _children_ignore_interrupts():
            try:
                return self._pool.submit(_run_elsewhere, shared, cell)
            except (BrokenExecutor, OSError):  # it lost a process, or is closing its pipes because it did
                self.stop()
                self._begin()
                return self._pool.submit(_run_elsewhere, shared, cell)

    def stop(self) -> None:
        """The processes end within a tenth of a second."""
        self._dismissed.value = 1
        self._pool.shutdown(wait=False, cancel_futures=True)

    def close(self) -> None:
        """Wait for the processes to end."""
        self._dismissed.value = 1
        self._pool.shutdown()


@contextmanager
def _children_ignore_interrupts() -> Iterator[None]:
    """Ctrl-C reaches the whole group; processes begun in this block leave it to the sweep, from their first line on."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)


def _enlist(dismissed: Any) -> None:
    """Begin a process of a crew."""
    threading.Thread(target=_leave_when, args=(dismissed,), daemon=True).start()


def _leave_when(dismissed: Any) -> None:
    """End this process once it is dismissed, or once the sweep is gone, which may have been killed."""
    parent = parent_process()
    while not (dismissed.value or (parent is not None and wait([parent.sentinel], timeout=_GLANCE))):
        pass
    os._exit(1)


@cache
def settle() -> None:
    """Make this process fit for cells: BLAS takes one core, collapses are shown by the curves."""
    threadpool_limits(limits=1)
    warnings.simplefilter("ignore", CollapseWarning)


def _run_elsewhere(shared: Any, cell: Cell) -> Record:
    settle()
    return run_cell(shared, cell)


class ExecutorCrew:
    """An executor of the caller's, on this machine or any other that sees the same files."""

    def __init__(self, executor: Executor, n_workers: int | None = None) -> None:
        self.name = type(executor).__name__
        self.n_workers = n_workers or _cores()
        self._executor = executor

    def share(self, problem: TrainTest, folder: Path) -> Any:
        """The folder that each worker maps."""
        return save_problem(problem, folder)

    def submit(self, shared: Any, cell: Cell) -> "Future[Record]":
        """Have a cell run."""
        try:
            return self._executor.submit(_run_elsewhere, shared, cell)
        except BrokenExecutor as problem:
            raise BrokenCrewError(
                f"The {self.name} has lost a worker and takes no more ({in_one_line(problem)}). "
                "Finished cells are kept; run the sweep again with a new one."
            ) from None

    def stop(self) -> None:
        """What is under way comes to its end; nothing new is begun."""

    def close(self) -> None:
        """The executor is the caller's, who closes it."""


class DaskCrew(ExecutorCrew):
    """A Dask cluster. Workers map the data where they see our files; to others it is sent once."""

    def __init__(self, address: str) -> None:
        try:
            from distributed import Client
        except ImportError:
            raise InputError("Dask is not installed. Run: pip install 'coalface[dask]'") from None
        try:
            self._client = Client(address, timeout="10s", set_as_default=False)
        except (OSError, ValueError) as problem:
            raise InputError(
                f"There is no Dask scheduler at {address} ({in_one_line(problem)}). "
                "Start one with `dask scheduler` and pass its address."
            ) from None
        try:
            self._client.wait_for_workers(1, timeout=10)
        except (OSError, TimeoutError):
            self._client.close()
            raise InputError(
                f"The Dask scheduler at {address} has no workers. Start some with `dask worker {address}`."
            ) from None
        threads = sum(worker["nthreads"] for worker in self._client.scheduler_info(n_workers=-1)["workers"].values())
        super().__init__(self._client.get_executor(pure=False), max(threads, 1))
        self.name = f"dask://{address}"

    def share(self, problem: TrainTest, folder: Path) -> Any:
        """The folder if every worker sees it; otherwise the data, sent to all of them once."""
        place = save_problem(problem, folder)
        seen = self._client.run(partial(os.path.isdir, place))
        return place if seen and all(seen.values()) else self._client.scatter(problem, broadcast=True, hash=False)

    def stop(self) -> None:
        """Cancel what waits; what is under way ends unheard."""
        self._executor.shutdown(wait=False)

    def close(self) -> None:
        """Leave the cluster as it was."""
        self._client.close()


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
