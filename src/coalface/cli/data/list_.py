"""``coalface data list``."""

import json

import typer

from coalface.cli import options
from coalface.cli.screen import print_table


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
