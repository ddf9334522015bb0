"""Simulated serving: all costs are known, but the learner sees only that of the label it serves."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.data.costs import check_cost
from coalface.data.frames import by_label, by_row
from coalface.data.numbers import finite_number, flag
from coalface.errors import InputError, counted
from coalface.evaluate.simulation import Order, checked_order
from coalface.kernels.state import NO_ROUNDS
from coalface.learner.estimator import CoalClassifier
from coalface.learner.intake import allowed, read_examples
from coalface.learner.play import start_run
from coalface.learner.serving import serve_rows
from coalface.learner.state import is_begun, resolve_classes
from coalface.learner.widening import scale_with
from coalface.models.serving import ServedRun
from coalface.report.curve_picture import picture_of

_PIECE = 1024  # rows between two checks for Ctrl-C
_SHOWN = 24  # points of the picture for notebooks


@dataclass(frozen=True)
class ServedCurve:
    """What was served in a run, an entry per example in the order of the run.

    >>> served = ServedCurve(np.array(["a", "b"]), np.array([0.5, 1.0]), np.array([1.0, 0.0]), costs_bought=0)
    >>> served.progressive_cost, served.progressive_costs.tolist()
    (0.5, [1.0, 0.5])
    """

    labels: NDArray[Any]
    probability: NDArray[np.float64]
    cost: NDArray[np.float64]  # of the served labels
    costs_bought: int

    @property
    def progressive_cost(self) -> float:
        """The mean cost of all served labels."""
        return float(self.cost.mean())

    @property
    def progressive_costs(self) -> NDArray[np.float64]:
        """The mean cost of the labels served so far, after each example."""
        return np.asarray(np.cumsum(self.cost) / np.arange(1, len(self.cost) + 1))

    def __str__(self) -> str:
        bought = f", {counted(self.costs_bought, 'cost')} bought" if self.costs_bought else ""
        return f"{counted(len(self.cost), 'label')} served at a mean cost of {self.progressive_cost:.3g}{bought}"

    def _repr_html_(self) -> str:
        """The mean cost so far as a small picture, for notebooks."""
        shown = np.unique(np.geomspace(1, len(self.cost), _SHOWN).round().astype(np.int64))
        return picture_of(shown, self.progressive_costs[shown - 1], str(self), "examples served", "mean cost so far")


def simulate_serving(
    learner: CoalClassifier,
    X: Any,
    cost: Any,
    *,
    order: Order | None = None,
    candidates: Any = None,
    classes: Iterable[Any] | None = None,
    exploration: float = 1.0,
    ask: bool = False,
) -> ServedCurve:
    """Serve a label on each row and learn its cost, as ``act`` and ``observe`` do row by row; the learner learns.

    ``cost`` (n, K) must be known for every candidate. The online model runs in a compiled loop, which gives the same
    bits. With ``ask``, the learner buys further costs after a label was served: those that it asks for, within its
    budget if it has one.

    >>> from coalface import CoalClassifier
    >>> X, y = [[0.0, 1.0], [1.0, 0.0]] * 100, np.array([0, 1] * 100)
    >>> served = simulate_serving(CoalClassifier(model="online"), X, cost=1.0 - np.eye(2)[y])
    >>> served.progressive_cost < 0.1
    True
    """
    explored = finite_number("exploration", exploration, 0.0)
    buys = flag("ask", ask)
    early = None if candidates is None else resolve_classes(learner, classes, cost)  # a mask needs the labels
    examples = read_examples(learner, X, candidates, early, allow_empty=False)
    X, rows = examples.X, examples.rows
    cost = by_row(cost, X, "cost")
    labels = resolve_classes(learner, classes, cost)
    given = by_label(cost, labels, "cost")
    scale = scale_with(learner, given, len(rows), labels, examples.candidates)
    unit = check_cost(given, len(rows), labels, scale)
    mask = allowed(learner, examples.candidates, len(rows)) if is_begun(learner) else examples.candidates
    _refuse_gaps(unit, mask)
    places = checked_order(order, len(rows))
    run = ServedRun(
        places,
        NO_ROUNDS._replace(costs=unit, candidates=NO_ROUNDS.candidates if mask is None else mask),
        np.empty(len(places), np.int64),
        np.empty(len(places)),
        explored,
    )
    start_run(learner, examples, labels, given, run.given, places, scale)
    bought_before = learner.costs_queried_
    if buys or learner._recorder is not None:
        _serve_row_by_row(learner, X, run, np.asarray(given, np.float64), buys=buys)
    else:
        serve_rows(learner, rows, run, _PIECE)
        learner._told = None  # so that bounds do not widen any more
    served = scale.as_paid(np.asarray(given)[places, run.labels])
    return ServedCurve(labels[run.labels], run.chances, served, learner.costs_queried_ - bought_before)


def _refuse_gaps(unit: NDArray[np.float32], allowed: NDArray[np.bool_] | None) -> None:
    unknown = np.isnan(unit) if allowed is None else np.isnan(unit) & allowed
    if unknown.any():
        row = int(np.argmax(unknown.any(axis=1)))
        raise InputError(
            f"cost must be known for every label that may be served, got NaN in row {row}. Leave "
            "these labels out of candidates."
        )
    if allowed is not None and not allowed.any(axis=1).all():
        row = int(np.argmin(allowed.any(axis=1)))
        raise InputError(f"candidates must leave at least one label, row {row} has none. Leave the row out.")


def _serve_row_by_row(
    learner: CoalClassifier, X: Any, run: ServedRun, cost: NDArray[np.float64], *, buys: bool
) -> None:
    """Serve with ``act`` and ``observe``; where further costs are bought, ``tell`` learns them all."""
    for position, place in enumerate(run.order):
        one = np.array([place])
        row = X.iloc[one] if hasattr(X, "iloc") else X[one] if hasattr(X, "shape") else [X[place]]
        candidates = run.given.candidates[one] if len(run.given.candidates) else None
        action = learner.act(row, candidates=candidates, exploration=run.exploration)
        label = int(np.flatnonzero(learner.classes_ == action.labels[0])[0])
        run.labels[position], run.chances[position] = label, action.probability[0]
        if not (buys and _buy(learner, row, candidates, cost[one], label)):
            learner.observe(row, action.labels, cost[place, label], action.probability, candidates=candidates)


def _buy(learner: CoalClassifier, row: Any, candidates: Any, cost: NDArray[np.float64], label: int) -> bool:
    """Buy the costs that the learner asks for, after that of the served label is known, and learn them with it."""
    known, seen = np.full(cost.shape, np.nan), np.zeros(cost.shape, np.bool_)
    seen[0, label], known[0, label] = True, cost[0, label]
    bought = np.zeros(cost.shape, np.bool_)
    queries = first = learner.ask(row, candidates=candidates, known=known, asked=seen)
    while queries.next.any():
        bought |= queries.next
        known[bought] = cost[bought]
        queries = learner.ask(row, candidates=candidates, known=known, asked=bought | seen)
    if bought.any():
        learner.tell(row, known, asked=first.restricted_to(bought), candidates=candidates)
    return bool(bought.any())
