"""Executors of sweeps and pools: threads, processes, a GPU, a Dask cluster, or any ``concurrent.futures`` executor.

An executor knows how its workers get the data (one copy in memory, files mapped into memory, or sent once) and how to
stop running cells. Everything else is the same for all of them.
"""

import os
import signal
import threading
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache, partial
from multiprocessing import get_context, parent_process
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any, Self, TypeVar

from threadpoolctl import threadpool_limits

from coalface.data import TrainTest
from coalface.errors import CoalfaceError, CollapseWarning, InputError, in_one_line
from coalface.studies.cells import Cell, Record, run_cell, save_problem

T = TypeVar("T")


class WorkerLostError(CoalfaceError):
    """The caller's executor lost a worker and accepts no more tasks; finished tasks are kept."""


_POLL_SECONDS = 0.1  # how often a process checks whether it should exit
NAMES = "threads, processes, cuda or dask://HOST:PORT"


class SweepExecutor(ABC):
    """Runs the cells of a sweep; unless it says otherwise, its workers see the files of this machine.

    As a context manager, it stops if the block raises an error, and releases its workers.
    """

    name: str
    n_workers: int

    def share(self, problem: TrainTest, folder: Path) -> Any:
        """Make the data available to all workers; every task gets the returned value, such as a folder to map."""
        return save_problem(problem, folder)

    def submit(self, shared: Any, cell: Cell) -> "Future[Record]":
        """Start a cell as soon as a worker is free."""
        return self.start(run_cell, shared, cell)

    def share_file(self, path: Path) -> Any:
        """Make a file available to all workers; a task gets its path or, on another machine, its bytes."""
        return str(path)

    @abstractmethod
    def start(self, task: Callable[..., T], *given: Any) -> "Future[T]":
        """Call ``task(*given)`` as soon as a worker is free; its last parameter, ``stop``, is optional."""

    @abstractmethod
    def stop(self) -> None:
        """Drop waiting cells and, where possible, stop running ones."""

    @abstractmethod
    def close(self) -> None:
        """Release the workers."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is not None:
                self.stop()
        finally:
            self.close()


def executor_for(executor: "str | Executor", workers: int | None = None) -> SweepExecutor:
    """The executor for a name, an address or a ``concurrent.futures`` executor.

    >>> with executor_for("threads", 2) as threads:
    ...     threads.name, threads.n_workers, threads.start(lambda stop: stop()).result()
    ('threads', 2, False)
    """
    if isinstance(executor, Executor):
        return _FuturesExecutor(executor, workers)
    if workers is not None and workers < 1:
        raise InputError(f"workers must be at least 1, got {workers}.")
    if executor == "threads":
        return _ThreadExecutor(workers or _cores())
    if executor == "processes":
        return ProcessExecutor(workers or _cores())
    if executor == "cuda":
        from coalface.studies.cuda.executor import CudaExecutor

        return CudaExecutor(lambda: ProcessExecutor(workers or _cores()))
    if isinstance(executor, str) and executor.startswith("dask://") and len(executor) > len("dask://"):
        return DaskExecutor(executor.removeprefix("dask://"))
    raise InputError(f"executor must be {NAMES}, got {executor!r}.")


class _ThreadExecutor(SweepExecutor):
    """Threads of this process with one copy of the data; the compiled loops run in parallel."""

    name = "threads"

    def __init__(self, n_workers: int) -> None:
        self.n_workers = n_workers
        self._stopping = threading.Event()
        self._pool = ThreadPoolExecutor(n_workers, thread_name_prefix="cell")

    def share(self, problem: TrainTest, folder: Path) -> TrainTest:  # noqa: ARG002
        """The data itself, with its cost table computed once for all threads."""
        _ = problem.train.cost, problem.test.cost
        return problem

    def start(self, task: Callable[..., T], *given: Any) -> "Future[T]":
        """Call a task as soon as a thread is free; its last argument says whether it should stop."""
        return self._pool.submit(task, *given, self._stopping.is_set)

    def stop(self) -> None:
        """Running cells stop within a tenth of a second."""
        self._stopping.set()
        self._pool.shutdown(wait=False, cancel_futures=True)

    def close(self) -> None:
        """Wait for the threads to end."""
        self._pool.shutdown()


class ProcessExecutor(SweepExecutor):
    """Processes of this machine, each of which maps the same files into memory.

    A process holds nothing that could be lost, so it may be killed at any time. A pool that lost a process is
    replaced, and its other processes exit: it may have started one that it does not know about.
    """

    name = "processes"

    def __init__(self, n_workers: int) -> None:
        self.n_workers = n_workers
        self._context = get_context("spawn")  # a fork would copy locks in an unknown state
        self._start_pool()

    def _start_pool(self) -> None:
        self._exit_flag = self._context.RawValue("b", 0)  # without a lock, which a killed process might hold
        self._pool = ProcessPoolExecutor(
            self.n_workers, mp_context=self._context, initializer=_watch_exit_flag, initargs=(self._exit_flag,)
        )

    def start(self, task: Callable[..., T], *given: Any) -> "Future[T]":
        """Call a task as soon as a process is free."""
        with _children_ignore_interrupts():
            try:
                return self._pool.submit(_run_in_worker, task, *given)
            except (BrokenExecutor, OSError, ValueError):
                # The pool lost a process or, because it did, is closing its pipes. Starting a process then fails with
                # an OSError, or with a ValueError if the number of a closed pipe was given to a new one.
                self.stop()
                self._start_pool()
                return self._pool.submit(_run_in_worker, task, *given)

    def stop(self) -> None:
        """The processes exit within a tenth of a second."""
        self._exit_flag.value = 1
        self._pool.shutdown(wait=False, cancel_futures=True)

    def close(self) -> None:
        """Wait for the processes to exit."""
        self._exit_flag.value = 1
        self._pool.shutdown()


@contextmanager
def _children_ignore_interrupts() -> Iterator[None]:
    """Processes started in this block ignore Ctrl-C, which reaches the whole group; the sweep ends them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)


