"""Run a sweep: every cell of a study that is not finished yet, each once; and estimate how long it will take."""

import logging
import os
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

from threadpoolctl import threadpool_limits

from coalface.data import TrainTest
from coalface.errors import CollapseWarning, counted
from coalface.evaluate import checkpoint_costs
from coalface.files import exclusive, interrupts_put_off
from coalface.report import package_versions
from coalface.studies.cells import Cell, Record, cells_of, code_of, fingerprint_of, new_record
from coalface.studies.executors import SweepExecutor, executor_for
from coalface.studies.findings import DataFacts
from coalface.studies.learners import TUNED, as_rate
from coalface.studies.results import FILE, Results, Session
from coalface.studies.study import Line, Study
from coalface.studies.tasks import RETRIES, run_tasks

_TASKS_PER_WORKER = 3  # waiting or running
Progress = Callable[[int, int, int], None]
_ROWS = 500  # of each dataset, to time a short run


@dataclass(frozen=True)
class SweepOutcome:
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


def run_sweep(
    study: Study,
    folder: str | os.PathLike[str],
    executor: str | Executor = "threads",
    workers: int | None = None,
    progress: Progress | None = None,
) -> SweepOutcome:
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
        with executor_for(executor, workers) as workforce:
            place.mkdir(parents=True, exist_ok=True)
            with exclusive(place / FILE, patience=0.0):
                return _Sweep(study, place, workforce).run(progress)


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

    def run(self, progress: Progress | None) -> SweepOutcome:
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
        return SweepOutcome(len(self.cells), before, done - failed, failed, seconds, interrupted)

    def _records(self) -> Iterator[list[Record]]:
        """The records of all missing cells, as they finish; cancels what is left at the end."""
        at_once = _TASKS_PER_WORKER * self.executor.n_workers
        for together in run_tasks(lambda cell: self.executor.submit(self.shared[cell.data], cell), self.todo, at_once):
            yield [
                _lost_record(ended.item, ended.error) if ended.result is None else ended.result for ended in together
            ]


def _lost_record(cell: Cell, error: BaseException | None) -> Record:
    why = f"{type(error).__name__}: {' '.join(str(error).split())}"
    return {**new_record(cell), "error": f"lost its worker {RETRIES + 1} times: {why}", "seconds": 0.0}


class _LineEstimate(NamedTuple):
    """The cells of one line on one dataset: how many there are, how many are missing, and the seconds of one.

    The seconds are None for a baseline without a finished run.
    """

    data: str
    line: str
    cells: int
    missing: int
    seconds_each: float | None


class _StudyEstimate(NamedTuple):
    """How long the missing cells of a study take on the workers of an executor.

    >>> every = [_LineEstimate("digits", "coal", 4, 3, 2.0), _LineEstimate("digits", "other", 4, 4, None)]
    >>> wanted = _StudyEstimate(every, 2, "threads")
    >>> wanted.missing, wanted.seconds, wanted.not_estimated
    (7, 3.0, 4)
    """

    rows: list[_LineEstimate]
    workers: int
    kind: str  # of the workers, such as "threads"

    @property
    def missing(self) -> int:
        """The cells that are not finished."""
        return sum(row.missing for row in self.rows)

    @property
    def seconds(self) -> float:
        """The seconds of the missing cells whose speed is known."""
        return sum(row.missing * (row.seconds_each or 0.0) for row in self.rows) / self.workers

    @property
    def not_estimated(self) -> int:
        """The missing cells whose speed is not known."""
        return sum(row.missing for row in self.rows if row.seconds_each is None)


def estimate_study(study: Study, folder: Path | None, executor: str, workers: int | None) -> _StudyEstimate:
    """What is missing in the folder of a sweep, if there is one, and how long it takes.

    A GPU may be on another machine, so the estimate is for the processes of this one.
    """
    results = Results(folder) if folder is not None and (folder / FILE).is_file() else None
    chosen = executor_for("processes" if executor == "cuda" else executor, workers)
    chosen.close()
    return _StudyEstimate(list(_estimates(study, results)), chosen.n_workers, chosen.name)


def _estimates(study: Study, results: Results | None = None) -> Iterator[_LineEstimate]:
    """An estimate per dataset and line: from finished runs if there are any, otherwise from a short trial."""
    problems = {source.name: source.load() for source in study.sources}
    fingerprints = {name: fingerprint_of(problem) for name, problem in problems.items()}
    finished = results.finished if results else {}
    groups: dict[tuple[str, str], list[Cell]] = {}
    for cell in cells_of(study, fingerprints, code_of(study)):
        groups.setdefault((cell.data, cell.line), []).append(cell)
    lines = {line.name: line for line in study.lines}
    for (data, name), cells in groups.items():
        seconds = _seconds_of_finished(cells, finished)
        if seconds is None and lines[name].learner.is_linear:
            seconds = _trial(problems[data], lines[name], study)
        missing = sum(cell.key not in finished for cell in cells)
        yield _LineEstimate(data, name, len(cells), missing, seconds)


def _seconds_of_finished(cells: list[Cell], finished: Mapping[str, Record]) -> float | None:
    seconds = [finished[cell.key]["seconds"] for cell in cells if cell.key in finished]
    return mean(seconds) if seconds else None


def _trial(problem: TrainTest, line: Line, study: Study) -> float:
    """The estimated seconds of a whole run: time to learn the rows plus time to predict at the checkpoints."""
    train, test = problem
    n_rows = min(_ROWS, len(train))
    few, settings = train.subset(slice(n_rows)), dict(line.settings)
    if TUNED in line.learner.parameters:
        settings[TUNED] = as_rate(line.rates[0])
    for _ in range(2):  # the first may compile
        began = time.perf_counter()
        line.learner.run(settings, TrainTest(few, test.subset(slice(1))), 0, "doubling")
    seconds_per_row = (time.perf_counter() - began) / n_rows
    began = time.perf_counter()
    line.learner.run(settings, TrainTest(few, test), 0, [n_rows * len(train.classes)])
    n_trial = len(checkpoint_costs("doubling", len(train.classes), n_rows)) + 1
    seconds_per_checkpoint = max(time.perf_counter() - began - seconds_per_row * n_rows, 0.0) / n_trial
    n_checkpoints = len(checkpoint_costs(study.checkpoints, len(train.classes), len(train)))
    return seconds_per_row * len(train) + seconds_per_checkpoint * n_checkpoints
