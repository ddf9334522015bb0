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

from coalface.data import ID, check_rows, finite_number, label_texts, row_digests, whole_number
from coalface.data.near_duplicates import near_duplicates
from coalface.errors import FileFormatError
from coalface.evaluate import Progress
from coalface.files import atomic_write
from coalface.kernels import ALONE
from coalface.learner import NamedLearner, best_labels, possible_savings, rule_of, warn_if_unanswered
from coalface.studies.pools.intake import Batch, Intake, PoolColumns, arrow_table
from coalface.studies.pools.pool_files import (
    FILE,
    LABEL,
    PLACE,
    PREFIX,
    ROW,
    SAVING,
    Partition,
    check_suffix,
    find_partitions,
    parquet_notes,
)
from coalface.studies.pools.predictions import labels_as_arrow, made_folder
from coalface.studies.pools.tasks import ModelFile, PartitionTask, PoolOutcome, run_pool, write_tables

_LEAST_PENDING = 2**13  # rows that wait before the best of them are kept
_DIGEST = f"{PREFIX}digest"
_SPARE = 2  # near-duplicates are looked for among this many times the wanted number of examples


class _TopRows:
    """The ``limit`` rows of the largest scores above 0, each digest once; of equal rows, the one that came first.

    ``digests`` may be all distinct, for a ranking that keeps duplicates. The best rows of several streams, added in
    the order of these, are the best rows of all of them together.

    >>> import pyarrow as pa
    >>> top = _TopRows(limit=2)
    >>> top.add(np.array([0.1, 0.5, 0.0]), [b"a", b"b", b"c"], pa.table({"name": ["Ada", "Bob", "Cy"]}))
    >>> top.add(np.array([0.5, 0.3]), [b"b", b"d"], pa.table({"name": ["Bob again", "Dee"]}))
    >>> scores, digests, table = top.best()
    >>> scores.tolist(), table["name"].to_pylist()
    ([0.5, 0.3], ['Bob', 'Dee'])
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.floor = 0.0  # a row must score more to be among the best
        self._scores: list[NDArray[np.float64]] = []
        self._digests: list[bytes] = []
        self._tables: list[Any] = []

    def add(self, scores: NDArray[np.float64], digests: list[bytes], table: Any) -> None:
        """Add rows that come after all others."""
        better = np.flatnonzero(scores > self.floor)
        if len(better) < len(scores):
            scores, digests, table = scores[better], [digests[place] for place in better.tolist()], table.take(better)
        if not self._tables or len(scores):
            self._scores.append(scores)
            self._digests += digests
            self._tables.append(table)
        if len(self._digests) >= max(2 * self.limit, _LEAST_PENDING):
            self._compact()

    def best(self) -> tuple[NDArray[np.float64], list[bytes], Any]:
        """The scores, digests and table of the best rows, the largest score first."""
        self._compact()
        return self._scores[0], self._digests, self._tables[0]

    def _compact(self) -> None:
        import pyarrow as pa

        scores = np.concatenate(self._scores)
        kept: list[int] = []
        seen: set[bytes] = set()
        for place in np.argsort(-scores, kind="stable").tolist():
            if len(kept) == self.limit:
                break
            if self._digests[place] not in seen:
                seen.add(self._digests[place])
                kept.append(place)
        table = pa.concat_tables(self._tables, promote_options="permissive").take(np.array(kept, np.int64))
        self._scores = [scores[kept]]
        self._digests = [self._digests[place] for place in kept]
        self._tables = [table]
        if len(kept) == self.limit:
            self.floor = float(scores[kept[-1]])


@dataclass(frozen=True)
class _KeepingBest:
    """The best rows of a file; equal ones once if ``distinct``."""

    limit: int
    distinct: bool

    @property
    def keeps_raw(self) -> bool:
        """Yes: annotators see all columns."""
        return True

    def tables(self, partition: Partition, intake: Intake, batches: Iterator[Batch]) -> Iterator[Any]:
        """One table with the best rows."""
        top = _TopRows(self.limit)
        for batch in batches:
            X = check_rows(intake.examples(batch.table))
            self._add(top, partition, intake, batch, X)
        scores, digests, table = top.best()
        yield _with_columns(table, {SAVING: scores, _DIGEST: digests})

    def _add(self, top: _TopRows, partition: Partition, intake: Intake, batch: Batch, rows: Any) -> None:
        import pyarrow as pa
        from scipy.sparse import csr_array

        X: Any = csr_array((rows.values, rows.columns, rows.indptr), shape=(len(rows), rows.width))
        savings = possible_savings(intake.learner, X)
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
            LABEL: labels_as_arrow(best_labels(intake.learner, X[places])),
            FILE: pa.array([partition.name] * len(places), pa.string()),
            ROW: pa.array(numbers, pa.int64()),
        }
        raw = batch.raw(places)
        repeated = {intake.id_column(raw.column_names), ID} if ids is not None else {ID}
        raw = raw.drop_columns([name for name in raw.column_names if name in repeated or name.startswith(PREFIX)])
        top.add(savings[places], digests, _with_columns(raw, about, first=True))


def _with_columns(table: Any, columns: dict[str, Any], *, first: bool = False) -> Any:
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
    intake = Intake(NamedLearner.load(found.path), PoolColumns(id, tuple(ignore)))
    warn_if_unanswered(intake.learner)
    least = rule_of(intake.learner.rule).alike if alike is None else finite_number("alike", alike, 0.0, 1.0, above=True)
    work = _KeepingBest(limit * (_SPARE if least is not None and least < 1.0 else 1), least is not None)
    parts = target.with_name(f"{target.name}.parts")
    tasks = [
        PartitionTask(partition, parts / f"{place:06d}.parquet", work, intake.columns, found)
        for place, partition in enumerate(partitions)
    ]
    deciding = json.dumps([limit, least, *(task.fingerprint for task in tasks)])
    fingerprint = blake2b(deciding.encode(), digest_size=16).hexdigest()
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


def _merged(tasks: list[PartitionTask], limit: int) -> Any:
    """The best rows of all files, read one after another."""
    from pyarrow.lib import ArrowException
    from pyarrow.parquet import read_table

    top = _TopRows(limit)
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
    numbered = _with_columns(table, {PLACE: np.arange(1, table.num_rows + 1)})
    return numbered.select([*about, *(name for name in table.column_names if name not in about)])


def _write(target: Path, table: Any, intake: Intake, notes: dict[str, Any]) -> None:
    if target.suffix == ".parquet":
        learner = intake.learner
        notes |= {"labels": label_texts(learner.classes_), "cost_bounds": list(learner.cost_bounds_)}
        write_tables(target, iter([table]), lambda: notes)
        return
    with atomic_write(target) as file:
        for record in table.to_pylist():
            file.write(json.dumps(record, ensure_ascii=False, default=str).encode() + b"\n")
