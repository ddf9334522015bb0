"""Vowpal Wabbit on the same data and settings, in separate processes on the same core.

The time measured is that of its C++ driver on a cache, without start-up (measured on one example). Two threads share
the core, one reading and one learning; the seconds of the learning thread alone are reported as well.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.machine import Seconds, run_python
from benchmarks.problems import Problem
from coalface.data import write_dataset
from coalface.errors import InputError

_CONSTANT = 11_650_396  # VW's index of the intercept


def table_bits(n_features: int, n_labels: int) -> int:
    """The smallest -b at which neither features nor the intercept share weights."""
    if n_features > _CONSTANT:
        raise InputError(
            f"Vowpal Wabbit keeps at most {_CONSTANT:,} features apart from its intercept, got {n_features:,}. "
            "Measure with fewer features."
        )
    labels_bits = (n_labels - 1).bit_length()
    bits = (n_features - 1).bit_length()
    while _CONSTANT % 2**bits < n_features:
        bits += 1
    return bits + labels_bits


@dataclass(frozen=True)
class Files:
    """The files of a problem in VW text: training lines with and without costs, test lines, and single lines."""

    folder: Path
    train: Path
    unlabelled: Path
    test: Path
    one: Path
    one_unlabelled: Path

    @classmethod
    def write(cls, problem: Problem, folder: Path) -> "Files":
        names = ("train", "unlabelled", "test", "one", "one_unlabelled")
        files = cls(folder, *(folder / f"{name}.vw" for name in names))
        folder.mkdir(parents=True, exist_ok=True)
        write_dataset(problem.train, files.train)
        write_dataset(problem.train.subset(slice(1)), files.one)
        write_dataset(problem.test, folder / "labelled_test.vw")
        for source, target in [
            (files.train, files.unlabelled),
            (files.one, files.one_unlabelled),
            (folder / "labelled_test.vw", files.test),
        ]:
            lines = source.read_text().splitlines(keepends=True)
            target.write_text("".join(line[line.index("|") :] for line in lines))
        return files


@dataclass(frozen=True)
class Trained:
    """The result of the first, untimed run: the cache, the model, the costs asked for and the test cost."""

    args: list[str]
    cache: Path
    model: Path
    costs_asked: int
    test_cost: float


def train(problem: Problem, files: Files, rule: str) -> Trained:
    """Learn once, untimed, to make the cache and the model."""
    n_labels = problem.n_labels
    base = ["--cs_active", f"{n_labels}", "--simulation", "--mellowness", f"{problem.mellowness}"]
    reduction = base if rule == "coal" else ["--csoaa", f"{n_labels}"]
    bits = table_bits(problem.train.X.shape[1], n_labels)
    args = [*reduction, "--adax", "-l", f"{problem.learning_rate}", "-b", f"{bits}"]
    cache, model, predictions = (files.folder / f"{rule}.{ending}" for ending in ("cache", "model", "predictions"))
    summary = _command([*args, "-d", f"{files.train}", "-k", "--cache_file", f"{cache}", "-f", f"{model}"])
    _command(["-t", "-i", f"{model}", "-d", f"{files.test}", "-p", f"{predictions}", "--quiet"])
    asked = re.search(r"total queries = (\d+)", summary)
    chosen = _first_numbers(predictions) - 1
    test_cost = float(problem.test.cost[np.arange(len(chosen)), chosen].mean())
    return Trained(args, cache, model, int(asked[1]) if asked else problem.train.cost.size, test_cost)


class Driver:
    """VW's own loop over cached lines, without start-up; ``more`` are options that start-up does not need."""

    def __init__(self, args: list[str], lines: Path, cache: Path, one_line: Path, more: Sequence[str] = ()) -> None:
        self._request = {"args": [*args, *more, "--quiet", "-d", f"{lines}", "--cache_file", f"{cache}"]}
        self._start = _start_up([*args, "--quiet", "-d", f"{one_line}"])
        self.peak_bytes = 0

    @classmethod
    def learning(cls, files: Files, trained: Trained) -> "Driver":
        """A driver that learns the training lines."""
        return cls(trained.args, files.train, trained.cache, files.one)

    @classmethod
    def predicting(cls, files: Files, trained: Trained) -> "Driver":
        """A driver that predicts the training lines, without their costs, from the saved model."""
        args, cache = ["-t", "-i", f"{trained.model}"], files.folder / "unlabelled.cache"
        _command([*args, "--quiet", "-d", f"{files.unlabelled}", "-k", "--cache_file", f"{cache}"])
        return cls(args, files.unlabelled, cache, files.one_unlabelled)

    def seconds(self) -> Seconds:
        seconds, peak = _worker(self._request)
        self.peak_bytes = max(self.peak_bytes, peak)
        return seconds.less(self._start)


class Parsing:
    """VW reading the training lines without learning; only the seconds of its parsing thread count."""

    def __init__(self, problem: Problem, files: Files) -> None:
        args = ["--csoaa", f"{problem.n_labels}", "--noop", "--quiet", "-d"]
        self._args = [*args, f"{files.train}"]
        self._start = _start_up([*args, f"{files.one}"])

    def seconds(self) -> float:
        spent, _ = _worker({"args": self._args})
        spent = spent.less(self._start)
        return max(spent.cpu - spent.thread, 1e-6)


def _start_up(args: list[str]) -> Seconds:
    runs = [_worker({"args": args})[0] for _ in range(3)]
    return Seconds(*(median(getattr(run, clock) for run in runs) for clock in ("wall", "cpu", "thread")))


def _worker(request: dict[str, Any]) -> tuple[Seconds, int]:
    output = run_python(["-m", "benchmarks.vw_worker", json.dumps(request)]).stdout
    answer = json.loads(output.splitlines()[-1])
    peak = int(answer.pop("peak_bytes"))
    return Seconds(**answer), peak


def _command(args: list[str]) -> str:
    done = run_python(["-m", "vowpalwabbit", *args])
    return done.stdout + done.stderr


def _first_numbers(path: Path) -> NDArray[np.int64]:
    return np.array([int(re.match(r"\d+", line)[0]) for line in path.read_text().splitlines() if line])
