"""Simulation: a run with known costs, of which the learner sees only those it asks for."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.data.costs import CostScale, check_cost, check_mask
from coalface.data.dataset_fields import checked_prices
from coalface.data.numbers import whole_number
from coalface.data.rows import Rows, check_rows
from coalface.errors import InputError
from coalface.kernels.state import NO_ROUNDS
from coalface.learner.estimator import CostClassifier
from coalface.studies.checkpoints import Checkpoint, CheckpointRecorder
from coalface.studies.curve import Curve

Progress = Callable[[int, int], None]
_PIECE_SECONDS = 0.1  # how long the compiled loop runs before it checks for Ctrl-C and reports progress


def simulate(
    learner: CostClassifier,
    X: Any,
    cost: Any,
    *,
    X_test: Any = None,
    cost_test: Any = None,
    order: Any = None,
    checkpoints: Any = "doubling",
    candidates: Any = None,
    classes: Any = None,
    price: Any = None,
    batch: int = 1,
    stop_saving: float | None = None,
    progress: Progress | None = None,
) -> Curve:
    """Run ask, answer and tell over the rows in one compiled loop, and return the curve; the learner learns.

    The result equals, bit for bit, calling ``ask`` and ``tell`` row by row. With ``batch``, it equals doing so for that
    many rows at a time: the learner asks about all of them, in as many trips as ``in_turn`` takes, before it learns.
    ``checkpoints`` are the numbers of queried costs at which the test cost is measured: "doubling",
    "quarter-doubling" or an array. ``price`` (n, K) is the price of asking for each cost; the curve then has ``spent``.
    ``stop_saving`` ends the run as soon as ``learner.should_stop(stop_saving)``; the curve is then ``stopped``. The run
    calls ``progress(done, total)`` from time to time. Ctrl-C ends the run early: the curve is ``interrupted``, and the
    learner keeps what it learned.

    >>> from coalface import CoalClassifier
    >>> X, y = [[0.0, 1.0], [1.0, 0.0]] * 50, np.array([0, 1] * 50)
    >>> curve = simulate(CoalClassifier(), X, cost=1.0 - np.eye(2)[y])
    >>> int(curve.rounds[-1]), bool(curve.costs_queried[-1] < 200)
    (100, True)
    """
    return _Simulation(
        learner, X, cost, X_test, cost_test, order, checkpoints, candidates, classes, price, batch, stop_saving
    ).run(progress)


class _Simulation:
    """A simulation whose input was checked."""

    def __init__(
        self,
        learner: CostClassifier,
        X: Any,
        cost: Any,
        X_test: Any,
        cost_test: Any,
        order: Any,
        checkpoints: Any,
        candidates: Any,
        classes: Any,
        price: Any,
        batch: Any,
        stop_saving: Any,
    ) -> None:
        rows = check_rows(X, allow_empty=False)
        known = learner.resolve_classes(classes, cost)
        scale = CostScale.of(learner.cost_bounds)
        self.costs = check_cost(cost, len(rows), known, scale)
        given = NO_ROUNDS._replace(costs=self.costs)
        if candidates is not None:
            given = given._replace(candidates=check_mask(candidates, (len(rows), len(known)), "candidates"))
        self.order = _checked_order(order, len(rows))
        at_a_time = whole_number("batch", batch, least=1)
        self.price = None if price is None else checked_prices(price, (len(rows), len(known)))
        self.spent = 0.0
        self.test = _TestSet.checked(X_test, cost_test, known, scale, rows.width)
        self.checkpoints = CheckpointRecorder(checkpoints, len(known), len(self.order), self._measure)
        self.learner = learner
        self.run_ = learner.start_run(
            X,
            rows,
            known,
            cost,
            given,
            self.order,
            record=self.price is not None,
            batch=at_a_time,
            stop_saving=stop_saving,
        )

    def run(self, progress: Progress | None) -> Curve:
        started, interrupted = time.perf_counter(), False
        try:
            self._play(progress)
        except KeyboardInterrupt:
            interrupted = True
        self.learner.warn_if_collapsed()
        return self.checkpoints.curve(
            time.perf_counter() - started,
            interrupted=interrupted,
            stopped=self.learner.has_stopped(self.run_) and self.run_.done < len(self.order),
            priced=self.price is not None,
        )

    def _play(self, progress: Progress | None) -> None:
        """Run piece by piece, stopping at every checkpoint."""
        piece = 64
        while True:
            next_checkpoint = self.checkpoints.record(self.learner.costs_queried_)
            if self.run_.done == len(self.run_) or self.learner.has_stopped(self.run_):
                return
            began, done = time.perf_counter(), self.run_.done
            self.learner.play(self.run_, piece, next_checkpoint)
            self._pay(done)
            if time.perf_counter() - began < _PIECE_SECONDS / 2:
                piece *= 2
            if progress is not None:
                progress(self.run_.done, len(self.order))

    def _pay(self, start: int) -> None:
        """Add the price of the questions since position ``start``."""
        if self.price is not None:
            span = slice(start, self.run_.done)
            self.spent += float(self.price[self.order[span]][self.run_.asked(span)].sum(dtype=np.float64))

    def _measure(self) -> Checkpoint:
        learner = self.learner
        test_cost = self.test.cost_of(learner) if self.test else float("nan")
        return Checkpoint(learner.costs_queried_, learner.examples_queried_, learner.round_ - 1, test_cost, self.spent)


class _TestSet:
    """Held-out examples with all their costs."""

    def __init__(self, rows: Rows, cost: NDArray[np.float32], scale: CostScale) -> None:
        self.rows, self.cost, self.scale = rows, cost, scale

    @classmethod
    def checked(cls, X: Any, cost: Any, classes: NDArray[Any], scale: CostScale, width: int) -> "_TestSet | None":
        if X is None and cost is None:
            return None
        if X is None or cost is None:
            raise InputError("X_test and cost_test belong together. Pass both or neither.")
        rows = check_rows(X, allow_empty=False)
        if rows.width < width:
            raise InputError(f"X_test must have at least the {width} features of X, got {rows.width}.")
        costs = check_cost(cost, len(rows), classes, scale)
        if np.isnan(costs).any():
            row = int(np.argmax(np.isnan(costs).any(axis=1)))
            raise InputError(f"cost_test must have no NaN, got NaN in row {row}. Drop such rows.")
        return cls(rows, costs, scale)

    def cost_of(self, learner: CostClassifier) -> float:
        """The mean cost of the learner's predictions."""
        return float(self.scale.from_unit(learner.costs_of_answers(self.rows, self.cost).mean()))


def _checked_order(order: Any, n_rows: int) -> NDArray[np.int64]:
    if order is None:
        return np.arange(n_rows)
    numbers = np.asarray(order)
    if (
        numbers.ndim != 1
        or numbers.dtype.kind not in "iu"
        or (len(numbers) and (numbers.min() < 0 or numbers.max() >= n_rows))
    ):
        raise InputError(f"order must be a one-dimensional array of row numbers below {n_rows}, got {order!r}.")
    return numbers.astype(np.int64)
