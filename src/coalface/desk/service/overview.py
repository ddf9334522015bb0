"""The dashboard's numbers, advice whether to stop asking, and predictions; computing them changes nothing."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from coalface.data import CostScale, Examples
from coalface.desk.project.project import Project
from coalface.desk.project.spending import Spent
from coalface.desk.service.counters import Counters
from coalface.desk.service.messages import Advice, DeskProgress, EstimatedMean, Expected, LabelRow, Overview
from coalface.desk.service.project_state import ProjectState
from coalface.errors import counted
from coalface.kernels import AUDIT
from coalface.learner import CoalClassifier, Interval, audits_of, best_labels
from coalface.rounds import Queries

_SAMPLE = 200  # undecided examples that represent the rest of the pool
SMALL = 0.02  # of the cost scale, per example: with costs of 0 and 1, two errors in a hundred
_FEWEST = 100  # rounds before a saving can be estimated


def overview_of(state: ProjectState, progress: DeskProgress) -> Overview:
    """The dashboard's numbers. Annotators do not wait for those that take time, which are computed without the lock."""
    project, learner, counters = state.project, state.model.learner, state.counters
    order, price = project.pool.order, project.asking_price
    rest = np.asarray(order[counters.cursor : counters.cursor + _SAMPLE], np.int64)
    rest = rest[[not counters.is_known(place) for place in rest.tolist()]]
    sample = rest if len(rest) else np.asarray(order[-_SAMPLE:], np.int64)  # a finished pool has its numbers, too
    queries = learner.ask(project.pool.rows(sample), first_round=counters.cursor + 1, asking_price=price)
    found = learner.saving_
    saving = None if found is None else EstimatedMean(found.estimate, found.low, found.high, found.rounds)
    expected = expected_spending(project, learner, progress, counters.decided)
    advice = advice_on(saving, learner, project.cost_bounds, len(rest), expected)
    with state.lock:
        counters = state.counters
        return Overview(
            progress=progress,
            pool=len(project.pool),
            decided=counters.decided,
            passive_costs=_passive_costs(project, progress.examples, counters.passed),
            test_cost=counters.model_costs.lately(),
            saving=saving,
            contested=_contested(queries) if len(rest) else None,
            stopped=counters.stopped,
            rebuilding=state.model.rebuilding,
            problem=state.model.problem,
            model=learner.round_ - 1,
            annotators=counters.annotators(),
            labels=[_label_row(project, k, counters, queries) for k in range(len(project.labels))],
            history=counters.model_costs.history[:],
            expected=expected,
            passed=counters.passed,
            sampled=len(sample),
            finished=not len(rest),
            progressive=counters.model_costs.progressive[:],
            spending=counters.timeline.points,
            pace=counters.timeline.pace,
            advice=advice,
        )


def _passive_costs(project: Project, examples: int, passed: int) -> int:
    """How many costs there are of the examples that annotators answered about, and of those that needed no question.

    Examples whose question waits in the queue do not count: nothing was asked about them.
    """
    return round(examples + passed * project.overlap) * (1 if project.true_label else len(project.offered))


def expected_spending(
    project: Project, learner: CoalClassifier, progress: DeskProgress, decided: int
) -> Expected | None:
    """A forecast for the examples that are not decided, all annotators together; None if there are none.

    Questions that are open now count as asked about examples to come.
    """
    left = len(project.pool) - decided
    if left <= 0:
        return None
    limits, times, spent = project.limits, project.overlap, Spent(progress.examples, progress.costs, progress.price)
    prices = {"price": limits.price_per_cost, "price_per_example": limits.price_per_example} if limits.by_label else {}
    forecast = learner.forecast(left, **prices)
    examples = forecast.examples.times(times)
    costs = examples if project.true_label else forecast.costs.times(times)
    if limits.examples is not None:
        examples = examples.at_most(max(limits.examples - spent.examples, 0.0))
    room = max(limits.room(spent), 0.0)
    capped = room < costs.lowest
    examples, costs = examples.at_most(room), costs.at_most(room)  # an example that is asked about takes a cost
    if not limits.has_prices:
        return Expected(examples, costs, capped=capped)
    pairs = zip(examples, costs, strict=True)
    price = Interval(*(limits.price_per_example * seen + limits.dearest_cost * paid for seen, paid in pairs))
    if forecast.money is not None:  # that was the price if all costs were of the most expensive label
        price = Interval(*map(min, price, forecast.money.times(times)))
    left_over = math.inf if limits.price is None else max(limits.price - spent.price, 0.0)
    return Expected(examples, costs, price.at_most(left_over), capped)


