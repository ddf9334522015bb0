"""Which learning rate each line gets: on each dataset the one with the least median AUC over the permutations.

Some permutations are harder than others, so only those that all rates of a line have are compared.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from coalface.studies.findings import Findings, Run
from coalface.studies.rates import AUTO, Rate, by_size


@dataclass(frozen=True)
class Choice:
    """The learning rate of one line on one dataset, and what it was chosen from.

    ``rates`` grow, a word being the last, and each has so many ``permutations``. ``aucs`` are their median AUCs over
    the ``shared`` ones, which every rate has; over what each has if they share none. ``runs`` are those at the chosen
    ``rate``, by permutation.
    """

    data: str
    line: str
    rule: str
    rates: tuple[Rate, ...]
    aucs: tuple[float, ...]
    permutations: tuple[int, ...]
    shared: int
    rate: Rate
    runs: tuple[Run, ...]

    @property
    def at_edge(self) -> bool:
        """Whether the best rate is the least or the largest one tried, so that a better one may lie outside."""
        numbers = [rate for rate in self.rates if rate != AUTO]
        return len(numbers) > 1 and self.rate in (numbers[0], numbers[-1])

    @property
    def uneven(self) -> bool:
        """Whether some rate has runs on permutations that another one does not have."""
        return self.shared < max(self.permutations)


def choose_rates(findings: Findings) -> tuple[Choice, ...]:
    """A choice for every dataset and line that has runs, in the order of the study.

    Of two rates with the same median AUC the smaller one is taken.
    """
    groups: dict[tuple[str, str], list[Run]] = {}
    for run in findings.runs:
        groups.setdefault((run.data, run.line), []).append(run)
    keys = ((data.name, line) for data in findings.data for line in findings.lines)
    return tuple(_choice(groups[key]) for key in keys if key in groups)


def best_rate(rates: Sequence[Rate], aucs: Sequence[float]) -> Rate:
    """The rate with the least AUC, the smaller one of several.

    >>> best_rate([0.1, 0.5, 1.0], [2.0, 1.5, 1.5])
    0.5
    """
    return min(zip(rates, aucs, strict=True), key=lambda pair: (math.isnan(pair[1]), pair[1], by_size(pair[0])))[0]


def _choice(runs: Sequence[Run]) -> Choice:
    by_rate = _by_rate(runs)
    shared = set.intersection(*({run.permutation for run in group} for group in by_rate.values()))
    aucs = tuple(_median_auc(group, shared) for group in by_rate.values())
    rate = best_rate(tuple(by_rate), aucs)
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
    )


def _median_auc(runs: Sequence[Run], shared: set[int]) -> float:
    return float(np.median([run.auc for run in runs if run.permutation in shared or not shared]))


def _by_rate(runs: Iterable[Run]) -> dict[Rate, list[Run]]:
    groups: dict[Rate, list[Run]] = {}
    for run in sorted(runs, key=lambda run: by_size(run.learning_rate)):
        groups.setdefault(run.learning_rate, []).append(run)
    return groups
