"""Readers of the shapes that version 0.1 wrote to logs, questions and archives; each gives a ``Round``.

Version 0.1 recorded an outlook as four numbers: the place of the label in the project's list (its length if the model
abstained), the predicted cost, the chance and the reachable cost. It recorded no round numbers in the log.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from coalface.kernels.state import AUDIT, UNCERTAIN, WARM_UP, WITH_THE_REST
from coalface.rounds.queries import REASONS
from coalface.rounds.round import Outlook, Round

UNNUMBERED = 0  # the number of a round whose number was not recorded


def passed_rounds(body: Mapping[str, Any], labels: Sequence[str]) -> list[Round]:
    """The rounds of a "passed" event."""
    return [Round(UNNUMBERED, outlook=_outlook(numbers, labels)) for numbers in body["outlooks"]]


def closed_round(body: Mapping[str, Any], labels: Sequence[str]) -> Round:
    """The round of a "closed" event.

    >>> answers = [{"label": "cat", "cost": 0.5}, {"label": "dog", "cost": 0.1, "asked": False}]
    >>> found = closed_round({"answers": answers, "outlook": [1.0, 0.25, 1.0, 0.0]}, ["cat", "dog"])
    >>> found.ask, found.unasked, found.outlook.label
    (('cat',), ('dog',), 'dog')
    """
    outlook = _outlook(body["outlook"], labels)
    plain = {} if outlook is None else {"outlook": vars(outlook)}
    return Round.from_json({"round": UNNUMBERED, "answers": body["answers"], **plain})


def nested_question(line: Mapping[str, Any]) -> dict[str, Any]:
    """A question of an archive in the form that the migration of the database gives it."""
    kept = {name: value for name, value in line.items() if name not in ("turn", "plan", "known")}
    return {**kept, "round": {name: line[name] for name in ("turn", "plan", "known")}}


def question_round(nested: Mapping[str, Any], labels: Sequence[str]) -> Round:
    """The round of a question from its columns ``turn``, ``plan`` and ``known``.

    >>> plan = {"first": ["cat"], "then": [["dog", 0.2]], "ranges": {"cat": [0, 1], "dog": [0.2, 0.6]}}
    >>> found = question_round({"turn": 14, "plan": plan, "known": {"cat": 0.5}}, ["cat", "dog"])
    >>> found.number, found.asked, found.next_labels()
    (14, ('cat',), ('dog',))
    """
    plan, known = nested["plan"], nested["known"]
    later = {label: (lowest, lowest) for label, lowest in plan["then"]}
    ranges = {label: (low, high) for label, (low, high) in (plan.get("ranges") or {}).items()}
    ask, audits = (*plan["first"], *later), plan.get("audits") or {}
    return Round(
        number=nested["turn"],
        ask=ask,
        first=len(plan["first"]),
        ranges={**later, **ranges},
        reasons={label: REASONS[_reason(label, audits, plan.get("reason", ""))] for label in ask},
        propensity=audits,
        outlook=_outlook(plan.get("outlook"), labels),
        costs=known,
        unasked=tuple(label for label in known if label in plan.get("unasked", ()) or label not in ask),
    )


def _outlook(numbers: Sequence[float] | None, labels: Sequence[str]) -> Outlook | None:
    if numbers is None or numbers[2] == 0.0:
        return None
    label, predicted, chance, reachable = numbers
    return Outlook(labels[int(label)] if label < len(labels) else None, predicted, chance, reachable)


def _reason(label: str, audits: Mapping[str, float], text: str) -> int:
    """Version 0.1 recorded one text for all labels of a question."""
    if "in full" in text:
        return WARM_UP
    if label in audits:
        return AUDIT
    return UNCERTAIN if "can still be best" in text or "uncertain" in text else WITH_THE_REST
