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
    most_bytes: Annotated[int, typer.Option(min=1, help="Refuse a file that unpacks to more than this.")] = 64 << 30,
) -> None:
    """Make a project from an exported .zip file.

    It has the same examples, answers and model.
    """
    from coalface.desk.project.archive_limits import ArchiveLimits
    from coalface.desk.service.archive import read_archive

    project = read_archive(file, folder, database, ArchiveLimits(bytes=most_bytes))
    typer.echo(
        f"{folder}: {counted(len(project.pool), 'example')}, {counted(len(project.labels), 'label')}. "
        "Make new tokens for annotators."
    )
