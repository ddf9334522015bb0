"""``evaluation_report``: how good a trained learner is on data with known costs.

A mean has a 95 % interval. It is Wilson's, as surveys use it for means: with the number of 0/1 answers whose mean would
vary as much as the mean of these numbers. For 0/1 costs it is Wilson's interval itself. Unlike a normal interval, it
stays within the bounds, and is not too short if large costs are rare. With few rows, Student's quantile widens it.
"""

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.data.costs import CostScale
from coalface.data.labels import label_texts, with_abstaining
from coalface.errors import InputError
from coalface.evaluate.breakdown import (
    CostCalibration,
    Coverage,
    Judged,
    LabelCost,
    Mistake,
    calibration_of,
    judged_rows,
    label_costs,
    mistakes_of,
)
from coalface.evaluate.features import TopFeature, top_features
from coalface.learner.estimator import CoalClassifier
from coalface.learner.parameters import abstain_of
from coalface.learner.state import scale_of
from coalface.rounds.queries import CostRanges

METHOD = "Wilson's interval"
_UPPER_TAIL = 0.975
_EQUAL = 1e-9  # smaller differences are rounding
_LEAST_KNOWN = 0.5  # share of the judged rows on which a single label must have a known cost
_LABELS_WITH_FEATURES = 12


@dataclass(frozen=True)
class MeanCost:
    """A mean over some rows, and the ends of its 95 % interval; both ends are the mean if it is exact."""

    mean: float
    low: float
    high: float
    rows: int

    @property
    def is_exact(self) -> bool:
        """Whether all other rows have this mean too."""
        return self.low == self.high


def estimated_mean(values: NDArray[np.float64], bounds: CostScale) -> MeanCost:
    """The mean of at least one number between these bounds, with its interval.

    >>> estimated_mean(np.array([0.0, 1.0] * 50), CostScale(0.0, 1.0))
    MeanCost(mean=0.5, low=0.402..., high=0.597..., rows=100)
    >>> estimated_mean(np.zeros(100), CostScale(0.0, 1.0)).high < 0.04  # no mistake in 100 rows is not "never"
    True
    """
    n, unit = len(values), np.asarray(bounds.to_unit(values), np.float64)
    low, high = _unit_interval(unit) if n > 1 else (0.0, 1.0)
    ends = bounds.from_unit(np.array([low, high])).tolist()
    return MeanCost(float(np.mean(values)), ends[0], ends[1], n)


def _unit_interval(values: NDArray[np.float64]) -> tuple[float, float]:
    """The interval of a mean of at least two numbers between 0 and 1."""
    from scipy.special import stdtrit

    n, mean = len(values), float(values.mean())
    squared = float(stdtrit(n - 1, _UPPER_TAIL)) ** 2
    if np.ptp(values) < _EQUAL:  # a share of up to this size may differ, as in Wilson's interval of 0 in n
        share = squared / (n + squared)
        return mean - share * mean, mean + share * (1.0 - mean)
    weight = squared * float(values.var(ddof=1)) / (n * mean * (1.0 - mean))  # Wilson's z^2 / n
    middle = (mean + weight / 2) / (1 + weight)
    half = (weight * mean * (1.0 - mean) + weight * weight / 4) ** 0.5 / (1 + weight)
    return max(middle - half, 0.0), min(middle + half, 1.0)


@dataclass(frozen=True)
class _Reference:
    """The mean cost of another way to predict, and how much more it costs than the learner on the same rows.

    ``label`` is the label always predicted; None for the cheapest label of each row.
    """

    name: str
    label: str | None
    cost: MeanCost
    difference: MeanCost


def _references_for(judged: Judged, labels: list[str], scale: CostScale) -> tuple[_Reference, ...]:
    """The best single label, where one has enough known costs, then the cheapest label of each row."""
    oracle = _reference("the cheapest label of each row", None, judged, judged.cheapest, scale)
    if np.ptp(judged.cheapest) == 0.0 and judged.are_of_matrix:  # so it will cost the same on any other row
        mean = float(judged.cheapest[0])
        oracle = replace(oracle, cost=MeanCost(mean, mean, mean, len(judged)))
    best = _best_single(judged)
    if best is None:
        return (oracle,)
    label = labels[best]
    return (_reference(f"always {label}", label, judged, judged.cost[:, best], scale), oracle)


def _best_single(judged: Judged) -> int | None:
    """The label of least mean cost; it must be allowed in every row and its cost known in half of the rows."""
    known = ~np.isnan(judged.cost)
    possible = (known.mean(axis=0) >= _LEAST_KNOWN) & judged.allowed.all(axis=0)
    if not possible.any():
        return None
    means = np.nansum(judged.cost, axis=0) / np.maximum(known.sum(axis=0), 1)
    return int(np.argmin(np.where(possible, means, np.inf)))


def _reference(
    name: str, label: str | None, judged: Judged, costs: NDArray[np.float64], scale: CostScale
) -> _Reference:
    known = ~np.isnan(costs)
    width = scale.ceiling - scale.floor
    difference = costs[known] - judged.paid[known]
    return _Reference(
        name, label, estimated_mean(costs[known], scale), estimated_mean(difference, CostScale(-width, width))
    )


