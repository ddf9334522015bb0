"""What the desk shows of its state: questions, answers, events and remarks as messages."""

import math
from dataclasses import replace
from typing import Any

from coalface.desk.log.store import Row
from coalface.desk.project.project import Project
from coalface.desk.service import messages
from coalface.desk.service.answers import Costs, learned_answers, with_answer
from coalface.desk.service.messages import AnnotatorRow, Answered, Estimate, Question, Remark
from coalface.desk.service.project_state import ProjectState
from coalface.desk.service.queue import QuestionQueue
from coalface.rounds.event_log import Event


def question_of(state: ProjectState, queue: QuestionQueue, row: Row) -> Question:
    """A leased question, for its holder."""
    project, asks_truth = state.project, queue.asks_truth(row.round)
    labels = project.offered if asks_truth else queue.labels_asked(row)
    return Question(
        id=f"{row.number}.{row.step}",
        example_id=project.pool.example_id(row.example),
        content=project.pool.content(row.example),
        labels=list(labels),
        known=_own_costs(state, row),
        lease_id=row.lease or "",
        expires_at=row.expires or 0.0,
        ranges=dict(row.round.ranges),
        reason=messages.reason_in_words(row.round),
        true_label=asks_truth,
        later=[] if asks_truth else queue.later(row),
    )


def _own_costs(state: ProjectState, row: Row) -> Costs:
    """What the holder of a question answered before; the answers of others could bias the holder."""
    own = replace(row.round, costs={}, unasked=(), by={})
    for event in learned_answers(state.log.about(row.example), row.number) if row.round.costs else ():
        if event.who == row.holder:
            own = with_answer(own, event.body, event.who)
    return {label: own.costs[label] for label in state.project.labels if label in own.costs}


def answer_of(state: ProjectState, event: Event) -> Answered:
    """An answer as its annotator sees it again."""
    body, pool = event.body, state.project.pool
    return Answered(
        answer_id=str(event.id),
        question_id=f"{body['question']}.{body['step']}",
        example_id=pool.example_id(event.example or 0),
        costs=body["costs"],
        at=event.at,
        late=body["late"],
        undone=event.id in state.counters.undone,
        note=body.get("note"),
        content=pool.content(event.example or 0),
        asked=list(body["asked"]),
        truth=body.get("truth"),
    )


def message_of(project: Project, event: Event) -> messages.Event:
    """An event of the log, with the id of its example."""
    body: dict[str, Any] = dict(event.body)
    if event.example is not None:
        body["example_id"] = project.pool.example_id(event.example)
    if event.seconds is not None:
        body["seconds"] = event.seconds
    return messages.Event(event.id, event.at, event.kind, event.who, body)


def remarks_of(state: ProjectState, n: int) -> list[Remark]:
    """The flags that engineers have not resolved, then the latest notes."""
    pool, found = state.project.pool, state.latest_counters.remarks.latest(n)
    return [
        Remark(one.id, one.at, one.who, pool.example_id(one.example), one.note, one.flag, pool.content(one.example))
        for one in found
    ]


def with_alpha(state: ProjectState, row: AnnotatorRow) -> AnnotatorRow:
    """The row of an annotator with the agreement with others, if it is known."""
    found = state.agreement(row.name)
    known = math.isfinite(found.alpha)
    return replace(row, alpha=Estimate(found.alpha, found.low, found.high, found.examples) if known else None)
