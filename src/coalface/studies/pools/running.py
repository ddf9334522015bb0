"""Runs the tasks of a pool with an executor and counts what they did."""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from functools import partial
from itertools import chain

from threadpoolctl import threadpool_limits

from coalface.errors import CoalfaceError, counted, in_one_line
from coalface.studies.executors import SweepExecutor, executor_for
from coalface.studies.pools.tasks import PartitionTask, Scored, score_partition
from coalface.studies.tasks import RETRIES, run_tasks

_TASKS_PER_WORKER = 2  # waiting or running
Progress = Callable[[int, int], None]


class PoolError(CoalfaceError):
    """A file of a pool could not be scored, for a reason other than the user's mistake."""


@dataclass(frozen=True)
class PoolOutcome:
    """How a run over a pool ended: its files, those finished before, and the examples in those scored now.

    >>> print(PoolOutcome(3, 1, 500_000, 2.0))
    500,000 examples in 2 files, 250,000 per second; 1 file was finished before
    """

    files: int
    finished_before: int
    rows: int
    seconds: float

    def __str__(self) -> str:
        now = self.files - self.finished_before
        pace = f", {self.rows / max(self.seconds, 1e-9):,.0f} per second" if now else ""
        text = f"{counted(self.rows, 'example')} in {counted(now, 'file')}{pace}"
        before = self.finished_before
        return text + (f"; {counted(before, 'file')} {'was' if before == 1 else 'were'} finished before" * bool(before))


def run_pool(
    tasks: Sequence[PartitionTask],
    executor: str | Executor,
    workers: int | None = None,
    progress: Progress | None = None,
) -> PoolOutcome:
    """Run all tasks; finished files are kept whatever happens, and the same call continues from there.

    A task that lost its worker runs again. The first mistake of the user ends the run and is raised.
    """
    began, before, rows = time.perf_counter(), 0, 0
    workforce = executor_for(executor, workers)
    try:
        with threadpool_limits(limits=1):
            start = partial(_start, workforce, workforce.share_file(tasks[0].model.path))
            at_once = _TASKS_PER_WORKER * workforce.n_workers
            each = chain.from_iterable(run_tasks(start, tasks, at_once))
            for number, ended in enumerate(each, start=1):
                scored = _checked(ended.item, ended.result, ended.error)
                before += scored.done_before
                rows += 0 if scored.done_before else scored.rows
                if progress is not None:
                    progress(number, len(tasks))
    except BaseException:
        workforce.stop()
        raise
    finally:
        workforce.close()
    _remove_leftovers(tasks)
    return PoolOutcome(len(tasks), before, rows, time.perf_counter() - began)


def _start(workforce: SweepExecutor, shared: str | bytes, task: PartitionTask) -> "Future[Scored]":
    return workforce.start(score_partition, shared, task)


def _checked(task: PartitionTask, scored: Scored | None, error: BaseException | None) -> Scored:
    """What a task did; raises the user's mistake, or a PoolError after the last attempt."""
    if scored is None:
        why = in_one_line(error) if isinstance(error, Exception) else repr(error)
        raise PoolError(
            f"{task.partition.path} failed {RETRIES + 1} times: {type(error).__name__}: {why}. Finished files are "
            "kept: remove the cause and run the command again."
        ) from error
    if scored.error is not None:
        raise scored.error
    return scored


def _remove_leftovers(tasks: Sequence[PartitionTask]) -> None:
    """Remove the unfinished results of workers that were killed."""
    for folder in {task.target.parent for task in tasks}:
        names = {f".{task.target.name}." for task in tasks if task.target.parent == folder}
        for part in folder.glob(".*.part"):
            if any(part.name.startswith(name) for name in names):
                part.unlink(missing_ok=True)
