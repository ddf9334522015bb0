"""``coalface data info``."""

import json
from typing import TYPE_CHECKING, Any

import typer

from coalface.cli import options
from coalface.cli.option_groups import ReaderOptions
from coalface.cli.screen import counted, described_columns, print_table

if TYPE_CHECKING:
    from coalface.data.dataset import CostDataset

_SHOWN_LABELS = 12


def info(
    data: options.NamedData,
    *,
    as_json: options.Json = False,
    format: options.Format = "auto",
    reading: ReaderOptions,
) -> None:
    """Show the size and the density of a dataset, and how its columns are encoded.

    The share of known costs is shown, too. A table of numbers without gaps is used as it is; in all other tables, each
    column is encoded by its kind.
    """
    from coalface.data.formats.readers import read_dataset
    from coalface.studies.known.catalogue import find_train_test

    how = reading.given()
    both = find_train_test(data, format, how)
    parts = {"value": read_dataset(data, format, **how)} if both is None else both._asdict()
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
    from coalface.data.labels import label_texts

    labels = label_texts(dataset.classes)
    more = f" and {len(labels) - _SHOWN_LABELS} more" if len(labels) > _SHOWN_LABELS else ""
    return ", ".join(labels[:_SHOWN_LABELS]) + more
