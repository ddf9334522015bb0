"""Answers: what happens when an annotator answers, renews a lease or gives a question back.

Any answer under a lease whose question was displayed is kept, whatever has happened to the question since. The model
learns it if it is the first answer to that question. Otherwise the log keeps it beside the first one.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from coalface.desk.log.events import ANSWERED, FLAGGED, RESUMED, SKIPPED, UNDONE
from coalface.desk.log.store import Row
from coalface.desk.project.spending import Limits, Spent
from coalface.desk.service.project_state import ProjectState
from coalface.desk.service.queue import MOST_HELD, QuestionQueue, without_labels
from coalface.errors import ConflictError, UnknownIdError
from coalface.rounds.event_log import Event
from coalface.rounds.round import Round

Costs = dict[str, float | None]
NO_LIMITS = Limits()


@dataclass(frozen=True)
class Given:
    """An answer as an annotator sent it, not yet part of a ``Round``: to which question, under which lease and key.

    With ``whole`` it settles every label, because the annotator gave the ``truth`` or could not tell it.
    """

    annotator: str
    question: tuple[int, int]  # its number, and its number of answers when it was displayed
    lease_id: str
    key: str
    costs: Costs
    said: dict[str, Any]  # seconds, note and price, where given
    whole: bool = False
    truth: str | None = None
    ahead: tuple[str, ...] = ()  # follow-up labels that the page displayed without a call: see ``Question.later``


@dataclass(frozen=True)
class _Taken:
    """A receipt for an answer, not the answers themselves: its event, and the question if the annotator is asked on."""

    event: Event
    next: Row | None


class Answers:
    """Answers in, follow-up questions out. The caller holds the lock of the project's state."""

    def __init__(self, state: ProjectState, queue: QuestionQueue) -> None:
        self._state, self._queue = state, queue

    # -- answers --------------------------------------------------------------------------------

    def answer(self, given: Given) -> _Taken:
        """Keep an answer and, if it is the first to its question, continue the question."""
        state, (number, step) = self._state, given.question
        ref = f"answer:{given.annotator}:{given.key}"
        earlier, lease, past, row = state.store.situation(number, ref, f"lease:{given.lease_id}")
        if earlier is not None:
            return self._again(earlier, given, row)
        lease = _own_lease(lease, given.lease_id, given.annotator)
        asked = _displayed_labels(lease, past, given.question, given.lease_id)
        valid = valid_answers(past)
        _refuse_second(valid, lease, step)
        body: dict[str, Any] = {"question": number, "step": step, "lease": lease.id, "asked": asked}
        body["costs"] = {**dict.fromkeys(asked), **given.costs}
        body |= {name: value for name, value in given.said.items() if name != "seconds"}
        body |= {"truth": given.truth} if given.truth is not None else {}
        limits = state.project.limits
        body |= charge(given.annotator, body, valid, limits)
        first = row is not None and row.open and row.step == step
        if row is not None and first and given.ahead:
            body["asked"] = [*asked, *self._asked_ahead(row, given, body)]
            body |= charge(given.annotator, body, valid, limits)
        with state.recording() as record:
            if row is None or not first or self._is_elsewhere(row, given.annotator, valid):
                row, body = None, body | {"learned": False, "late": True}
            else:
                in_time = row.lease == given.lease_id and not _has_no_lease(row, record.now)
                body |= {"until": row.expires} if row.lease == given.lease_id else {}
                body |= {"learned": True, "late": not in_time}
                row = self._continued(row, given, body, record.now + float(lease.body["ttl"]))
            plain = {} if row is None else row.round.to_json()
            record.add(ANSWERED, body, given.annotator, lease.example, given.said.get("seconds"), ref)
            if row is not None:
                record.save(row, plain, given.annotator)
        return _Taken(record.events[0], row if row is not None and row.open and row.lease is not None else None)

    def _continued(self, row: Row, given: Given, body: dict[str, Any], expires: float) -> Row:
        """The question after an answer: the next labels are leased to the same annotator, or it is closed."""
        project = self._state.project
        answered = with_answer(row.round, body, given.annotator, whole=given.whole)
        row = replace(row, round=answered, step=row.step + 1, holder=given.annotator)
        pending = without_labels(answered, project.retired)
        left = () if given.whole else pending.next_labels(project.scale.bounds)
        asking = self._n_fitting(row, body, self._state.limits, left)
        if not asking and (later := self._n_fitting(row, body, self._state.project_limits, left)):
            # this run may spend no more, but another one may go on
            return replace(row, round=pending, asking=later, lease=None, holder=None, expires=None)
        if not asking:
            return replace(row, open=False, asking=0, lease=None, expires=None)
        row = replace(row, round=pending)
        body["then"] = {"labels": self._queue.in_project_order(left[:asking]), "until": expires}
        return replace(row, asking=asking, lease=given.lease_id, expires=expires)

    def _asked_ahead(self, row: Row, given: Given, body: dict[str, Any]) -> list[str]:
        """The follow-up labels that an answer gives already, as far as the rule asks for them and the budget allows.

        So one answer gives the same round, at the same price, as one answer per label. Others count as volunteered.
        """
        ahead = list[str]()
        found = without_labels(row.round, self._state.project.retired)
        others = {label: cost for label, cost in body["costs"].items() if label not in given.ahead}
        found = found.with_answers(others, asked=body["asked"])
        while left := found.next_labels(self._state.project.scale.bounds):
            wanted = [*ahead, *left]
            if not {*left} <= {*given.ahead} & {*given.costs}:
                break
            if self._n_fitting(row, body, self._state.limits, wanted) < len(wanted):
                break
            ahead += left
            found = found.with_answers({label: given.costs[label] for label in left})
        return ahead

    def _n_fitting(self, row: Row, body: dict[str, Any], limits: Limits, labels: Sequence[str]) -> int:
        """How many of these labels the limits allow to ask about after an answer."""
        if not labels:
            return 0
        costs = list(body["booked"]) if "booked" in body else body["put"]
        price = body.get("price", limits.price_of(body["looks"], costs))
        spent = self._queue.committed(without=row.number) + Spent(body["looks"], body["put"], price)
        return limits.n_fitting(spent, labels)

    def _again(self, event: Event, given: Given, row: Row | None) -> _Taken:
        """The receipt for an answer that was sent before with the same key."""
        body = event.body
        if event.who != given.annotator or event.id in self._state.counters.undone:
            raise ConflictError(
                "This key belongs to an answer that was undone, or to another annotator. Choose a new key."
            )
        same = (body["question"], body["step"], body.get("truth")) == (*given.question, given.truth)
        if not same or {**dict.fromkeys(body["costs"]), **given.costs} != body["costs"]:
            raise ConflictError("This key was used for another answer. Choose a new key for each answer.")
        goes_on = row is not None and row.open and row.holder == event.who and row.step == given.question[1] + 1
        return _Taken(event, row if body["learned"] and goes_on else None)

    def displayed_labels(self, annotator: str, question: tuple[int, int], lease_id: str) -> list[str]:
        """The labels that a lease of this annotator has displayed at a step of its question."""
        lease = self._lease_of(lease_id, annotator)
        return _displayed_labels(lease, self._state.log.about(lease.example or 0), question, lease_id)

    # -- leases ---------------------------------------------------------------------------------

    def renew(self, lease_id: str, annotator: str, lasting: float) -> float:
        """The new end of a lease. The log records the renewal of an expired lease, not the many in time."""
        store, lease = self._state.store, self._lease_of(lease_id, annotator)
        row = store.question(lease.body["question"])
        if row is None or not row.open or row.lease != lease_id:
            raise ConflictError(
                f"The lease {lease_id} is over: its question was answered or leased to another annotator."
            )
        with self._state.recording() as record:
            expires = record.now + lasting
            if _has_no_lease(row, record.now):
                self._refuse_regaining(row, lease_id, annotator)
                body = {"question": row.number, "step": row.step, "until": expires}
                record.add("renewed", body, annotator, row.example)
            store.change(record.connection, row.number, expires=expires)
        return expires

    def release(self, lease_id: str, annotator: str) -> None:
        """Give a question back; nothing happens if the lease is over."""
        lease = self._lease_of(lease_id, annotator)
        row = self._state.store.question(lease.body["question"])
        if row is not None and row.open and row.lease == lease_id:
            with self._state.recording() as record:
                self._state.store.change(record.connection, row.number, lease=None, holder=None, expires=None)
                body = {"question": row.number, "step": row.step, "until": row.expires}
                record.add("released", body, annotator, row.example)

    # -- skips and flags ------------------------------------------------------------------------

    def skip(self, lease_id: str, annotator: str, note: str | None) -> None:
        """Leave a question, and its copies, to other annotators; only the record if the lease is over."""
        lease, store = self._lease_of(lease_id, annotator), self._state.store
        row = store.question(lease.body["question"])
        if row is None or not row.open or row.number in self._state.counters.remarks.skipped_by(annotator):
            return
        with self._state.recording() as record:
            if row.lease == lease_id:
                store.change(record.connection, row.number, lease=None, holder=None, expires=None)
            numbers = [row.number, *(copy.number for copy in store.copies(row) if copy.open)]
            body = {"question": row.number, "step": row.step, "questions": numbers, "until": row.expires}
            record.add(SKIPPED, body | ({"note": note} if note else {}), annotator, row.example)

    def resume(self, annotator: str, *, last: bool) -> bool:
        """Take back the last skip of an annotator, or all; whether there was one."""
        skips = self._state.counters.remarks.skips_of(annotator)
        if skips:
            with self._state.recording() as record:
                record.add(RESUMED, {"skips": skips[-1:] if last else skips}, annotator)
        return bool(skips)

    def flag(self, lease_id: str, annotator: str, note: str) -> None:
        """Flag the example of a lease for an engineer; the same flag again changes nothing."""
        lease = self._lease_of(lease_id, annotator)
        known = self._state.counters.remarks.flags.values()
        if (annotator, lease.example, note) not in {(one.who, one.example, one.note) for one in known}:
            with self._state.recording() as record:
                record.add(FLAGGED, {"question": lease.body["question"], "note": note}, annotator, lease.example)

    def _lease_of(self, lease_id: str, annotator: str) -> Event:
        return _own_lease(self._state.log.named(f"lease:{lease_id}"), lease_id, annotator)

    def _refuse_regaining(self, row: Row, lease_id: str, annotator: str) -> None:
        """An expired lease made room for others, and its holder may have leased another question."""
        state, limits = self._state, self._state.limits
        if self._queue.n_affordable(row, limits, self._queue.committed(without=row.number)) < row.asking:
            raise ConflictError(f"The lease {lease_id} has expired, and the budget has no room for its question now.")
        if state.store.n_held(annotator, state.clock()) >= MOST_HELD:
            raise ConflictError(f"The lease {lease_id} has expired, and {annotator!r} holds {MOST_HELD} others now.")
        if self._is_elsewhere(row, annotator, valid_answers(state.log.about(row.example))):
            raise ConflictError(f"The lease {lease_id} has expired, and {annotator!r} has another copy of it.")

    def _is_elsewhere(self, row: Row, annotator: str, valid: list[Event]) -> bool:
        """Whether this annotator has or answered another copy of the question: each annotator counts once."""
        if self._state.project.overlap == 1:
            return False
        if any(event.who == annotator and event.body["question"] != row.number for event in valid):
            return True
        now = self._state.clock()
        return any(copy.holder == annotator and not _has_no_lease(copy, now) for copy in self._state.store.copies(row))


