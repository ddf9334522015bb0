"""Changes of labels by the command line: of a project in a folder, or of a running service by requests."""

import json
import urllib.error
import urllib.request
from contextlib import closing
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from coalface.data.formats.cost_matrix import read_cost_matrix
from coalface.desk.log.ownership import opening
from coalface.desk.project.label_history import project_now, with_matrix
from coalface.desk.project.project import Project
from coalface.desk.service.desk import Desk
from coalface.errors import InputError
from coalface.rounds.label_change import ADD, RENAME, LabelChange

_TIMEOUT = 60.0  # seconds


def change_project(
    folder: Path, change: LabelChange | None, cost_matrix: Path | None = None
) -> tuple[list[str], list[str]]:
    """Make a change, if there is one, of the project in a folder; its labels after it, and its retired ones."""
    if change is None:
        project = project_now(folder)
    else:
        project = Project.open(folder)
        with opening(project.address), closing(Desk(project)) as desk:
            project = desk.change_labels(with_matrix(desk.project, change, cost_matrix))
    return list(project.offered), list(project.retired)


def change_service(
    url: str, token: str, change: LabelChange | None, cost_matrix: Path | None = None
) -> tuple[list[str], list[str]]:
    """Make a change, if there is one, of the project at an address; its labels after it, and its retired ones."""
    place = project_address(url)
    now = sent(place, token)
    if change is not None:
        body: dict[str, Any] = {change.kind: change.label}
        body |= {"to": change.new_name} if change.kind == RENAME else {}
        if cost_matrix is not None and change.kind == ADD:
            labels = np.array([*now["all_labels"], *([change.label] if change.label not in now["all_labels"] else [])])
            body["cost_matrix"] = read_cost_matrix(cost_matrix, labels).tolist()
        now = sent(f"{place}/labels", token, body)
    return now["labels"], now["retired"]


def project_address(url: str) -> str:
    """The address of a project's routes, from the address of its service and its name.

    >>> project_address("http://127.0.0.1:8137/tickets")
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


def sent(url: str, token: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
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
