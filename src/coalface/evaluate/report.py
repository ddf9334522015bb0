"""``evaluation_report``: how good a trained learner is on data with known costs."""

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from coalface.data.costs import CostScale
from coalface.data.labels import label_texts, with_abstaining
from coalface.errors import InputError
from coalface.evaluate.breakdown import LabelCost, Mistake, label_costs, mistakes_of
from coalface.evaluate.calibration import Calibration, Coverage, calibration_of
from coalface.evaluate.estimate import METHOD, Estimate, estimated_mean
from coalface.evaluate.judged import judged_rows
from coalface.evaluate.references import Reference, references_for
from coalface.learner.estimator import CostClassifier
from coalface.learner.top_features import TopFeature
from coalface.rounds.queries import CostRanges

_LABELS_WITH_FEATURES = 12


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
    cost: Estimate
    references: tuple[Reference, ...]
    mistakes: tuple[Mistake, ...]
    labels: tuple[LabelCost, ...]
    calibration: Calibration
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
    learner: CostClassifier,
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
    scale, classes = CostScale.of(learner.cost_bounds), learner.classes_
    labels = label_texts(classes)
    possible = classes if learner.abstain_cost is None else with_abstaining(classes, learner.abstain_label)
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
        references=references_for(judged, labels, scale),
        mistakes=mistakes_of(judged, label_texts(possible)),
        labels=of_labels,
        calibration=calibration,
        coverage=coverage,
        features=_features(learner, [one.label for one in of_labels[:_LABELS_WITH_FEATURES]], feature_names),
    )


def _features(learner: CostClassifier, labels: list[str], names: Sequence[str] | None) -> dict[str, list[TopFeature]]:
    """The most important features of these labels; empty if the model has none."""
    by_text = dict(zip(label_texts(learner.classes_), learner.classes_, strict=True))
    try:
        found = {label: learner.top_features(by_text[label], feature_names=names) for label in labels}
    except InputError:
        return {}
    return {label: features for label, features in found.items() if features}
