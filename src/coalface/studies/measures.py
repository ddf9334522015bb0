"""The ways to count what was asked for: single costs, examples, the price of the answers, or answers given."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from coalface.studies.findings import DataFacts, Findings, Points, Run


@dataclass(frozen=True)
class Measure:
    """One way to count: ``axis`` is the field of ``Points`` it reads; ``less`` and ``more`` are words for tables.

    ``labels_are_one``: the true label, told by somebody, counts as one answer instead of as K costs.
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
    """The measures that say something in this study, costs first."""
    priced = any(facts.price_unit for facts in findings.data) and any(_knows_its_price(run) for run in findings.runs)
    labelled = any(run.asks == "labels" for run in findings.runs)
    return (COSTS, EXAMPLES, *([PRICE] if priced else []), *([ANSWERS] if labelled else []))


def applies(measure: Measure, facts: DataFacts, runs: Sequence[Run]) -> bool:
    """Whether these runs on a dataset can be measured so: a price needs prices, and runs that say what they spent."""
    return measure is not PRICE or (bool(facts.price_unit) and all(map(_knows_its_price, runs)))


def checkpoints(runs: Sequence[Run], measure: Measure, facts: DataFacts) -> list[Points]:
    """The runs at their checkpoints, counted as the measure says; a run without checkpoints is known at its end.

    >>> run = Run("d", "l", "r", 0.5, 0, "labels", 1.0, 30, 3, 3, 0.2, np.nan, 0.1, None)
    >>> facts = DataFacts("d", 3, 1, 10, 4, 4.0, 1.0, "", "")
    >>> checkpoints([run], COSTS, facts)[0].costs_queried, checkpoints([run], ANSWERS, facts)[0].costs_queried
    (array([30]), array([3]))
    """
    return [_counted(run, measure, facts) for run in runs]


def start_of(points: Sequence[Points], measure: Measure) -> float:
    """Where a log axis of these runs may begin: at one question, or at the least price above 0."""
    if measure is not PRICE:
        return 1.0
    paid = np.concatenate([run.spent for run in points])
    return float(paid[paid > 0].min(initial=np.inf)) if (paid > 0).any() else 1.0


def _knows_its_price(run: Run) -> bool:
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
