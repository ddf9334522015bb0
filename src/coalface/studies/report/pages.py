"""The report of a study, made from its tables and nothing else: one page, its figures, and the numbers behind them.

::

    report.html                       everything on one page
    figures/NAME.svg, NAME.csv        every figure alone, and its numbers
    tables/best_rates.csv, savings.csv, mean_savings.csv
"""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from coalface.files.atomic import atomic_write
from coalface.studies.csv_files import write_csv
from coalface.studies.measures import PRICE, applies
from coalface.studies.report import html_page as report
from coalface.studies.report import number_format as wording
from coalface.studies.report import page_tables
from coalface.studies.report.analysis import Analysis
from coalface.studies.report.figure_data import NAMES, StudyFigure, figures_for
from coalface.studies.report.figure_style import standalone
from coalface.studies.report.headline import facts_of
from coalface.studies.report.savings import DRAWS
from coalface.studies.report.where_coal_loses import losses, nothing_lost
from coalface.studies.selection import Choice
from coalface.studies.tables import read_tables

_ENOUGH_PERMUTATIONS = 5  # for an interval that says something
_HOW_SAVINGS_ARE_COUNTED = (
    "The target is the final test cost of {baseline}, the median over permutations. Costs needed: where a line's "
    "median curve falls to the target for good (checkpoints at quarter doublings, interpolated in log2, last "
    "crossing). They may exceed the costs asked, which are those of the median run at its end, while the median curve "
    "goes on to the end of the longest run. Savings: what {baseline} itself needs for it, divided by that. Below them "
    "are 95 % intervals from {draws:,} draws of permutations, the same ones for the line and {baseline}; a draw in "
    "which the line never gets there counts as no saving at all, and 'up to' is an interval that begins with such "
    "draws; the last column says in how many draws it does get there. All other numbers are medians over permutations."
)
_HOW_MEANS_ARE_COUNTED = (
    "Mean: the geometric mean of the savings on the datasets where a line gets as good as {baseline} ends up, and how "
    "many those are. The median counts all datasets, a target never reached being no saving. The 95 % intervals come "
    "from draws of permutations; the datasets stay the same."
)
_HOW_RATES_ARE_CHOSEN = (
    "The median over permutations of the area under the test cost on a log2 axis of costs asked for; less is better, "
    "and the best is marked (the smaller rate of two equal ones). As in the paper, rates are chosen on the same runs "
    "and test rows that are shown, which flatters every line a little, the baseline as well."
)


def write_report(folder: str | os.PathLike[str]) -> Path:
    """Write the report beside the tables in the folder, and return the path of its page.

    A FileFormatError names the table that is missing or damaged; nothing was written then.
    """
    target = Path(folder)
    analysis = Analysis.of(read_tables(target))
    figures = [(figure, figure.svg()) for figure in figures_for(analysis)]
    html = study_page(analysis, figures)
    _write_figures(target / "figures", figures)
    _write_tables(target / "tables", analysis)
    report.write_page(target / "report.html", html)
    return target / "report.html"


def study_page(analysis: Analysis, figures: Sequence[tuple[StudyFigure, str]]) -> str:
    """The page as HTML text: what to remember, figures, savings, losses, learning rates, data, settings, times."""
    findings = analysis.findings
    baseline = findings.baseline
    parts = [
        _warnings(analysis),
        report.facts(facts) if (facts := facts_of(analysis)) else "",
        *(report.section(figure.title, report.figure(svg, figure.caption)) for figure, svg in figures),
    ]
    if analysis.outcomes:
        how = _HOW_SAVINGS_ARE_COUNTED.format(baseline=baseline, draws=DRAWS)
        table = page_tables.savings_table(analysis)
        parts.append(report.section("Savings", table, report.paragraph(how), *_about_prices(analysis)))
    if len(analysis.data_names) > 1:
        how = _HOW_MEANS_ARE_COUNTED.format(baseline=baseline)
        parts.append(report.section("Savings over all data", page_tables.means_table(analysis), report.paragraph(how)))
    lost = losses(analysis)
    parts += [
        report.section("Where COAL loses", report.bullets(lost) if lost else report.paragraph(nothing_lost(analysis))),
        report.section("Best learning rates", page_tables.rates_table(analysis), *_about_rates(analysis)),
        report.section("Data", page_tables.data_table(analysis)),
        report.section("Settings", report.pairs(findings.settings)),
        report.section("Times", report.pairs(times)) if (times := {**findings.timings, **_speeds(analysis)}) else "",
    ]
    lead = " ".join(findings.text.split())
    return report.page(findings.title or findings.name, lead, *filter(None, parts), footer=_made_with(analysis))


