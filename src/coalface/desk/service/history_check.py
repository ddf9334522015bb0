"""Checks the history of an imported archive: each event by itself, then all of them by a replay."""

import time
from collections.abc import Mapping
from typing import Any

from coalface.desk.log.events import ANSWERED, LEASED, UNDONE
from coalface.desk.log.store import Row, Store
from coalface.desk.project.project import Project
from coalface.desk.service.project_state import ProjectState
from coalface.errors import FileFormatError, shortened
from coalface.rounds.event_log import Event

_LARGEST = 1 << 62
_NUMBER, _TEXT, _WHOLE = (int, float), (str,), (int,)
_NONE = (type(None),)
_FIELDS = {
    "kind": _TEXT,
    "at": _NUMBER,
    "who": _TEXT + _NONE,
    "seconds": _NUMBER + _NONE,
    "example": _WHOLE + _NONE,
    "ref": _TEXT + _NONE,
    "body": (dict,),
    "id": _WHOLE,
}
# What the desk reads later in the bodies of events, without looking again.
_BODIES: dict[str, dict[str, tuple[type, ...]]] = {
    ANSWERED: {"question": _WHOLE, "step": _WHOLE, "costs": (dict,), "learned": (bool,), "late": (bool,)},
    LEASED: {"question": _WHOLE, "step": _WHOLE, "ttl": _NUMBER},
    UNDONE: {"answer": _WHOLE, "question": _WHOLE, "step": _WHOLE, "costs": (dict,)},
}
_LISTS = ("asked", "labels")  # of labels, wherever a body has them
_COLUMNS = {
    "example": _WHOLE,
    "copy": _WHOLE,
    "open": (bool,),
    "step": _WHOLE,
    "asking": _WHOLE,
    "decided": _WHOLE,
    "lease": _TEXT + _NONE,
    "holder": _TEXT + _NONE,
    "expires": _NUMBER + _NONE,
    "previous": _TEXT + _NONE,
}


def checked_event(line: Mapping[str, Any]) -> Event:
    """The event that a line of an archive holds; a FileFormatError if a value has the wrong type."""
    event = Event(**line)
    where = f"event {shortened(event.id, 40)}"
    for name, kinds in _FIELDS.items():
        _check(where, name, getattr(event, name), kinds)
    if not 0 < event.id < _LARGEST:
        raise FileFormatError(f"The archive has an impossible number of an event, {event.id!r:.40}. Export it again.")
    for name, kinds in _BODIES.get(event.kind, {}).items():
        _check(where, name, event.body.get(name), kinds)
    for name in _LISTS:
        if name in event.body and event.kind in _BODIES:
            for label in _check(where, name, event.body[name], (list,)):
                _check(where, name, label, _TEXT)
    for name, cost in event.body["costs"].items() if "costs" in _BODIES.get(event.kind, {}) else ():
        _check(where, name, cost, _NUMBER + _NONE)
    return event


def check_history(project: Project, store: Store) -> None:
    """Refuse a log that cannot be replayed, or questions about examples or labels that the project does not have."""
    state = ProjectState(project, store, time.time)
    n, labels = len(state.project.pool), {*state.project.labels, *project.first_labels}
    for event in store.log.read():
        if event.example is not None and not 0 <= event.example < n:
            raise FileFormatError(f"The log must refer to examples of the pool, 0 to {n - 1}, got {event.example}.")
    for row in store.rows():
        _check_question(row, n, labels, state.project.cost_bounds)


def _check_question(row: Row, n: int, labels: set[str], bounds: tuple[float, float]) -> None:
    where = f"question {row.number}"
    for name, kinds in _COLUMNS.items():
        _check(where, name, getattr(row, name), kinds)
    unknown = {*row.round.ask, *row.round.costs} - labels
    if not 0 <= row.example < n or min(row.step, row.asking, row.copy) < 0 or unknown:
        raise FileFormatError(f"The archive asks about what the project does not have in {where}. Export it again.")
    row.round.next_labels(bounds)


def _check(where: str, name: str, value: Any, kinds: tuple[type, ...]) -> Any:
    """The value, if it is of one of these types; truth values are not numbers, and texts can be stored."""
    fits = isinstance(value, kinds) and (bool in kinds or not isinstance(value, bool))
    if isinstance(value, int) and not -_LARGEST < value < _LARGEST:
        fits = False
    if isinstance(value, str) and ("\0" in value or any("\ud800" <= letter <= "\udfff" for letter in value)):
        fits = False
    if not fits:
        raise FileFormatError(f"The archive has a wrong {name} in {where}: {shortened(value, 60)}. Export it again.")
    return value
