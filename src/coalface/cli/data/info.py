"""``coalface data info``."""

import json
from typing import TYPE_CHECKING, Any

import typer

from coalface.cli import options
from coalface.cli.option_groups import ReaderOptions
from coalface.cli.screen import print_table

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
    """Show the size and the density of a dataset.

    The share of known costs is shown, too.
    """
    from coalface.data.formats.readers import read_dataset
    from coalface.data.known.catalogue import find_train_test

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
