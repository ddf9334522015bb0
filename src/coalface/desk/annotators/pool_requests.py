"""Changes of a pool by the command line: new examples, known costs, and examples that are retired.

They reach a project in a folder, or a running service by requests.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coalface.desk.annotators.label_requests import project_address, sent
from coalface.desk.log.ownership import opening
from coalface.desk.project.columns import ColumnRoles
from coalface.desk.project.features import read_features
from coalface.desk.project.known_costs import read_costs
from coalface.desk.project.project import Project
from coalface.desk.project.sources import read_examples, read_records
from coalface.desk.service.desk import Desk
from coalface.errors import InputError

_MOST_BYTES, _MOST_ITEMS = 500_000, 1000  # in one request
Counts = dict[str, int]


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


def change_project(folder: Path, change: PoolChange) -> dict[str, Counts]:
    """Change the pool of the project in a folder; the counts of each part of the change, and of the pool after it."""
    project = Project.open(folder)
    columns = project.pool.columns
    known = change.known(columns.id, columns.label or "label")
    with opening(project.address), closing(Desk(project)) as desk:
        coming = set() if change.add is None else {one.id for one in read_examples(change.add, columns)}
        everything = [record for records, _ in known for record in records]
        desk.curation.check(everything, [*change.retire, *change.restore], coming)  # before anything is changed
        done = _changed(_LocalPool(desk, change.features), change, change.add, known)
        done["pool"] = {"examples": len(desk.project.pool), "retired": desk.n_retired()}
        desk.settle()
    return done


def change_service(url: str, token: str, change: PoolChange) -> dict[str, Counts]:
    """Change the pool of the project at an address; the counts of each part of the change."""
    if (change.add is not None and change.add.is_dir()) or change.features is not None:
        raise InputError("Images and features cannot be sent to a service. Stop it and name the project folder.")
    examples = None if change.add is None else [dict(record) for record in read_records(change.add, ColumnRoles())]
    return _changed(RemotePool(url, token), change, examples, change.known())


def _changed(pool: "_LocalPool | RemotePool", change: PoolChange, examples: Any, known: Any) -> dict[str, Counts]:
    done = dict[str, Counts]()
    if examples is not None:
        done["added"] = pool.add(examples, first=change.first)
    for records, gold in known:
        done["gold" if gold else "costs"] = pool.import_costs(records, gold=gold)
    if change.retire:
        done["retired"] = pool.retire(change.retire, change.reason)
    if change.restore:
        done["restored"] = pool.restore(change.restore, change.reason)
    return done


class _LocalPool:
    """The pool of a desk."""

    def __init__(self, desk: Desk, features: Path | None) -> None:
        self._curation, self._features = desk.curation, features

    def add(self, examples: Path, *, first: bool) -> Counts:
        X = None if self._features is None else read_features(self._features)
        return vars(self._curation.add_examples(examples, features=X, first=first))

    def import_costs(self, records: Sequence[Mapping[str, Any]], *, gold: bool = False) -> Counts:
        found = self._curation.import_costs(records, gold=gold)
        return {"settled": found.settled, "known": found.known}

    def retire(self, ids: Sequence[str], reason: str) -> Counts:
        return {"changed": self._curation.retire_examples(ids, reason=reason)}

    def restore(self, ids: Sequence[str], reason: str) -> Counts:
        return {"changed": self._curation.restore_examples(ids, reason=reason)}


class RemotePool:
    """The pool of the project at an address, such as http://127.0.0.1:8137/tickets."""

    def __init__(self, url: str, token: str) -> None:
        self._place, self._token = project_address(url), token

    def add(self, examples: Sequence[Mapping[str, Any]], *, first: bool) -> dict[str, int]:
        """Add examples; how many were added and how many were known."""
        return self._sum("examples", "examples", examples, first=first)

    def import_costs(self, records: Sequence[Mapping[str, Any]], *, gold: bool = False) -> dict[str, int]:
        """Import known costs; how many examples were settled and how many were known."""
        return self._sum("costs", "items", records, gold=gold)

    def retire(self, ids: Sequence[str], reason: str) -> dict[str, int]:
        """Retire examples; how many were changed."""
        return self._sum("examples:retire", "ids", ids, reason=reason)

    def restore(self, ids: Sequence[str], reason: str) -> dict[str, int]:
        """Bring examples back; how many were changed."""
        return self._sum("examples:restore", "ids", ids, reason=reason)

    def _sum(self, route: str, name: str, items: Sequence[Any], **more: Any) -> dict[str, int]:
        """Send the items in parts that a request may hold, and add up the counts."""
        total: dict[str, int] = {}
        for part in _parts(items):
            for key, count in sent(f"{self._place}/{route}", self._token, {name: part, **more}).items():
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