def _contested(queries: Queries) -> EstimatedMean:
    """The share of examples that the rule would ask about, without audits, with Wilson's interval."""
    asked = (queries.mask & (queries.reason_codes != AUDIT)).any(axis=1)
    n, share, z = len(asked), float(asked.mean()), 1.96
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * (share * (1 - share) / n + z * z / (4 * n * n)) ** 0.5
    return EstimatedMean(share, max(middle - half, 0.0), min(middle + half, 1.0), n)


def _label_row(project: Project, k: int, counters: Counters, queries: Queries) -> LabelRow:
    label, priced = project.labels[k], project.limits.by_label
    count, total = counters.known.get(label, [0, 0.0])
    mean = total / count if count else None
    lowest, highest = queries.ranges.lowest, queries.ranges.highest
    guaranteed = highest.min(axis=1)
    return LabelRow(
        label=label,
        asked=counters.asked.get(label, 0),
        mean_cost=mean,
        lowest=float(lowest[:, k].mean()),
        predicted=float(queries.shown_costs[:, k].mean()),
        highest=float(highest[:, k].mean()),
        contending=float((lowest[:, k] <= guaranteed).mean()),
        price=project.limits.cost_price(label) if priced else None,
        spent=counters.booked.get(label, 0.0) if priced else None,
    )


def predictions(
    project: Project, learner: CoalClassifier, examples: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """For each example the best label, and the predicted cost and range of each label that is not retired."""
    return predicted_rows(project, learner, project.pool.rows_of(examples)) if examples else []


def predicted_rows(
    project: Project, learner: CoalClassifier, X: Examples, *, same_round: bool = False
) -> list[dict[str, Any]]:
    """The same of rows; with ``same_round``, ranges are those of this round, in any order of the pool."""
    costs = CostScale.of(project.cost_bounds).within(learner.predict_cost(X))
    ranges = learner.cost_range(X, same_round=same_round)
    offered = [(k, label) for k, label in enumerate(project.labels) if label not in project.retired]
    return [
        {
            "label": best,
            "costs": {label: float(costs[i, k]) for k, label in offered},
            "ranges": {label: [float(ranges.lowest[i, k]), float(ranges.highest[i, k])] for k, label in offered},
        }
        for i, best in enumerate(best_labels(learner, X).tolist())
    ]


def advice_on(
    saving: EstimatedMean | None,
    learner: CoalClassifier,
    bounds: tuple[float, float],
    left: int,
    expected: Expected | None,
) -> Advice:
    """Stop if the whole interval of the saving is small, go on if it is not, and what is missing otherwise."""
    small = SMALL * (bounds[1] - bounds[0])
    if left == 0:
        return Advice(None, "The pool is finished: no example is left to ask about.")
    if saving is None:
        rounds = learner.round_ - 1
        if not audits_of(learner.audits).rate:
            return Advice(None, 'The saving is unknown without audits. Set audits = "even" under [learner].')
        return Advice(None, f"The saving is unknown before {_FEWEST} rounds; {counted(rounds, 'round')} so far.")
    cost = "" if expected is None else f" for about {counted(round(expected.costs.expected), 'more cost')}"
    mean, low, high = (max(number, 0.0) for number in (saving.mean, saving.low, saving.high))
    could = f"More questions could save {mean:.3g} per example (95 % interval {low:.3g} to {high:.3g}){cost}"
    if high < small:
        return Advice(True, f"{could}: surely less than {small:.3g}, 2 % of the scale.")
    return Advice(False, f"{could}: perhaps more than {small:.3g}, 2 % of the scale.")
