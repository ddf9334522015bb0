"""The verbs of ``coalface data``."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coalface.cli import options
from coalface.cli.option_groups import ReaderOptions
from coalface.cli.option_values import check_target
from coalface.cli.screen import counted, described_columns, print_table
from coalface.errors import InputError

if TYPE_CHECKING:
    from coalface.data import CostDataset


def list_known(as_json: options.Json = False) -> None:
    """List the datasets that have a name.

    The list shows how large they are, and whether they are on this machine.
    """
    from coalface.studies.known.catalogue import known_data

    lines = known_data()
    if as_json:
        typer.echo(json.dumps([vars(known) for known in lines]))
        return
    rows = [
        [
            known.name,
            *("" if size is None else f"{size:,}" for size in (known.n_train, known.n_test, known.n_labels)),
            known.origin,
            "yes" if known.there else "no",
            known.title,
        ]
        for known in lines
    ]
    print_table("Named datasets", ("name", "train", "test", "labels", "where", "here", "what"), rows)
    for remedy in dict.fromkeys(known.remedy for known in lines if not known.there):
        names = ", ".join(known.name for known in lines if known.remedy == remedy)
        typer.echo(f"  To get {names}: {remedy}")


_SHOWN_LABELS = 12


def info(
    data: options.NamedData,
    *,
    as_json: options.Json = False,
    reading: ReaderOptions,
) -> None:
    """Show the size and the density of a dataset, and how its columns are encoded.

    The share of known costs is shown, too. A table of numbers without gaps is used as it is; in all other tables, each
    column is encoded by its kind.
    """
    from coalface.data import read_dataset
    from coalface.studies.known.catalogue import find_train_test

    how = reading.given()
    both = find_train_test(data, reading.format, how)
    parts = {"value": read_dataset(data, reading.format, **how)} if both is None else both._asdict()
    if as_json:
        values = {part: _numbers(dataset) for part, dataset in parts.items()}
        typer.echo(json.dumps(values if both else values["value"], allow_nan=False))
        return
    columns = [_shown(dataset) for dataset in parts.values()]
    rows = [[heading, *(column[heading] for column in columns)] for heading in columns[0]]
    names = next(iter(parts.values()))
    print_table(names.name or str(data), ("", *parts), rows)
    typer.echo(f"  Labels: {_shown_labels(names)}")
    if names.encoder is not None:
        typer.echo(described_columns(names.encoder))
    elif names.feature_names is not None and both is None:
        typer.echo(f"  Columns: {counted(len(names.feature_names), 'number')}, used without a change")


def _numbers(dataset: "CostDataset") -> dict[str, Any]:
    values = {**vars(dataset.statistics()), "classes": dataset.classes.tolist(), "fingerprint": dataset.fingerprint}
    if dataset.encoder is not None:
        columns: dict[str, list[str]] = {}
        for column in dataset.encoder.columns or ():
            columns.setdefault(column.name, []).append(column.describe())
        values["columns"] = {name: "; ".join(described) for name, described in columns.items()}
    return values if dataset.price is None else {**values, "mean_price": float(dataset.price.mean())}


def _shown(dataset: "CostDataset") -> dict[str, str]:
    numbers = dataset.statistics()
    shown = {
        "examples": f"{numbers.n_examples:,}",
        "labels": f"{numbers.n_labels:,}",
        "features": f"{numbers.n_features:,}",
        "non-zeros per example": f"{numbers.nonzeros_per_row:.1f}",
        "density": f"{numbers.density:.2%}",
        "known costs": f"{numbers.known_costs:.2%}",
    }
    if dataset.price is not None:
        shown["mean price of a cost"] = f"{float(dataset.price.mean()):,.1f}"
    return {**shown, "fingerprint": dataset.fingerprint[:16]}


def _shown_labels(dataset: "CostDataset") -> str:
    from coalface.data import label_texts

    labels = label_texts(dataset.classes)
    more = f" and {len(labels) - _SHOWN_LABELS} more" if len(labels) > _SHOWN_LABELS else ""
    return ", ".join(labels[:_SHOWN_LABELS]) + more


def convert(
    source: Annotated[Path, typer.Argument(metavar="SRC", help=options.SOURCE)],
    target: Annotated[Path, typer.Argument(metavar="DST", help=".vw, .csv or .npz; no suffix: a dataset folder.")],
    *,
    force: options.Force = False,
    to: Annotated[str, typer.Option(help="The format of DST: auto, vw, csv, npz or folder.")] = "auto",
    reading: ReaderOptions,
) -> None:
    """Write data in another format.

    A dataset folder opens without delay at any size. If SRC has a training and a test part, DST becomes a folder with
    both, train and test.
    """
    from coalface.data import read_dataset
    from coalface.studies.known.catalogue import find_train_test

    how = reading.given()
    both = find_train_test(source, reading.format, how)
    if both is None:
        check_target(target, force=force)
        _write(read_dataset(source, reading.format, **how), target, to)
        return
    suffix = "" if to in ("auto", "folder") else f".{to}"
    if target.suffix:
        raise InputError(
            f"{source} has a training and a test part, so DST must be a folder, got {target}. Leave out its suffix, "
            "and choose a format with --to."
        )
    parts = {target / f"{part}{suffix}": dataset for part, dataset in both._asdict().items()}
    for path in parts:
        check_target(path, force=force)
    for path, dataset in parts.items():
        target.mkdir(parents=True, exist_ok=True)
        _write(dataset, path, to)


def _write(dataset: "CostDataset", target: Path, to: str) -> None:
    from coalface.data import write_dataset

    try:
        write_dataset(dataset, target, to)
    except InputError as problem:
        raise InputError(*problem.args, remedy={"to": None}) from None
    typer.echo(f"{target}: {dataset}")


def fetch(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A name that `coalface data list` shows as fetched.")],
    into: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The folder to write to; by default $COALFACE_DATA.")
    ] = None,
) -> None:
    """Download a dataset through scikit-learn.

    It is written as two dataset folders, train and test.
    """
    from coalface.studies.known.catalogue import VARIABLE, check_fetch, check_fetchable, data_root
    from coalface.studies.known.catalogue import fetch as download

    check_fetchable(name)
    root = data_root()
    folder = root if into is None else into
    if folder is None:
        raise InputError(
            f"fetch needs a folder to write to. Run `coalface data fetch {name} --into DIR`, or set {VARIABLE}."
        )
    check_fetch(name, folder)
    typer.echo(f"Downloading {name}, which may take a while ...", err=True)
    found = download(name, folder)
    for part, dataset in found._asdict().items():
        typer.echo(f"{folder / name / part}: {dataset}")
    if root is None or root.resolve() != folder.resolve():
        typer.echo(f"To use it by its name, set {VARIABLE}={folder.resolve()}")