def _watch_exit_flag(exit_flag: Any) -> None:
    """Start the thread that ends a worker process."""
    threading.Thread(target=_exit_when_flagged, args=(exit_flag,), daemon=True).start()


def _exit_when_flagged(exit_flag: Any) -> None:
    """End this process when the flag is set or the sweep's process is gone."""
    parent = parent_process()
    while not (exit_flag.value or (parent is not None and wait([parent.sentinel], timeout=_POLL_SECONDS))):
        pass
    os._exit(1)


@cache
def _configure_process() -> None:
    """Limit BLAS to one core and hide collapse warnings, which the curves show anyway."""
    threadpool_limits(limits=1)
    warnings.simplefilter("ignore", CollapseWarning)


def _run_in_worker(task: Callable[..., T], *given: Any) -> T:
    _configure_process()
    return task(*given)


class _FuturesExecutor(SweepExecutor):
    """The caller's ``concurrent.futures`` executor, on this machine or on others that see the same files."""

    def __init__(self, executor: Executor, n_workers: int | None = None) -> None:
        self.name = type(executor).__name__
        self.n_workers = n_workers or _cores()
        self._executor = executor

    def start(self, task: Callable[..., T], *given: Any) -> "Future[T]":
        """Pass a task to the executor."""
        try:
            return self._executor.submit(partial(_run_in_worker, task), *given)
        except BrokenExecutor as problem:
            raise WorkerLostError(
                f"The {self.name} has lost a worker and accepts no more tasks ({in_one_line(problem)}). "
                "Finished tasks are kept. Run the command again with a new executor."
            ) from None

    def stop(self) -> None:
        """Running cells finish; no new ones start."""

    def close(self) -> None:
        """Do nothing: the caller closes the executor."""


class DaskExecutor(_FuturesExecutor):
    """A Dask cluster. Workers that see our files map them; otherwise the data is sent to each worker once."""

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
        """The folder if every worker sees it; otherwise the data, sent to each worker once."""
        place = save_problem(problem, folder)
        return (
            place if self._is_seen(os.path.isdir, place) else self._client.scatter(problem, broadcast=True, hash=False)
        )

    def share_file(self, path: Path) -> Any:
        """The path if every worker sees it; otherwise the bytes, sent to each worker once."""
        seen = self._is_seen(os.path.isfile, str(path))
        return str(path) if seen else self._client.scatter(path.read_bytes(), broadcast=True, hash=False)

    def _is_seen(self, check: Callable[[str], bool], place: str) -> bool:
        seen = self._client.run(partial(check, place))
        return bool(seen) and all(seen.values())

    def stop(self) -> None:
        """Cancel waiting cells; the results of running ones are ignored."""
        self._executor.shutdown(wait=False)

    def close(self) -> None:
        """Disconnect from the cluster."""
        self._client.close()


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
