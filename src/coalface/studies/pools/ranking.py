"""The examples of a pool that are most worth asking about: those where further questions could still save most."""

import json
import os
from collections.abc import Iterable, Iterator
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from shutil import rmtree
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.data.encoding.encoder import ID
from coalface.data.labels import label_texts
from coalface.data.near_duplicates import near_duplicates, row_digests
from coalface.data.numbers import number, whole_number
from coalface.data.rows import check_rows
from coalface.errors import FileFormatError
from coalface.files.atomic import atomic_write
from coalface.kernels.turns import ALONE
from coalface.learner.named_learner import NamedLearner
from coalface.studies.pools.batches import Batch, arrow_table
from coalface.studies.pools.intake import Columns, Intake
from coalface.studies.pools.models import ModelFile
from coalface.studies.pools.partitions import Partition, find_partitions
from coalface.studies.pools.predictions import labels_as_arrow, made_folder
from coalface.studies.pools.ranking_files import FILE, LABEL, PLACE, PREFIX, ROW, SAVING, check_suffix, parquet_notes
from coalface.studies.pools.running import PoolOutcome, Progress, run_pool
from coalface.studies.pools.tasks import PartitionTask, write_tables
from coalface.studies.pools.top_rows import TopRows

_DIGEST = f"{PREFIX}digest"
_SPARE = 2  # near-duplicates are looked for among this many times the wanted number of examples


@dataclass(frozen=True)
class KeepingBest:
    """The best rows of a file; equal ones once if ``distinct``."""

    limit: int
    distinct: bool

    @property
    def keeps_raw(self) -> bool:
        """Yes: annotators see all columns."""
        return True

    def tables(self, partition: Partition, intake: Intake, batches: Iterator[Batch]) -> Iterator[Any]:
        """One table with the best rows."""
        top = TopRows(self.limit)
        for batch in batches:
            X = check_rows(intake.examples(batch.table))
            self._add(top, partition, intake, batch, X)
        scores, digests, table = top.best()
        yield with_columns(table, {SAVING: scores, _DIGEST: digests})

    def _add(self, top: TopRows, partition: Partition, intake: Intake, batch: Batch, rows: Any) -> None:
        import pyarrow as pa
        from scipy.sparse import csr_array

        X: Any = csr_array((rows.values, rows.columns, rows.indptr), shape=(len(rows), rows.width))
        savings = intake.learner.possible_savings(X)
        places = np.flatnonzero(savings > top.floor)
        if not len(places) and batch.start:
            return
        numbers = (places + batch.start).tolist()
        digests = (
            row_digests(rows.take(places)) if self.distinct else [f"{partition.name}:{n}".encode() for n in numbers]
        )
        ids = intake.ids(batch.table, places)
        names = [f"{partition.name}:{n}" for n in numbers] if ids is None else ids
        about = {
            ID: pa.array(names, pa.string()),
            LABEL: labels_as_arrow(intake.learner.best_labels(X[places])),
            FILE: pa.array([partition.name] * len(places), pa.string()),
            ROW: pa.array(numbers, pa.int64()),
        }
        raw = batch.raw(places)
        repeated = {intake.id_column(raw.column_names), ID} if ids is not None else {ID}
        raw = raw.drop_columns([name for name in raw.column_names if name in repeated or name.startswith(PREFIX)])
        top.add(savings[places], digests, with_columns(raw, about, first=True))


def with_columns(table: Any, columns: dict[str, Any], *, first: bool = False) -> Any:
    """The table with more columns, which come first or last."""
    import pyarrow as pa

    own = {name: table[name] for name in table.column_names}
    return pa.table({**columns, **own} if first else {**own, **columns})


