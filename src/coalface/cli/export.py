"""``coalface export``."""

from pathlib import Path
from typing import Annotated

import typer

from coalface.cli import options
from coalface.cli.option_values import check_new
from coalface.errors import InputError

_FORMS = {".jsonl": "jsonl", ".csv": "csv", ".vw": "vw", ".coalface": "model"}


def export(
    folder: options.ProjectFolder,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help=".jsonl, .csv, .vw (answers), .coalface (model) or .zip (the whole project).",
        ),
    ],
    force: options.Force = False,
) -> None:
    """Write the answers, the model or all of a project to a file.

    Export only reads, so the project's server may run at the same time.
    """
    from contextlib import closing

    from coalface.files.atomic import atomic_write
    from coalface.service.desk.model import LiveModel
    from coalface.service.project.archive import write_archive
    from coalface.service.project.exports import export as pieces
    from coalface.service.project.project import Project

    form = _FORMS.get(file.suffix)
    if form is None and file.suffix != ".zip":
        raise InputError(f"FILE must end in {', '.join(_FORMS)} or .zip, got {file}.")
    check_new(file, force=force)
    project = Project.open(folder)
    with closing(project.open_store()) as store, store.database.one_moment():
        if form is None:
            write_archive(project, store, file)
        else:
            with atomic_write(file) as target:
                for piece in pieces(project, store.log, lambda: LiveModel(project, store.log).learner, form):
                    target.write(piece)
    typer.echo(f"{file}: {file.stat().st_size:,} bytes")
