"""Exports of a project's answers for other programs: JSON lines, CSV, VW text, or the trained model."""

import csv
import io
import json
from collections.abc import Callable, Iterator
from copy import copy
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from coalface.data.dataset import CostDataset
from coalface.data.formats.vw_writer import write_vw_text
from coalface.errors import InputError
from coalface.learner.classifiers import CoalClassifier
from coalface.rounds.arrays import answer_arrays
from coalface.rounds.event_log import Event, EventLog
from coalface.rounds.round import Round
from coalface.service.desk.events import ANSWERED, CLOSED, UNDONE, rounds_in, undone_in
from coalface.service.project.label_history import LabelHistory
from coalface.service.project.project import Project

FORMS = ("jsonl", "csv", "vw", "model")


def export(project: Project, log: EventLog, model: Callable[[], CoalClassifier], form: str) -> Iterator[bytes]:
    """The bytes of an export, piece by piece; ``model`` returns the trained model.

    Labels have their present names, and retired ones are among them.
    """
    history = LabelHistory.of(log)
    project, log.as_now = history.project(project), history.as_now
    if form == "jsonl":
        return (json.dumps(line, ensure_ascii=False).encode() + b"\n" for line in _learned_examples(project, log))
    if form == "csv":
        return _csv(project, log)
    if form == "vw":
        return _vw(project, log)
    if form == "model":
        learner = copy(model())
        if project.pool.encoder is not None:
            learner.encoder_ = project.pool.encoder  # so that the exported model takes raw examples
        return _file(lambda path: learner.save(path))
    raise InputError(f"An export must be one of {', '.join(FORMS)}, got {form!r}.")


def _learned_examples(project: Project, log: EventLog) -> Iterator[dict[str, Any]]:
    """Each example that was learned, with its costs and with who answered what, when, and in how many seconds."""
    for event, example, closed in _closed(project, log):
        yield {
            "id": project.pool.example_id(example),
            "content": project.pool.content(example),
            "costs": dict(closed.costs),
            "asked": list(closed.asked),
            "audits": {label: closed.propensity[label] for label in closed.asked if label in closed.propensity},
            "answers": _provenance(log, event),
            "at": event.at,
        }


def _closed(project: Project, log: EventLog) -> Iterator[tuple[Event, int, Round]]:
    """The "closed" events that were not undone, each with its example and round."""
    undone = undone_in(log.read(kinds=[UNDONE]))
    for event in log.read(kinds=[CLOSED]):
        if event.id not in undone:
            for example, closed in rounds_in(log.as_now(event), project.first_labels):
                yield event, example, closed


def _provenance(log: EventLog, closed: Event) -> list[dict[str, Any]]:
    events = log.about(closed.example or 0)
    undone = {event.body["answer"] for event in events if event.kind == UNDONE}
    found = []
    for event in events:
        body = event.body
        if event.kind == ANSWERED and event.id not in undone:
            line = {"who": event.who, "at": event.at, "seconds": event.seconds, "costs": body["costs"]}
            found.append(line | {name: body[name] for name in ("late", "learned", "note", "price") if body.get(name)})
    return found


def _csv(project: Project, log: EventLog) -> Iterator[bytes]:
    """A line per learned example; an unknown cost is an empty cell, and no text is a formula."""
    yield _line(["id", *(f"cost:{label}" for label in project.labels), "who", "at"])
    for event, example, closed in _closed(project, log):
        costs = [closed.costs.get(label) for label in project.labels]
        cells = ["" if cost is None else repr(float(cost)) for cost in costs]
        name = project.pool.example_id(example)
        yield _line([_harmless(name), *cells, _harmless(event.who or ""), repr(event.at)])


def _harmless(text: str) -> str:
    """A text that no spreadsheet runs as a formula: one that begins like a formula gets an apostrophe in front.

    Removing one leading apostrophe, if there is one, gives the text back. Numbers stay unchanged.

    >>> [_harmless(text) for text in ("mail-7", "-7", "=1+2", "'tis")]
    ['mail-7', '-7', "'=1+2", "''tis"]
    """
    if not text.startswith(("=", "+", "-", "@", "\t", "\r", "\n", "'")):
        return text
    try:
        float(text)
    except ValueError:
        return f"'{text}"
    return text


def _line(cells: list[Any]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(cells)
    return text.getvalue().encode()


def _vw(project: Project, log: EventLog) -> Iterator[bytes]:
    """Labels that VW cannot read are written as numbers from 1."""
    found = list(_closed(project, log))
    places = np.array([example for _, example, _ in found], np.int64)
    cost = answer_arrays([closed for _, _, closed in found], project.labels).cost
    plain = all(label and not any(letter.isspace() or letter in ":|'" for letter in label) for label in project.labels)
    names = (
        np.array(project.labels) if plain and "shared" not in project.labels else np.arange(1, len(project.labels) + 1)
    )
    dataset = CostDataset(project.pool.rows(places), cost, names)
    return _file(lambda path: write_vw_text(dataset, path))


def _file(write: Any) -> Iterator[bytes]:
    with TemporaryDirectory() as folder:
        path = Path(folder, "export")
        write(path)
        with path.open("rb") as file:
            while piece := file.read(1 << 20):
                yield piece
