"""The time to ask and tell one example at a time from Python, as a labelling service does."""

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks.figures import Figure, Progress, at_most
from benchmarks.problems import Problem
from benchmarks.simulation import learner_for
from coalface import CoalClassifier, simulate


def single_row_figures(problem: Problem, repeats: int, progress: Progress) -> Iterator[Figure]:
    """Microseconds to ask and tell one row after training; every row is different."""
    progress(f"{problem.name}: single rows")
    medians, means, asks = [], [], []
    for _ in range(repeats):
        learner = learner_for(problem, "coal")
        simulate(learner, problem.train.X, problem.train.cost)
        pairs = np.array(_steps(problem, learner)[20:])  # the first rows load compiled code
        medians.append(float(np.median(pairs.sum(axis=1))))
        means.append(float(pairs.sum(axis=1).mean()))
        asks.append(float(np.median(pairs[:, 0])))
    details = {"mean": float(np.median(means)), "of_which_ask": float(np.median(asks)), "rows": len(pairs)}
    yield Figure.of("ask + tell of one row", problem.name, medians, "microseconds", at_most(500.0), **details)


def _steps(problem: Problem, learner: CoalClassifier) -> list[tuple[float, float]]:
    spent = []
    for row in range(len(problem.test)):
        X = problem.test.X[row : row + 1]
        queries, ask = _clocked(lambda X=X: learner.ask(X))
        answers = np.where(queries.mask, problem.test.cost[row : row + 1], np.nan)
        _, tell = _clocked(lambda X=X, c=answers, q=queries: learner.tell(X, c, asked=q))
        spent.append((ask, tell))
    return spent


def _clocked(work: Callable[[], Any]) -> tuple[Any, float]:
    began = time.perf_counter_ns()
    result = work()
    return result, (time.perf_counter_ns() - began) / 1e3
