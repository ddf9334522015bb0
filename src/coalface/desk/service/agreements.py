"""How far annotators agree, corrected for chance: overall, by label and by annotator, with gold questions beside."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from coalface.data.agreement import Agreement, agreement
from coalface.desk.service.counters import Counters
from coalface.desk.service.gates import agreement_with_people

Units = Mapping[tuple[int, str], Mapping[str, float]]


@dataclass(frozen=True)
class AgreementRow:
    """Krippendorff's alpha with its 95 % interval; None where there is nothing to compare or all costs are equal.

    ``gold`` is the mean distance from the costs of gold questions, as a share of the scale, over so many costs.
    """

    name: str
    alpha: float | None
    low: float | None
    high: float | None
    costs: int
    examples: int
    gold: float | None = None
    gold_costs: int = 0


@dataclass(frozen=True)
class Agreements:
    """The agreement of all annotators, by label and by annotator."""

    metric: str
    overall: AgreementRow
    labels: list[AgreementRow]
    annotators: list[AgreementRow]


def agreements(
    counters: Counters, labels: list[str], bounds: tuple[float, float], metric: str = "interval"
) -> Agreements:
    """How far annotators agree.

    "interval" weighs a difference of costs by its square, "ordinal" by the answers between the two, "nominal" counts
    equal costs only. An annotator is compared with the people who answered the same.
    """
    names = sorted(name for name, worker in counters.workers.items() if worker.answers)
    return Agreements(
        metric=metric,
        overall=_row("all", _alpha(counters.shared_costs(), metric)),
        labels=label_agreements(counters, labels, metric),
        annotators=[
            _row(name, agreement_with_people(counters, name, metric), *gold_error(counters, name, bounds))
            for name in names
        ],
    )


def label_agreements(counters: Counters, labels: list[str], metric: str = "interval") -> list[AgreementRow]:
    """How far all annotators agree on each label, judges and people alike."""
    units = counters.shared_costs()
    by_label = {label: {what: costs for what, costs in units.items() if what[1] == label} for label in labels}
    return [_row(label, _alpha(found, metric)) for label, found in by_label.items()]


def gold_error(counters: Counters, name: str, bounds: tuple[float, float]) -> tuple[float | None, int]:
    """The mean distance of an annotator's costs from gold, as a share of the scale, and the number of these costs."""
    apart = [
        abs(given[label][name] - right) / (bounds[1] - bounds[0])
        for example, costs in counters.review.gold.items()
        for given in [counters.costs_about(example, list(costs))]
        for label, right in costs.items()
        if name in given.get(label, {})
    ]
    return (float(np.mean(apart)), len(apart)) if apart else (None, 0)


def _alpha(units: Units, metric: str) -> Agreement:
    names = {who: column for column, who in enumerate(sorted({who for costs in units.values() for who in costs}))}
    values = np.full((len(units), max(len(names), 2)), np.nan)
    for row, costs in zip(values, units.values(), strict=True):
        for who, cost in costs.items():
            row[names[who]] = cost
    return agreement(values, np.array([example for example, _ in units], np.int64), metric)


def _row(name: str, found: Agreement, gold: float | None = None, gold_costs: int = 0) -> AgreementRow:
    alpha, low, high = (value if math.isfinite(value) else None for value in found[:3])
    return AgreementRow(name, alpha, low, high, found.units, found.examples, gold, gold_costs)
