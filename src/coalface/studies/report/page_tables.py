"""The tables of a report: formatted cells for the page, and all numbers for CSV files."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from coalface.report import number_format
from coalface.studies.findings import DataFacts
from coalface.studies.learners import Rate, by_size
from coalface.studies.measures import ANSWERS, COSTS, Measure
from coalface.studies.report import outcome_text
from coalface.studies.report.analysis import Analysis
from coalface.studies.report.savings import Interval, MeanSaving, Outcome
from coalface.studies.selection import Choice

RATE_HEADINGS = ("data", "line", "rule", "learning_rate", "median_auc", "permutations", "best", "at_edge")
PUBLISHED_HEADINGS = ("median_auc_published", "best_published")  # where the paper's area is known
SAVING_HEADINGS = (
    "data",
    "line",
    "rule",
    "learning_rate",
    "permutations",
    "test_cost",
    "baseline_test_cost",
    "excess",
    "excess_low",
    "excess_high",
    "counted",
    "asked",
    "needed",
    "baseline_needed",
    "saving",
    "saving_low",
    "saving_high",
    "share_of_draws_that_reach",
)
MEAN_HEADINGS = ("line", "rule", "counted", "mean", "mean_low", "mean_high", "median", "reached", "datasets")
_DATA_HEADINGS = ("data", "labels", "training rows", "test rows", "features", "non-zeros per row", "density")


class Cell(NamedTuple):
    """The text of a table cell, with a small note below it (such as an interval); ``best`` highlights it."""

    text: str
    note: str = ""
    best: bool = False


Row = Sequence[str | Cell]


class _GroupedTable(NamedTuple):
    """A table whose rows are in named groups."""

    headings: Sequence[str]
    groups: Mapping[str, Sequence[Row]]


class Table(NamedTuple):
    """A table without groups."""

    headings: Sequence[str]
    rows: Sequence[Row]


def savings_table(analysis: Analysis) -> _GroupedTable:
    """Every line on every dataset, compared with the baseline."""
    baseline = analysis.findings.baseline
    headings = [
        "line",
        "final test cost",
        f"worse than {baseline}",
        "costs asked",
        "examples asked",
        "costs needed",
        *(_saving_heading(measure) for measure in analysis.measures),
        "draws that reach it",
    ]
    groups = {
        data: [_saving_cells(analysis, outcome) for outcome in analysis.on(data, analysis.findings.lines)]
        for data in analysis.data_names
    }
    return _GroupedTable(headings, groups)


def means_table(analysis: Analysis) -> _GroupedTable:
    """Every line over all datasets, for every measure."""
    groups = {
        _saving_heading(measure): [
            _mean_cells(mean)
            for mean in analysis.means
            if mean.measure == measure and mean.line != analysis.findings.baseline
        ]
        for measure in analysis.measures
    }
    groups = {name: rows for name, rows in groups.items() if rows}
    return _GroupedTable(["line", "mean where reached", "reached on", "median of all datasets"], groups)


def rates_table(analysis: Analysis) -> _GroupedTable:
    """The median AUC of every learning rate, the best one marked."""
    rates = sorted({rate for choice in analysis.choices for rate in choice.rates}, key=by_size)
    groups = {
        facts.name: [_rate_cells(choice, rates) for choice in analysis.choices if choice.data == facts.name]
        for facts in analysis.findings.data
    }
    groups = {name: rows for name, rows in groups.items() if rows}
    return _GroupedTable(["line", "best", *map(outcome_text.rate, rates)], groups)


def data_table(analysis: Analysis) -> Table:
    """The sizes of the datasets, as in the paper's table."""
    return Table(_DATA_HEADINGS, [_data_cells(facts) for facts in analysis.findings.data])


def rate_rows(analysis: Analysis) -> Iterator[list[Any]]:
    """All of ``rates_table`` under ``rate_headings``."""
    columns = len(rate_headings(analysis))
    for choice in analysis.choices:
        areas = (choice.aucs, choice.permutations, choice.aucs_published)
        for rate, auc, n, published in zip(choice.rates, *areas, strict=True):
            best = int(rate == choice.rate)
            row = [choice.data, choice.line, choice.rule, rate, auc, n, best, int(best and choice.at_edge)]
            yield [*row, published, int(rate == choice.rate_published)][:columns]


