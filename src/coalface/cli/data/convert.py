"""``coalface data convert``."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from coalface.cli import options
from coalface.cli.option_groups import ReaderOptions
from coalface.cli.option_values import check_new
from coalface.errors import InputError

if TYPE_CHECKING:
    from coalface.data.dataset import CostDataset


def convert(
    source: Annotated[Path, typer.Argument(metavar="SRC", help=options.SOURCE)],
    target: Annotated[Path, typer.Argument(metavar="DST", help=".vw, .csv or .npz; no suffix: a dataset folder.")],
    *,
    force: options.Force = False,
    format: options.Format = "auto",
    to: Annotated[str, typer.Option(help="The format of DST: auto, vw, csv, npz or folder.")] = "auto",
    reading: ReaderOptions,
) -> None:
    """Write data in another format.

    A dataset folder opens without delay at any size. If SRC has a training and a test part, DST becomes a folder with
    both, train and test.
    """
    from coalface.data.formats.readers import read_dataset
    from coalface.studies.known.catalogue import find_train_test

    how = reading.given()
    both = find_train_test(source, format, how)
    if both is None:
        check_new(target, force=force)
        _write(read_dataset(source, format, **how), target, to)
        return
    suffix = "" if to in ("auto", "folder") else f".{to}"
    if target.suffix:
        raise InputError(
            f"{source} has a training and a test part, so DST must be a folder, got {target}. Leave out its suffix, "
            "and choose a format with --to."
        )
    parts = {target / f"{part}{suffix}": dataset for part, dataset in both._asdict().items()}
    for path in parts:
        check_new(path, force=force)
    for path, dataset in parts.items():
        target.mkdir(parents=True, exist_ok=True)
        _write(dataset, path, to)


def _write(dataset: "CostDataset", target: Path, to: str) -> None:
    from coalface.data.formats.readers import write_dataset

    try:
        write_dataset(dataset, target, to)
    except InputError as problem:
        raise InputError(*problem.args, remedy={"to": None}) from None
    typer.echo(f"{target}: {dataset}")
