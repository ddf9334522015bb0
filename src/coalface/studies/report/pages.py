"""Write the report of a study from its tables alone: one page, its figures, and their numbers.

::

    report.html                       everything on one page
    figures/NAME.svg, NAME.csv        every figure alone, and its numbers
    tables/best_rates.csv, savings.csv, mean_savings.csv
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from coalface.errors import counted
from coalface.files import atomic_write
from coalface.report import html_page, number_format, package_versions, standalone
from coalface.studies.findings import ANSWERS, COSTS, PRICE, DataFacts, Measure, applies
from coalface.studies.learners import Rate, by_size
from coalface.studies.report import outcome_text
from coalface.studies.report.figure_data import NAMES, StudyFigure, figures_for
from coalface.studies.report.headline import facts_of, no_losses_text, where_coal_loses
from coalface.studies.report.savings import DRAWS, Analysis, LineOutcome, MeanSaving
from coalface.studies.selection import Choice
from coalface.studies.tables import read_tables, write_csv

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
_ENOUGH_PERMUTATIONS = 5  # for a meaningful interval


class TableCell(NamedTuple):
    """The text of a table cell, with a small note below it (such as an interval); ``best`` highlights it."""

    text: str
    note: str = ""
    best: bool = False


Row = Sequence[str | TableCell]


class _GroupedTable(NamedTuple):
    """A table whose rows are in named groups."""

    headings: Sequence[str]
    groups: Mapping[str, Sequence[Row]]


class _PlainTable(NamedTuple):
    """A table without groups."""

    headings: Sequence[str]
    rows: Sequence[Row]


def _savings_table(analysis: Analysis) -> _GroupedTable:
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


def _means_table(analysis: Analysis) -> _GroupedTable:
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


def _rates_table(analysis: Analysis) -> _GroupedTable:
    """The median AUC of every learning rate, the best one marked."""
    rates = sorted({rate for choice in analysis.choices for rate in choice.rates}, key=by_size)
    groups = {
        facts.name: [_rate_cells(choice, rates) for choice in analysis.choices if choice.data == facts.name]
        for facts in analysis.findings.data
    }
    groups = {name: rows for name, rows in groups.items() if rows}
    return _GroupedTable(["line", "best", *map(outcome_text.rate, rates)], groups)


def _data_table(analysis: Analysis) -> _PlainTable:
    """The sizes of the datasets, as in the paper's table."""
    return _PlainTable(_DATA_HEADINGS, [_data_cells(facts) for facts in analysis.findings.data])


def _rate_rows(analysis: Analysis) -> Iterator[list[Any]]:
    """All of ``_rates_table`` under ``_rate_headings``."""
    columns = len(_rate_headings(analysis))
    for choice in analysis.choices:
        areas = (choice.aucs, choice.permutations, choice.aucs_published)
        for rate, auc, n, published in zip(choice.rates, *areas, strict=True):
            best = int(rate == choice.rate)
            row = [choice.data, choice.line, choice.rule, rate, auc, n, best, int(best and choice.at_edge)]
            yield [*row, published, int(rate == choice.rate_published)][:columns]


def _rate_headings(analysis: Analysis) -> tuple[str, ...]:
    """``RATE_HEADINGS``, and those of the paper's own area where it is known."""
    known = any(choice.rate_published is not None for choice in analysis.choices)
    return (*RATE_HEADINGS, *PUBLISHED_HEADINGS) if known else RATE_HEADINGS


def _saving_rows(analysis: Analysis) -> Iterator[list[Any]]:
    """All of ``_savings_table`` under ``SAVING_HEADINGS``, one row per measure."""
    for one in analysis.outcomes:
        ends = [one.test_cost, one.baseline_test_cost, one.excess, *one.excess_interval]
        for measure, saving in one.savings.items():
            asked = [saving.asked, saving.needed, saving.baseline_needed, saving.factor, *saving.interval]
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


def _mean_rows(analysis: Analysis) -> Iterator[list[Any]]:
    """All of ``_means_table`` under ``MEAN_HEADINGS``."""
    for mean in analysis.means:
        numbers = [mean.mean, *mean.interval, mean.median, mean.n_reached, mean.n_data]
        yield [mean.line, mean.rule, mean.measure.name, *numbers]


