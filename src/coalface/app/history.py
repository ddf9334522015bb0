"""What the log tells of one example: which answers stand, what was put to whom, and what each person said.

All of it is read from the events about the example, in their order; nothing else is needed.
"""

from collections.abc import Iterable
from typing import Any

from coalface.app.lessons import UNDONE
from coalface.app.tally import ANSWERED
from coalface.ledger.events import Event


def standing(events: Iterable[Event]) -> list[Event]:
    """The answers that were not undone.

    >>> standing([Event("answered", at=1.0, id=4), Event("undone", at=2.0, id=5, body={"answer": 4})])
    []
    """
    past = list(events)
    undone = {event.body["answer"] for event in past if event.kind == UNDONE}
    return [event for event in past if event.kind == ANSWERED and event.id not in undone]


def learned(events: Iterable[Event], number: int) -> list[Event]:
    """The answers that a question has gone on from."""
    return [event for event in standing(events) if event.body["question"] == number and event.body["learned"]]


def put_under(lease: Event, events: Iterable[Event], number: int, step: int) -> list[str] | None:
    """The labels that a lease has put to its holder at a step of a question; None if it never showed that step.

    A lease shows the step that it began with and, after each answer under it, the one that followed, even if that
    answer was undone later.
    """
    if lease.body["question"] != number:
        return None
    if lease.body["step"] == step:
        return list(lease.body.get("labels", []))
    for event in events:
        body: dict[str, Any] = event.body
        if event.kind == ANSWERED and (body.get("lease"), body["step"] + 1) == (lease.id, step) and "then" in body:
            return list(body["then"]["labels"])
    return None


def said_by(who: str | None, events: Iterable[Event], number: int | None = None) -> set[str]:
    """The labels whose cost somebody told, or could not tell, where it is wanted of one question alone."""
    answers = standing(events) if number is None else learned(events, number)
    return {label for event in answers if event.who == who for label in event.body["costs"]}
