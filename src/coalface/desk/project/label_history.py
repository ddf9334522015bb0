"""The changes of a project's labels, as its log records them.

``labels.txt`` has the first labels and never changes. The log keeps the names that labels had when an event happened;
``as_now`` gives an event with the names that they have now.
"""

import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from coalface.data import check_cost_matrix
from coalface.desk.log.events import LABELS, change_in
from coalface.desk.log.ownership import opening
from coalface.desk.project.project import Project
from coalface.desk.project.settings_file import whole_text
from coalface.errors import InputError
from coalface.rounds import ADD, RENAME, Event, EventLog, LabelChange, LabelSet, Round

_BY_LABEL = ("costs", "audits", "ranges", "predicted", "reasons", "propensity", "by", "booked")  # mappings from labels
_LISTS = ("labels", "asked", "ask", "unasked", "candidates")


@dataclass(frozen=True)
class LabelHistory:
    """The changes so far, each with the number of its event.

    >>> renamed = LabelChange("rename", "a", 3, new_name="b")
    >>> history = LabelHistory().with_events([Event("labels", 1.0, id=7, body=renamed.to_json())])
    >>> history.name_now("a"), history.name_now("a", after=7)
    ('b', 'a')
    >>> history.as_now(Event("answered", 1.0, id=5, body={"asked": ["a"]})).body
    {'asked': ['b']}
    """

    changes: tuple[tuple[int, LabelChange], ...] = ()

    @classmethod
    def of(cls, log: EventLog) -> "LabelHistory":
        """The history that a log has."""
        return cls().with_events(log.read(kinds=[LABELS]))

    def with_events(self, events: Iterable[Event]) -> "LabelHistory":
        """The history after more events, most of which change no label; those that it knows change nothing."""
        known = self.changes[-1][0] if self.changes else 0
        new = ((event.id, change_in(event)) for event in events if event.kind == LABELS and event.id > known)
        return LabelHistory((*self.changes, *new))

    # -- the labels now -------------------------------------------------------------------------

    def project(self, project: Project) -> Project:
        """The project with its labels as they are now."""
        labels, matrix = LabelSet.of(np.array(project.first_labels)), project.first_matrix
        limits = project.limits
        for _, change in self.changes:
            labels = labels.after(change)
            limits = limits.renamed(change.label, change.new_name) if change.kind == RENAME else limits
            matrix = matrix if change.cost_matrix is None else np.array(change.cost_matrix)
        retired = tuple(labels.classes[~labels.active].tolist())
        return replace(project, labels=labels.classes.tolist(), retired=retired, matrix=matrix, limits=limits)

    # -- names ----------------------------------------------------------------------------------

    def name_now(self, label: str, after: int = 0) -> str:
        """The present name of the label that had this name after an event."""
        for event, change in self.changes:
            if event > after and change.kind == RENAME and change.label == label:
                label = change.new_name
        return label

    def as_now(self, event: Event) -> Event:
        """The event with the present names of its labels."""
        renamed = [change for number, change in self.changes if number > event.id and change.kind == RENAME]
        if not renamed or event.kind == LABELS:
            return event
        return replace(event, body=_with_names(event.body, lambda label: self.name_now(label, event.id)))


def project_now(folder: str | os.PathLike[str]) -> Project:
    """The project in a folder with its labels as they are now; a desk may have it open."""
    project = Project.open(folder)
    with opening(project.address), closing(project.open_store()) as store:
        return LabelHistory.of(store.log).project(project)


def _with_names(body: Mapping[str, Any], name: Callable[[str], str]) -> dict[str, Any]:
    """The JSON form of an event or a round with other names of labels.

    >>> _with_names({"ask": ["a"], "costs": {"a": 0.5}, "then": {"labels": ["a"]}}, str.upper)
    {'ask': ['A'], 'costs': {'A': 0.5}, 'then': {'labels': ['A']}}
    """
    found = dict(body)
    for key, value in body.items():
        if key in _BY_LABEL and isinstance(value, Mapping):
            found[key] = {name(label): part for label, part in value.items()}
        elif key in _LISTS and isinstance(value, list):
            found[key] = [name(label) for label in value]
        elif key == "truth" and isinstance(value, str):
            found[key] = name(value)
        elif key in ("then", "outlook") and isinstance(value, Mapping):
            found[key] = _with_names(value, name)
        elif key == "outlooks" and isinstance(value, list):
            found[key] = [_with_names(one, name) if isinstance(one, Mapping) else one for one in value]
        elif key == "label" and isinstance(value, str):
            found[key] = name(value)
    return found


def round_renamed(one: Round, old: str, new: str) -> Round:
    """The round with another name of one label."""
    return Round.trusted(_with_names(one.to_json(), lambda label: new if label == old else label))


def checked_change(project: Project, change: LabelChange) -> LabelChange:
    """The change as the log records it; an InputError if the project cannot make it.

    A new label of a project with costs of errors comes with the costs of all labels, the new one last.
    """
    for name in (change.label, change.new_name):
        if name is not None and (not isinstance(name, str) or name != name.strip() or len(name.splitlines()) != 1):
            raise InputError(f"A label must be one line of text without spaces around it, got {name!r}. Correct it.")
        whole_text("A label", name or "")
    before = LabelSet(np.array(project.labels), ~np.isin(project.labels, project.retired))
    after = before.after(change)
    if change.kind == ADD:
        project.limits.check_labels([change.label])
    if after.active.sum() < 2:
        raise InputError(f"A project must keep two labels, so {change.label!r} cannot be retired. Add one first.")
    needed = project.matrix is not None and len(after.classes) > len(before.classes)
    if change.cost_matrix is None and needed:
        raise InputError(
            f"The project has costs of errors, so a new label needs those of all {len(after.classes)} labels. Pass a "
            "cost matrix, row = truth, that has the new label too."
        )
    if change.cost_matrix is not None:
        if not needed or change.kind != ADD:
            raise InputError("The cost matrix must be left out, because this change has no new costs of errors.")
        _check_matrix(project, check_cost_matrix(change.cost_matrix, after.classes))
    return change


def _check_matrix(project: Project, matrix: Any) -> None:
    n_before, (low, high) = len(project.labels), project.cost_bounds
    if not np.array_equal(matrix[:n_before, :n_before], np.asarray(project.matrix)):
        raise InputError("The cost matrix must keep the costs of the earlier labels; add a row and a column only.")
    if matrix.min() < low or matrix.max() > high:
        raise InputError(
            f"The costs of errors must lie within the scale, {low:g} to {high:g}, got {matrix.min():g} to "
            f"{matrix.max():g}. Correct the new row and column."
        )
