"""How far annotators agree, corrected for chance, and the gates of judges, which are checked against people.

The gate of a judge is open while the lower end of the interval of Krippendorff's alpha is at least the judge's gate,
with at least ``FEWEST`` examples that people answered too. The log records which examples were held back and when they
were learned. So a replay gives the same model, whatever the gate would say later.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from coalface.data import Agreement
from coalface.data.agreement import agreement
from coalface.desk.service.counters import Counters
from coalface.errors import counted

_OFTEN = 100  # with many comparisons, computed again after 1 % more
FEWEST = 20  # examples that a judge and people answered before its gate can open
_Units = Mapping[tuple[int, str], Mapping[str, float]]


@dataclass(frozen=True)
class CheckedJudge:
    """What is known about an annotator beside people: the agreement, the gate of a judge, and answers held back."""

    name: str
    judge: bool
    gate: float
    open: bool
    held_back: int  # examples
    agreement: Agreement

    @classmethod
    def of(cls, counters: Counters, name: str) -> "CheckedJudge":
        """What is known about an annotator."""
        gate, gates = counters.judges.get(name, 0.0), Gates()
        held = sum(name in judges for judges in counters.held_back.values())
        opened = name not in gates.closed(counters)
        return cls(name, name in counters.judges, gate, opened, held, gates.agreement(counters, name))

    def in_words(self) -> str:
        """The agreement and what follows from it.

        >>> CheckedJudge("gpt", True, 0.6, False, 12, Agreement(0.71, 0.52, 0.86, units=60, examples=24)).in_words()
        'alpha 0.71 (0.52 to 0.86) on 24 examples; the gate of 0.6 is closed, 12 examples are held back'
        """
        alpha, low, high, _, examples = self.agreement
        text = f"alpha {alpha:.2f} ({low:.2f} to {high:.2f}) on {counted(examples, 'example')}"
        if not math.isfinite(alpha):
            text = f"nothing to compare yet on {counted(examples, 'example')}"
        if self.gate:
            text += f"; the gate of {self.gate:g} is {'open' if self.open else 'closed'}"
        if self.held_back:
            text += f", {counted(self.held_back, 'example')} {'is' if self.held_back == 1 else 'are'} held back"
        return text

    def plain(self) -> dict[str, Any]:
        """The same as JSON values; numbers that do not exist are null."""
        numbers = self.agreement._asdict().items()
        found = {name: value if math.isfinite(value) else None for name, value in numbers}
        return {name: value for name, value in vars(self).items() if name != "agreement"} | found


def all_judged(counters: Counters) -> list[CheckedJudge]:
    """The agreement of every annotator, judges first."""
    names = [name for name, worker in counters.workers.items() if worker.answers]
    return sorted((CheckedJudge.of(counters, name) for name in names), key=lambda found: (not found.judge, found.name))


class Gates:
    """The gates of a project's judges; what they say is computed again when new answers can be compared."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[Counters, int, Agreement]] = {}

    def agreement(self, counters: Counters, name: str) -> Agreement:
        """How far an annotator agrees with people."""
        known, now = self._known.get(name), counters.comparisons
        if known is None or known[0] is not counters or now - known[1] > known[1] // _OFTEN:
            known = counters, now, _alpha(counters.beside_people(name))
            self._known[name] = known
        return known[2]

    def closed(self, counters: Counters) -> frozenset[str]:
        """The judges whose gate is closed."""
        judges = counters.judges.items()
        return frozenset(name for name, gate in judges if gate > 0.0 and not self._is_open(counters, name))

    def _is_open(self, counters: Counters, name: str) -> bool:
        found = self.agreement(counters, name)
        return found.examples >= FEWEST and found.low >= counters.judges[name]


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

    @classmethod
    def of(
        cls, counters: Counters, labels: list[str], bounds: tuple[float, float], metric: str = "interval"
    ) -> "Agreements":
        """How far annotators agree.

        "interval" weighs a difference of costs by its square, "ordinal" by the answers between the two, "nominal"
        counts equal costs only. An annotator is compared with the people who answered the same.
        """
        names = sorted(name for name, worker in counters.workers.items() if worker.answers)
        return cls(
            metric=metric,
            overall=_row("all", _alpha(counters.shared_costs(), metric)),
            labels=label_agreements(counters, labels, metric),
            annotators=[
                _row(name, _alpha(counters.beside_people(name), metric), *_gold_error(counters, name, bounds))
                for name in names
            ],
        )


def label_agreements(counters: Counters, labels: list[str], metric: str = "interval") -> list[AgreementRow]:
    """How far all annotators agree on each label, judges and people alike."""
    units = counters.shared_costs()
    by_label = {label: {what: costs for what, costs in units.items() if what[1] == label} for label in labels}
    return [_row(label, _alpha(found, metric)) for label, found in by_label.items()]


def _gold_error(counters: Counters, name: str, bounds: tuple[float, float]) -> tuple[float | None, int]:
    """The mean distance of an annotator's costs from gold, as a share of the scale, and the number of these costs."""
    apart = [
        abs(given[label][name] - right) / (bounds[1] - bounds[0])
        for example, costs in counters.review.gold.items()
        for given in [counters.costs_about(example, list(costs))]
        for label, right in costs.items()
        if name in given.get(label, {})
    ]
    return (float(np.mean(apart)), len(apart)) if apart else (None, 0)


def _alpha(units: _Units, metric: str = "interval") -> Agreement:
    """The agreement of those who gave a cost of the same label on the same example, drawn by example."""
    values = np.full((len(units), max(map(len, units.values()), default=2)), np.nan)
    for row, costs in zip(values, units.values(), strict=True):
        row[: len(costs)] = list(costs.values())
    return agreement(values, np.array([example for example, _ in units], np.int64), metric)


def _row(name: str, found: Agreement, gold: float | None = None, gold_costs: int = 0) -> AgreementRow:
    alpha, low, high = (value if math.isfinite(value) else None for value in found[:3])
    return AgreementRow(name, alpha, low, high, found.units, found.examples, gold, gold_costs)
