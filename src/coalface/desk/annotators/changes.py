"""Changes of labels and pools by the command line: of a project in a folder, or of a running service by requests."""

import json
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from coalface.data import read_cost_matrix
from coalface.desk.log.ownership import opening
from coalface.desk.project.features import read_features
from coalface.desk.project.label_history import project_now
from coalface.desk.project.project import Project
from coalface.desk.project.sources import ColumnRoles, read_costs, read_examples, read_records
from coalface.desk.service.desk import Desk
from coalface.errors import InputError
from coalface.rounds import LabelChange

_TIMEOUT = 60.0  # seconds
_MOST_BYTES, _MOST_ITEMS = 500_000, 1000  # in one request
_ITEMS = {"examples": "examples", "costs": "items", "examples:retire": "ids", "examples:restore": "ids"}  # of routes
Counts = dict[str, int]
_Known = Sequence[tuple[list[dict[str, Any]], bool]]


# -- labels --------------------------------------------------------------------------------------


def change_project_labels(
    folder: Path, change: LabelChange | None, cost_matrix: Path | None = None
) -> tuple[list[str], list[str]]:
    """Make a change, if there is one, of the project in a folder; its labels after it, and its retired ones."""
    if change is None:
        project = project_now(folder)
    else:
        project = Project.open(folder)
        with opening(project.address), closing(Desk(project)) as desk:
            project = desk.change_labels(_with_matrix(change, desk.project.labels, cost_matrix))
    return list(project.offered), list(project.retired)


def change_service_labels(
    url: str, token: str, change: LabelChange | None, cost_matrix: Path | None = None
) -> tuple[list[str], list[str]]:
    """Make a change, if there is one, of the project at an address; its labels after it, and its retired ones."""
    place = _project_address(url)
    now = _sent(place, token)
    if change is not None:
        matrix = _with_matrix(change, now["all_labels"], cost_matrix).cost_matrix
        body = {change.kind: change.label, "to": change.new_name, "cost_matrix": matrix}
        now = _sent(f"{place}/labels", token, {name: value for name, value in body.items() if value is not None})
    return now["labels"], now["retired"]


def _with_matrix(change: LabelChange, labels: Sequence[str], path: Path | None) -> LabelChange:
    """The change with the costs of errors in a file, which names all labels or has them in their order."""
    if path is None:
        return change
    matrix = read_cost_matrix(path, np.array(list(dict.fromkeys([*labels, change.label])))).tolist()
    return replace(change, cost_matrix=tuple(map(tuple, matrix)))


# -- pools ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PoolChange:
    """What is to be done to a pool: files of examples and costs, and examples to retire or restore."""

    add: Path | None = None
    first: bool = False
    features: Path | None = None
    costs: Path | None = None
    gold: Path | None = None
    retire: Sequence[str] = ()
    restore: Sequence[str] = ()
    reason: str = ""

    def known(self, *columns: str) -> list[tuple[list[dict[str, Any]], bool]]:
        """The records of the files of costs, and whether they are gold."""
        files = [(path, gold) for path, gold in ((self.costs, False), (self.gold, True)) if path is not None]
        return [(read_costs(path, *columns), gold) for path, gold in files]


def change_project_pool(folder: Path, change: PoolChange) -> dict[str, Counts]:
    """Change the pool of the project in a folder; the counts of each part of the change, and of the pool after it."""
    project = Project.open(folder)
    columns = project.pool.columns
    known = change.known(columns.id, columns.label or "label")
    X = None if change.features is None else read_features(change.features)
    with opening(project.address), closing(Desk(project)) as desk:
        coming = set() if change.add is None else {one.id for one in read_examples(change.add, columns)}
        everything = [record for records, _ in known for record in records]
        desk.curation.check(everything, [*change.retire, *change.restore], coming)  # before anything is changed
        done = {part: _locally(desk, X, *step) for part, *step in _steps(change, change.add, known)}
        done["pool"] = {"examples": len(desk.project.pool), "retired": len(desk.state.counters.retired)}
        desk.settle()
    return done