def _warnings(analysis: Analysis) -> str:
    """What is missing from the study or too little of it, in a box, or nothing."""
    findings, parts = analysis.findings, []
    if findings.missing:
        missing = wording.counted(findings.missing, "run")
        parts.append(report.paragraph(f"Not made yet: {missing} of this study. What is shown may still change."))
    without = [line for line in findings.lines if line not in analysis.rules]
    if without:
        parts.append(report.paragraph(f"No finished run has {wording.listed(without)}."))
    alone = [facts.name for facts in findings.data if facts.name not in analysis.data_names]
    if alone:
        parts.append(
            report.paragraph(
                f"Nothing is compared on {wording.listed(alone)}: {findings.baseline} has no run there on the same "
                "permutations as another line."
            )
        )
    parts += map(report.paragraph, _about_few_permutations(analysis))
    if findings.failures:
        parts.append(report.paragraph(f"Failed and left out: {wording.counted(len(findings.failures), 'run')}."))
        parts.append(report.folded("Which, and why", report.bullets(findings.failures)))
    return report.notice(*parts) if parts else ""


def _about_few_permutations(analysis: Analysis) -> Iterable[str]:
    """That intervals say little, or that there are none, where lines have few permutations."""
    compared = [one for one in analysis.outcomes if one.line != analysis.findings.baseline]
    few = [one for one in compared if one.permutations < _ENOUGH_PERMUTATIONS]
    if not few:
        return
    fewest, most = min(one.permutations for one in few), max(one.permutations for one in few)
    here = "" if len(few) == len(compared) else f", for {wording.listed([f'{one.line} on {one.data}' for one in few])}"
    if most == 1:
        yield f"A single permutation has no intervals, and any difference may be chance{here}."
    else:
        n = f"{fewest}" if fewest == most else f"{fewest} to {most}"
        yield f"Intervals from {n} permutations say little: other permutations may well lie outside{here}."


def _about_prices(analysis: Analysis) -> Iterable[str]:
    """Why a cell is empty: which lines do not say what they spent on data with prices."""
    priced = {facts.name: facts for facts in analysis.findings.data if facts.price_unit}
    unknown = [
        f"{choice.line} on {choice.data}"
        for choice in analysis.choices
        if choice.data in priced and not applies(PRICE, priced[choice.data], choice.runs)
    ]
    if unknown and PRICE in analysis.measures:
        yield report.paragraph(f"No price is compared where it is not known what was spent: {wording.listed(unknown)}.")


def _about_rates(analysis: Analysis) -> Iterable[str]:
    at_edge = [choice for choice in analysis.choices if choice.at_edge]
    if at_edge:
        told = [f"{choice.line} on {choice.data} ({wording.rate(choice.rate)})" for choice in at_edge]
        yield report.notice(
            report.paragraph(
                "The best learning rate is the least or the largest one tried, so that a better one may lie outside, "
                f"for {wording.listed(told, most=12)}."
            )
        )
    uneven = [f"{choice.line} on {choice.data} ({_sharing(choice)})" for choice in analysis.choices if choice.uneven]
    if uneven:
        yield report.paragraph(
            "Some runs are missing, so that rates are compared on the permutations that all of them share, for "
            f"{wording.listed(uneven, most=12)}."
        )
    yield report.paragraph(_HOW_RATES_ARE_CHOSEN)


def _sharing(choice: Choice) -> str:
    """How many permutations the rates of a line have, and how many of these all of them have."""
    fewest, most = min(choice.permutations), max(choice.permutations)
    each = wording.counted(most, "permutation") + " each" if fewest == most else f"{fewest} to {most} permutations"
    shared = f"{choice.shared} of them shared" if choice.shared else "none shared: each rate is judged by its own"
    return f"{each}, {shared}"


def _speeds(analysis: Analysis) -> dict[str, str]:
    """How long the runs of each line took, of those of which that is known."""
    seconds = {line: analysis.seconds_per_run(line) for line in analysis.rules}
    return {f"a run of {line}, median": f"{took:.3g} s" for line, took in seconds.items() if took == took}


def _made_with(analysis: Analysis) -> str:
    """What the runs were made with, and this page if that is another version."""
    runs, page = analysis.findings.versions, report.versions()["coalface"]
    made = "Runs made with " + ", ".join(f"{name} {number}" for name, number in runs.items()) + "."
    return made if runs.get("coalface") == page else f"{made} Page made with coalface {page}."


def _write_figures(folder: Path, figures: Sequence[tuple[StudyFigure, str]]) -> None:
    """Write each figure and its numbers; figures of an earlier report that are no longer there are removed."""
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
    write_csv(folder / "best_rates.csv", page_tables.RATE_HEADINGS, page_tables.rate_rows(analysis))
    write_csv(folder / "savings.csv", page_tables.SAVING_HEADINGS, page_tables.saving_rows(analysis))
    write_csv(folder / "mean_savings.csv", page_tables.MEAN_HEADINGS, page_tables.mean_rows(analysis))
