"""``coalface labels`` and ``coalface pool``: changes of a model, of a project or of a running service."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coalface.cli import options
from coalface.cli.screen import counted, show
from coalface.errors import InputError

if TYPE_CHECKING:
    from coalface.rounds import LabelChange


TOKEN = "COALFACE_TOKEN"


def labels(
    target: Annotated[
        str,
        typer.Argument(metavar="TARGET", help="A model, a project folder, or the address of a running service."),
    ],
    add: Annotated[
        str | None, typer.Option(metavar="NAME", help="Add this label, or bring it back if it is retired.")
    ] = None,
    rename: Annotated[
        tuple[str, str] | None, typer.Option(metavar="OLD NEW", help="Give a label another name.")
    ] = None,
    retire: Annotated[
        str | None, typer.Option(metavar="NAME", help="Never predict or ask about this label again; keep its history.")
    ] = None,
    cost_matrix: Annotated[
        Path | None,
        typer.Option(help="With --add: the costs of all labels by the true label, if there were known costs before."),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """List, add, rename or retire the labels of a model or a project.

    A new label starts uncertain and is asked about on the next examples. Other labels keep what they have learned.
    While a service runs, give its address, such as http://127.0.0.1:8137/tickets, and an engineer's token in
    $COALFACE_TOKEN.
    """
    from coalface.rounds import ADD, change_of

    old, new = rename if rename is not None else (None, None)
    wanted = None
    if any(value is not None for value in (add, rename, retire, cost_matrix)):
        wanted = change_of(add, old, new, retire)
    if wanted is not None and wanted.kind != ADD and cost_matrix is not None:
        raise InputError(f"--cost-matrix must come with --add, got --{wanted.kind}. Leave it out.")
    if _is_service(target):
        from coalface.desk.annotators.changes import change_service_labels

        offered, retired = change_service_labels(target, _token(), wanted, cost_matrix)
    elif Path(target).is_dir():
        from coalface.desk.annotators.changes import change_project_labels

        offered, retired = change_project_labels(Path(target), wanted, cost_matrix)
    else:
        offered, retired = _labels_of_model(Path(target), wanted, cost_matrix)
    lines = [*map(str, offered), *(f"{label} (retired)" for label in retired)]
    show({"labels": offered, "retired": retired}, "\n".join(lines), as_json=as_json)


def _labels_of_model(path: Path, change: "LabelChange | None", cost_matrix: Path | None) -> tuple[list[Any], list[Any]]:
    from coalface.files import exclusive
    from coalface.learner import NamedLearner, require_model

    require_model(path)
    with exclusive(path):
        current = NamedLearner.load(path)
        if change is not None:
            current.change_labels(change, cost_matrix)
            current.save(path)
    labels = current.learner.labels_
    return labels.classes[labels.active].tolist(), labels.retired


def _is_service(target: str) -> bool:
    return target.startswith(("http://", "https://"))


def _token() -> str:
    """The token of an engineer, for a service."""
    token = os.environ.get(TOKEN)
    if not token:
        raise InputError(f"A service needs the token of an engineer, got none. Set {TOKEN}.")
    return token


def pool(
    target: Annotated[
        str, typer.Argument(metavar="PROJECT", help="A project folder, or the address of a running service.")
    ],
    add: Annotated[Path | None, typer.Option(metavar="FILE", help="Add these examples, as for init.")] = None,
    first: Annotated[
        bool, typer.Option("--first", help="With --add: ask about them before all undecided examples.")
    ] = False,
    features: Annotated[
        Path | None, typer.Option(help="With --add, if the project has features of its own: a row per example.")
    ] = None,
    costs: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Import labels or costs that exist already: .jsonl or .csv, with ids."),
    ] = None,
    gold: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The same for gold questions, with which annotators are checked."),
    ] = None,
    retire: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="Stop asking about this example; may be repeated.")
    ] = None,
    restore: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="Bring this retired example back; may be repeated.")
    ] = None,
    reason: Annotated[str, typer.Option(help="Why examples are retired or restored, for the log.")] = "",
    as_json: options.Json = False,
) -> None:
    """Add examples to a project, import known labels and costs, or retire examples.

    The same file again changes nothing. While a service runs, give its address, such as
    http://127.0.0.1:8137/tickets, and an engineer's token in $COALFACE_TOKEN.
    """
    if add is None and (first or features is not None):
        raise InputError("--first and --features must come with --add. Name a file of examples.")
    from coalface.desk.annotators.changes import PoolChange, change_project_pool, change_service_pool

    change = PoolChange(add, first, features, costs, gold, retire or (), restore or (), reason)
    service = _is_service(target)
    done = change_service_pool(target, _token(), change) if service else change_project_pool(Path(target), change)
    show(done, "\n".join(_in_words(done)), as_json=as_json)


def _in_words(done: dict[str, dict[str, int]]) -> Iterator[str]:
    """A line per part of a change of a pool."""
    for part, found in done.items():
        known = found.get("known")
        were = f"{known} {'was' if known == 1 else 'were'}"
        if part == "added":
            yield f"Added {counted(found['added'], 'example')}; {were} there already."
        elif part == "costs":
            yield f"Learned {counted(found['settled'], 'example')}; {known} had known costs already."
        elif part == "gold":
            yield f"Marked {counted(found['settled'], 'example')} as gold; {were} gold already."
        elif part == "pool":
            yield f"The pool has {counted(found['examples'], 'example')}, {found['retired']} retired."
        else:
            yield f"{part.capitalize()} {counted(found['changed'], 'example')}."
