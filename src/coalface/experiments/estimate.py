"""How long a study will take, from a few rows of each dataset."""

import time
from collections.abc import Iterator
from statistics import mean
from typing import NamedTuple

import numpy as np

from coalface.data.dataset import TrainTest
from coalface.evaluation.budgets import budgets_for
from coalface.experiments import learners
from coalface.experiments.results import Results
from coalface.experiments.study import Line, Study

_ROWS = 500  # of each dataset that are learned to see how long it takes


class Estimate(NamedTuple):
    """The cells of one line on one dataset, and the seconds of one of them; None for learners that are not ours."""

    data: str
    line: str
    cells: int
    seconds_each: float | None


def estimates(study: Study, results: Results | None = None) -> Iterator[Estimate]:
    """An estimate per dataset and line: from finished runs where there are any, else from a short trial."""
    for source in study.sources:
        problem: TrainTest | None = None
        for line in study.lines:
            seconds = _seen(source.name, line.name, results)
            if seconds is None and line.learner == learners.OURS:
                problem = problem or source.load()
                seconds = _trial(problem, line, study)
            yield Estimate(source.name, line.name, len(line.rates) * len(study.permutations), seconds)


def _seen(data: str, line: str, results: Results | None) -> float | None:
    records = results.finished.values() if results else ()
    seconds = [record["seconds"] for record in records if (record["data"], record["line"]) == (data, line)]
    return mean(seconds) if seconds else None


def _trial(problem: TrainTest, line: Line, study: Study) -> float:
    """The seconds of a whole run: so many rows learned, so many times all test rows predicted."""
    train, test = problem
    n_rows = min(_ROWS, len(train))
    few, settings = train.subset(slice(n_rows)), {**line.settings, "learning_rate": float(line.rates[0])}
    begun = []
    for rows in (min(20, n_rows), n_rows, n_rows):  # the first may compile
        begun.append(time.perf_counter())
        learners.run(line.learner, settings, TrainTest(few, test.subset(slice(1))), np.arange(rows), "doubling", 0)
    learning = (time.perf_counter() - begun[-1]) / n_rows
    begun.append(time.perf_counter())
    learners.run(line.learner, settings, TrainTest(few, test), np.arange(n_rows), [n_rows * len(train.classes)], 0)
    looks = len(budgets_for("doubling", len(train.classes), n_rows)) + 1
    looking = max(time.perf_counter() - begun[-1] - learning * n_rows, 0.0) / looks
    checkpoints = len(budgets_for(study.budgets, len(train.classes), len(train)))
    return learning * len(train) + looking * checkpoints
