"""The choice of learning rates: for each dataset and line, the one with the smallest median AUC over permutations.

The paper chooses the rate with the largest median of its own area, ``Curve.auc_published``; that choice is named beside
ours.
Some permutations are harder than others, so rates are compared only on those that all rates of a line have.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from coalface.studies.findings import Findings, FinishedRun
from coalface.studies.learners import AUTO, Rate, by_size


@dataclass(frozen=True)
class Choice:
    """The learning rate of one line on one dataset, and the rates it was chosen from.

    ``rates`` are increasing, "auto" last; ``permutations`` says how many each has. ``aucs`` are their median AUCs over
    the ``shared`` permutations, which every rate has; if there are none, over all that a rate has. ``runs`` are those
    at the chosen ``rate``, by permutation. ``aucs_published`` and ``rate_published`` are the same by the paper's area,
    of which more is better; the rate is None where the area is unknown.
    """

    data: str
    line: str
    rule: str
    rates: tuple[Rate, ...]
    aucs: tuple[float, ...]
    permutations: tuple[int, ...]
    shared: int
    rate: Rate
    runs: tuple[FinishedRun, ...]
    aucs_published: tuple[float, ...]
    rate_published: Rate | None

    @property
    def at_edge(self) -> bool:
        """Whether the best rate is the smallest or the largest one tried, so that a better one may lie outside."""
        numbers = [rate for rate in self.rates if rate != AUTO]
        return len(numbers) > 1 and self.rate in (numbers[0], numbers[-1])

    @property
    def uneven(self) -> bool:
        """Whether one rate has runs on permutations that another does not have."""
        return self.shared < max(self.permutations)


def choose_rates(findings: Findings) -> tuple[Choice, ...]:
    """A choice for every dataset and line that has runs, in the order of the study.

    Of two rates with the same median AUC, the smaller one is chosen.
    """
    groups: dict[tuple[str, str], list[FinishedRun]] = {}
    for run in findings.runs:
        groups.setdefault((run.data, run.line), []).append(run)
    keys = ((data.name, line) for data in findings.data for line in findings.lines)
    return tuple(_choice(groups[key]) for key in keys if key in groups)


def _best_rate(rates: Sequence[Rate], aucs: Sequence[float]) -> Rate:
    """The rate with the smallest AUC; the smaller rate if two are equal.

    >>> _best_rate([0.1, 0.5, 1.0], [2.0, 1.5, 1.5])
    0.5
    """
    return min(zip(rates, aucs, strict=True), key=lambda pair: (math.isnan(pair[1]), pair[1], by_size(pair[0])))[0]


def _choice(runs: Sequence[FinishedRun]) -> Choice:
    by_rate = _by_rate(runs)
    shared = set.intersection(*({run.permutation for run in group} for group in by_rate.values()))
    aucs, published = (
        tuple(_median(group, shared, field) for group in by_rate.values()) for field in ("auc", "auc_published")
    )
    rate = _best_rate(tuple(by_rate), aucs)
    known = not any(map(math.isnan, published))
    return Choice(
        data=runs[0].data,
        line=runs[0].line,
        rule=runs[0].rule,
        rates=tuple(by_rate),
        aucs=aucs,
        permutations=tuple(len(group) for group in by_rate.values()),
        shared=len(shared),
        rate=rate,
        runs=tuple(sorted(by_rate[rate], key=lambda run: run.permutation)),
        aucs_published=published,
        rate_published=_best_rate(tuple(by_rate), [-area for area in published]) if known else None,
    )


def _median(runs: Sequence[FinishedRun], shared: set[int], field: str) -> float:
    return float(np.median([getattr(run, field) for run in runs if run.permutation in shared or not shared]))


def _by_rate(runs: Iterable[FinishedRun]) -> dict[Rate, list[FinishedRun]]:
    groups: dict[Rate, list[FinishedRun]] = {}
    for run in sorted(runs, key=lambda run: by_size(run.learning_rate)):
        groups.setdefault(run.learning_rate, []).append(run)
    return groups
