"""What the log says of one example: the answers that were not undone, their costs and what they are paid."""

from collections.abc import Iterable, Mapping
from typing import Any

from coalface.desk.log.events import ANSWERED, SETTLED, UNDONE
from coalface.desk.project.spending import Limits
from coalface.errors import ConflictError, UnknownIdError
from coalface.rounds import Costs, Event

_NO_LIMITS = Limits()


def valid_answers(events: Iterable[Event]) -> list[Event]:
    """The answers that were not undone.

    >>> valid_answers([Event("answered", at=1.0, id=4), Event("undone", at=2.0, id=5, body={"answer": 4})])
    []
    """
    past = list(events)
    undone = {event.body["answer"] for event in past if event.kind == UNDONE}
    return [event for event in past if event.kind == ANSWERED and event.id not in undone]


def own_lease(lease: Event | None, lease_id: str, annotator: str) -> Event:
    """The lease, if it is one of this annotator."""
    if lease is None or lease.who != annotator:
        raise UnknownIdError(f"There is no lease {lease_id!r:.60} of {annotator!r}. Lease a question first.")
    return lease


def displayed_labels(lease: Event, past: Iterable[Event], question: tuple[int, int], lease_id: str) -> list[str]:
    """The labels that a lease has displayed at a step of its question.

    A lease displays its first step and, after each answer under it, the next, even if that answer was undone later.
    """
    number, step = question
    if lease.body["question"] == number:
        if lease.body["step"] == step:
            return list(lease.body.get("labels", []))
        for event in past:
            body: dict[str, Any] = event.body
            followed = event.kind == ANSWERED and "then" in body
            if followed and (body.get("lease"), body["step"] + 1) == (lease.id, step):
                return list(body["then"]["labels"])
    raise UnknownIdError(f"There is no question '{number}.{step}' under the lease {lease_id}. Lease one.")


def refuse_second(valid: list[Event], lease: Event, step: int) -> None:
    """Refuse a second valid answer under a lease at one step of its question."""
    for event in valid:
        if (event.body.get("lease"), event.body["step"]) == (lease.id, step):
            number = event.body["question"]
            raise ConflictError(f"{event.who!r} has already answered question {number}.{step}. Undo that answer first.")


def learned_answers(events: Iterable[Event], number: int) -> list[Event]:
    """The valid answers that this question continued from."""
    return [event for event in valid_answers(events) if event.body["question"] == number and event.body["learned"]]


def charge(
    who: str | None, answer: Mapping[str, Any], others: Iterable[Event], limits: Limits = _NO_LIMITS
) -> dict[str, Any]:
    """What an answer adds to the same annotator's other answers about an example: "looks", 1 if it is new, and costs.

    Each annotator is paid once for each cost, however often and under however many leases it was asked for. If labels
    have prices, "booked" has the usual price of each new cost.

    >>> other = Event("answered", at=1.0, who="ada", body={"step": 0, "asked": ["cat"]})
    >>> charge("ada", {"step": 0, "asked": ["cat", "dog"]}, [other])
    {'looks': 0, 'put': 1}
    """
    own = [event.body for event in others if event.who == who]
    asked = {label for body in own for label in body["asked"]}
    looks = answer["step"] == 0 and all(body["step"] > 0 for body in own)
    new = [label for label in dict.fromkeys(answer["asked"]) if label not in asked]
    booked = {"booked": {label: limits.cost_price(label) for label in new}} if limits.by_label else {}
    return {"looks": int(looks), "put": len(new), **booked}


def is_replaced(answer: Event, standing: Event | None, costs: Costs) -> bool:
    """Whether a later correction, or import, that ``standing`` is gave other ``costs`` than an answer.

    >>> answer = Event("answered", 1.0, id=3, body={"costs": {"cat": 1.0}})
    >>> is_replaced(answer, Event("settled", 2.0, id=9), {"cat": 0.0, "dog": 1.0})
    True
    """
    if standing is None or standing.kind != SETTLED or standing.id < answer.id:
        return False
    return any(costs.get(label) != cost for label, cost in answer.body["costs"].items())
