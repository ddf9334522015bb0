"""Ways to count questions: single costs, examples, the price of the answers, or answers."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from coalface.studies.findings import DataFacts, Findings, Points, Run


@dataclass(frozen=True)
class Measure:
    """One way to count: ``axis`` is the field of ``Points`` it reads; ``less`` and ``more`` are words for tables.

    ``labels_are_one``: an annotator's true label counts as one answer instead of as K costs.
    """

    name: str
    axis: str
    less: str
    more: str
    labels_are_one: bool = False


COSTS = Measure("costs", "costs_queried", "fewer costs", "more costs")
EXAMPLES = Measure("examples", "examples_queried", "fewer examples", "more examples")
PRICE = Measure("price", "spent", "a lower price", "a higher price")
ANSWERS = Measure("answers", "costs_queried", "fewer answers", "more answers", labels_are_one=True)


def measures_for(findings: Findings) -> tuple[Measure, ...]:
    """The measures that apply to this study, costs first."""
    priced = any(facts.price_unit for facts in findings.data) and any(_has_prices(run) for run in findings.runs)
    labelled = any(run.asks == "labels" for run in findings.runs)
    return (COSTS, EXAMPLES, *([PRICE] if priced else []), *([ANSWERS] if labelled else []))


def applies(measure: Measure, facts: DataFacts, runs: Sequence[Run]) -> bool:
    """Whether the measure applies to these runs on a dataset: PRICE needs prices, and runs that recorded them."""
    return measure is not PRICE or (bool(facts.price_unit) and all(map(_has_prices, runs)))


def counted_points(runs: Sequence[Run], measure: Measure, facts: DataFacts) -> list[Points]:
    """The runs at their checkpoints, counted by the measure; a run without checkpoints has only its end.

    >>> run = Run("d", "l", "r", 0.5, 0, "labels", 1.0, 30, 3, 3, 0.2, np.nan, 0.1, None)
    >>> facts = DataFacts("d", 3, 1, 10, 4, 4.0, 1.0, "", "")
    >>> counted_points([run], COSTS, facts)[0].costs_queried, counted_points([run], ANSWERS, facts)[0].costs_queried
    (array([30]), array([3]))
    """
    return [_counted(run, measure, facts) for run in runs]


def start_of(points: Sequence[Points], measure: Measure) -> float:
    """Where a log axis of these runs begins: at one question, or at the lowest price above 0."""
    if measure is not PRICE:
        return 1.0
    paid = np.concatenate([run.spent for run in points])
    return float(paid[paid > 0].min(initial=np.inf)) if (paid > 0).any() else 1.0


def _has_prices(run: Run) -> bool:
    return not np.isnan((run.points or _end_of(run)).spent).any()


def _counted(run: Run, measure: Measure, facts: DataFacts) -> Points:
    points = run.points or _end_of(run)
    if measure.labels_are_one and run.asks == "labels":
        return replace(points, costs_queried=points.costs_queried // facts.n_labels)
    return points


def _end_of(run: Run) -> Points:
    return Points(
        np.array([run.costs_queried]),
        np.array([run.examples_queried]),
        np.array([run.test_cost]),
        np.array([run.spent]),
    )
