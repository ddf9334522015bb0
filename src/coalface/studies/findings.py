"""Findings: the finished runs of a sweep and the facts about them. A report is made from these alone.

A **line** is one curve of a figure: a rule with all its settings except the learning rate, which is chosen later.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coalface.data.dataset import CostDataset
from coalface.studies.learners import Rate


@dataclass(frozen=True, eq=False)
class Points:
    """A run at its checkpoints; the last one is its end. ``spent`` is NaN where asking has no price."""

    costs_queried: NDArray[np.int64]
    examples_queried: NDArray[np.int64]
    test_cost: NDArray[np.float64]
    spent: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Run:
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
    runs: tuple[Run, ...]
    settings: dict[str, str]
    versions: dict[str, str]
    timings: dict[str, str]
    failures: tuple[str, ...]
    missing: int
