"""Write the report of a study from its tables alone: one page, its figures, and their numbers.

::

    report.html                       everything on one page
    figures/NAME.svg, NAME.csv        every figure alone, and its numbers
    tables/best_rates.csv, savings.csv, mean_savings.csv
"""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from coalface.files.atomic import atomic_write
from coalface.report import html_page, number_format
from coalface.report.figure_style import standalone
from coalface.report.html_page import package_versions
from coalface.studies.csv_files import write_csv
from coalface.studies.measures import PRICE, applies
from coalface.studies.report import outcome_text, page_tables
from coalface.studies.report.analysis import Analysis
from coalface.studies.report.figure_data import NAMES, StudyFigure, figures_for
from coalface.studies.report.headline import facts_of
from coalface.studies.report.savings import DRAWS
from coalface.studies.report.where_coal_loses import no_losses_text, where_coal_loses
from coalface.studies.selection import Choice
from coalface.studies.tables import read_tables

_ENOUGH_PERMUTATIONS = 5  # for a meaningful interval


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
        savings=page_tables.savings_table(analysis) if analysis.outcomes else None,
        unpriced=_lines_without_prices(analysis),
        means=page_tables.means_table(analysis) if len(analysis.data_names) > 1 else None,
        losses=where_coal_loses(analysis),
        no_losses=no_losses_text(analysis),
        rates=page_tables.rates_table(analysis),
        at_edge=[f"{one.line} on {one.data} ({outcome_text.rate(one.rate)})" for one in choices if one.at_edge],
        uneven=[f"{one.line} on {one.data} ({_sharing(one)})" for one in choices if one.uneven],
        data=page_tables.data_table(analysis),
        times={**findings.timings, **_seconds_per_run(analysis)},
    )


def _notices(analysis: Analysis) -> Iterator[str]:
    """What the study lacks: runs, lines, comparisons or permutations."""
    findings = analysis.findings
    if findings.missing:
        missing = number_format.counted(findings.missing, "run")
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
    n_each = f"{number_format.counted(most, 'permutation')} each"
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
    write_csv(folder / "best_rates.csv", page_tables.rate_headings(analysis), page_tables.rate_rows(analysis))
    write_csv(folder / "savings.csv", page_tables.SAVING_HEADINGS, page_tables.saving_rows(analysis))
    write_csv(folder / "mean_savings.csv", page_tables.MEAN_HEADINGS, page_tables.mean_rows(analysis))
