"""A run in which every cost is at hand and the learner sees only those it asks for."""

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
from coalface.studies.checkpoints import Checkpoints, Look
from coalface.studies.curve import Curve

Progress = Callable[[int, int], None]
_PIECE_SECONDS = 0.1  # how long the compiled loop runs before it looks up for Ctrl-C and progress


def simulate(
    learner: CostClassifier,
    X: Any,
    cost: Any,
    *,
    X_test: Any = None,
    cost_test: Any = None,
    order: Any = None,
    budgets: Any = "doubling",
    candidates: Any = None,
    classes: Any = None,
    price: Any = None,
    batch: int = 1,
    stop_saving: float | None = None,
    progress: Progress | None = None,
) -> Curve:
    """Run ask, answer and tell over the rows in one compiled loop; the learner learns, the curve comes back.

    Equal, bit for bit, to calling ``ask`` and ``tell`` row by row or, with ``batch``, for so many rows at a time: all
    are asked about, in as many trips as ``in_turn`` takes, before any is learned. ``price`` (n, K) is what asking for
    each cost takes; the curve then says what was ``spent``. ``stop_saving`` ends the run as soon as
    ``learner.should_stop(stop_saving)``: the curve says ``stopped``. ``progress(done, total)`` is called now and then.
    Ctrl-C ends the run early: the curve says ``interrupted``, the learner stands where it was.

    >>> from coalface import CoalClassifier
    >>> X, y = [[0.0, 1.0], [1.0, 0.0]] * 50, np.array([0, 1] * 50)
    >>> curve = simulate(CoalClassifier(), X, cost=1.0 - np.eye(2)[y])
    >>> int(curve.rounds[-1]), bool(curve.costs_queried[-1] < 200)
    (100, True)
    """
    trial = _Trial(learner, X, cost, X_test, cost_test, order, budgets, candidates, classes, price, batch, stop_saving)
    return trial.run(progress)


class _Trial:
    """A simulation that was checked and can run."""

    def __init__(
        self,
        learner: CostClassifier,
        X: Any,
        cost: Any,
        X_test: Any,
        cost_test: Any,
        order: Any,
        budgets: Any,
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
        self.checkpoints = Checkpoints(budgets, len(known), len(self.order), self._look)
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
        self.learner.end_run()
        return self.checkpoints.curve(
            time.perf_counter() - started,
            interrupted=interrupted,
            stopped=self.learner.has_stopped(self.run_) and self.run_.done < len(self.order),
            priced=self.price is not None,
        )

    def _play(self, progress: Progress | None) -> None:
        """Play piece by piece, stopping at every checkpoint."""
        piece = 64
        while True:
            budget = self.checkpoints.pass_by(self.learner.costs_queried_)
            if self.learner.is_over(self.run_):
                return
            began, done = time.perf_counter(), self.run_.done
            self.learner.play(self.run_, piece, budget)
            self._pay(done)
            if time.perf_counter() - began < _PIECE_SECONDS / 2:
                piece *= 2
            if progress is not None:
                progress(self.run_.done, len(self.order))

    def _pay(self, start: int) -> None:
        """Add the price of what was asked from position ``start`` on."""
        if self.price is not None:
            span = slice(start, self.run_.done)
            self.spent += float(self.price[self.order[span]][self.run_.asked(span)].sum(dtype=np.float64))

    def _look(self) -> Look:
        learner = self.learner
        test_cost = self.test.cost_of(learner) if self.test else float("nan")
        return Look(learner.costs_queried_, learner.examples_queried_, learner.round_ - 1, test_cost, self.spent)


class _TestSet:
    """Held-out examples with all their costs."""

    def __init__(self, rows: Rows, cost: NDArray[np.float32], scale: CostScale) -> None:
        self.rows, self.cost, self.scale = rows, cost, scale

    @classmethod
    def checked(cls, X: Any, cost: Any, classes: NDArray[Any], scale: CostScale, width: int) -> "_TestSet | None":
        if X is None and cost is None:
            return None
        if X is None or cost is None:
            raise InputError("X_test and cost_test belong together: pass both or none.")
        rows = check_rows(X, allow_empty=False)
        if rows.width < width:
            raise InputError(f"X_test must have at least the {width} features of X, got {rows.width}.")
        costs = check_cost(cost, len(rows), classes, scale)
        if np.isnan(costs).any():
            row = int(np.argmax(np.isnan(costs).any(axis=1)))
            raise InputError(f"cost_test must be known everywhere, row {row} has NaN; drop such rows.")
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
