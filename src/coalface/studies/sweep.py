"""Run a sweep: every cell of a study that is not finished yet, each once."""

import logging
import os
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from coalface.errors import CollapseWarning, counted
from coalface.files.atomic import exclusive
from coalface.files.interrupts import interrupts_put_off
from coalface.report.html_page import package_versions
from coalface.studies.cells import Cell, Record, cells_of, code_of, fingerprint_of, new_record
from coalface.studies.executors import SweepExecutor, executor_for
from coalface.studies.findings import DataFacts
from coalface.studies.results import FILE, Results, Session
from coalface.studies.study import Study
from coalface.studies.tasks import RETRIES, run_tasks

_TASKS_PER_WORKER = 3  # waiting or running


@dataclass(frozen=True)
class Outcome:
    r"""How a sweep ended: the number of cells that were finished before, that finished now, and that failed.

    >>> from tempfile import TemporaryDirectory
    >>> study = Study.from_toml('data = ["iris"]\npermutations = 2\n[lines.coal]')
    >>> with TemporaryDirectory() as folder:
    ...     outcome = run_sweep(study, folder)
    >>> outcome.cells, outcome.finished_before, outcome.finished, outcome.failed, outcome.interrupted
    (2, 0, 2, 0, False)
    """

    cells: int
    finished_before: int
    finished: int
    failed: int
    seconds: float
    interrupted: bool


Progress = Callable[[int, int, int], None]


def run_sweep(
    study: Study,
    folder: str | os.PathLike[str],
    executor: str | Executor = "threads",
    workers: int | None = None,
    progress: Progress | None = None,
) -> Outcome:
    r"""Run the missing cells and write each result as soon as it is known; calls ``progress(done, total, failed)``.

    A failed cell is recorded, and the others continue. Ctrl-C keeps all finished cells: the outcome is
    ``interrupted``, and the same call continues from there.

    >>> from tempfile import TemporaryDirectory
    >>> study = Study.from_toml('data = ["digits"]\npermutations = 1\n[lines.coal]\nmellowness = [0.1, 0.01]')
    >>> with TemporaryDirectory() as folder:
    ...     first, second = (run_sweep(study, folder) for _ in range(2))
    >>> first.finished, second.finished_before
    (2, 2)
    """
    place = Path(folder)
    with warnings.catch_warnings(), threadpool_limits(limits=1):
        warnings.simplefilter("ignore", CollapseWarning)  # the curves show it
        workforce = executor_for(executor, workers)
        try:
            place.mkdir(parents=True, exist_ok=True)
            with exclusive(place / FILE, patience=0.0):
                return _Sweep(study, place, workforce).run(progress)
        except BaseException:
            workforce.stop()
            raise
        finally:
            workforce.close()


class _Sweep:
    def __init__(self, study: Study, folder: Path, executor: SweepExecutor) -> None:
        self.executor = executor
        self.shared: dict[str, Any] = {}
        facts = tuple(self._share(study, folder))
        code = code_of(study)
        found = cells_of(study, {data.name: data.fingerprint for data in facts}, code)
        self.cells = list({cell.key: cell for cell in found}.values())  # two lines may give the same run
        self.results = Results.begin(folder)
        self.todo = [cell for cell in self.cells if cell.key not in self.results.finished]
        self.session = Session(
            started=datetime.now(UTC).isoformat(timespec="seconds"),
            executor=executor.name,
            workers=executor.n_workers,
            name=study.name,
            toml=study.toml,
            code=code,
            data=facts,
            versions=package_versions(),
            offered=study.offered,
        )

    def _share(self, study: Study, folder: Path) -> Iterator[DataFacts]:
        for source in study.sources:
            problem = source.load()
            self.shared[source.name] = self.executor.share(problem, folder / "data")
            yield DataFacts.of(source.name, problem.train, problem.test, fingerprint_of(problem))

    def run(self, progress: Progress | None) -> Outcome:
        began, before = time.perf_counter(), len(self.cells) - len(self.todo)
        log = logging.getLogger("coalface")
        log.info(
            "sweep %s: %s to do, %d done before, with %d %s",
            *(self.session.name, counted(len(self.todo), "run"), before, self.executor.n_workers, self.executor.name),
        )
        done = failed = 0
        interrupted = False
        new = bool(self.todo) or self.results.last is None or not self.session.same_cells(self.results.last)
        if new:
            with interrupts_put_off():
                self.results.start(self.session)
        try:
            for records in self._records():
                with interrupts_put_off():  # a half-written record would be lost
                    self.results.add(records)
                    told = []
                    for record in records:  # count all before ``progress``, which may interrupt
                        done, failed = done + 1, failed + ("error" in record)
                        told.append((before + done, len(self.cells), failed))
                    if progress is not None:
                        for numbers in told:
                            progress(*numbers)
        except KeyboardInterrupt:
            interrupted = True
            self.executor.stop()
        seconds = time.perf_counter() - began
        log.info("sweep %s: %s in %.1f s, %d failed", self.session.name, counted(done, "run"), seconds, failed)
        if new:
            with interrupts_put_off():
                self.results.end(seconds, done - failed)
        return Outcome(len(self.cells), before, done - failed, failed, seconds, interrupted)

    def _records(self) -> Iterator[list[Record]]:
        """The records of all missing cells, as they finish; cancels what is left at the end."""
        at_once = _TASKS_PER_WORKER * self.executor.n_workers
        for together in run_tasks(self._submit, self.todo, at_once):
            yield [
                _lost_record(ended.item, ended.error) if ended.result is None else ended.result for ended in together
            ]

    def _submit(self, cell: Cell) -> "Future[Record]":
        return self.executor.submit(self.shared[cell.data], cell)


def _lost_record(cell: Cell, error: BaseException | None) -> Record:
    why = f"{type(error).__name__}: {' '.join(str(error).split())}"
    return {**new_record(cell), "error": f"lost its worker {RETRIES + 1} times: {why}", "seconds": 0.0}
