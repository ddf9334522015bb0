"""The runner: every cell of a study that is not finished yet, and nothing twice."""

import os
import time
import warnings
from collections import Counter, deque
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, wait
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from coalface.errors import CollapseWarning
from coalface.files.interrupts import interrupts_put_off
from coalface.files.locks import exclusive
from coalface.studies.cells import Cell, Record, Stopped, cells_of, code_of, fingerprint_of
from coalface.studies.executors import Crew, crew_for
from coalface.studies.findings import DataFacts
from coalface.studies.report.html_page import versions
from coalface.studies.results import FILE, Results, Session
from coalface.studies.study import Study

_TRIES = 2  # how often a cell that lost its worker is tried again
_AHEAD = 3  # tasks per worker that wait or run
_LOOK = 0.2  # seconds between two looks at Ctrl-C while cells run


@dataclass(frozen=True)
class Outcome:
    """How a sweep ended: cells that were finished before, that ran now, and that failed."""

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
    r"""Run what is missing and keep each result as soon as it is there; ``progress(done, total, failed)``.

    A cell that fails is recorded and the others go on. Ctrl-C keeps all finished cells; the outcome says
    ``interrupted``, and the same call goes on from there.

    >>> from tempfile import TemporaryDirectory
    >>> study = Study.from_toml('data = ["digits"]\npermutations = 1\n[lines.coal]\nmellowness = [0.1, 0.01]')
    >>> with TemporaryDirectory() as folder:
    ...     first, second = (run_sweep(study, folder) for _ in range(2))
    >>> first.finished, second.finished_before
    (2, 2)
    """
    place = Path(folder)
    crew = crew_for(executor, workers)
    try:
        place.mkdir(parents=True, exist_ok=True)
        with exclusive(place / FILE, patience=0.0), warnings.catch_warnings(), threadpool_limits(limits=1):
            warnings.simplefilter("ignore", CollapseWarning)  # the curves show it
            return _Sweep(study, place, crew).run(progress)
    except BaseException:
        crew.stop()
        raise
    finally:
        crew.close()


class _Sweep:
    def __init__(self, study: Study, folder: Path, crew: Crew) -> None:
        self.crew = crew
        self.shared: dict[str, Any] = {}
        facts = tuple(self._share(study, folder))
        code = code_of(study)
        found = cells_of(study, {data.name: data.fingerprint for data in facts}, code)
        self.cells = list({cell.key: cell for cell in found}.values())  # two names may stand for one run
        self.results = Results.begin(folder)
        self.todo = [cell for cell in self.cells if cell.key not in self.results.finished]
        self.session = Session(
            started=datetime.now(UTC).isoformat(timespec="seconds"),
            executor=crew.name,
            workers=crew.n_workers,
            name=study.name,
            toml=study.toml,
            code=code,
            data=facts,
            versions=versions(),
        )
        self.lost: Counter[str] = Counter()

    def _share(self, study: Study, folder: Path) -> Iterator[DataFacts]:
        for source in study.sources:
            problem = source.load()
            self.shared[source.name] = self.crew.share(problem, folder / "data")
            yield DataFacts.of(source.name, problem.train, problem.test, fingerprint_of(problem))

    def run(self, progress: Progress | None) -> Outcome:
        began, before = time.perf_counter(), len(self.cells) - len(self.todo)
        done = failed = 0
        interrupted = False
        new = bool(self.todo) or self.results.last is None or not self.session.same_cells(self.results.last)
        if new:
            with interrupts_put_off():
                self.results.start(self.session)
        try:
            for record in self._records():
                with interrupts_put_off():  # a half-written record would have to be dropped
                    self.results.add([record])
                    done += 1
                    failed += "error" in record
                if progress is not None:
                    progress(before + done, len(self.cells), failed)
        except KeyboardInterrupt:
            interrupted = True
            self.crew.stop()
        seconds = time.perf_counter() - began
        if new:
            with interrupts_put_off():
                self.results.end(seconds, done - failed)
        return Outcome(len(self.cells), before, done - failed, failed, seconds, interrupted)

    def _records(self) -> Iterator[Record]:
        """The records of all cells to be run, in the order in which they end; what is left waiting is cancelled."""
        running: dict[Future[Record], Cell] = {}
        try:
            yield from self._ending(running)
        finally:
            for future in running:
                future.cancel()

    def _ending(self, running: dict[Future[Record], Cell]) -> Iterator[Record]:
        """A cell whose worker died is tried again at the end, alone: if it kills its worker, it harms no other."""
        waiting, alone = deque(self.todo), deque[Cell]()
        while waiting or alone or running:
            while waiting and len(running) < _AHEAD * self.crew.n_workers:
                self._submit(waiting.popleft(), running)
            if alone and not running:
                self._submit(alone.popleft(), running)
            ended, _ = wait(running, timeout=_LOOK, return_when=FIRST_COMPLETED)
            for future in ended:
                cell = running.pop(future)
                problem = _problem_of(future)
                if problem is None:
                    yield future.result()
                elif self.lost[cell.key] < _TRIES:
                    self.lost[cell.key] += 1
                    alone.append(cell)
                else:
                    yield _given_up(cell, problem)

    def _submit(self, cell: Cell, running: dict[Future[Record], Cell]) -> None:
        running[self.crew.submit(self.shared[cell.data], cell)] = cell


def _problem_of(future: Future[Record]) -> BaseException | None:
    """Why a task has no record; ``KeyboardInterrupt`` if that is what stopped it."""
    if future.cancelled():
        return CancelledError("the task was cancelled")
    problem = future.exception()
    if isinstance(problem, Stopped | KeyboardInterrupt):
        raise KeyboardInterrupt
    return problem


def _given_up(cell: Cell, problem: BaseException) -> Record:
    why = f"{type(problem).__name__}: {' '.join(str(problem).split())}"
    return {
        "key": cell.key,
        "data": cell.data,
        "line": cell.line,
        "settings": dict(cell.settings),
        "permutation": cell.permutation,
        "error": f"lost its worker {_TRIES + 1} times: {why}",
        "seconds": 0.0,
    }
