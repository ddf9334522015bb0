"""``coalface labels`` and ``coalface pool``: changes of a model, of a project or of a running service."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from coalface.cli import options
from coalface.cli.screen import counted
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
        offered, retired = _labels_of_service(target, wanted, cost_matrix)
    elif Path(target).is_dir():
        offered, retired = _labels_of_project(Path(target), wanted, cost_matrix)
    else:
        offered, retired = _labels_of_model(Path(target), wanted, cost_matrix)
    _print_labels(offered, retired, as_json=as_json)


def _labels_of_model(path: Path, change: "LabelChange | None", cost_matrix: Path | None) -> tuple[list[Any], list[Any]]:
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


def _labels_of_project(
    folder: Path, change: "LabelChange | None", cost_matrix: Path | None
) -> tuple[list[Any], list[Any]]:
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


def _labels_of_service(url: str, change: "LabelChange | None", cost_matrix: Path | None) -> tuple[list[Any], list[Any]]:
    from coalface.desk.annotators.label_requests import change_labels

    token = os.environ.get(TOKEN)
    if not token:
        raise InputError(f"A service needs the token of an engineer, got none. Set {TOKEN}.")
    return change_labels(url, token, change, cost_matrix)


def _print_labels(offered: list[Any], retired: list[Any], *, as_json: bool) -> None:
    import json

    if as_json:
        typer.echo(json.dumps({"labels": offered, "retired": retired}))
        return
    for label in offered:
        typer.echo(str(label))
    for label in retired:
        typer.echo(f"{label} (retired)")


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
    changes = _PoolChanges(add, first, features, costs, gold, retire or [], restore or [], reason)
    remote = target.startswith(("http://", "https://"))
    _print_pool(
        _pool_of_service(target, changes) if remote else _pool_of_project(Path(target), changes), as_json=as_json
    )


class _PoolChanges(NamedTuple):
    """What is to be done to a pool: the options of the command."""

    add: Path | None
    first: bool
    features: Path | None
    costs: Path | None
    gold: Path | None
    retire: list[str]
    restore: list[str]
    reason: str


def _pool_of_project(folder: Path, changes: _PoolChanges) -> dict[str, dict[str, int]]:
    from contextlib import closing

    from coalface.desk.log.ownership import opening
    from coalface.desk.project.features import read_features
    from coalface.desk.project.known_costs import read_costs
    from coalface.desk.project.project import Project
    from coalface.desk.project.sources import read_examples
    from coalface.desk.service.desk import Desk

    project, done = Project.open(folder), dict[str, dict[str, int]]()
    columns = project.pool.columns
    files = [(path, is_gold) for path, is_gold in ((changes.costs, False), (changes.gold, True)) if path is not None]
    known = [(read_costs(path, columns.id, columns.label or "label"), is_gold) for path, is_gold in files]
    with opening(project.address), closing(Desk(project)) as desk:
        coming = set() if changes.add is None else {one.id for one in read_examples(changes.add, columns)}
        everything = [record for records, _ in known for record in records]
        desk.curation.check(everything, [*changes.retire, *changes.restore], coming)  # before anything is changed
        if changes.add is not None:
            X = None if changes.features is None else read_features(changes.features)
            found = desk.curation.add_examples(changes.add, features=X, first=changes.first)
            done["added"] = {"added": found.added, "known": found.known}
        for records, is_gold in known:
            settled = desk.curation.import_costs(records, gold=is_gold)
            done["gold" if is_gold else "costs"] = {"settled": settled.settled, "known": settled.known}
        if changes.retire:
            done["retired"] = {"changed": desk.curation.retire_examples(changes.retire, reason=changes.reason)}
        if changes.restore:
            done["restored"] = {"changed": desk.curation.restore_examples(changes.restore, reason=changes.reason)}
        done["pool"] = {"examples": len(desk.project.pool), "retired": len(desk.state.counters.retired)}
        desk.settle()
    return done


def _pool_of_service(url: str, changes: _PoolChanges) -> dict[str, dict[str, int]]:
    from coalface.desk.annotators.pool_requests import RemotePool
    from coalface.desk.project.columns import Columns
    from coalface.desk.project.known_costs import read_costs
    from coalface.desk.project.sources import read_records

    token = os.environ.get(TOKEN)
    if not token:
        raise InputError(f"A service needs the token of an engineer, got none. Set {TOKEN}.")
    if (changes.add is not None and changes.add.is_dir()) or changes.features is not None:
        raise InputError("Images and features cannot be sent to a service. Stop it and name the project folder.")
    remote, done = RemotePool(url, token), dict[str, dict[str, int]]()
    if changes.add is not None:
        done["added"] = remote.add(
            [dict(record) for record in read_records(changes.add, Columns())], first=changes.first
        )
    if changes.costs is not None:
        done["costs"] = remote.import_costs(read_costs(changes.costs))
    if changes.gold is not None:
        done["gold"] = remote.import_costs(read_costs(changes.gold), gold=True)
    if changes.retire:
        done["retired"] = remote.retire(changes.retire, changes.reason)
    if changes.restore:
        done["restored"] = remote.restore(changes.restore, changes.reason)
    return done


def _print_pool(done: dict[str, dict[str, Any]], *, as_json: bool) -> None:
    import json

    if as_json:
        typer.echo(json.dumps(done))
        return
    if "added" in done:
        known = done["added"]["known"]
        verb = "was" if known == 1 else "were"
        typer.echo(f"Added {counted(done['added']['added'], 'example')}; {known} {verb} there already.")
    if "costs" in done:
        found = done["costs"]
        typer.echo(f"Learned {counted(found['settled'], 'example')}; {found['known']} had known costs already.")
    if "gold" in done:
        found = done["gold"]
        verb = "was" if found["known"] == 1 else "were"
        typer.echo(f"Marked {counted(found['settled'], 'example')} as gold; {found['known']} {verb} gold already.")
    for name in ("retired", "restored"):
        if name in done:
            typer.echo(f"{name.capitalize()} {counted(done[name]['changed'], 'example')}.")
    if "pool" in done:
        typer.echo(f"The pool has {counted(done['pool']['examples'], 'example')}, {done['pool']['retired']} retired.")
