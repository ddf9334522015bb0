"""Ours, theirs, ours, theirs: a neighbour on the machine slows both, and their ratio stays."""

from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

from benchmarks.machine import Seconds


@dataclass(frozen=True)
class Pairs:
    """Repetitions in which both sides did the same work."""

    ours: list[Seconds]
    theirs: list[Seconds]
    ways: list[str]

    @property
    def ratios(self) -> list[float]:
        """How many times as fast we are: CPU seconds of their working thread over all of ours."""
        return [their.thread / our.cpu for our, their in zip(self.ours, self.theirs, strict=True)]

    def details(self, n_examples: int) -> dict[str, float | str]:
        """Examples a second on both sides, by either clock."""
        wall = [their.wall / our.wall for our, their in zip(self.ours, self.theirs, strict=True)]
        return {
            "examples": n_examples,
            "our_examples_per_second": n_examples / median(run.cpu for run in self.ours),
            "our_examples_per_wall_second": n_examples / median(run.wall for run in self.ours),
            "vw_examples_per_second": n_examples / median(run.thread for run in self.theirs),
            "vw_examples_per_second_of_all_threads": n_examples / median(run.cpu for run in self.theirs),
            "vw_examples_per_wall_second": n_examples / median(run.wall for run in self.theirs),
            "wall_ratio": median(wall),
            "vw_way": self.ways[-1],
        }


def interleave(ours: Callable[[], Seconds], theirs: Callable[[], tuple[Seconds, str]], repeats: int) -> Pairs:
    """Run both sides in turn."""
    our_runs, their_runs, ways = [], [], []
    for _ in range(repeats):
        our_runs.append(ours())
        seconds, way = theirs()
        their_runs.append(seconds)
        ways.append(way)
    return Pairs(our_runs, their_runs, ways)
