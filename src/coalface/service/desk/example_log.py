"""What the log tells of one example: which answers stand, what was put to whom, and what is paid for.

All of it is read from the events about the example, in their order; nothing else is needed.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from coalface.rounds.event_log import Event
from coalface.service.desk.counters import ANSWERED
from coalface.service.desk.replay import UNDONE


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


def pay_for(who: str | None, answer: Mapping[str, Any], others: Iterable[Event]) -> dict[str, int]:
    """What an answer adds to the same person's other ones about an example: a first look, and so many costs asked for.

    Everybody is paid once for each, however often it was put and under however many leases.

    >>> other = Event("answered", at=1.0, who="ada", body={"step": 0, "asked": ["cat"]})
    >>> pay_for("ada", {"step": 0, "asked": ["cat", "dog"]}, [other])
    {'looks': 0, 'put': 1}
    """
    own = [event.body for event in others if event.who == who]
    asked = {label for body in own for label in body["asked"]}
    looks = answer["step"] == 0 and all(body["step"] > 0 for body in own)
    return {"looks": int(looks), "put": len({*answer["asked"]} - asked)}
