"""``coalface report``."""

import json
from pathlib import Path
from typing import Annotated

import typer

from coalface.cli import options


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
    typer.echo(json.dumps({"report": str(page)}) if as_json else f"Report: {page.resolve()}")
