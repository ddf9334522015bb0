"""What a project has gathered, for other programs: JSON lines, CSV, VW text, or the trained model."""

import csv
import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from coalface.data.dataset import CostDataset
from coalface.data.formats.vw_writer import write_vw_text
from coalface.errors import InputError
from coalface.learner.coal import CoalClassifier
from coalface.rounds.event_log import Event, EventLog
from coalface.service.desk.counters import ANSWERED
from coalface.service.desk.replay import CLOSED, UNDONE, undone_in
from coalface.service.project.project import Project

FORMS = ("jsonl", "csv", "vw", "model")


def export(project: Project, log: EventLog, model: Callable[[], CoalClassifier], form: str) -> Iterator[bytes]:
    """The bytes of an export, piece by piece; ``model`` gives the trained model, should it be wanted."""
    if form == "jsonl":
        return (json.dumps(line, ensure_ascii=False).encode() + b"\n" for line in learned_examples(project, log))
    if form == "csv":
        return _csv(project, log)
    if form == "vw":
        return _vw(project, log)
    if form == "model":
        learner = model()
        return _file(lambda path: learner.save(path))
    raise InputError(f"An export must be one of {', '.join(FORMS)}, got {form!r}.")


def learned_examples(project: Project, log: EventLog) -> Iterator[dict[str, Any]]:
    """Each example that was learned, with its costs and with who said what, when, and in how long."""
    for event in _closed(log):
        answers: list[Any] = event.body["answers"]
        yield {
            "id": project.pool.example_id(event.example or 0),
            "content": project.pool.content(event.example or 0),
            "costs": {answer["label"]: answer["cost"] for answer in answers},
            "asked": [answer["label"] for answer in answers if answer.get("asked", True)],
            "audits": {answer["label"]: answer["propensity"] for answer in answers if answer.get("audit")},
            "answers": _provenance(log, event),
            "at": event.at,
        }


def _closed(log: EventLog) -> Iterator[Event]:
    undone = undone_in(log.read(kinds=[UNDONE]))
    return (event for event in log.read(kinds=[CLOSED]) if event.id not in undone)


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
    """A line per learned example; a cost that nobody knows is an empty cell, and no text is taken for a formula."""
    yield _line(["id", *(f"cost:{label}" for label in project.labels), "who", "at"])
    for event in _closed(log):
        costs = {answer["label"]: answer["cost"] for answer in event.body["answers"]}
        cells = ["" if costs.get(label) is None else repr(float(costs[label])) for label in project.labels]
        name = project.pool.example_id(event.example or 0)
        yield _line([harmless(name), *cells, harmless(event.who or ""), repr(event.at)])


def harmless(text: str) -> str:
    """A text that no spreadsheet runs as a formula: where it begins like one, an apostrophe comes first.

    Taking one apostrophe off the front, where there is one, gives the text again. Numbers stay as they are.

    >>> [harmless(text) for text in ("mail-7", "-7", "=1+2", "'tis")]
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
    """Labels are written as numbers from 1 on where VW could not read them."""
    events = list(_closed(log))
    places = np.array([event.example for event in events], np.int64)
    code = {label: k for k, label in enumerate(project.labels)}
    cost = np.full((len(events), len(code)), np.nan)
    for row, event in enumerate(events):
        for answer in event.body["answers"]:
            cost[row, code[answer["label"]]] = np.nan if answer["cost"] is None else answer["cost"]
    plain = all(label and not any(letter.isspace() or letter in ":|'" for letter in label) for label in project.labels)
    names = np.array(project.labels) if plain and "shared" not in project.labels else np.arange(1, len(code) + 1)
    dataset = CostDataset(project.pool.rows(places), cost, names)
    return _file(lambda path: write_vw_text(dataset, path))


def _file(write: Any) -> Iterator[bytes]:
    with TemporaryDirectory() as folder:
        path = Path(folder, "export")
        write(path)
        with path.open("rb") as file:
            while piece := file.read(1 << 20):
                yield piece
