"""``coalface import``."""

from pathlib import Path
from typing import Annotated

import typer

from coalface.cli import options
from coalface.cli.screen import counted


def import_(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A .zip file that export wrote.")],
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A new folder for the project.")],
    database: options.Database = "sqlite:///project.db",
) -> None:
    """Make a project from an exported .zip file.

    It has the same examples, answers and model.
    """
    from coalface.service.project.archive import read_archive

    project = read_archive(file, folder, database)
    typer.echo(
        f"{folder}: {counted(len(project.pool), 'example')}, {counted(len(project.labels), 'label')}. "
        "Make new tokens for annotators."
    )
