"""``coalface data info`` and ``coalface data convert``."""

import json
from pathlib import Path
from typing import Annotated

import typer

from coalface.cli import options
from coalface.cli.reading import read, reader_options
from coalface.cli.screen import print_table
from coalface.errors import InputError

_SHOWN_LABELS = 12


def info(
    data: options.Data,
    as_json: options.Json = False,
    format: options.Format = "auto",
    label: options.Label = None,
    cost_matrix: options.CostMatrix = None,
    reader: options.Reader = None,
) -> None:
    """How large the data is, how sparse, and how many costs are known."""
    from coalface.data.labels import label_texts

    dataset = read(data, format, reader_options(label, cost_matrix, reader))
    numbers, labels = dataset.statistics(), label_texts(dataset.classes)
    if as_json:
        values = {**vars(numbers), "classes": dataset.classes.tolist(), "fingerprint": dataset.fingerprint}
        typer.echo(json.dumps(values, allow_nan=False))
        return
    more = f" and {len(labels) - _SHOWN_LABELS} more" if len(labels) > _SHOWN_LABELS else ""
    rows = [
        ["examples", f"{numbers.n_examples:,}"],
        ["labels", f"{numbers.n_labels:,}"],
        ["", ", ".join(labels[:_SHOWN_LABELS]) + more],
        ["features", f"{numbers.n_features:,}"],
        ["non-zeros per example", f"{numbers.nonzeros_per_row:.1f}"],
        ["density", f"{numbers.density:.2%}"],
        ["known costs", f"{numbers.known_costs:.2%}"],
        ["fingerprint", dataset.fingerprint[:16]],
    ]
    print_table(dataset.name or str(data), ("", "value"), rows)


def convert(
    source: Annotated[Path, typer.Argument(metavar="SRC", help="VW text, svmlight, CSV, npz, or a dataset folder.")],
    target: Annotated[Path, typer.Argument(metavar="DST", help=".vw, .csv or .npz; no suffix: a dataset folder.")],
    format: options.Format = "auto",
    to: Annotated[str, typer.Option(help="The format of DST: auto, vw, csv, npz or folder.")] = "auto",
    label: options.Label = None,
    cost_matrix: options.CostMatrix = None,
    reader: options.Reader = None,
) -> None:
    """Write data in another format; a dataset folder opens at once, whatever its size."""
    from coalface.data.readers import write_dataset

    dataset = read(source, format, reader_options(label, cost_matrix, reader))
    try:
        write_dataset(dataset, target, to)
    except InputError as problem:
        raise InputError(str(problem).replace("format=", "--to")) from None
    typer.echo(f"{target}: {dataset}")
