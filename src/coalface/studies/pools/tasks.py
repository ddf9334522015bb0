"""The task of a pool: score one file and write its result, the same on threads, processes and a Dask cluster."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, Protocol

from coalface.errors import CoalfaceError, InputError
from coalface.files.atomic import atomic_write
from coalface.studies.cells import Stopped
from coalface.studies.pools.batches import Batch, batches_of
from coalface.studies.pools.intake import Columns, Intake
from coalface.studies.pools.models import ModelFile, loaded_model
from coalface.studies.pools.partitions import Partition
from coalface.studies.pools.ranking_files import NOTES, parquet_notes


class Work(Protocol):
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
    work: Work
    columns: Columns
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
class Scored:
    """How a task ended: the rows that it read, whether its result was there before, or the user's mistake."""

    rows: int = 0
    done_before: bool = False
    error: CoalfaceError | None = None


def score_partition(shared: str | bytes, task: PartitionTask, stop: Callable[[], bool] | None = None) -> Scored:
    """Score a file and write its result, unless it is there; raises ``Stopped`` as soon as ``stop()`` is true.

    The result appears under its name only when it is complete, so a task may be killed, or run twice.
    """
    try:
        if task.is_done:
            return Scored(int(parquet_notes(task.target)["rows"]), done_before=True)
        return Scored(_score(shared, task, stop))
    except CoalfaceError as problem:  # another attempt would end in the same way
        return Scored(error=problem)


def _score(shared: str | bytes, task: PartitionTask, stop: Callable[[], bool] | None) -> int:
    intake = Intake(loaded_model(task.model, shared), task.columns)
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
        write_tables(task.target, task.work.tables(task.partition, intake, batches), lambda: _notes(task, n_rows))
    except InputError as problem:
        where = f"{path}, from row {begin} on" if begin else f"{path}"
        raise InputError(f"{where}: {problem}", remedy=problem.remedy) from None
    return n_rows


def _notes(task: PartitionTask, n_rows: int) -> dict[str, Any]:
    return {"fingerprint": task.fingerprint, "rows": n_rows}


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
