"""Findings: the finished runs of a sweep and the facts about them. A report is made from these alone.

A **line** is one curve of a figure: a rule with all its settings except the learning rate, which is chosen later.

Questions are counted as single costs, examples, the price of the answers, or answers.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from coalface.data import CostDataset
from coalface.studies.learners import Rate


@dataclass(frozen=True, eq=False)
class Points:
    """A run at its checkpoints; the last one is its end. ``spent`` is NaN where asking has no price."""

    costs_queried: NDArray[np.int64]
    examples_queried: NDArray[np.int64]
    test_cost: NDArray[np.float64]
    spent: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class FinishedRun:
    """One finished cell.

    ``asks`` is "costs", or "labels" for a learner that asks for the true label: that answer gives all K costs and
    counts as K costs. ``auc_published`` is NaN in tables of earlier versions. ``points`` is None if only the end of the
    run was kept.
    """

    data: str
    line: str
    rule: str
    learning_rate: Rate
    permutation: int
    asks: str
    auc: float
    costs_queried: int
    examples_queried: int
    rounds: int
    test_cost: float
    spent: float
    seconds: float
    points: Points | None
    auc_published: float = float("nan")


@dataclass(frozen=True)
class DataFacts:
    """The size of one dataset; ``price_unit`` is empty where asking has no price."""

    name: str
    n_train: int
    n_test: int
    n_labels: int
    n_features: int
    nonzeros_per_row: float
    density: float
    fingerprint: str
    price_unit: str

    @classmethod
    def of(cls, name: str, train: CostDataset, test: CostDataset, fingerprint: str) -> "DataFacts":
        """The facts about training and test data."""
        numbers = train.statistics()
        return cls(
            name=name,
            n_train=numbers.n_examples,
            n_test=len(test),
            n_labels=numbers.n_labels,
            n_features=numbers.n_features,
            nonzeros_per_row=numbers.nonzeros_per_row,
            density=numbers.density,
            fingerprint=fingerprint,
            price_unit="" if train.price is None else "seconds",
        )


@dataclass(frozen=True)
class Findings:
    """Everything a report shows.

    ``lines`` are in the order of the study; ``baseline`` is the line that savings are counted against.
    ``settings``, ``versions`` and ``timings`` are texts for the page. ``failures`` has one text per failed cell;
    ``missing`` is the number of cells without a run.
    """

    name: str
    title: str
    text: str
    baseline: str
    lines: tuple[str, ...]
    data: tuple[DataFacts, ...]
    runs: tuple[FinishedRun, ...]
    settings: dict[str, str]
    versions: dict[str, str]
    timings: dict[str, str]
    failures: tuple[str, ...]
    missing: int


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


def applies(measure: Measure, facts: DataFacts, runs: Sequence[FinishedRun]) -> bool:
    """Whether the measure applies to these runs on a dataset: PRICE needs prices, and runs that recorded them."""
    return measure is not PRICE or (bool(facts.price_unit) and all(map(_has_prices, runs)))


def counted_points(runs: Sequence[FinishedRun], measure: Measure, facts: DataFacts) -> list[Points]:
    """The runs at their checkpoints, counted by the measure; a run without checkpoints has only its end.

    >>> run = FinishedRun("d", "l", "r", 0.5, 0, "labels", 1.0, 30, 3, 3, 0.2, np.nan, 0.1, None)
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


def _has_prices(run: FinishedRun) -> bool:
    return not np.isnan((run.points or _end_of(run)).spent).any()


def _counted(run: FinishedRun, measure: Measure, facts: DataFacts) -> Points:
    points = run.points or _end_of(run)
    if measure.labels_are_one and run.asks == "labels":
        return replace(points, costs_queried=points.costs_queried // facts.n_labels)
    return points


def _end_of(run: FinishedRun) -> Points:
    return Points(
        np.array([run.costs_queried]),
        np.array([run.examples_queried]),
        np.array([run.test_cost]),
        np.array([run.spent]),
    )