# -- what the log says of one example -------------------------------------------------------------


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


def with_answer(asked: Round, body: Mapping[str, Any], who: str | None, *, whole: bool = False) -> Round:
    """The round with an answer as its event records it.

    A lease may have displayed labels that the round does not ask about, because it was decided again since. Those count
    as volunteered.
    """
    found = asked.with_answers(body["costs"], asked=asked.ask if whole else body["asked"], by=who)
    found = replace(found, truth=body.get("truth")) if asked.ask_truth else found
    outside = {*found.costs} - {*found.ask, *found.unasked}
    return replace(found, unasked=(*found.unasked, *sorted(outside))) if outside else found


def charge(
    who: str | None, answer: Mapping[str, Any], others: Iterable[Event], limits: Limits = NO_LIMITS
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


def _displayed_labels(lease: Event, past: Iterable[Event], question: tuple[int, int], lease_id: str) -> list[str]:
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
    raise UnknownIdError(f"There is no question '{number}.{step}' under the lease {lease_id}.")


def _own_lease(lease: Event | None, lease_id: str, annotator: str) -> Event:
    if lease is None or lease.who != annotator:
        raise UnknownIdError(f"There is no lease {lease_id!r:.60} of {annotator!r}.")
    return lease


def _has_no_lease(row: Row, now: float) -> bool:
    return row.lease is None or (row.expires or 0.0) < now


def _refuse_second(valid: list[Event], lease: Event, step: int) -> None:
    for event in valid:
        if (event.body.get("lease"), event.body["step"]) == (lease.id, step):
            number = event.body["question"]
            raise ConflictError(f"{event.who!r} has already answered question {number}.{step}. Undo that answer first.")
