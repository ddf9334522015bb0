"""``python -m benchmarks.generic_search [sentences]``: what ``SearchLearner`` itself costs, beside task and kernels.

Two tasks are learned: ``ParsingTask`` over the first sentences of English EWT, read from $COALFACE_DATA, and a small
task of a user's own, whose methods take next to no time. The methods of the task and the calls of compiled kernels are
timed in a run of their own; what is left of an untimed run is the learner's. All times are of the CPU.
"""

import argparse
import os
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, ClassVar

import numpy as np

from benchmarks.machine import timed, use_one_core
from coalface.data.formats.conllu import read_trees
from coalface.kernels import online
from coalface.models import round_arrays
from coalface.structured import ParsingTask, SearchLearner, SearchTask

METHODS = (
    "start",
    "finished",
    "allowed",
    "valid",
    "step",
    "features",
    "reference",
    "loss",
    "rollout",
    "reference_loss",
)
KERNELS = (
    (online, "ask_rows"),
    (online, "tell_rows"),
    (online, "predict_rows"),
    (round_arrays, "fill_outlooks"),
)
TRAIN = "ud_english_heads/ewt-train.conllu.gz"


class Spelling(SearchTask[tuple[str, str], tuple[str, str, str]]):
    """Write down what was heard, letter by letter; an example is (what was heard, the word)."""

    actions = tuple("abcdefghij")

    def start(self, example: tuple[str, str]) -> tuple[str, str, str]:
        return (*example, "")

    def finished(self, state: tuple[str, str, str]) -> bool:
        return len(state[2]) == len(state[0])

    def allowed(self, state: tuple[str, str, str]) -> tuple[str, ...]:  # noqa: ARG002
        return self.actions

    def step(self, state: tuple[str, str, str], action: Any) -> tuple[str, str, str]:
        heard, word, letters = state
        return heard, word, letters + action

    def features(self, state: tuple[str, str, str]) -> dict[str, float]:
        heard, _, letters = state
        return {f"heard {heard[len(letters)]}": 1.0, f"after {letters[-1:]}": 1.0}

    def reference(self, state: tuple[str, str, str]) -> str:
        return state[1][len(state[2])]

    def loss(self, state: tuple[str, str, str]) -> float:
        return float(sum(a != b for a, b in zip(state[1], state[2], strict=False)))


@dataclass(frozen=True)
class Cost:
    """CPU seconds of learning some examples, and where they went; ``peak`` is the most memory at once, in bytes."""

    name: str
    states: int
    rollouts: int
    seconds: float
    in_task: float
    in_kernels: float
    peak: int

    @property
    def between(self) -> float:
        """The share of the time that is neither the task's nor the kernels'."""
        return max(1.0 - (self.in_task + self.in_kernels) / self.seconds, 0.0)


class Stopwatch:
    """Adds up the time of calls, without the calls that other watches measure inside them."""

    running: ClassVar["list[Stopwatch]"] = []  # the innermost last
    last = 0

    def __init__(self) -> None:
        self.nanoseconds, self.calls = 0, 0

    def watched(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, timed."""
        running, clock = Stopwatch.running, time.thread_time_ns

        def call(*args: Any, **others: Any) -> Any:
            now = clock()
            if running:
                running[-1].nanoseconds += now - Stopwatch.last
            running.append(self)
            self.calls += 1
            Stopwatch.last = clock()
            try:
                return function(*args, **others)
            finally:
                now = clock()
                self.nanoseconds += now - Stopwatch.last
                running.pop()
                Stopwatch.last = now

        return call

    @property
    def seconds(self) -> float:
        """The time, without that of reading the clock."""
        return max(self.nanoseconds - self.calls * _clock_nanoseconds(), 0) / 1e9


def _clock_nanoseconds() -> float:
    """What an empty call takes under a watch."""
    watch = Stopwatch()
    empty = watch.watched(lambda: None)
    for _ in range(20_000):
        empty()
    return watch.nanoseconds / watch.calls


@contextmanager
def watching(task: SearchTask[Any, Any], of_task: Stopwatch, of_kernels: Stopwatch) -> Iterator[None]:
    """Time the methods that the task's class defines, and the kernels."""
    kind = type(task)
    names = [name for name in METHODS if getattr(kind, name) is not getattr(SearchTask, name)]
    before = [(place, name, getattr(place, name)) for place, name in KERNELS]
    for name in names:
        setattr(task, name, of_task.watched(getattr(task, name)))
    for place, name, kernel in before:
        setattr(place, name, of_kernels.watched(kernel))
    try:
        yield
    finally:
        for name in names:
            delattr(task, name)
        for place, name, kernel in before:
            setattr(place, name, kernel)


def measure(name: str, task: SearchTask[Any, Any], examples: list[Any], repeats: int = 3, **others: Any) -> Cost:
    """Learn the examples, alternately untimed and timed; medians of ``repeats``."""
    SearchLearner(task, **others).fit(examples[:12])  # compiles
    seconds, in_task, in_kernels = [], [], []
    for _ in range(repeats):
        spent, learner = timed(lambda: SearchLearner(task, **others).fit(examples))
        of_task, of_kernels = Stopwatch(), Stopwatch()
        with watching(task, of_task, of_kernels):
            SearchLearner(task, **others).fit(examples)
        seconds.append(spent.cpu)
        in_task.append(of_task.seconds)
        in_kernels.append(of_kernels.seconds)
    tracemalloc.start()
    SearchLearner(task, **others).fit(examples)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    counts = learner.policy_.round_ - 1, learner.rollouts_
    return Cost(name, *counts, median(seconds), median(in_task), median(in_kernels), peak)


def words(n: int, seed: int = 0) -> list[tuple[str, str]]:
    """Words of eight letters, one letter in ten of which was misheard."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(n):
        letters = rng.integers(0, 10, 8)
        heard = np.where(rng.random(8) < 0.1, rng.integers(0, 10, 8), letters)
        found.append(tuple("".join("abcdefghij"[k] for k in part) for part in (heard, letters)))
    return found


def show(costs: list[Cost]) -> None:
    """Print one line per task."""
    print("| task | states | roll-outs | us per state | us per roll-out | task | kernels | between | peak |")
    print("|---|---|---|---|---|---|---|---|---|")
    for one in costs:
        per_rollout = f"{1e6 * one.seconds / one.rollouts:.0f}" if one.rollouts else "-"
        shares = f"{one.in_task / one.seconds:.0%} | {one.in_kernels / one.seconds:.0%} | {one.between:.0%}"
        print(
            f"| {one.name} | {one.states:,} | {one.rollouts:,} | {1e6 * one.seconds / one.states:.0f} | {per_rollout} "
            f"| {shares} | {one.peak / 1e6:.0f} MB |"
        )


def main() -> None:
    """Measure both tasks."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sentences", nargs="?", type=int, default=300)
    args = parser.parse_args()
    use_one_core()
    trees = read_trees(Path(os.environ["COALFACE_DATA"], TRAIN))[: args.sentences]
    task = ParsingTask.of(trees)
    costs = [measure("parsing, roll_out='reference'", task, trees, roll_out="reference")]
    costs.append(measure("parsing, roll_out='none'", task, trees))
    costs.append(measure("spelling", Spelling(), words(1_000)))
    costs.append(measure("spelling, at_once=16", Spelling(), words(1_000), at_once=16))
    show(costs)


if __name__ == "__main__":
    main()
