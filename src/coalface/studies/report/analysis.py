"""The analysis of a study for its report, computed once from the findings."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from coalface.studies.findings import Findings
from coalface.studies.measures import COSTS, Measure, measures_for
from coalface.studies.report.savings import MeanSaving, Outcome, mean_savings, outcomes
from coalface.studies.selection import Choice, choose_rates

OURS = "coal"
ABLATIONS = ("all-or-none", "no-domination")


@dataclass(frozen=True, eq=False)
class Analysis:
    """The findings, the chosen learning rates, and the savings of every line on every dataset and on average."""

    findings: Findings
    choices: tuple[Choice, ...]
    outcomes: tuple[Outcome, ...]
    means: tuple[MeanSaving, ...]

    @classmethod
    def of(cls, findings: Findings) -> "Analysis":
        """The analysis of these findings."""
        choices = choose_rates(findings)
        found = outcomes(findings, choices)
        return cls(findings, choices, found, mean_savings(found, findings.lines))

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

    def on(self, data: str, lines: Sequence[str]) -> list[Outcome]:
        """The outcomes of these lines on one dataset."""
        return [outcome for outcome in self.outcomes if outcome.data == data and outcome.line in lines]

    def best(self, data: str, lines: Sequence[str], measure: Measure = COSTS) -> Outcome | None:
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

    def baseline_asked(self, outcome: Outcome) -> float:
        """The median number of costs that the baseline asked for on the permutations of a line."""
        runs = {choice.line: choice.runs for choice in self.choices if choice.data == outcome.data}
        permutations = {run.permutation for run in runs[outcome.line]}
        theirs = [run for run in runs[self.findings.baseline] if run.permutation in permutations]
        return float(np.median([run.costs_queried for run in theirs]))

    def seconds_per_run(self, line: str) -> float:
        """The median time of a line's runs at the chosen learning rates; NaN if unknown."""
        runs = [run for choice in self.choices if choice.line == line for run in choice.runs]
        return float(np.median([run.seconds for run in runs]))
