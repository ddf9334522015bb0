"""Savings: how much less each line asks for than the baseline to get as good as the baseline is at its end.

The target is the baseline's final test cost, the median over permutations. A line needs what it has asked for when
its median curve falls to the target for good. The saving is what the baseline itself needs, divided by that. Intervals
come from resampling the permutations, the same ones for the line and the baseline.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coalface.evaluate import common_axis, last_crossings, read_off
from coalface.studies.findings import (
    COSTS,
    DataFacts,
    Findings,
    FinishedRun,
    Measure,
    applies,
    counted_points,
    measures_for,
    start_of,
)
from coalface.studies.learners import Rate
from coalface.studies.selection import Choice, choose_rates

DRAWS = 1000
_SEED = 20_190_601
_ENDS = (2.5, 97.5)  # percentiles
OURS = "coal"
ABLATIONS = ("all-or-none", "no-domination")


class DrawnInterval(NamedTuple):
    """The range of 95 % of the draws; NaN with a single permutation."""

    low: float
    high: float


@dataclass(frozen=True, eq=False)
class _LineSaving:
    """One line on one dataset, by one measure.

    ``needed`` is NaN and ``factor`` 0 where the target is never reached. ``reached`` is the share of draws that
    reach it; ``draws`` are their factors, 0 for the others.
    """

    asked: float
    needed: float
    baseline_needed: float
    factor: float
    interval: DrawnInterval
    reached: float
    draws: NDArray[np.float64] = field(repr=False)


@dataclass(frozen=True, eq=False)
class LineOutcome:
    """One line on one dataset at its chosen learning rate, compared with the baseline on the same permutations.

    ``excess`` is its median final test cost minus the baseline's. ``savings`` lacks the price if a run of either line
    has none.
    """

    data: str
    line: str
    rule: str
    rate: Rate
    permutations: int
    test_cost: float
    baseline_test_cost: float
    excess: float
    excess_interval: DrawnInterval
    costs_asked: float
    examples_asked: float
    spent: float
    savings: Mapping[Measure, _LineSaving]


@dataclass(frozen=True)
class MeanSaving:
    """One line over all datasets: the geometric mean of its savings on those where it reaches the target.

    ``median`` is over all ``n_data`` datasets; a target that is never reached is a saving of 0 (of two middle values,
    the lower one).
    """

    line: str
    rule: str
    measure: Measure
    mean: float
    interval: DrawnInterval
    median: float
    n_reached: int
    n_data: int


def _outcomes(findings: Findings, choices: Sequence[Choice]) -> tuple[LineOutcome, ...]:
    """Every line on every dataset on which it shares permutations with the baseline, in the order of the study."""
    chosen = {(choice.data, choice.line): choice for choice in choices}
    measures = measures_for(findings)
    found = []
    for place, facts in enumerate(findings.data):
        baseline, needs = chosen.get((facts.name, findings.baseline)), _Needs(facts)
        for line in findings.lines:
            choice = chosen.get((facts.name, line))
            if baseline is None or choice is None:
                continue
            ours, theirs = _paired(choice.runs, baseline.runs)
            if ours:
                # with replacement, the same for all lines of a dataset
                draws = np.random.default_rng([_SEED, place]).integers(len(ours), size=(DRAWS, len(ours)))
                pair = _Pair(ours, theirs, draws, needs)
                runs = (*choice.runs, *baseline.runs)
                found.append(pair.outcome(choice, [one for one in measures if applies(one, facts, runs)]))
    return tuple(found)


def _mean_savings(found: Sequence[LineOutcome], lines: Sequence[str]) -> tuple[MeanSaving, ...]:
    """The mean over datasets for every line and measure; draws that never reach the target are left out.

    >>> _mean_savings([], ["coal"])
    ()
    """
    means = []
    for line in lines:
        mine = [outcome for outcome in found if outcome.line == line]
        for measure in dict.fromkeys(measure for outcome in mine for measure in outcome.savings):
            savings = [outcome.savings[measure] for outcome in mine if measure in outcome.savings]
            factors = np.array([saving.factor for saving in savings])
            draws = np.array([saving.draws for saving in savings])
            single = any(np.isnan(saving.interval.low) for saving in savings)
            means.append(
                MeanSaving(
                    line=line,
                    rule=mine[0].rule,
                    measure=measure,
                    mean=float(_geometric_means(factors[:, None])[0]),
                    interval=_interval(_geometric_means(draws), single=single),
                    median=float(np.percentile(factors, 50, method="inverted_cdf")),
                    n_reached=int((factors > 0).sum()),
                    n_data=len(factors),
                )
            )
    return tuple(means)


def _geometric_means(factors: NDArray[np.float64]) -> NDArray[np.float64]:
    """The geometric mean of each column's factors above 0; 0 for a column without any.

    >>> _geometric_means(np.array([[2.0, 0.0], [8.0, 0.0]])).round(9).tolist()
    [4.0, 0.0]
    """
    counted = factors > 0
    logs = np.log2(np.where(counted, factors, 1.0)).sum(axis=0)
    n = counted.sum(axis=0)
    return np.where(n > 0, 2 ** (logs / np.maximum(n, 1)), 0.0)


def medians_of_draws(values: NDArray[np.float64], draws: NDArray[np.int64]) -> NDArray[np.float64]:
    """The median over each draw of rows (draws, runs), column by column: (draws, columns).

    Equal to ``np.median(values[draws], axis=1)`` without that large array: each column is sorted once, and the median
    of a draw is found by counting how often it drew each row.

    >>> medians_of_draws(np.array([[1.0], [2.0], [9.0]]), np.array([[0, 0, 2], [1, 2, 2]])).tolist()
    [[1.0], [9.0]]
    """
    n_draws, n = draws.shape
    counts = np.zeros((n_draws, len(values)), np.int32 if n > 32_000 else np.int16)
    np.add.at(counts, (np.arange(n_draws)[:, None], draws), 1)
    medians = np.empty((n_draws, values.shape[1]))
    for column, order in enumerate(np.argsort(values, axis=0, kind="stable").T):
        below = np.cumsum(counts[:, order], axis=1, dtype=counts.dtype)
        in_order = values[order, column]
        middle = [in_order[np.argmax(below > rank, axis=1)] for rank in ((n - 1) // 2, n // 2)]
        medians[:, column] = (middle[0] + middle[1]) / 2
    return medians


_Need = tuple[float, NDArray[np.float64]]  # what all runs need, and what each draw needs


class _Needs:
    """What runs on one dataset need for a target; caches the baseline's, which every line is compared with."""

    def __init__(self, facts: DataFacts) -> None:
        self.facts = facts
        self.cached: dict[tuple[Measure, tuple[int, ...]], _Need] = {}

    def of(self, pair: "_Pair", runs: Sequence[FinishedRun], measure: Measure) -> _Need:
        points = counted_points(runs, measure, self.facts)
        asked = common_axis(points, measure.axis, start_of(points, measure))
        values = read_off(points, measure.axis, asked)
        every = last_crossings(asked, np.median(values, axis=0)[None, :], np.array([pair.target]))
        return float(every[0]), last_crossings(asked, medians_of_draws(values, pair.draws), pair.drawn_target)

    def of_baseline(self, pair: "_Pair", measure: Measure) -> _Need:
        key = measure, tuple(run.permutation for run in pair.theirs)
        if key not in self.cached:
            self.cached[key] = self.of(pair, pair.theirs, measure)
        return self.cached[key]