def rank_pool(
    model: str | os.PathLike[str],
    pool: Iterable[str | os.PathLike[str]],
    out: str | os.PathLike[str],
    top: int = 10_000,
    *,
    alike: float | None = None,
    id: str | None = None,
    ignore: Iterable[str] = (),
    executor: str | Executor = "threads",
    workers: int | None = None,
    progress: Progress | None = None,
) -> tuple[PoolOutcome, int]:
    r"""Write the ``top`` examples where questions could still save most, and return how many there are.

    See ``possible_savings`` of the learner. Examples about which the rule asks nothing are left out. Near-duplicates
    count once: see ``alike`` of the learner, whose value is the default. ``out`` is a .parquet or .jsonl file; results
    of single files lie in a folder beside it until the ranking is complete.

    >>> from tempfile import TemporaryDirectory
    >>> from coalface import CoalClassifier
    >>> learner = CoalClassifier(["walk", "fly"], model="online")
    >>> texts, costs = ["short trip", "long trip"], [[0.0, 1.0], [1.0, 0.0]]
    >>> with TemporaryDirectory() as folder:
    ...     _ = learner.tell([{"text": text} for text in texts * 10], costs * 10).save(Path(folder, "trips.coal"))
    ...     _ = Path(folder, "pool.jsonl").write_text('{"text": "trip to Rome"}\n{"text": "trip to Rome"}\n')
    ...     outcome, n = rank_pool(Path(folder, "trips.coal"), [Path(folder, "pool.jsonl")], Path(folder, "best.jsonl"))
    >>> outcome.rows, n  # equal examples count once
    (2, 1)
    """
    target, limit = Path(out).absolute(), whole_number("top", top, least=1)
    check_suffix(target)
    partitions, found = find_partitions(pool), ModelFile.of(Path(model))
    intake = Intake(NamedLearner.load(found.path), Columns(id, tuple(ignore)))
    intake.learner.warn_if_unanswered()
    least = intake.learner.alike if alike is None else number({"alike": alike}, "alike", 0.0, 1.0, above=True)
    work = KeepingBest(limit * (_SPARE if least is not None and least < 1.0 else 1), least is not None)
    parts = target.with_name(f"{target.name}.parts")
    tasks = [
        PartitionTask(partition, parts / f"{place:06d}.parquet", work, intake.columns, found)
        for place, partition in enumerate(partitions)
    ]
    fingerprint = _fingerprint([limit, least, *(task.fingerprint for task in tasks)])
    notes = parquet_notes(target) if target.suffix == ".parquet" and target.is_file() else {}
    if notes.get("fingerprint") == fingerprint:
        return PoolOutcome(len(tasks), len(tasks), 0, 0.0), int(notes["rows"])
    made_folder(parts)
    try:
        outcome = run_pool(tasks, executor, workers, progress)
    except BaseException:
        with suppress(OSError):
            parts.rmdir()  # if no file is finished
        raise
    best = _merged(tasks, work.limit)
    if least is not None and least < 1.0:
        best = best.take(_distinct(intake, best, least))
    best = _numbered(best.slice(0, limit))
    _write(target, best, intake, {"fingerprint": fingerprint, "rows": best.num_rows})
    rmtree(parts)
    return outcome, best.num_rows


def _fingerprint(values: list[Any]) -> str:
    return blake2b(json.dumps(values).encode(), digest_size=16).hexdigest()


def _merged(tasks: list[PartitionTask], limit: int) -> Any:
    """The best rows of all files, read one after another."""
    from pyarrow.lib import ArrowException
    from pyarrow.parquet import read_table

    top = TopRows(limit)
    for task in tasks:
        table = read_table(task.target).replace_schema_metadata(None)
        try:
            top.add(table[SAVING].to_numpy(), table[_DIGEST].to_pylist(), table.drop_columns([_DIGEST]))
            top.best()
        except ArrowException as problem:
            raise FileFormatError(
                f"{task.partition.path} must have columns of the same types as the files before it ({problem}). "
                "Correct it."
            ) from None
    return top.best()[2]


def _distinct(intake: Intake, table: Any, alike: float) -> NDArray[np.int64]:
    """The rows that are not near-duplicates of a better one."""
    cells = arrow_table(table, intake.wants, intake.as_numbers)
    groups = near_duplicates(check_rows(intake.examples(cells)), alike)
    _, first = np.unique(np.where(groups == ALONE, -1 - np.arange(len(groups)), groups), return_index=True)
    return np.sort(first)


def _numbered(table: Any) -> Any:
    """The table with the place of every example, the columns about its rank after the id, then the raw ones."""
    about = (ID, PLACE, SAVING, LABEL, FILE, ROW)
    numbered = with_columns(table, {PLACE: np.arange(1, table.num_rows + 1)})
    return numbered.select([*about, *(name for name in table.column_names if name not in about)])


def _write(target: Path, table: Any, intake: Intake, notes: dict[str, Any]) -> None:
    if target.suffix == ".parquet":
        learner = intake.learner
        notes |= {"labels": label_texts(learner.classes_), "cost_bounds": list(map(float, learner.cost_bounds))}
        write_tables(target, iter([table]), lambda: notes)
        return
    with atomic_write(target) as file:
        for record in table.to_pylist():
            file.write(json.dumps(record, ensure_ascii=False, default=str).encode() + b"\n")
