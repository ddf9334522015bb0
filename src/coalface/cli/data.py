"""``coalface data list``, ``info``, ``convert`` and ``fetch``."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coalface.cli import options
from coalface.cli.reading import both_parts, read, reader_options
from coalface.cli.screen import print_table
from coalface.errors import InputError

if TYPE_CHECKING:
    from coalface.data.dataset import CostDataset

_SHOWN_LABELS = 12


def list_known(as_json: options.Json = False) -> None:
    """All data that has a name: how large it is, and whether it is here."""
    from coalface.data.known.catalogue import known_data

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
    print_table("Known data", ("name", "train", "test", "labels", "where", "here", "what"), rows)
    for remedy in dict.fromkeys(known.remedy for known in lines if not known.there):
        names = ", ".join(known.name for known in lines if known.remedy == remedy)
        typer.echo(f"  To get {names}: {remedy}")


def info(
    data: options.NamedData,
    as_json: options.Json = False,
    format: options.Format = "auto",
    label: options.Label = None,
    cost_matrix: options.CostMatrix = None,
    reader: options.Reader = None,
) -> None:
    """How large the data is, how sparse, and how many costs are known."""
    reading = reader_options(label, cost_matrix, reader)
    both = both_parts(data, format, reading)
    parts = {"value": read(data, format, reading)} if both is None else both._asdict()
    if as_json:
        values = {part: _numbers(dataset) for part, dataset in parts.items()}
        typer.echo(json.dumps(values if both else values["value"], allow_nan=False))
        return
    columns = [_shown(dataset) for dataset in parts.values()]
    rows = [[heading, *(column[heading] for column in columns)] for heading in columns[0]]
    names = next(iter(parts.values()))
    print_table(names.name or str(data), ("", *parts), rows)
    typer.echo(f"  Labels: {_shown_labels(names)}")


def convert(
    source: Annotated[Path, typer.Argument(metavar="SRC", help=options.SOURCE)],
    target: Annotated[Path, typer.Argument(metavar="DST", help=".vw, .csv or .npz; no suffix: a dataset folder.")],
    format: options.Format = "auto",
    to: Annotated[str, typer.Option(help="The format of DST: auto, vw, csv, npz or folder.")] = "auto",
    label: options.Label = None,
    cost_matrix: options.CostMatrix = None,
    reader: options.Reader = None,
) -> None:
    """Write data in another format; a dataset folder opens at once, whatever its size.

    Of data with a training and a test part, DST becomes a folder with both, train and test.
    """
    reading = reader_options(label, cost_matrix, reader)
    both = both_parts(source, format, reading)
    if both is None:
        _write(read(source, format, reading), target, to)
        return
    suffix = "" if to in ("auto", "folder") else f".{to}"
    if target.suffix:
        raise InputError(
            f"{source} has a training and a test part, so DST must be a folder, got {target}. Leave out its suffix, "
            "and choose a format by --to."
        )
    for part, dataset in both._asdict().items():
        target.mkdir(parents=True, exist_ok=True)
        _write(dataset, target / f"{part}{suffix}", to)


def fetch(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A name that `coalface data list` shows as fetched.")],
    into: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where it is written; by default $COALFACE_DATA.")
    ] = None,
) -> None:
    """Download data through scikit-learn and write it as two dataset folders, train and test."""
    from coalface.data.known import fetching
    from coalface.data.known.catalogue import VARIABLE, check_fetchable, data_root

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


def _write(dataset: "CostDataset", target: Path, to: str) -> None:
    from coalface.data.formats.readers import write_dataset

    try:
        write_dataset(dataset, target, to)
    except InputError as problem:
        raise InputError(str(problem).replace("format=", "--to")) from None
    typer.echo(f"{target}: {dataset}")


def _numbers(dataset: "CostDataset") -> dict[str, Any]:
    values = {**vars(dataset.statistics()), "classes": dataset.classes.tolist(), "fingerprint": dataset.fingerprint}
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
    from coalface.data.labels import label_texts

    labels = label_texts(dataset.classes)
    more = f" and {len(labels) - _SHOWN_LABELS} more" if len(labels) > _SHOWN_LABELS else ""
    return ", ".join(labels[:_SHOWN_LABELS]) + more
