"""What a model does for a learner that serves labels: choose one per row, and learn the costs of those it served.

The same code serves every model. The online model and the committee override parts of it, for speed and to compare
members.
"""

from abc import ABC, abstractmethod
from threading import RLock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coalface.data.rows import Rows
from coalface.kernels import serving
from coalface.kernels.state import ROUND, Counted, RoundArrays, Scratch, Settings, new_rounds
from coalface.models.values import Costs, Ranged


class Served(NamedTuple):
    """The labels served on n rows, as columns, with the probability and the cost of each; costs are in [0, 1]."""

    labels: NDArray[np.int64]  # (n,)
    chances: NDArray[np.float64]  # (n,)
    costs: Costs  # (n,)


class ServedRun(NamedTuple):
    """The arrays of a simulated run of serving: the order of the rows, their candidates and costs, what was served."""

    order: NDArray[np.int64]
    given: RoundArrays  # candidates and costs of every row
    labels: NDArray[np.int64]  # by position
    chances: NDArray[np.float64]  # by position
    exploration: float


class ServingModel(ABC):
    """The part of ``CostModel`` that serves labels."""

    n_labels: int
    state: Counted
    lock: RLock
    scratch: Scratch

    @abstractmethod
    def ranges(self, rows: Rows, settings: Settings, first_round: int) -> Ranged:
        """Predictions and cost ranges."""

    @abstractmethod
    def learn(self, rows: Rows, costs: Costs, settings: Settings, first_round: int, weights: Costs = ...) -> None:
        """Learn the known costs, (n, K), NaN elsewhere."""

    @abstractmethod
    def resolved(self, settings: Settings) -> Settings:
        """The settings with the model's own rate of misses."""

    @abstractmethod
    def _with_slack(self, settings: Settings) -> Settings:
        """The settings with the slack that audits have led to."""

    @abstractmethod
    def _checked(self, method: str, name: str, costs: Any, shape: tuple[int, ...]) -> Costs:
        """Costs that a model gave; an InputError if they are not finite or have another shape."""

    def choose(
        self,
        rows: Rows,
        settings: Settings,
        candidates: NDArray[np.bool_] | None,
        exploration: float,
        first_round: int | None = None,
    ) -> tuple[NDArray[np.int64], RoundArrays]:
        """The label to serve on each row, -1 without a candidate, with chances and ranges; nothing is learned."""
        rounds, labels = new_rounds(len(rows), self.n_labels, candidates), np.empty(len(rows), np.int64)
        with self.lock:
            settings = self.resolved(settings)
            start = int(self.state.counters[ROUND]) if first_round is None else first_round
            found = self._ranges_to_serve(rows, settings, start)
            buffers = (rounds.predicted, rounds.lowest, rounds.highest)
            for name, costs, buffer in zip(found._fields, found, buffers, strict=True):
                buffer[:] = self._checked("ranges", name, costs, buffer.shape)
            serving.choose_rows(self.state, settings, self.scratch, start, rounds, exploration, labels)
        return labels, rounds

    def _ranges_to_serve(self, rows: Rows, settings: Settings, first_round: int) -> Ranged:
        return self.ranges(rows, self._with_slack(settings), first_round)

    def observe(self, rows: Rows, settings: Settings, candidates: NDArray[np.bool_], served: Served) -> None:
        """Learn the costs of the served labels and close a round per row; ``candidates`` may be empty.

        No cost is weighted by its probability. A label is drawn given the row, before its cost is known, so the mean
        cost of a label on a row is the same whether it was served or not; weights would only add variance.
        """
        costs = np.full((len(rows), self.n_labels), np.nan, np.float32)
        costs[np.arange(len(rows)), served.labels] = served.costs
        with self.lock:
            settings = self.resolved(settings)
            self.learn(rows, costs, settings, int(self.state.counters[ROUND]))
            serving.close_served_rows(self.state, len(rows))

    def serve(self, rows: Rows, settings: Settings, run: ServedRun, start: int, stop: int) -> int:
        """Choose a label and learn its cost at these positions of the order; returns the first one not done."""
        for position in range(start, stop):
            one = run.order[position : position + 1]
            row, candidates = rows.take(one), run.given.candidates[one] if len(run.given.candidates) else None
            labels, rounds = self.choose(row, settings, candidates, run.exploration)
            run.labels[position], run.chances[position] = labels[0], rounds.propensity[0, labels[0]]
            served = Served(labels, run.chances[position : position + 1].copy(), run.given.costs[one, labels])
            self.observe(row, settings, rounds.candidates, served)
        return stop