def _saving_heading(measure: Measure) -> str:
    return measure.less.removeprefix("a ") + (" (a label is one)" if measure is ANSWERS else "")


def _saving_cells(analysis: Analysis, outcome: LineOutcome) -> Row:
    is_baseline = outcome.line == analysis.findings.baseline
    needed = outcome.savings[COSTS].needed
    return [
        outcome.line,
        f"{outcome.test_cost:.4f}",
        "" if is_baseline else TableCell(outcome_text.excess(outcome), outcome_text.excess_interval(outcome)),
        number_format.number(outcome.costs_asked),
        number_format.number(outcome.examples_asked),
        number_format.number(round(needed)) if needed == needed else "never",
        *(_one_saving(outcome, measure, is_baseline=is_baseline) for measure in analysis.measures),
        "" if is_baseline else number_format.percent(outcome.savings[COSTS].reached),
    ]


def _one_saving(outcome: LineOutcome, measure: Measure, *, is_baseline: bool) -> str | TableCell:
    if measure not in outcome.savings:
        return ""
    saving = outcome.savings[measure]
    return TableCell(
        number_format.factor(saving.factor), "" if is_baseline else outcome_text.factor_interval(saving.interval)
    )


def _mean_cells(mean: MeanSaving) -> Row:
    return [
        mean.line,
        TableCell(number_format.factor(mean.mean), outcome_text.factor_interval(mean.interval)),
        f"{mean.n_reached} of {mean.n_data}",
        number_format.factor(mean.median),
    ]


def _rate_cells(choice: Choice, rates: list[Rate]) -> Row:
    aucs = dict(zip(choice.rates, choice.aucs, strict=True))
    cells: list[str | TableCell] = [
        choice.line,
        outcome_text.rate(choice.rate) + (" (edge)" if choice.at_edge else ""),
    ]
    for rate in rates:
        text = f"{aucs[rate]:.3f}" if rate in aucs else ""
        cells.append(TableCell(text, best=rate == choice.rate))
    return cells


def _data_cells(facts: DataFacts) -> list[str]:
    counts = [facts.n_labels, facts.n_train, facts.n_test, facts.n_features]
    return [
        facts.name,
        *(f"{n:,}" for n in counts),
        f"{facts.nonzeros_per_row:,.1f}",
        number_format.percent(facts.density, digits=3),
    ]


def write_report(folder: str | os.PathLike[str]) -> Path:
    """Write the report beside the tables in the folder, and return the path of its page.

    A FileFormatError names a missing or damaged table; nothing is written then.
    """
    target = Path(folder)
    analysis = Analysis.of(read_tables(target))
    figures = [(figure, figure.svg()) for figure in figures_for(analysis)]
    html = _study_page(analysis, figures)
    _write_figures(target / "figures", figures)
    _write_tables(target / "tables", analysis)
    html_page.write_page(target / "report.html", html)
    return target / "report.html"


def _study_page(analysis: Analysis, figures: Sequence[tuple[StudyFigure, str]]) -> str:
    """The page as HTML text."""
    findings, choices = analysis.findings, analysis.choices
    return html_page.page(
        "study.html",
        findings.title or findings.name,
        " ".join(findings.text.split()),
        footer=_footer(analysis),
        findings=findings,
        notices=list(_notices(analysis)),
        facts=facts_of(analysis),
        figures=figures,
        draws=DRAWS,
        savings=_savings_table(analysis) if analysis.outcomes else None,
        unpriced=_lines_without_prices(analysis),
        means=_means_table(analysis) if len(analysis.data_names) > 1 else None,
        losses=where_coal_loses(analysis),
        no_losses=no_losses_text(analysis),
        rates=_rates_table(analysis),
        at_edge=[f"{one.line} on {one.data} ({outcome_text.rate(one.rate)})" for one in choices if one.at_edge],
        uneven=[f"{one.line} on {one.data} ({_sharing(one)})" for one in choices if one.uneven],
        data=_data_table(analysis),
        times={**findings.timings, **_seconds_per_run(analysis)},
    )


