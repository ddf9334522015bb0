"""The tasks of a pool: score one file and write its result, the same on threads, processes and a Dask cluster.

Every thread of every worker loads the model once.
"""

import json
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from typing import Any, Protocol

from threadpoolctl import threadpool_limits

from coalface.errors import CoalfaceError, FileFormatError, InputError, counted, in_one_line
from coalface.evaluate import Progress
from coalface.files import atomic_write
from coalface.learner import NamedLearner, require_model
from coalface.studies.cells import Stopped
from coalface.studies.executors import executor_for
from coalface.studies.pools.intake import Batch, Intake, PoolColumns, batches_of
from coalface.studies.pools.pool_files import NOTES, Partition, parquet_notes
from coalface.studies.tasks import RETRIES, run_tasks

_TASKS_PER_WORKER = 2  # waiting or running


@dataclass(frozen=True)
class ModelFile:
    """A model file and the digest of its bytes."""

    path: Path
    digest: str

    @classmethod
    def of(cls, path: Path) -> "ModelFile":
        """The model in a file as it is now."""
        require_model(path)
        return cls(path.resolve(), _digest(path.read_bytes()))


class _Loaded(threading.local):
    """The model of this thread; threads that shared one would wait for each other."""

    digest: str | None = None
    named: NamedLearner | None = None


_LOADED = _Loaded()


def _loaded_model(model: ModelFile, shared: str | bytes) -> NamedLearner:
    """The model from its path or its bytes; loaded once per thread."""
    if _LOADED.named is None or _LOADED.digest != model.digest:
        content = Path(shared).read_bytes() if isinstance(shared, str) else shared
        if _digest(content) != model.digest:
            raise FileFormatError(f"{model.path} has changed since the command began. Run it again.")
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder, "model.coal")  # of exactly these bytes
            copy.write_bytes(content)
            _LOADED.named, _LOADED.digest = NamedLearner.load(copy), model.digest
    return _LOADED.named


def _digest(content: bytes) -> str:
    return blake2b(content, digest_size=16).hexdigest()


class _Work(Protocol):
    """What is done with the batches of a file."""

    @property
    def keeps_raw(self) -> bool:
        """Whether it needs all columns, not only those of the model."""
        ...

    def tables(self, partition: Partition, intake: Intake, batches: Iterator[Batch]) -> Iterator[Any]:
        """The tables of Arrow that are written, one after another; at least one."""
        ...


@dataclass(frozen=True)
class PartitionTask:
    """A file, the work on it, the model, and the file of the result."""

    partition: Partition
    target: Path
    work: _Work
    columns: PoolColumns
    model: ModelFile

    @property
    def fingerprint(self) -> str:
        """A text that changes with the model, the file and the options; the result records it."""
        parts = (self.model.digest, self.partition.fingerprint, repr(self.work), repr(self.columns))
        return blake2b("\n".join(parts).encode(), digest_size=16).hexdigest()

    @property
    def is_done(self) -> bool:
        """Whether the result is there, of this model, file and options."""
        return self.target.is_file() and parquet_notes(self.target).get("fingerprint") == self.fingerprint


@dataclass(frozen=True)
class _Scored:
    """How a task ended: the rows that it read, whether its result was there before, or the user's mistake."""

    rows: int = 0
    done_before: bool = False
    error: CoalfaceError | None = None


def _score_partition(shared: str | bytes, task: PartitionTask, stop: Callable[[], bool] | None = None) -> _Scored:
    """Score a file and write its result, unless it is there; raises ``Stopped`` as soon as ``stop()`` is true.

    The result appears under its name only when it is complete, so a task may be killed, or run twice.
    """
    try:
        if task.is_done:
            return _Scored(int(parquet_notes(task.target)["rows"]), done_before=True)
        return _Scored(_score(shared, task, stop))
    except CoalfaceError as problem:  # another attempt would end in the same way
        return _Scored(error=problem)


def _score(shared: str | bytes, task: PartitionTask, stop: Callable[[], bool] | None) -> int:
    intake = Intake(_loaded_model(task.model, shared), task.columns)
    path, begin, n_rows = task.partition.path, 0, 0

    def watched() -> Iterator[Batch]:
        nonlocal begin, n_rows
        size, keep_raw = intake.batch_size, task.work.keeps_raw
        for batch in batches_of(path, size, intake.wants, intake.as_numbers, keep_raw=keep_raw):
            if stop is not None and stop():
                raise Stopped
            begin, n_rows = batch.start, batch.start + batch.table.n_rows
            yield batch

    batches = watched()
    try:
        write_tables(
            task.target,
            task.work.tables(task.partition, intake, batches),
            lambda: {"fingerprint": task.fingerprint, "rows": n_rows},
        )
    except InputError as problem:
        where = f"{path}, from row {begin} on" if begin else f"{path}"
        raise InputError(f"{where}: {problem}", remedy=problem.remedy) from None
    return n_rows


def write_tables(target: Path, tables: Iterator[Any], notes: Callable[[], dict[str, Any]]) -> None:
    """Write tables to one Parquet file, which replaces ``target`` when it is complete; ``notes`` come at the end."""
    from pyarrow.parquet import ParquetWriter

    with atomic_write(target) as file:
        first = next(tables)
        with ParquetWriter(file, first.schema) as writer:
            writer.write_table(first)
            for table in tables:
                writer.write_table(table)
            writer.add_key_value_metadata({NOTES: json.dumps(notes())})


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
    with executor_for(executor, workers) as workforce, threadpool_limits(limits=1):
        start = partial(workforce.start, _score_partition, workforce.share_file(tasks[0].model.path))
        at_once = _TASKS_PER_WORKER * workforce.n_workers
        each = chain.from_iterable(run_tasks(start, tasks, at_once))
        for number, ended in enumerate(each, start=1):
            scored = _checked(ended.item, ended.result, ended.error)
            before += scored.done_before
            rows += 0 if scored.done_before else scored.rows
            if progress is not None:
                progress(number, len(tasks))
    _remove_leftovers(tasks)
    return PoolOutcome(len(tasks), before, rows, time.perf_counter() - began)


def _checked(task: PartitionTask, scored: _Scored | None, error: BaseException | None) -> _Scored:
    """What a task did; raises the user's mistake, or a CoalfaceError after the last attempt."""
    if scored is None:
        why = in_one_line(error) if isinstance(error, Exception) else repr(error)
        raise CoalfaceError(
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
