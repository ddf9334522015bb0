"""Simulation: a run with known costs, of which the learner sees only those it asks for."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from coalface.data.alignment import align_features
from coalface.data.costs import CostScale, check_asking_price, check_cost
from coalface.data.dataset import CostDataset
from coalface.data.encoding.choice import encoded_rows
from coalface.data.encoding.encoder import Encoder
from coalface.data.frames import by_label, by_row, column_names, in_order
from coalface.data.numbers import whole_number
from coalface.data.rows import Rows, check_rows
from coalface.errors import InputError, shortened
from coalface.evaluate.checkpoints import Checkpoint, CheckpointRecorder, Checkpoints
from coalface.evaluate.curve import Curve
from coalface.kernels.state import NO_ROUNDS
from coalface.learner.estimator import CoalClassifier
from coalface.learner.intake import known_parts as parts_of
from coalface.learner.intake import read_examples, visiting_order
from coalface.learner.monitor import warn_if_collapsed
from coalface.learner.play import SimulatedRun, has_stopped, play, start_run
from coalface.learner.predicting import costs_of_answers
from coalface.learner.state import resolve_classes
from coalface.learner.widening import scale_with

Progress = Callable[[int, int], None]
Order: TypeAlias = Sequence[int] | NDArray[np.integer[Any]]  # numbers of rows
_MANY = 2**40  # rows of a stream whose length is unknown
_PIECE_SECONDS = 0.1  # how long the compiled loop runs before it checks for Ctrl-C and reports progress


def simulate(
    learner: CoalClassifier,
    X: Any,
    cost: Any,
    *,
    X_test: Any = None,
    cost_test: Any = None,
    order: Order | None = None,
    checkpoints: Checkpoints = "doubling",
    candidates: Any = None,
    classes: Iterable[Any] | None = None,
    price: Any = None,
    offset: Any = None,
    asking_price: Any = None,
    batch: int = 1,
    stop_saving: float | None = None,
    progress: Progress | None = None,
) -> Curve:
    """Run ask, answer and tell over the rows in one compiled loop, and return the curve; the learner learns.

    The rows come in a random order, or as ``order`` has their numbers, or as given if the learner does not ``shuffle``.
    The result equals, bit for bit, calling ``ask`` and ``tell`` row by row. With ``batch``, it equals doing so for that
    many rows at a time: the learner asks about all of them, in as many trips as ``in_turn`` takes, before it learns.
    ``checkpoints`` are the numbers of queried costs at which the test cost is measured: "doubling",
    "quarter-doubling" or an array. ``price`` (n, K) is the price of asking for each cost; the curve then has ``spent``.
    A budget of the learner without ``over`` ends the run at the first question that does not fit.
    ``stop_saving`` ends the run as soon as ``learner.should_stop(stop_saving)``; the curve is then ``stopped``. The run
    calls ``progress(done, total)`` from time to time. Ctrl-C ends the run early: the curve is ``interrupted``, and the
    learner keeps what it learned.

    ``offset`` and ``asking_price`` are as in ``ask``; the test cost would leave out known parts, so it is not measured
    with an offset.

    A learner with ``price_of_truth`` asks for true labels too, so ``cost`` must have rows of its ``cost_matrix``. At
    checkpoints, a true label counts as its price.

    >>> from coalface import CoalClassifier
    >>> X, y = [[0.0, 1.0], [1.0, 0.0]] * 50, np.array([0, 1] * 50)
    >>> curve = simulate(CoalClassifier(), X, cost=1.0 - np.eye(2)[y])
    >>> int(curve.rounds[-1]), bool(curve.costs_queried[-1] < 200)
    (100, True)
    """
    simulation = _Simulation(learner, checkpoints, classes, batch, stop_saving, progress)
    known_parts = {"offset": offset, "asking_price": asking_price}
    return simulation.of_rows(_Data(X, cost, X_test, cost_test, order, candidates, price, known_parts))


def simulate_blocks(
    learner: CoalClassifier,
    blocks: Iterable[CostDataset],
    *,
    test: CostDataset | None = None,
    checkpoints: Checkpoints = "doubling",
    batch: int = 1,
    stop_saving: float | None = None,
    progress: Progress | None = None,
) -> Curve:
    """Like ``simulate``, in one pass over a stream of blocks, whose rows keep their order; see ``read_blocks``.

    All blocks but the last must have whole batches. The features of ``test`` are found by their names, and are 0 where
    it lacks them. ``progress`` gets the rows done, and the rows read.

    >>> from coalface import CoalClassifier
    >>> block = CostDataset([[0.0, 1.0], [1.0, 0.0]] * 25, [[0.0, 1.0], [1.0, 0.0]] * 25)
    >>> int(simulate_blocks(CoalClassifier(), [block, block]).rounds[-1])
    100
    """
    return _Simulation(learner, checkpoints, None, batch, stop_saving, progress).of_blocks(blocks, test)


class _Data(NamedTuple):
    """The arguments of ``simulate`` that have to do with rows, as the caller passed them."""

    X: Any
    cost: Any
    X_test: Any
    cost_test: Any
    order: Order | None
    candidates: Any
    price: Any
    known_parts: Mapping[str, Any] = MappingProxyType({})


class _Simulation:
    """A simulation of one run, over one or more blocks of rows."""

    run_: SimulatedRun
    price: NDArray[np.float32] | None

    def __init__(
        self,
        learner: CoalClassifier,
        checkpoints: Checkpoints,
        classes: Iterable[Any] | None,
        batch: int,
        stop_saving: float | None,
        progress: Progress | None,
    ) -> None:
        self.learner, self.classes, self.stop_saving, self.progress = learner, classes, stop_saving, progress
        self.batch = whole_number("batch", batch, least=1)
        self.wanted = checkpoints
        self.checkpoints: CheckpointRecorder | None = None
        self.test: _TestSet | None = None
        self.spent, self.rows_before = 0.0, 0

    def of_rows(self, data: _Data) -> Curve:
        """The curve of a run over these rows."""
        if data.known_parts["offset"] is not None and data.X_test is not None:
            raise InputError("X_test is not measured with an offset. Leave it out, and predict with an offset later.")
        self._start(data)
        started, interrupted = time.perf_counter(), self._play_to_end()
        return self._curve(started, len(self.run_), interrupted=interrupted)

    def of_blocks(self, blocks: Iterable[CostDataset], test: CostDataset | None) -> Curve:
        """The curve of a run over blocks of rows."""
        started, interrupted = time.perf_counter(), False
        for block in blocks:
            if test is not None:
                test = align_features(test, block.feature_names, block.X.shape[1], sparse=True)
            X_test, cost_test = (None, None) if test is None else (test.X, test.cost)
            order = np.arange(len(block.cost))
            data = _Data(block.X, block.cost, X_test, cost_test, order, block.candidates, block.price)
            self._start(data, n_rounds=_MANY)
            interrupted = self._play_to_end()
            self.rows_before += self.run_.done
            if interrupted or self._has_ended():
                break
        if self.checkpoints is None:
            raise InputError("blocks must have at least one example, got none. Check the data.")
        self.checkpoints.end_at(self.rows_before)
        return self._curve(started, _MANY, interrupted=interrupted)

    def _start(self, data: _Data, n_rounds: int | None = None) -> None:
        """Check the rows and start to play them."""
        learner, (X, cost, X_test, cost_test, order, candidates, price, known_parts) = self.learner, data
        early = None if candidates is None else resolve_classes(learner, self.classes, cost)  # a mask needs the labels
        examples = read_examples(learner, X, candidates, early, allow_empty=False)
        X, rows, encoder = examples.X, examples.rows, examples.encoder
        known = resolve_classes(learner, self.classes, cost)
        cost = by_label(by_row(cost, X, "cost"), known, "cost")
        scale = scale_with(learner, cost, len(rows), known, examples.candidates)
        costs = check_cost(cost, len(rows), known, scale)
        given = NO_ROUNDS._replace(costs=costs)
        given = given._replace(**parts_of(learner, examples, known, **known_parts, scale=scale)._asdict())
        self.order = visiting_order(learner, len(rows)) if order is None else checked_order(order, len(rows))
        self.price = None
        if price is not None:
            self.price = check_asking_price(by_row(price, X, "price"), len(rows), known, "price")
        if self.price is not None and learner.price_of_truth is not None:
            raise InputError(
                f"price gives every cost a price of its own, and price_of_truth={learner.price_of_truth!r} counts in "
                "costs of equal price. Leave out one of them."
            )
        if encoder is None and hasattr(X, "columns") and hasattr(X_test, "columns"):
            X_test = in_order(X_test, column_names(X))
        self.test = _TestSet.checked(X_test, cost_test, known, scale, rows.width, encoder)
        if self.checkpoints is None:
            self.checkpoints = CheckpointRecorder(self.wanted, len(known), n_rounds or len(self.order), self._measure)
        self.run_ = start_run(
            learner,
            examples,
            known,
            cost,
            given,
            self.order,
            scale,
            record=self.price is not None,
            batch=self.batch,
            stop_saving=self.stop_saving,
        )

    def _curve(self, started: float, n_rows: int, *, interrupted: bool) -> Curve:
        assert self.checkpoints is not None
        warn_if_collapsed(self.learner)
        return self.checkpoints.curve(
            time.perf_counter() - started,
            interrupted=interrupted,
            stopped=has_stopped(self.learner, self.run_) and self.run_.done < n_rows,
            priced=self.price is not None,
            price_of_truth=self.learner.price_of_truth,
        )

    def _play_to_end(self) -> bool:
        """Play all rows; whether Ctrl-C has ended that."""
        try:
            self._play()
        except KeyboardInterrupt:
            return True
        return False

    def _play(self) -> None:
        """Run piece by piece, stopping at every checkpoint."""
        assert self.checkpoints is not None
        piece = 64
        while True:
            next_checkpoint = self.checkpoints.record(self.learner.totals_.price)
            if self.run_.done == len(self.run_) or self._has_ended():
                return
            began, done = time.perf_counter(), self.run_.done
            play(self.learner, self.run_, piece, next_checkpoint)
            self._pay(done)
            if time.perf_counter() - began < _PIECE_SECONDS / 2:
                piece *= 2
            if self.progress is not None:
                self.progress(self.rows_before + self.run_.done, self.rows_before + len(self.order))

    def _has_ended(self) -> bool:
        """Whether the run ends early: more questions would save too little, or do not fit the budget."""
        return self.run_.at_limit or has_stopped(self.learner, self.run_)

    def _pay(self, start: int) -> None:
        """Add the price of the questions since position ``start``."""
        if self.price is not None:
            span = slice(start, self.run_.done)
            self.spent += float(self.price[self.order[span]][self.run_.asked(span)].sum(dtype=np.float64))

    def _measure(self) -> Checkpoint:
        learner = self.learner
        test_cost = self.test.cost_of(learner) if self.test else float("nan")
        return Checkpoint(
            learner.costs_queried_,
            learner.examples_queried_,
            learner.round_ - 1,
            test_cost,
            self.spent,
            learner.totals_.truths,
        )


class _TestSet:
    """Held-out examples with all their costs."""

    def __init__(self, rows: Rows, cost: NDArray[np.float32], scale: CostScale) -> None:
        self.rows, self.cost, self.scale = rows, cost, scale

    @classmethod
    def checked(
        cls,
        X: Any,
        cost: Any,
        classes: NDArray[Any],
        scale: CostScale,
        width: int,
        encoder: Encoder | None,
    ) -> "_TestSet | None":
        if X is None and cost is None:
            return None
        if X is None or cost is None:
            raise InputError("X_test and cost_test belong together. Pass both or neither.")
        rows, cost = check_rows(encoded_rows(X, encoder), allow_empty=False), by_row(cost, X, "cost_test")
        if rows.width < width:
            raise InputError(f"X_test must have at least the {width} features of X, got {rows.width}.")
        costs = check_cost(cost, len(rows), classes, scale, clip=False)
        if np.isnan(costs).any():
            row = int(np.argmax(np.isnan(costs).any(axis=1)))
            raise InputError(f"cost_test must have no NaN, got NaN in row {row}. Drop such rows.")
        return cls(rows, costs, scale)

    def cost_of(self, learner: CoalClassifier) -> float:
        """The mean cost of the learner's predictions."""
        return float(self.scale.from_unit(costs_of_answers(learner, self.rows, self.cost).mean()))


def checked_order(order: Order | None, n_rows: int) -> NDArray[np.int64]:
    """The row numbers of a run, by default all in their order; an InputError if one does not exist."""
    if order is None:
        return np.arange(n_rows)
    numbers = np.asarray(order)
    if (
        numbers.ndim != 1
        or numbers.dtype.kind not in "iu"
        or (len(numbers) and (numbers.min() < 0 or numbers.max() >= n_rows))
    ):
        raise InputError(
            f"order must be a one-dimensional array of row numbers below {n_rows}, got {shortened(order)}."
        )
    return numbers.astype(np.int64)
