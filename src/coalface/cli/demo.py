"""``coalface demo``."""

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coalface.cli import options
from coalface.cli.option_values import check_output
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
    permutations: Annotated[
        int, typer.Option(help="The number of orders of the training rows to average over; each takes some 10 seconds.")
    ] = 3,
    report: Annotated[Path, typer.Option(help="The HTML page to write.")] = Path("coalface-demo.html"),
    seed: options.Seed = 0,
    as_json: options.Json = False,
) -> None:
    """Compare COAL with three other rules on handwritten digits.

    Prints a table per kind of costs and writes a page with figures, which needs no network.
    """
    from coalface.report.html_page import write_page
    from coalface.studies.demo import demo_page, run_demo
    from coalface.studies.demo.page import table_rows

    check_output(report, "--report")
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
