"""How long a study will take, estimated from a few rows of each dataset."""

import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import mean
from typing import NamedTuple

from coalface.data.dataset import TrainTest
from coalface.evaluate.checkpoints import checkpoint_costs
from coalface.studies.cells import Cell, Record, cells_of, code_of, fingerprint_of
from coalface.studies.executors import executor_for
from coalface.studies.learners import as_rate
from coalface.studies.results import FILE, Results
from coalface.studies.study import TUNED, Line, Study

_ROWS = 500  # of each dataset, to time a short run


class Estimate(NamedTuple):
    """The cells of one line on one dataset: how many there are, how many are missing, and the seconds of one.

    The seconds are None for a baseline without a finished run.
    """

    data: str
    line: str
    cells: int
    missing: int
    seconds_each: float | None


class StudyEstimate(NamedTuple):
    """How long the missing cells of a study take on the workers of an executor.

    >>> every = [Estimate("digits", "coal", 4, 3, 2.0), Estimate("digits", "other", 4, 4, None)]
    >>> wanted = StudyEstimate(every, 2, "threads")
    >>> wanted.missing, wanted.seconds, wanted.not_estimated
    (7, 3.0, 4)
    """

    rows: list[Estimate]
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


def estimate_study(study: Study, folder: Path | None, executor: str, workers: int | None) -> StudyEstimate:
    """What is missing in the folder of a sweep, if there is one, and how long it takes.

    A GPU may be on another machine, so the estimate is for the processes of this one.
    """
    results = Results(folder) if folder is not None and (folder / FILE).is_file() else None
    chosen = executor_for("processes" if executor == "cuda" else executor, workers)
    chosen.close()
    return StudyEstimate(list(estimates(study, results)), chosen.n_workers, chosen.name)


def estimates(study: Study, results: Results | None = None) -> Iterator[Estimate]:
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
        yield Estimate(data, name, len(cells), missing, seconds)


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