class _Pair:
    """A line and the baseline on the same permutations, and draws of these permutations."""

    def __init__(
        self, ours: Sequence[FinishedRun], theirs: Sequence[FinishedRun], draws: NDArray[np.int64], needs: _Needs
    ) -> None:
        self.ours, self.theirs, self.draws, self.needs = ours, theirs, draws, needs
        finals = np.array([[run.test_cost for run in ours], [run.test_cost for run in theirs]]).T
        self.test_cost, self.target = (float(median) for median in np.median(finals, axis=0))
        drawn = medians_of_draws(finals, draws)
        self.drawn_test_cost, self.drawn_target = drawn[:, 0], drawn[:, 1]

    def outcome(self, choice: Choice, measures: Sequence[Measure]) -> LineOutcome:
        return LineOutcome(
            data=choice.data,
            line=choice.line,
            rule=choice.rule,
            rate=choice.rate,
            permutations=len(self.ours),
            test_cost=self.test_cost,
            baseline_test_cost=self.target,
            excess=self.test_cost - self.target,
            excess_interval=_interval(self.drawn_test_cost - self.drawn_target, single=len(self.ours) == 1),
            costs_asked=float(np.median([run.costs_queried for run in self.ours])),
            examples_asked=float(np.median([run.examples_queried for run in self.ours])),
            spent=float(np.median([run.spent for run in self.ours])),
            savings={measure: self._saving(measure) for measure in measures},
        )

    def _saving(self, measure: Measure) -> _LineSaving:
        needed, drawn = self.needs.of(self, self.ours, measure)
        baseline_needed, baseline_drawn = self.needs.of_baseline(self, measure)
        factors = np.nan_to_num(baseline_drawn / drawn, nan=0.0)
        points = counted_points(self.ours, measure, self.needs.facts)
        return _LineSaving(
            asked=float(np.median([getattr(run, measure.axis)[-1] for run in points])),
            needed=needed,
            baseline_needed=baseline_needed,
            factor=0.0 if np.isnan(needed) else baseline_needed / needed,
            interval=_interval(factors, single=len(self.ours) == 1),
            reached=float(np.mean(factors > 0)),
            draws=factors,
        )


