"""From the log to the model: what each event teaches. A model is a fold over the log, the same however it is cut."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from coalface.data.rows import check_rows
from coalface.errors import FileFormatError
from coalface.kernels.state import N_OUTLOOK
from coalface.learner.coal import CoalClassifier
from coalface.rounds.event_log import Event
from coalface.service.desk.plan import Known, Plan
from coalface.service.project.pool import Pool

PASSED, CLOSED, UNDONE = "passed", "closed", "undone"  # kinds of events that say what the model is
_BATCH = 512  # lessons told in one go


class Lesson(NamedTuple):
    """One decided example: what was answered about it, as (label, cost or None, asked), and how it looked before."""

    example: int
    answers: tuple[tuple[str, float | None, bool], ...]
    outlook: list[float] | None


def closing(plan: Plan, known: Known, asked: Iterable[str]) -> dict[str, Any]:
    """The body of the event that an example is done; ``asked`` are the labels that were put to somebody."""
    put, audits = set(asked), plan.audits or {}
    answers = []
    for label, cost in known.items():
        answer: dict[str, Any] = {"label": label, "cost": cost}
        if label not in put:
            answer["asked"] = False
        elif label in audits:
            answer |= {"audit": True, "propensity": audits[label]}
        answers.append(answer)
    return {"answers": answers, "outlook": plan.outlook}


def lessons_in(event: Event) -> Iterator[Lesson]:
    """What one event teaches; most teach nothing."""
    body = event.body
    if event.kind == PASSED:
        for example, outlook in zip(body["examples"], body["outlooks"], strict=True):
            yield Lesson(example, (), outlook)
    elif event.kind == CLOSED and event.example is not None:
        answers = tuple((answer["label"], answer["cost"], answer.get("asked", True)) for answer in body["answers"])
        yield Lesson(event.example, answers, body["outlook"])


def undone_in(events: Iterable[Event]) -> set[int]:
    """The numbers of closing events that were taken back later."""
    return {int(event.body["closed"]) for event in events if event.kind == UNDONE and event.body.get("closed")}


def teach(learner: CoalClassifier, pool: Pool, lessons: Iterable[Lesson]) -> None:
    """Tell the learner, in order."""
    batch: list[Lesson] = []
    for lesson in lessons:
        batch.append(lesson)
        if len(batch) == _BATCH:
            _tell(learner, pool, batch)
            batch = []
    if batch:
        _tell(learner, pool, batch)


def _tell(learner: CoalClassifier, pool: Pool, lessons: list[Lesson]) -> None:
    code = {label: place for place, label in enumerate(learner.classes_.tolist())}
    cost = np.full((len(lessons), len(code)), np.nan)
    asked = np.zeros(cost.shape, np.bool_)
    outlook = np.zeros((len(lessons), N_OUTLOOK))
    for row, lesson in enumerate(lessons):
        if lesson.outlook is not None:
            outlook[row] = lesson.outlook
        for label, given, put in lesson.answers:
            if label not in code:
                raise FileFormatError(
                    f"The log speaks of the label {label!r}, which the project has no longer. Add it."
                )
            cost[row, code[label]] = np.nan if given is None else given
            asked[row, code[label]] = put
    places = np.array([lesson.example for lesson in lessons], np.int64)
    learner._warned = True  # that it may have collapsed: the dashboard shows what answers cost
    learner._tell(None, check_rows(pool.rows(places)), learner.classes_, cost, asked, None, outlook)
