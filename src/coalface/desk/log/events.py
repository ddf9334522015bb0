"""The kinds of events in a project's log, and the rounds that they teach the model.

The model is a fold over the log: the same events give the same bits, in whatever batches they are learned.
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from coalface.errors import FileFormatError
from coalface.rounds import Costs, Event, LabelChange, Outlook, Round

PASSED, CLOSED, UNDONE, LABELS = "passed", "closed", "undone", "labels"  # the kinds that change the model
ANSWERED, ASKED, LEASED, STOPPED, SNAPSHOT = "answered", "asked", "leased", "stopped", "snapshot"
SKIPPED, RESUMED = "skipped", "resumed"  # a question left to other annotators; taken back
FLAGGED, RESOLVED = "flagged", "resolved"  # a note for an engineer; dealt with
JUDGE, HELD_BACK = "judge", "held-back"  # a program that is checked against people; an example not learned for now
ADDED, RETIRED, SETTLED = "added", "retired", "settled"  # examples come and go; costs given without a question
TEACHING = (PASSED, CLOSED, UNDONE, LABELS, RETIRED, SETTLED)
WITHDRAWING = (UNDONE, RETIRED, SETTLED)  # the kinds that can take back what the model has learned

Decided = tuple[int, Round]  # the place of an example in the pool, and its round


def passed_body(decided: Sequence[Decided]) -> dict[str, Any]:
    """The body of a "passed" event: nothing is asked about these examples.

    >>> passed_body([(7, Round(14))])
    {'examples': [7], 'rounds': [14], 'outlooks': [None]}
    """
    return {
        "examples": [example for example, _ in decided],
        "rounds": [one.number for _, one in decided],
        "outlooks": [None if one.outlook is None else asdict(one.outlook) for _, one in decided],
    }


def rounds_in(event: Event) -> list[Decided]:
    """What an event teaches: rounds with the places of their examples in the pool; most events teach nothing.

    >>> closed = Round(14, ask=("cat",), costs={"cat": 0.5})
    >>> rounds_in(Event("closed", 1.0, example=7, body={"question": 3, **closed.to_json()}))
    [(7, Round(number=14, ... ask=('cat',), ... costs={'cat': 0.5}, unasked=(), by={}, ...))]
    """
    body = event.body
    try:
        if event.kind == PASSED:
            return list(zip(body["examples"], _passed(body), strict=True))
        if event.kind == CLOSED and event.example is not None:
            return [(event.example, Round.from_json(body))]
        if event.kind == SETTLED and event.example is not None:
            return [(event.example, Round.from_json(body))] if body.get("costs") and not body.get("confirms") else []
    except (KeyError, TypeError, ValueError) as problem:
        raise FileFormatError(
            f"Event {event.id} of the log is damaged ({problem}). Restore the database from a copy."
        ) from None
    return []


def change_in(event: Event) -> LabelChange:
    """The change that a "labels" event records."""
    try:
        return LabelChange.from_json(event.body)
    except ValueError as problem:
        raise FileFormatError(
            f"Event {event.id} of the log is damaged ({problem}). Restore the database from a copy."
        ) from None


def undone_in(events: Iterable[Event]) -> set[int]:
    """The numbers of events whose answers the model does not know any more: undone, replaced or retired later.

    >>> undone_in([Event("undone", 1.0, body={"closed": 7}), Event("retired", 2.0, body={"withdrawn": [3, 4]})])
    {3, 4, 7}
    """
    return set[int]().union(*map(withdrawn_by, events))


def withdrawn_by(event: Event) -> set[int]:
    """The numbers of the events that an event takes back."""
    if event.kind not in WITHDRAWING:
        return set()
    one, several = event.body.get("closed"), event.body.get("withdrawn", ())
    return {int(number) for number in ([one] if one else []) + list(several)}


def retired_in(events: Iterable[Event]) -> set[int]:
    """The examples that are retired after these events."""
    found: set[int] = set()
    for event in events:
        if event.kind == RETIRED:
            places = set(event.body["examples"])
            found = found - places if event.body.get("back") else found | places
    return found


def valid_answers(events: Iterable[Event]) -> list[Event]:
    """The answers that were not undone.

    >>> valid_answers([Event("answered", at=1.0, id=4), Event("undone", at=2.0, id=5, body={"answer": 4})])
    []
    """
    past = list(events)
    undone = {event.body["answer"] for event in past if event.kind == UNDONE}
    return [event for event in past if event.kind == ANSWERED and event.id not in undone]


def learned_answers(events: Iterable[Event], number: int) -> list[Event]:
    """The valid answers that this question continued from."""
    return [event for event in valid_answers(events) if event.body["question"] == number and event.body["learned"]]


def is_replaced(answer: Event, standing: Event | None, costs: Costs) -> bool:
    """Whether a later correction, or import, that ``standing`` is gave other ``costs`` than an answer.

    >>> answer = Event("answered", 1.0, id=3, body={"costs": {"cat": 1.0}})
    >>> is_replaced(answer, Event("settled", 2.0, id=9), {"cat": 0.0, "dog": 1.0})
    True
    """
    if standing is None or standing.kind != SETTLED or standing.id < answer.id:
        return False
    return any(costs.get(label) != cost for label, cost in answer.body["costs"].items())


def _passed(body: dict[str, Any]) -> list[Round]:
    pairs = zip(body["rounds"], body["outlooks"], strict=True)
    return [Round(number, outlook=None if outlook is None else Outlook(**outlook)) for number, outlook in pairs]
