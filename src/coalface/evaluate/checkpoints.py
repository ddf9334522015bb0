"""Checkpoints: the numbers of queried costs at which a run's test cost is measured, and the curve they give."""

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from coalface.errors import InputError, shortened
from coalface.evaluate.curve import Curve
from coalface.learner.play import UNLIMITED

Checkpoints: TypeAlias = Literal["doubling", "quarter-doubling"] | Sequence[int] | NDArray[np.integer[Any]]
_STEPS_PER_DOUBLING = {"doubling": 1, "quarter-doubling": 4}


def checkpoint_costs(checkpoints: Checkpoints, n_labels: int, n_examples: int) -> NDArray[np.int64]:
    """Checkpoints in queried costs, increasing; the named ones run from 10 K to the number of all costs.

    >>> checkpoint_costs("doubling", n_labels=10, n_examples=100)
    array([ 100,  200,  400,  800, 1600, 3200])
    """
    if isinstance(checkpoints, str):
        if checkpoints not in _STEPS_PER_DOUBLING:
            names = ", ".join(map(repr, _STEPS_PER_DOUBLING))
            raise InputError(
                f"checkpoints must be one of {names} or an array of numbers of costs, got {checkpoints!r}."
            )
        steps = _STEPS_PER_DOUBLING[checkpoints]
        exponents = np.arange(_last_doubling(n_examples) * steps + 1) / steps
        return np.unique(np.ceil(10 * n_labels * 2**exponents).astype(np.int64))
    numbers = np.asarray(checkpoints)
    if numbers.ndim != 1 or numbers.dtype.kind not in "iu" or (numbers <= 0).any() or (np.diff(numbers) <= 0).any():
        raise InputError(
            f"checkpoints must be increasing positive integers (numbers of costs), got {shortened(checkpoints)}."
        )
    return numbers.astype(np.int64)


def _last_doubling(n_examples: int) -> int:
    """The least q with 10 * 2^(q-1) > n: where the common axis of all runs ends.

    >>> _last_doubling(1297)
    9
    """
    q = 1
    while 10 * 2 ** (q - 1) <= n_examples:
        q += 1
    return q


def doubling_costs(n_labels: int, n_examples: int) -> NDArray[np.int64]:
    """The axis that all runs share, in queried costs.

    >>> doubling_costs(n_labels=10, n_examples=30)
    array([100, 200, 400, 800])
    """
    return np.asarray(10 * n_labels * 2 ** np.arange(_last_doubling(n_examples) + 1))


class Checkpoint(NamedTuple):
    """The state of a run at one checkpoint."""

    costs_queried: int
    examples_queried: int
    rounds: int
    test_cost: float
    spent: float = 0.0
    truths_queried: int = 0


class CheckpointRecorder:
    """Measures a run over ``n_rounds`` examples with ``measure`` whenever it reaches a checkpoint.

    It also measures at the doublings of the axis that all runs share.

    >>> asked = 0
    >>> recorder = CheckpointRecorder([2, 4], 1, 5, lambda: Checkpoint(asked, asked, asked, 1.0 / (1 + asked)))
    >>> while asked < 5:
    ...     asked = min(asked + 1, recorder.record(asked))
    >>> recorder.curve(seconds=0.1).test_cost.round(2).tolist()
    [0.33, 0.2, 0.17]
    """

    def __init__(
        self, checkpoints: Checkpoints, n_labels: int, n_rounds: int, measure: Callable[[], Checkpoint]
    ) -> None:
        self._wanted, self._n_labels = checkpoints, n_labels
        self.end_at(n_rounds)
        self._measure = measure
        self._measured: list[Checkpoint] = []
        self._at_doublings: list[float] = []
        self._asked: list[float] = []  # at the same moments
        self._n_reached = 0

    def end_at(self, n_rounds: int) -> None:
        """Let the axis end after this many examples, if their number was not known before."""
        self.checkpoints = checkpoint_costs(self._wanted, self._n_labels, n_rounds)
        self._doublings = doubling_costs(self._n_labels, n_rounds)

    def record(self, costs_queried: float) -> int:
        """Measure if the run has reached a checkpoint since the last call; return the next one, in costs."""
        reached = int(np.searchsorted(self.checkpoints, costs_queried, side="right"))
        doubling = int(np.searchsorted(self._doublings, costs_queried, side="right"))
        if reached > self._n_reached or doubling > len(self._at_doublings):
            measured = self._measure()
            if reached > self._n_reached:
                self._measured.append(measured)
            self._asked += [costs_queried] * (doubling - len(self._asked))
            self._at_doublings += [measured.test_cost] * (doubling - len(self._at_doublings))
            self._n_reached = reached
        ahead = np.concatenate([self.checkpoints[reached : reached + 1], self._doublings[doubling : doubling + 1]])
        return int(ahead.min(initial=UNLIMITED))

    def curve(
        self,
        seconds: float,
        *,
        interrupted: bool = False,
        stopped: bool = False,
        priced: bool = False,
        price_of_truth: float | None = None,
    ) -> Curve:
        """The curve of the run, which ends here."""
        last = self._measure()
        n_missed = len(self._doublings) - len(self._at_doublings)
        asked = last.costs_queried + (price_of_truth or 0.0) * last.truths_queried
        at_end = bool(self._measured) and _progress(self._measured[-1]) == _progress(last)
        measured = self._measured if at_end else [*self._measured, last]
        costs, examples, rounds, test_cost, spent, truths = zip(*measured, strict=True)
        return Curve(
            checkpoints=self.checkpoints,
            costs_queried=np.array(costs, np.int64),
            examples_queried=np.array(examples, np.int64),
            rounds=np.array(rounds, np.int64),
            test_cost=np.array(test_cost, np.float64),
            at_doublings=np.array([*self._at_doublings, *[last.test_cost] * n_missed], np.float64),
            asked_at_doublings=np.array([*self._asked, *[asked] * n_missed], np.float64),
            seconds=seconds,
            interrupted=interrupted,
            stopped=stopped,
            spent=np.array(spent, np.float64) if priced else None,
            truths_queried=None if price_of_truth is None else np.array(truths, np.int64),
            price_of_truth=price_of_truth,
        )


def _progress(point: Checkpoint) -> tuple[int, ...]:
    return (point.costs_queried, point.examples_queried, point.rounds, point.truths_queried)