@dataclass(frozen=True, repr=False)
class EvaluationReport:
    """How good a learner is on some rows; ``str`` gives it in one line, ``to_html`` as a page.

    A row is judged if the cost of its predicted label is known. ``cost`` is the mean cost of the predictions with a
    95 % interval, Wilson's. ``mistakes`` and ``labels`` begin with those that cost most. ``features`` has the most
    important features of the labels that cost most, if the model has any.

    >>> from coalface import CoalClassifier, evaluation_report
    >>> X, kinds = [[0.0, 1.0], [1.0, 0.0]] * 20, ["walk", "fly"] * 20
    >>> report = evaluation_report(CoalClassifier().fit(X, kinds), X, y=kinds)
    >>> report.cost.mean, report.judged, [reference.name for reference in report.references]
    (0.0, 40, ['always fly', 'the cheapest label of each row'])
    >>> report.total_cost, report.to_values()["coverage"]["ruled_out"]
    (0.0, 0.0)
    """

    rows: int
    judged: int
    abstained: int
    known_costs: int
    cost: MeanCost
    references: tuple[_Reference, ...]
    mistakes: tuple[Mistake, ...]
    labels: tuple[LabelCost, ...]
    calibration: CostCalibration
    coverage: Coverage
    features: dict[str, list[TopFeature]]

    @property
    def total_cost(self) -> float:
        """The cost of all predictions together."""
        return float(sum(one.total_cost for one in self.labels))

    def to_values(self) -> dict[str, Any]:
        """The report as values that JSON can hold."""
        values = asdict(self)
        values["features"] = {label: [one._asdict() for one in found] for label, found in self.features.items()}
        return {**values, "total_cost": self.total_cost, "interval": METHOD}

    def to_json(self) -> str:
        """The report as JSON."""
        return json.dumps(self.to_values(), allow_nan=False)

    def to_html(self, path: str | os.PathLike[str], title: str = "Evaluation") -> None:
        """Write the report as one HTML page with tables and figures; it needs nothing else."""
        from coalface.evaluate.page import evaluation_page
        from coalface.report.html_page import write_page

        write_page(path, evaluation_page(self, title))

    def __repr__(self) -> str:
        return f"EvaluationReport({self})"

    def __str__(self) -> str:
        compared = ", ".join(f"{one.name} {one.cost.mean:.4g}" for one in self.references)
        return (
            f"mean cost {self.cost.mean:.4g} (95 % interval {self.cost.low:.4g} to {self.cost.high:.4g}) on "
            f"{self.judged:,} of {self.rows:,} rows; {compared}"
        )


def evaluation_report(
    learner: CoalClassifier,
    X: Any,
    cost: Any = None,
    y: Any = None,
    candidates: Any = None,
    *,
    feature_names: Sequence[str] | None = None,
) -> EvaluationReport:
    """How good a learner is on rows with known costs: ``cost`` (n, K), NaN where unknown, or true labels ``y``.

    With both, ``y`` names the true labels and ``cost`` gives the costs. Otherwise the true label of a row is its
    cheapest one. ``feature_names`` name the columns of ``X``. The learner does not change.

    >>> from coalface import CoalClassifier, evaluation_report
    >>> learner = CoalClassifier(["walk", "fly"]).tell([[1.0]], [[0.2, 0.9]])
    >>> report = evaluation_report(learner, [[1.0]] * 3, cost=[[0.2, 0.9], [0.5, 0.4], [np.nan, 0.1]])
    >>> report.rows, report.judged, report.cost.mean
    (3, 2, 0.35)
    >>> report.mistakes[0].truth, report.mistakes[0].predicted, round(report.mistakes[0].extra_cost, 9)
    ('fly', 'walk', 0.1)
    """
    judged, n_rows = judged_rows(learner, X, cost, y, candidates)
    scale, classes = scale_of(learner).containing(judged.cost), learner.classes_
    labels = label_texts(classes)
    abstain = abstain_of(learner.abstain)
    possible = classes if abstain is None else with_abstaining(classes, abstain.label)
    ranges = learner.cost_range(X)
    places = judged.places
    found = CostRanges(ranges.lowest[places], ranges.highest[places])
    calibration, coverage = calibration_of(judged, learner.predict_cost(X)[places], found, scale)
    of_labels = label_costs(judged, labels)
    return EvaluationReport(
        rows=n_rows,
        judged=len(judged),
        abstained=int((judged.answers == len(labels)).sum()),
        known_costs=int(np.count_nonzero(~np.isnan(judged.cost))),
        cost=estimated_mean(judged.paid, scale),
        references=_references_for(judged, labels, scale),
        mistakes=mistakes_of(judged, label_texts(possible)),
        labels=of_labels,
        calibration=calibration,
        coverage=coverage,
        features=_features(learner, [one.label for one in of_labels[:_LABELS_WITH_FEATURES]], feature_names),
    )


def _features(learner: CoalClassifier, labels: list[str], names: Sequence[str] | None) -> dict[str, list[TopFeature]]:
    """The most important features of these labels; empty if the model has none."""
    by_text = dict(zip(label_texts(learner.classes_), learner.classes_, strict=True))
    try:
        found = {label: top_features(learner, by_text[label], feature_names=names) for label in labels}
    except InputError:
        return {}
    return {label: features for label, features in found.items() if features}
