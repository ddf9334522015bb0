"""``coalface labels``."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coalface.cli import options
from coalface.errors import InputError

if TYPE_CHECKING:
    from coalface.rounds.label_change import LabelChange

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
    from coalface.rounds.label_change import ADD, change_of

    old, new = rename if rename is not None else (None, None)
    wanted = None
    if any(value is not None for value in (add, rename, retire, cost_matrix)):
        wanted = change_of(add, old, new, retire)
    if wanted is not None and wanted.kind != ADD and cost_matrix is not None:
        raise InputError(f"--cost-matrix must come with --add, got --{wanted.kind}. Leave it out.")
    if target.startswith(("http://", "https://")):
        offered, retired = _of_service(target, wanted, cost_matrix)
    elif Path(target).is_dir():
        offered, retired = _of_project(Path(target), wanted, cost_matrix)
    else:
        offered, retired = _of_model(Path(target), wanted, cost_matrix)
    _print(offered, retired, as_json=as_json)


def _of_model(path: Path, change: "LabelChange | None", cost_matrix: Path | None) -> tuple[list[Any], list[Any]]:
    from coalface.data.formats.cost_matrix import read_cost_matrix
    from coalface.data.labels import label_like
    from coalface.files.atomic import exclusive
    from coalface.learner.named_learner import NamedLearner, require_model
    from coalface.rounds.label_change import ADD, RENAME

    require_model(path)
    with exclusive(path):
        current = NamedLearner.load(path)
        learner = current.learner
        if change is not None:
            label = label_like(change.label, learner.classes_)
            if change.kind == ADD:
                after = learner.labels_.after(type(change)(ADD, label, learner.round_)).classes
                learner.add_label(
                    label, cost_matrix=None if cost_matrix is None else read_cost_matrix(cost_matrix, after)
                )
            elif change.kind == RENAME:
                learner.rename_label(label, label_like(change.new_name, learner.classes_))
            else:
                learner.retire_label(label)
            current.save(path)
    names, active = learner.labels_
    return names[active].tolist(), learner.retired_


def _of_project(folder: Path, change: "LabelChange | None", cost_matrix: Path | None) -> tuple[list[Any], list[Any]]:
    from contextlib import closing

    from coalface.desk.log.ownership import opening
    from coalface.desk.project.label_history import project_now, with_matrix
    from coalface.desk.project.project import Project
    from coalface.desk.service.desk import Desk

    if change is None:
        project = project_now(folder)
    else:
        project = Project.open(folder)
        with opening(project.address), closing(Desk(project)) as desk:
            project = desk.change_labels(with_matrix(desk.project, change, cost_matrix))
    return list(project.offered), list(project.retired)


def _of_service(url: str, change: "LabelChange | None", cost_matrix: Path | None) -> tuple[list[Any], list[Any]]:
    from coalface.desk.annotators.label_requests import change_labels

    token = os.environ.get(TOKEN)
    if not token:
        raise InputError(f"A service needs the token of an engineer, got none. Set {TOKEN}.")
    return change_labels(url, token, change, cost_matrix)


def _print(offered: list[Any], retired: list[Any], *, as_json: bool) -> None:
    import json

    if as_json:
        typer.echo(json.dumps({"labels": offered, "retired": retired}))
        return
    for label in offered:
        typer.echo(str(label))
    for label in retired:
        typer.echo(f"{label} (retired)")