def change_service_pool(url: str, token: str, change: PoolChange) -> dict[str, Counts]:
    """Change the pool of the project at an address; the counts of each part of the change."""
    if (change.add is not None and change.add.is_dir()) or change.features is not None:
        raise InputError("Images and features cannot be sent to a service. Stop it and name the project folder.")
    place = _project_address(url)
    examples = None if change.add is None else [dict(record) for record in read_records(change.add, ColumnRoles())]
    return {part: _remotely(place, token, *step) for part, *step in _steps(change, examples, change.known())}


def _steps(change: PoolChange, examples: Any, known: _Known) -> Iterator[tuple[str, str, Any, dict[str, Any]]]:
    """The parts of a change: what each is called, its route, its items, and what else its requests say."""
    if examples is not None:
        yield "added", "examples", examples, {"first": change.first}
    for records, gold in known:
        yield "gold" if gold else "costs", "costs", records, {"gold": gold}
    if change.retire:
        yield "retired", "examples:retire", change.retire, {"reason": change.reason}
    if change.restore:
        yield "restored", "examples:restore", change.restore, {"reason": change.reason}


def _locally(desk: Desk, features: Any, route: str, items: Any, more: dict[str, Any]) -> Counts:
    if route == "examples":
        return vars(desk.curation.add_examples(items, features=features, **more))
    if route == "costs":
        return vars(desk.curation.import_costs(items, **more))
    change = desk.curation.retire_examples if route == "examples:retire" else desk.curation.restore_examples
    return {"changed": change(items, **more)}


def _remotely(place: str, token: str, route: str, items: Sequence[Any], more: dict[str, Any]) -> Counts:
    """Send the items in parts that a request may hold, and add up the counts."""
    total: Counts = {}
    for part in _parts(items):
        for key, count in _sent(f"{place}/{route}", token, {_ITEMS[route]: part, **more}).items():
            total[key] = total.get(key, 0) + count
    return total


def _parts(items: Sequence[Any]) -> Iterator[list[Any]]:
    part, size = list[Any](), 0
    for item in items:
        n = len(json.dumps(item))
        if part and (size + n > _MOST_BYTES or len(part) >= _MOST_ITEMS):
            yield part
            part, size = [], 0
        part.append(item)
        size += n
    if part:
        yield part


# -- requests ------------------------------------------------------------------------------------


def _project_address(url: str) -> str:
    """The address of a project's routes, from the address of its service and its name.

    >>> _project_address("http://127.0.0.1:8137/tickets")
    'http://127.0.0.1:8137/api/v1/projects/tickets'
    """
    try:
        parts = urlsplit(url)
    except ValueError as problem:
        raise _no_service(url, problem) from None
    name = parts.path.strip("/")
    if not name or "/" in name:
        raise InputError(f"The address must end in the name of the project, such as {url.rstrip('/')}/tickets.")
    return f"{parts.scheme}://{parts.netloc}/api/v1/projects/{name}"


def _sent(url: str, token: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
    """The response to a request; an InputError in one line if the service refuses it."""
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    try:
        with urllib.request.urlopen(urllib.request.Request(url, data, headers), timeout=_TIMEOUT) as response:
            return dict(json.load(response))
    except urllib.error.HTTPError as problem:
        raise InputError(f"The service refused the request: {_detail(problem)}") from None
    except (OSError, ValueError, HTTPException) as problem:
        raise _no_service(url, problem) from None


def _no_service(url: str, problem: Exception) -> InputError:
    return InputError(f"There is no service of coalface at {url} ({problem}). Check the address.")


def _detail(problem: urllib.error.HTTPError) -> str:
    """What the service said was wrong."""
    try:
        return str(json.load(problem)["detail"])
    except (ValueError, KeyError, TypeError):
        return f"{problem.code} {problem.reason}."
