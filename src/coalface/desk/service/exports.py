"""Exports of a project's answers for other programs: JSON lines, CSV, VW text, or the trained model."""

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping
from copy import copy
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.data import CostDataset, harmless, write_vw_text
from coalface.desk.log.events import (
    ANSWERED,
    CLOSED,
    RETIRED,
    SETTLED,
    WITHDRAWING,
    is_replaced,
    retired_in,
    rounds_in,
    undone_in,
    valid_answers,
)
from coalface.desk.project.hugging_face import write_dataset
from coalface.desk.project.label_history import LabelHistory
from coalface.desk.project.label_studio import task_of
from coalface.desk.project.project import Project
from coalface.desk.service.curation import REVIEW
from coalface.desk.service.overview import predicted_rows
from coalface.desk.service.read_models import best_label
from coalface.errors import InputError
from coalface.learner import CoalClassifier, possible_savings
from coalface.rounds import Costs, Event, EventLog, Round, answer_arrays

_BLOCK = 1000  # examples predicted at a time
_Known = Mapping[int, Costs]


def export(
    project: Project, log: EventLog, model: Callable[[], CoalClassifier], form: str, top: int | None = None
) -> Iterator[bytes]:
    """The bytes of an export, piece by piece; ``model`` returns the trained model.

    Labels have their present names, and retired ones are among them. ``top`` limits predictions to so many examples,
    the most uncertain first.
    """
    history = LabelHistory.of(log)
    project, log.as_now = history.project(project), history.as_now
    project.pool.grown(log)
    forms: dict[str, Callable[[], Iterator[bytes]]] = {
        "jsonl": lambda: _as_jsonl(_answered_examples(project, log)),
        "csv": lambda: _csv(project, log),
        "vw": lambda: _vw(project, log),
        "model": lambda: _file(_with_encoder(model(), project).save),
        "predictions": lambda: _as_jsonl(_predicted_lines(project, model(), log, top)),
        "predictions.csv": lambda: _as_csv(project, _predicted_lines(project, model(), log, top)),
        "label-studio": lambda: _tasks(project, log),
        "parquet": lambda: _parquet(project, log),
    }
    if form not in forms:
        raise InputError(f"An export must be one of {', '.join(forms)}, got {form!r}. Choose one of these.")
    return forms[form]()


def _with_encoder(learner: CoalClassifier, project: Project) -> CoalClassifier:
    """A copy of the learner that takes raw examples, if those of the pool are encoded."""
    found = copy(learner)
    if project.pool.encoder is not None:
        found.encoder_ = project.pool.encoder
    return found


def _answered_examples(project: Project, log: EventLog) -> Iterator[dict[str, Any]]:
    """Each example with an answer, with its costs and with who answered what, when, and in how many seconds.

    The learned ones come first, then those whose questions are not ``finished`` or whose answers are held back.
    """
    learned = retired_in(log.read(kinds=[RETIRED]))  # those are not exported
    for event, example, closed in _closed(log):
        learned.add(example)
        events = log.about(example)
        yield {
            "id": project.pool.example_id(example),
            "content": project.pool.content(example),
            "costs": dict(closed.costs),
            "asked": list(closed.asked),
            "audits": {label: closed.propensity[label] for label in closed.asked if label in closed.propensity},
            "answers": [_said(one, replaced=is_replaced(one, event, closed.costs)) for one in valid_answers(events)],
            "corrections": _corrections(events),
            "at": event.at,
            "finished": True,
        }
    for place in dict.fromkeys(event.example for event in log.read(kinds=[ANSWERED])):
        if place is not None and place not in learned:
            yield from _unfinished_example(project, log, place)


def _unfinished_example(project: Project, log: EventLog, example: int) -> Iterator[dict[str, Any]]:
    """The line of an example that was not learned; none if all its answers were undone."""
    events = log.about(example)
    standing = valid_answers(events)
    if not standing:
        return
    costs: dict[str, float | None] = {}
    for event in standing:
        costs |= {label: cost for label, cost in event.body["costs"].items() if costs.get(label) is None}
    yield {
        "id": project.pool.example_id(example),
        "content": project.pool.content(example),
        "costs": costs,
        "asked": list(dict.fromkeys(label for event in standing for label in event.body.get("asked", []))),
        "audits": {},
        "answers": [_said(event) for event in standing],
        "corrections": _corrections(events),
        "at": standing[-1].at,
        "finished": False,
    }


def _closed(log: EventLog) -> Iterator[tuple[Event, int, Round]]:
    """The "closed" events that were not undone, each with its example and round."""
    undone = undone_in(log.read(kinds=WITHDRAWING))
    for event in log.read(kinds=[CLOSED, SETTLED]):
        if event.id not in undone:
            for example, closed in rounds_in(log.as_now(event)):
                yield event, example, closed


def _said(event: Event, *, replaced: bool = False) -> dict[str, Any]:
    line = {"who": event.who, "at": event.at, "seconds": event.seconds, "costs": event.body["costs"]}
    body = {**event.body, "learned": event.body["learned"] and not replaced, "replaced": replaced}
    return line | {name: body[name] for name in ("late", "learned", "replaced", "note", "price") if body.get(name)}


def _corrections(events: list[Event]) -> list[dict[str, Any]]:
    """Who corrected or confirmed the costs of an example, when and why."""
    reviewed = [event for event in events if event.kind == SETTLED and event.body.get("source") == REVIEW]
    return [{"who": event.who, "at": event.at, "reason": event.body.get("reason", "")} for event in reviewed]


