"""``coalface demo``, ``coalface sweep`` and ``coalface report``."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from coalface.cli import options
from coalface.cli.option_values import check_drawn
from coalface.cli.screen import bar, counted, print_table, progress_bar, show
from coalface.errors import InputError
from coalface.extras import what_lacks

if TYPE_CHECKING:
    from coalface.studies.study import Study
    from coalface.studies.sweep import Progress

_INTERRUPTED, _SOME_FAILED = 130, 1
_HEADINGS = ("rule", "costs\nasked", "times\nfewer", "true\nlabels", "test\ncost", "costs to\nmatch", "times\nfewer")
_COLUMNS = (0, 1, 2, 3, 4, 6, 7)  # of the page's table; without the band, it fits into 80 characters
_NOTE = (
    "Times fewer: costs asked by passive for each cost asked by the rule. Costs to match: where the median curve falls "
    "to passive's final test cost for good, and how many times more costs passive needs to get there. True labels: the "
    "examples asked about; one true label would give all ten costs of an example."
)


def demo(
    permutations: Annotated[
        int, typer.Option(help="The number of orders of the training rows to average over; each takes some 15 seconds.")
    ] = 3,
    report: Annotated[
        Path | None, typer.Option(help="The HTML page to write.", show_default="coalface-demo.html")
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Compare COAL with three other rules on handwritten digits.

    Prints a table per kind of costs and, with coalface[report], writes a page with figures, which needs no network.
    """
    from coalface.report import write_page
    from coalface.studies.demo import demo_page, run_demo, table_rows

    check_drawn(report)
    lacking = what_lacks("report", "The HTML report")
    with progress_bar("Simulating") as progress:
        result = run_demo(permutations, progress=progress)
    page = None if lacking else report or Path("coalface-demo.html")
    if page is not None:
        write_page(page, demo_page(result))
    if as_json:
        written = None if page is None else str(page.resolve())
        typer.echo(json.dumps({**result.plain(), "report": written}, allow_nan=False))
        return
    for kind, rows in result.summaries.items():
        cells = [[row[column] for column in _COLUMNS] for row in table_rows(rows)]
        print_table(f"Digits, {kind} costs (medians of {permutations} permutations)", _HEADINGS, cells)
    typer.echo(f"{_NOTE}\n")
    typer.echo(lacking if page is None else f"Report: {page.resolve()}")