def rate_headings(analysis: Analysis) -> tuple[str, ...]:
    """``RATE_HEADINGS``, and those of the paper's own area where it is known."""
    known = any(choice.rate_published is not None for choice in analysis.choices)
    return (*RATE_HEADINGS, *PUBLISHED_HEADINGS) if known else RATE_HEADINGS


def saving_rows(analysis: Analysis) -> Iterator[list[Any]]:
    """All of ``savings_table`` under ``SAVING_HEADINGS``, one row per measure."""
    for one in analysis.outcomes:
        ends = [one.test_cost, one.baseline_test_cost, one.excess, *_pair(one.excess_interval)]
        for measure, saving in one.savings.items():
            asked = [saving.asked, saving.needed, saving.baseline_needed, saving.factor, *_pair(saving.interval)]
            yield [
                one.data,
                one.line,
                one.rule,
                one.rate,
                one.permutations,
                *ends,
                measure.name,
                *asked,
                saving.reached,
            ]


def mean_rows(analysis: Analysis) -> Iterator[list[Any]]:
    """All of ``means_table`` under ``MEAN_HEADINGS``."""
    for mean in analysis.means:
        numbers = [mean.mean, *_pair(mean.interval), mean.median, mean.n_reached, mean.n_data]
        yield [mean.line, mean.rule, mean.measure.name, *numbers]


def _pair(interval: Interval) -> tuple[float, float]:
    return interval.low, interval.high


def _saving_heading(measure: Measure) -> str:
    return measure.less.removeprefix("a ") + (" (a label is one)" if measure is ANSWERS else "")


def _saving_cells(analysis: Analysis, outcome: Outcome) -> Row:
    is_baseline = outcome.line == analysis.findings.baseline
    needed = outcome.savings[COSTS].needed
    return [
        outcome.line,
        f"{outcome.test_cost:.4f}",
        "" if is_baseline else Cell(outcome_text.excess(outcome), outcome_text.excess_interval(outcome)),
        number_format.number(outcome.costs_asked),
        number_format.number(outcome.examples_asked),
        number_format.number(round(needed)) if needed == needed else "never",
        *(_one_saving(outcome, measure, is_baseline=is_baseline) for measure in analysis.measures),
        "" if is_baseline else number_format.percent(outcome.savings[COSTS].reached),
    ]


def _one_saving(outcome: Outcome, measure: Measure, *, is_baseline: bool) -> str | Cell:
    if measure not in outcome.savings:
        return ""
    saving = outcome.savings[measure]
    return Cell(
        number_format.factor(saving.factor), "" if is_baseline else outcome_text.factor_interval(saving.interval)
    )


def _mean_cells(mean: MeanSaving) -> Row:
    return [
        mean.line,
        Cell(number_format.factor(mean.mean), outcome_text.factor_interval(mean.interval)),
        f"{mean.n_reached} of {mean.n_data}",
        number_format.factor(mean.median),
    ]


def _rate_cells(choice: Choice, rates: list[Rate]) -> Row:
    aucs = dict(zip(choice.rates, choice.aucs, strict=True))
    cells: list[str | Cell] = [
        choice.line,
        outcome_text.rate(choice.rate) + (" (edge)" if choice.at_edge else ""),
    ]
    for rate in rates:
        text = f"{aucs[rate]:.3f}" if rate in aucs else ""
        cells.append(Cell(text, best=rate == choice.rate))
    return cells


def _data_cells(facts: DataFacts) -> list[str]:
    counts = [facts.n_labels, facts.n_train, facts.n_test, facts.n_features]
    return [
        facts.name,
        *(f"{n:,}" for n in counts),
        f"{facts.nonzeros_per_row:,.1f}",
        number_format.percent(facts.density, digits=3),
    ]
