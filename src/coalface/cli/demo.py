"""``coalface demo``."""

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coalface.cli import options
from coalface.cli.screen import print_table, progress_bar

if TYPE_CHECKING:
    from coalface.studies.demo import Demo

_HEADINGS = ("rule", "costs\nasked", "times\nfewer", "examples\nasked", "test\ncost", "costs to\nmatch", "times\nfewer")
_COLUMNS = (0, 1, 2, 3, 4, 6, 7)  # of the page's table; without the band, it fits into 80 characters
_NOTE = (
    "Times fewer: costs asked by passive for each cost asked by the rule. Costs to match: where the median curve falls "
    "to passive's final test cost for good, and how many times more costs passive needs to get there."
)


def demo(
    permutations: Annotated[int, typer.Option(help="Orders of the training rows to average over.")] = 20,
    report: Annotated[Path, typer.Option(help="Where to write the HTML page.")] = Path("coalface-demo.html"),
    seed: options.Seed = 0,
    as_json: options.Json = False,
) -> None:
    """Compare COAL with three other rules on handwritten digits, which come with the library.

    Prints one table per kind of costs and writes an HTML page with figures for any browser, offline.
    """
    from coalface.cli.files import check_folder_of
    from coalface.studies.demo import demo_page, run_demo
    from coalface.studies.demo.page import table_rows
    from coalface.studies.report.html_page import write_page

    check_folder_of(report, "--report")
    with progress_bar("Simulating") as progress:
        result = run_demo(permutations, seed, progress)
    write_page(report, demo_page(result))
    if as_json:
        typer.echo(json.dumps(_plain(result, report), allow_nan=False))
        return
    for kind, rows in result.summaries.items():
        cells = [[row[column] for column in _COLUMNS] for row in table_rows(rows)]
        print_table(f"Digits, {kind} costs (medians of {permutations} permutations)", _HEADINGS, cells)
    typer.echo(f"{_NOTE}\n")
    typer.echo(f"Report: {report.resolve()}")


def _plain(result: "Demo", report: Path) -> dict[str, Any]:
    """The demo's tables as JSON values; null where passive's test cost was never reached."""
    tables = {
        kind: [
            {
                name: None if isinstance(value, float) and math.isnan(value) else value
                for name, value in vars(row).items()
            }
            for row in rows
        ]
        for kind, rows in result.summaries.items()
    }
    return {
        "tables": tables,
        "permutations": result.n_permutations,
        "seed": result.seed,
        "report": str(report.resolve()),
    }