def _paired(ours: Sequence[FinishedRun], theirs: Sequence[FinishedRun]) -> tuple[list[FinishedRun], list[FinishedRun]]:
    """The runs of two lines on the permutations that both have, in the same order."""
    by_permutation = {run.permutation: run for run in theirs}
    both = [run for run in ours if run.permutation in by_permutation]
    return both, [by_permutation[run.permutation] for run in both]


def _interval(draws: NDArray[np.float64], *, single: bool) -> DrawnInterval:
    """The percentiles of the draws, without interpolation: nothing lies between never (0) and the smallest factor."""
    if single:
        return DrawnInterval(np.nan, np.nan)
    low, high = np.percentile(draws, _ENDS, method="inverted_cdf")
    return DrawnInterval(float(low), float(high))


@dataclass(frozen=True, eq=False)
class Analysis:
    """The findings, the chosen learning rates, and the savings of every line on every dataset and on average."""

    findings: Findings
    choices: tuple[Choice, ...]
    outcomes: tuple[LineOutcome, ...]
    means: tuple[MeanSaving, ...]

    @classmethod
    def of(cls, findings: Findings) -> "Analysis":
        """The analysis of these findings."""
        choices = choose_rates(findings)
        found = _outcomes(findings, choices)
        return cls(findings, choices, found, _mean_savings(found, findings.lines))

    @cached_property
    def rules(self) -> dict[str, str]:
        """The rule of every line that has runs, in the order of the study."""
        rules = {choice.line: choice.rule for choice in self.choices}
        return {line: rules[line] for line in self.findings.lines if line in rules}

    @cached_property
    def measures(self) -> tuple[Measure, ...]:
        """The measures that apply to this study."""
        return measures_for(self.findings)

    @property
    def coal_lines(self) -> tuple[str, ...]:
        """The lines with the coal rule, except the baseline."""
        return tuple(line for line in self._compared if self.rules[line] == OURS)

    @property
    def ablation_lines(self) -> tuple[str, ...]:
        """The lines with only half of the coal rule."""
        return tuple(line for line in self._compared if self.rules[line] in ABLATIONS)

    @property
    def main_lines(self) -> tuple[str, ...]:
        """All lines except the ablations, which have a figure of their own."""
        return tuple(line for line in self.rules if line not in self.ablation_lines)

    @property
    def _compared(self) -> tuple[str, ...]:
        return tuple(line for line in self.rules if line != self.findings.baseline)

    @property
    def shown_lines(self) -> tuple[str, ...]:
        """The lines of the headline: the coal lines, or all except the baseline if there are none."""
        return self.coal_lines or self._compared

    def on(self, data: str, lines: Sequence[str]) -> list[LineOutcome]:
        """The outcomes of these lines on one dataset."""
        return [outcome for outcome in self.outcomes if outcome.data == data and outcome.line in lines]

    def best(self, data: str, lines: Sequence[str], measure: Measure = COSTS) -> LineOutcome | None:
        """The line that saves most on a dataset; the one with the smallest excess if none reaches the target."""
        here = [outcome for outcome in self.on(data, lines) if measure in outcome.savings]
        return max(here, key=lambda one: (one.savings[measure].factor, -one.excess), default=None)

    @cached_property
    def data_names(self) -> tuple[str, ...]:
        """The datasets with at least one comparison."""
        found = {outcome.data for outcome in self.outcomes}
        return tuple(facts.name for facts in self.findings.data if facts.name in found)

    def mean(self, line: str, measure: Measure = COSTS) -> MeanSaving | None:
        """A line's mean over the datasets."""
        return next((mean for mean in self.means if mean.line == line and mean.measure == measure), None)

    def best_mean(self, measure: Measure = COSTS) -> MeanSaving | None:
        """The best of our means: reached on most datasets, then the largest."""
        means = [mean for line in self.shown_lines if (mean := self.mean(line, measure)) is not None]
        return max(means, key=lambda mean: (mean.n_reached, mean.mean), default=None)

    def baseline_asked(self, outcome: LineOutcome) -> float:
        """The median number of costs that the baseline asked for on the permutations of a line."""
        runs = {choice.line: choice.runs for choice in self.choices if choice.data == outcome.data}
        permutations = {run.permutation for run in runs[outcome.line]}
        theirs = [run for run in runs[self.findings.baseline] if run.permutation in permutations]
        return float(np.median([run.costs_queried for run in theirs]))

    def seconds_per_run(self, line: str) -> float:
        """The median time of a line's runs at the chosen learning rates; NaN if unknown."""
        runs = [run for choice in self.choices if choice.line == line for run in choice.runs]
        return float(np.median([run.seconds for run in runs]))
