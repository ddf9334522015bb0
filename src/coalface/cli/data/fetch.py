"""``coalface data fetch``."""

from pathlib import Path
from typing import Annotated

import typer

from coalface.errors import InputError


def fetch(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A name that `coalface data list` shows as fetched.")],
    into: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The folder to write to; by default $COALFACE_DATA.")
    ] = None,
) -> None:
    """Download a dataset through scikit-learn.

    It is written as two dataset folders, train and test.
    """
    from coalface.studies.known import fetching
    from coalface.studies.known.catalogue import VARIABLE, check_fetchable, data_root

    check_fetchable(name)
    root = data_root()
    folder = root if into is None else into
    if folder is None:
        raise InputError(
            f"fetch needs a folder to write to. Run `coalface data fetch {name} --into DIR`, or set {VARIABLE}."
        )
    fetching.check_fetch(name, folder)
    typer.echo(f"Downloading {name}, which may take a while ...", err=True)
    found = fetching.fetch(name, folder)
    for part, dataset in found._asdict().items():
        typer.echo(f"{folder / name / part}: {dataset}")
    if root is None or root.resolve() != folder.resolve():
        typer.echo(f"To use it by its name, set {VARIABLE}={folder.resolve()}")
