"""``coalface export``."""

from pathlib import Path
from typing import Annotated

import typer

from coalface.cli import options
from coalface.cli.option_values import check_new
from coalface.errors import InputError

_FORMS = {
    ".jsonl": "jsonl",
    ".csv": "csv",
    ".vw": "vw",
    ".coalface": "model",
    ".json": "label-studio",
    ".parquet": "parquet",
}
_PREDICTIONS = {"jsonl": "predictions", "csv": "predictions.csv"}


def export(
    folder: options.ProjectFolder,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help=".jsonl, .csv, .vw, .json (Label Studio), .parquet (Hugging Face), .coalface (model) or .zip (all).",
        ),
    ],
    predictions: Annotated[
        bool,
        typer.Option("--predictions", help=".jsonl or .csv: the label, costs and ranges of every example of the pool."),
    ] = False,
    top: Annotated[
        int | None, typer.Option(min=1, help="With --predictions: only so many examples, the most uncertain first.")
    ] = None,
    force: options.Force = False,
) -> None:
    """Write the answers, predictions, the model or all of a project to a file.

    Export only reads, so the project's server may run at the same time.
    """
    from contextlib import closing

    from coalface.desk.project.project import Project
    from coalface.desk.service.archive import write_archive
    from coalface.desk.service.exports import export as pieces
    from coalface.desk.service.model import LiveModel
    from coalface.files.atomic import atomic_write

    form = _FORMS.get(file.suffix)
    if form is None and file.suffix != ".zip":
        raise InputError(f"FILE must end in {', '.join(_FORMS)} or .zip, got {file}.")
    if predictions and form not in _PREDICTIONS:
        raise InputError(f"With --predictions, FILE must end in .jsonl or .csv, got {file}.")
    if top is not None and not predictions:
        raise InputError("--top must come with --predictions. Leave it out.")
    check_new(file, force=force)
    project = Project.open(folder)
    with closing(project.open_store()) as store, store.database.one_moment():
        if form is None:
            write_archive(project, store, file)
        else:
            form = _PREDICTIONS[form] if predictions else form
            with atomic_write(file, private=True) as target:
                for piece in pieces(project, store.log, lambda: LiveModel(project, store.log).learner, form, top):
                    target.write(piece)
    typer.echo(f"{file}: {file.stat().st_size:,} bytes")
