"""The dashboard's numbers, advice whether to stop asking, and predictions; computing them changes nothing."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import vstack

from coalface.data import CostScale, Examples, checked_examples
from coalface.desk.project.pool import Pool
from coalface.desk.project.project import Project
from coalface.desk.project.sources import content_of
from coalface.desk.project.spending import Spent
from coalface.desk.service.counters import Counters
from coalface.desk.service.messages import Advice, DeskProgress, EstimatedMean, Expected, LabelRow, Overview
from coalface.desk.service.model import LiveModel
from coalface.errors import InputError, counted, shortened
from coalface.kernels import AUDIT
from coalface.learner import CoalClassifier, Interval, audits_of, best_labels
from coalface.rounds import Queries

_SAMPLE = 200  # undecided examples that represent the rest of the pool
SMALL = 0.02  # of the cost scale, per example: with costs of 0 and 1, two errors in a hundred
_FEWEST = 100  # rounds before a saving can be estimated


class _Ahead(NamedTuple):
    """The model's view of what is left: the next examples, what more questions could save, and what they will take."""

    queries: Queries
    sampled: int
    left: int  # undecided examples in the sample; 0 if the pool is finished, whose last examples are the sample
    saving: EstimatedMean | None
    expected: Expected | None
    advice: Advice
    round: int


def look_ahead(project: Project, learner: CoalClassifier, counters: Counters, progress: DeskProgress) -> _Ahead:
    """What takes time to compute; annotators must not wait for it, so the caller holds no lock."""
    pool = project.pool
    rest = np.asarray(pool.order[counters.cursor : counters.cursor + _SAMPLE], np.int64)
    rest = rest[[not counters.is_known(place) for place in rest.tolist()]]
    sample = rest if len(rest) else np.asarray(pool.order[-_SAMPLE:], np.int64)  # a finished pool has its numbers, too
    price = project.asking_price
    queries = learner.ask(pool.rows(sample), first_round=counters.cursor + 1, asking_price=price)
    estimated = learner.saving_
    saving = None
    if estimated is not None:
        saving = EstimatedMean(estimated.estimate, estimated.low, estimated.high, estimated.rounds)
    expected = expected_spending(project, learner, progress, counters.decided)
    advice = advice_on(saving, learner, project.cost_bounds, len(rest), expected)
    return _Ahead(queries, len(sample), len(rest), saving, expected, advice, learner.round_)


def overview_of(
    project: Project, model: LiveModel, counters: Counters, progress: DeskProgress, ahead: _Ahead
) -> Overview:
    """The dashboard's numbers, from the counters and from the model's view of the next examples."""
    return Overview(
        progress=progress,
        pool=len(project.pool),
        decided=counters.decided,
        passive_costs=_passive_costs(project, progress.examples, counters.passed),
        test_cost=counters.model_costs.lately(),
        saving=ahead.saving,
        contested=_contested(ahead.queries) if ahead.left else None,
        stopped=counters.stopped,
        rebuilding=model.rebuilding,
        problem=model.problem,
        model=ahead.round - 1,
        annotators=counters.annotators(),
        labels=[_label_row(project, k, counters, ahead.queries) for k in range(len(project.labels))],
        history=counters.model_costs.history[:],
        expected=ahead.expected,
        passed=counters.passed,
        sampled=ahead.sampled,
        finished=not ahead.left,
        progressive=counters.model_costs.progressive[:],
        spending=counters.timeline.points,
        pace=counters.timeline.pace,
        advice=ahead.advice,
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
    return predicted_rows(project, learner, rows_of(project, examples)) if examples else []


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


def rows_of(project: Project, examples: Sequence[Mapping[str, Any]]) -> Examples:
    """The features of examples: of the pool, given by "id" alone, or new ones as ``init`` reads them."""
    pool: Pool = project.pool
    of_pool = np.array([isinstance(example, Mapping) and set(example) == {"id"} for example in examples], np.bool_)
    ids = [str(example["id"]) for example, old in zip(examples, of_pool, strict=True) if old]
    known = pool.rows(np.array([pool.place(name) for name in ids], np.int64))
    if of_pool.all():
        return known
    others = [example for example, old in zip(examples, of_pool, strict=True) if not old]
    given = pool.given_vectors or pool.kind == "image"
    new = _given_rows(pool, others) if given else pool.rows_like([content_of(one, pool.columns)[1] for one in others])
    order = np.empty(len(examples), np.int64)
    order[of_pool], order[~of_pool] = np.arange(known.shape[0]), known.shape[0] + np.arange(new.shape[0])
    rows: Examples = vstack([known, new], format="csr")[order]
    return rows


def _given_rows(pool: Pool, examples: Sequence[Mapping[str, Any]]) -> Examples:
    """Examples that come with their features."""
    for example in examples:
        if not isinstance(example, Mapping) or not {"features"} <= set(example) <= {"id", "features"}:
            raise InputError(
                f'Each example must have "features", a list of numbers, or only an "id" of the pool, got '
                f"{shortened(example)}. Correct it."
            )
    try:
        X = checked_examples([example["features"] for example in examples])
    except TypeError:
        raise InputError('"features" must be a list of numbers. Correct it.') from None
    if X.shape[1] != pool.width:
        raise InputError(f'"features" must have {pool.width} numbers, got {X.shape[1]}. Send that many.')
    return X


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