def _notices(analysis: Analysis) -> Iterator[str]:
    """What the study lacks: runs, lines, comparisons or permutations."""
    findings = analysis.findings
    if findings.missing:
        missing = counted(findings.missing, "run")
        yield f"Not finished yet: {missing} of this study. The results may still change."
    without = [line for line in findings.lines if line not in analysis.rules]
    if without:
        yield f"No finished run has {number_format.listed(without)}."
    alone = [facts.name for facts in findings.data if facts.name not in analysis.data_names]
    if alone:
        where = number_format.listed(alone)
        yield f"Nothing is compared on {where}: {findings.baseline} and the other lines share no permutation there."
    yield from _few_permutations(analysis)


def _few_permutations(analysis: Analysis) -> Iterator[str]:
    """That intervals mean little, or that there are none, where lines have few permutations."""
    compared = [one for one in analysis.outcomes if one.line != analysis.findings.baseline]
    few = [one for one in compared if one.permutations < _ENOUGH_PERMUTATIONS]
    if not few:
        return
    fewest, most = min(one.permutations for one in few), max(one.permutations for one in few)
    names = number_format.listed([f"{one.line} on {one.data}" for one in few])
    here = "" if len(few) == len(compared) else f", for {names}"
    if most == 1:
        yield f"A single permutation has no intervals, and any difference may be chance{here}."
    else:
        n = f"{fewest}" if fewest == most else f"{fewest} to {most}"
        yield f"Intervals from {n} permutations mean little: other permutations may well lie outside{here}."


def _lines_without_prices(analysis: Analysis) -> list[str]:
    """The lines whose runs have no prices on data that has them: their cells are empty."""
    priced = {facts.name: facts for facts in analysis.findings.data if facts.price_unit}
    return [
        f"{choice.line} on {choice.data}"
        for choice in analysis.choices
        if PRICE in analysis.measures and choice.data in priced and not applies(PRICE, priced[choice.data], choice.runs)
    ]


def _sharing(choice: Choice) -> str:
    """How many permutations the rates of a line have, and how many they share."""
    fewest, most = min(choice.permutations), max(choice.permutations)
    n_each = f"{counted(most, 'permutation')} each"
    each = n_each if fewest == most else f"{fewest} to {most} permutations"
    shared = f"{choice.shared} of them shared" if choice.shared else "none shared: each rate is judged by its own"
    return f"{each}, {shared}"


def _seconds_per_run(analysis: Analysis) -> dict[str, str]:
    """The median time of a run of each line, where it is known."""
    seconds = {line: analysis.seconds_per_run(line) for line in analysis.rules}
    return {f"a run of {line}, median": f"{took:.3g} s" for line, took in seconds.items() if took == took}


def _footer(analysis: Analysis) -> str:
    """The versions that made the runs, and the one that made this page if it is another."""
    runs, here = analysis.findings.versions, package_versions()["coalface"]
    made = f"Runs made with {html_page.with_versions(runs)}."
    return made if runs.get("coalface") == here else f"{made} Page made with coalface {here}."


def _write_figures(folder: Path, figures: Sequence[tuple[StudyFigure, str]]) -> None:
    """Write each figure and its numbers, and remove figures of an earlier report that no longer exist."""
    folder.mkdir(exist_ok=True)
    for name in set(NAMES) - {figure.name for figure, _ in figures}:
        for ending in ("svg", "csv"):
            (folder / f"{name}.{ending}").unlink(missing_ok=True)
    for figure, svg in figures:
        write_csv(folder / f"{figure.name}.csv", figure.headings, figure.rows())
        with atomic_write(folder / f"{figure.name}.svg") as file:
            file.write((standalone(svg) + "\n").encode())


def _write_tables(folder: Path, analysis: Analysis) -> None:
    folder.mkdir(exist_ok=True)
    write_csv(folder / "best_rates.csv", _rate_headings(analysis), _rate_rows(analysis))
    write_csv(folder / "savings.csv", SAVING_HEADINGS, _saving_rows(analysis))
    write_csv(folder / "mean_savings.csv", MEAN_HEADINGS, _mean_rows(analysis))