def _csv(project: Project, log: EventLog) -> Iterator[bytes]:
    """A line per learned example; an unknown cost is an empty cell, and no text is a formula."""
    yield _line(["id", *(f"cost:{label}" for label in project.labels), "who", "at"])
    for event, example, closed in _closed(log):
        costs = [closed.costs.get(label) for label in project.labels]
        cells = ["" if cost is None else repr(float(cost)) for cost in costs]
        name = project.pool.example_id(example)
        yield _line([harmless(name), *cells, harmless(event.who or ""), repr(event.at)])


def _line(cells: list[Any]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(cells)
    return text.getvalue().encode("utf-8", "surrogatepass")


def _kept(project: Project, log: EventLog) -> list[int]:
    """The examples that are not retired."""
    gone = retired_in(log.read(kinds=[RETIRED]))
    return [place for place in range(len(project.pool)) if place not in gone]


def _tasks(project: Project, log: EventLog) -> Iterator[bytes]:
    """All examples that are not retired as tasks of Label Studio, with the answers that count."""
    closed = {example: (event, one) for event, example, one in _closed(log)}
    yield b"["
    for number, place in enumerate(_kept(project, log), 1):
        event, one = closed.get(place, (None, Round(0)))
        name, content = project.pool.example_id(place), project.pool.content(place)
        task = task_of(number, name, content, one.costs, best_label(one.costs), None if event is None else event.who)
        yield (b",\n" if number > 1 else b"\n") + json.dumps(task, ensure_ascii=False).encode("utf-8", "surrogatepass")
    yield b"\n]\n"


def _parquet(project: Project, log: EventLog) -> Iterator[bytes]:
    """All examples that are not retired as rows of a table, with the costs that count."""
    costs = {example: one.costs for _, example, one in _closed(log)}
    rows = (_row_of(project, place, costs.get(place, {})) for place in _kept(project, log))
    return _file(lambda path: write_dataset(path, rows, project.labels))


def _row_of(project: Project, place: int, costs: Mapping[str, float | None]) -> dict[str, Any]:
    """An example as a row: its text and cells, the label of the least known cost, and the known costs."""
    content = project.pool.content(place)
    texts = {name: content[name] for name in ("text", "html") if name in content}
    known = {f"cost:{label}": costs.get(label) for label in project.labels}
    row = {"id": project.pool.example_id(place), **texts, **content.get("cells", {})}
    return row | {"label": best_label(costs)} | known


def _vw(project: Project, log: EventLog) -> Iterator[bytes]:
    """Labels that VW cannot read are written as numbers from 1."""
    found = list(_closed(log))
    places = np.array([example for _, example, _ in found], np.int64)
    cost = answer_arrays([closed for _, _, closed in found], project.labels).cost
    plain = all(label and not any(letter.isspace() or letter in ":|'" for letter in label) for label in project.labels)
    names = (
        np.array(project.labels) if plain and "shared" not in project.labels else np.arange(1, len(project.labels) + 1)
    )
    dataset = CostDataset(project.pool.rows(places), cost, names)
    return _file(lambda path: write_vw_text(dataset, path))


# -- predictions for the whole pool ---------------------------------------------------------------


def _predicted_lines(
    project: Project, learner: CoalClassifier, log: EventLog, top: int | None = None
) -> Iterator[dict[str, Any]]:
    """A line per example of the pool, in its order or, with ``top``, the most uncertain ones first.

    ``uncertainty`` is what further questions could save.
    """
    known = {example: closed.costs for _, example, closed in _closed(log)}
    kept = np.array(_kept(project, log), np.int64)
    places = kept if top is None else kept[_most_uncertain(project, learner, kept, top)]
    for start in range(0, len(places), _BLOCK):
        yield from _predicted_block(project, learner, places[start : start + _BLOCK], known)


def _most_uncertain(
    project: Project, learner: CoalClassifier, places: NDArray[np.int64], top: int
) -> NDArray[np.int64]:
    blocks = [places[start : start + _BLOCK] for start in range(0, len(places), _BLOCK)]
    scores = [possible_savings(learner, project.pool.rows(block)) for block in blocks]
    return np.argsort(-np.concatenate([*scores, np.zeros(0)]), kind="stable")[:top]


def _predicted_block(
    project: Project, learner: CoalClassifier, places: NDArray[np.int64], known: _Known
) -> Iterator[dict[str, Any]]:
    X = project.pool.rows(places)
    found = predicted_rows(project, learner, X, same_round=True)  # the same in any order of the pool
    for place, one, saving in zip(places.tolist(), found, possible_savings(learner, X).tolist(), strict=True):
        named = {"id": project.pool.example_id(place), "label": one["label"], "uncertainty": saving}
        yield {**named, **one, "answered": dict(known.get(place, {}))}


def _as_jsonl(lines: Iterator[dict[str, Any]]) -> Iterator[bytes]:
    """The lines as JSON."""
    return (json.dumps(line, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n" for line in lines)


def _as_csv(project: Project, lines: Iterator[dict[str, Any]]) -> Iterator[bytes]:
    """A table with three columns per label: the predicted cost and the ends of its range."""
    labels = project.offered
    titles = [f"{part}:{label}" for label in labels for part in ("cost", "lowest", "highest")]
    yield _line(["id", "label", "uncertainty", *titles])
    for line in lines:
        numbers = [number for label in labels for number in (line["costs"][label], *line["ranges"][label])]
        yield _line([harmless(line["id"]), harmless(str(line["label"])), line["uncertainty"], *numbers])


def _file(write: Any) -> Iterator[bytes]:
    with TemporaryDirectory() as folder:
        path = Path(folder, "export")
        write(path)
        with path.open("rb") as file:
            while piece := file.read(1 << 20):
                yield piece