def sweep(
    study: Annotated[
        Path, typer.Argument(metavar="STUDY.toml", help="What to run: see the page Studies of the documentation.")
    ],
    out: Annotated[
        Path | None, typer.Option(help="The folder of the results; an unfinished sweep continues there.")
    ] = None,
    executor: Annotated[str, typer.Option(help="threads, processes, cuda (a GPU) or dask://HOST:PORT.")] = "threads",
    workers: options.Workers = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only print the number of runs and the time they take.")
    ] = False,
    report: Annotated[bool, typer.Option(help="Write the report at the end.")] = True,
    allow_plugins: Annotated[
        bool, typer.Option("--allow-plugins", help="Run the Python code beside STUDY.toml that it names.")
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Run all runs of a study.

    There is one run for every dataset, line, learning rate and permutation.
    Each result is saved when its run ends: after Ctrl-C, a crash or a change of the study, the same command runs only
    what is missing. The exit code is 1 if some runs failed, 130 after Ctrl-C.
    """
    from coalface.studies import Study, run_sweep, write_report_of

    wanted = Study.read(study, allow_plugins=allow_plugins)
    if dry_run:
        _dry_run(wanted, out, executor, workers, as_json=as_json)
        return
    if out is not None and out.exists() and not out.is_dir():
        raise InputError(f"--out must be a folder, {out} is a file. Choose another name.")
    if out is None:
        raise InputError(f"--out must name the folder for the results, such as --out {study.stem}-results.")
    if report and (lacking := what_lacks("report", "--report")):
        raise InputError(f"{lacking}, or pass --no-report")
    with _progress(wanted.name) as progress:
        outcome = run_sweep(wanted, out, executor, workers, progress)
    page = write_report_of(out) if report and outcome.finished_before + outcome.finished else None
    if outcome.failed:
        _print_errors(out)
    ended = "Interrupted, the same command continues" if outcome.interrupted else "Finished"
    text = (
        f"{ended}: {counted(outcome.finished, 'run')} in {outcome.seconds:,.1f} s, {outcome.finished_before:,} were "
        f"finished before, {outcome.failed:,} failed, of {outcome.cells:,} in all."
    )
    where = {"out": str(out), "report": page and str(page)}
    show({**vars(outcome), **where}, f"{text}\nReport: {page.resolve()}" if page else text, as_json=as_json)
    if outcome.interrupted or outcome.failed:
        raise typer.Exit(_INTERRUPTED if outcome.interrupted else _SOME_FAILED)


def _print_errors(folder: Path) -> None:
    """Print each error of failed runs once, the most frequent first."""
    from collections import Counter

    from coalface.studies.results import Results

    for error, times in Counter(Results(folder).failed.values()).most_common():
        typer.echo(f"{counted(times, 'run')} failed: {error}", err=True)


def _dry_run(study: "Study", out: Path | None, executor: str, workers: int | None, *, as_json: bool) -> None:
    from coalface.studies.sweep import estimate_study

    found = estimate_study(study, out, executor, workers)
    if as_json:
        values = {"cells": study.n_cells, "missing": found.missing, "seconds": found.seconds, "workers": found.workers}
        typer.echo(json.dumps({**values, "not_estimated": found.not_estimated}))
        return
    rows = []
    for row in found.rows:
        seconds = "?" if row.seconds_each is None else f"{row.seconds_each:.2f}"
        rows.append([row.data, row.line, f"{row.cells:,}", f"{row.missing:,}", seconds])
    print_table(study.title, ("data", "line", "runs", "missing", "seconds each"), rows)
    there = f", {study.n_cells - found.missing:,} of them finished" if found.missing < study.n_cells else ""
    how = f"about {_duration(found.seconds)} with {found.workers} {found.kind}"
    typer.echo(f"{counted(study.n_cells, 'run')}{there}; {how}.")
    if executor == "cuda":
        typer.echo("A GPU takes less; its speed is not known in advance.")
    if found.not_estimated:
        unknown = counted(found.not_estimated, "run")
        typer.echo(f"Not included: {unknown} of other learners, whose speed is not known in advance.")


def _duration(seconds: float) -> str:
    minutes = round(seconds / 60)
    if seconds < 1:
        return "a second"
    if seconds < 100:
        return f"{seconds:.0f} seconds"
    return f"{minutes} minutes" if minutes < 100 else f"{minutes / 60:.1f} hours"


@contextmanager
def _progress(study: str) -> Iterator["Progress"]:
    """A bar with the rate and the time left on a terminal, a line now and then in a log."""
    began, first = time.monotonic(), -1
    with bar(f"{study}: reading the data") as update:

        def progress(done: int, total: int, failed: int) -> None:
            nonlocal first
            first = done - 1 if first < 0 else first
            pace = _pace(done - first, total - done, time.monotonic() - began)
            pace += f", {failed} failed" if failed else ""
            update(done, total, f"{study}: {pace}", f"{study}: {done:,} of {total:,} runs, {pace}")

        yield progress


def _pace(done: int, left: int, seconds: float) -> str:
    """Runs per second and the time left.

    >>> _pace(30, 60, 60.0)
    '0.5 runs/s, 2 minutes left'
    """
    rate = done / max(seconds, 1e-9)
    return f"{rate:.1f} runs/s, {_duration(left / rate)} left"


def report(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a sweep, or of its tables.")],
    as_json: options.Json = False,
) -> None:
    """Write the figures and tables of a sweep.

    They are an HTML page, an SVG and a CSV file per figure, and CSV tables.
    This works while the sweep runs, and from the tables alone (runs.csv, curves.csv, data.csv, sweep.json).
    """
    from coalface.studies import write_report_of

    page = write_report_of(folder)
    show({"report": str(page)}, f"Report: {page.resolve()}", as_json=as_json)
