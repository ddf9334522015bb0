"""Alternating runs of coalface and Vowpal Wabbit: other load slows both, so that the ratio stays the same."""

from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

from benchmarks.machine import Seconds


@dataclass(frozen=True)
class Pairs:
    """Repetitions in which both sides did the same work."""

    ours: list[Seconds]
    theirs: list[Seconds]

    @property
    def ratios(self) -> list[float]:
        """How many times as fast coalface is on one core: CPU seconds of VW divided by those of coalface."""
        return [their.cpu / our.cpu for our, their in zip(self.ours, self.theirs, strict=True)]

    def details(self, n_examples: int) -> dict[str, float | str]:
        """Examples per second on both sides, and the ratio if reading the cache took VW no time."""
        learning_alone = [their.thread / our.cpu for our, their in zip(self.ours, self.theirs, strict=True)]
        return {
            "examples": n_examples,
            "our_examples_per_second": n_examples / median(run.cpu for run in self.ours),
            "vw_examples_per_second": n_examples / median(run.cpu for run in self.theirs),
            "vw_examples_per_second_of_learning_thread": n_examples / median(run.thread for run in self.theirs),
            "ratio_to_learning_thread": median(learning_alone),
            "wall_ratio": median(their.wall / our.wall for our, their in zip(self.ours, self.theirs, strict=True)),
        }


def interleave(ours: Callable[[], Seconds], theirs: Callable[[], Seconds], repeats: int) -> Pairs:
    """Run the two sides alternately."""
    our_runs, their_runs = [], []
    for _ in range(repeats):
        our_runs.append(ours())
        their_runs.append(theirs())
    return Pairs(our_runs, their_runs)
