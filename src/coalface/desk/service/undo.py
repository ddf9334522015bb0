"""Undo: an answer is withdrawn with those that followed from it, and its author gets the question again."""

import secrets
from collections import ChainMap
from dataclasses import replace
from typing import Any

from coalface.desk.log.events import ANSWERED, UNDONE
from coalface.desk.log.store import Row
from coalface.desk.project.spending import Limits
from coalface.desk.service.answers import charge, learned_answers, valid_answers, with_answer
from coalface.desk.service.checks import parsed_answer
from coalface.desk.service.project_state import ProjectState, Recording
from coalface.desk.service.queue import LEASE, MOST_HELD, QuestionQueue
from coalface.errors import ConflictError, UnknownIdError
from coalface.rounds.event_log import Event

_COUNTED = ("question", "step", "asked", "costs", "price")  # parts of an answer that the counters subtract


class Undo:
    """Withdraws answers. The caller holds the lock of the project's state."""

    def __init__(self, state: ProjectState, queue: QuestionQueue) -> None:
        self._state, self._queue = state, queue

    def undo(self, annotator: str, answer_id: str, lasting: float = LEASE) -> Row | None:
        """Withdraw an answer and those that followed from it; the question, leased to its author again.

        None for an answer that was kept beside an earlier one: it has no question to return.
        """
        answer = self._own_answer(annotator, answer_id)
        row = self._state.store.question(answer.body["question"]) if answer.body["learned"] else None
        past = self._state.log.about(answer.example or 0)
        if row is None:
            with self._state.recording() as record:
                _record_undone(record, answer, valid_answers(past), self._booked(answer.who, past))
            return None
        undone = [one for one in learned_answers(past, row.number) if one.body["step"] >= answer.body["step"]]
        self._refuse_taking_away(row, annotator, undone)
        return self._withdraw(row, past, undone, lasting)

    def _withdraw(self, row: Row, past: list[Event], undone: list[Event], lasting: float) -> Row:
        state, first, valid = self._state, undone[0], valid_answers(past)
        closed = self._closing_of(row)
        row = _before(row, [one for one in learned_answers(past, row.number) if one not in undone])
        left = len(row.round.next_labels(state.project.scale.bounds))
        row = replace(row, open=True, step=first.body["step"], asking=min(left, len(first.body["asked"])))
        with state.recording() as record:
            for answer in reversed(undone):
                booked = self._booked(answer.who, past)
                _record_undone(record, answer, valid, booked, closed if answer is undone[-1] else None)
                valid.remove(answer)
            lease, expires = secrets.token_urlsafe(12), record.now + lasting
            row = replace(row, holder=first.who, lease=lease, expires=expires)
            record.save(row, row.round.to_json())
            self._queue.record_lease(record, row, lasting)
            if closed is not None:
                self._promote_copy(record, row, past)
        if closed is not None:
            state.model.rebuild()
        return row

    def _booked(self, who: str | None, past: list[Event]) -> Limits:
        """The limits with the prices at which an annotator's answers about an example were booked."""
        limits = self._state.project.limits
        if not limits.by_label:
            return limits
        booked = [event.body.get("booked", {}) for event in past if event.who == who and event.kind == ANSWERED]
        return replace(limits, price_per_cost=dict(ChainMap(*booked, limits.price_per_cost)))

    def _promote_copy(self, record: Recording, row: Row, past: list[Event]) -> None:
        """Let the model learn the copy of the question that was closed next, if there is one."""
        done = [copy for copy in self._state.store.copies(row) if not copy.open]
        for copy in sorted(done, key=lambda copy: _order_of_closing(learned_answers(past, copy.number))):
            if record.teach_trusted(copy, copy.round.to_json(), copy.holder):
                return

    def _refuse_taking_away(self, row: Row, annotator: str, undone: list[Event]) -> None:
        answer_id = undone[0].id
        if any(past.who != annotator for past in undone):
            raise ConflictError(f"The answer {answer_id} cannot be undone: another annotator continued from it.")
        now = self._state.clock()
        held = row.open and row.lease is not None and (row.expires or 0.0) >= now
        if held and row.holder != annotator:
            raise ConflictError(f"The answer {answer_id} cannot be undone now: another annotator has its example.")
        if not held and self._state.store.n_held(annotator, now) >= MOST_HELD:
            raise ConflictError(
                f"The answer {answer_id} cannot be undone now: {annotator!r} holds {MOST_HELD} questions. "
                "Answer or release some first."
            )

    def _own_answer(self, annotator: str, answer_id: str) -> Event:
        event = self._state.log.get(parsed_answer(answer_id))
        if event is None or event.kind != ANSWERED or event.who != annotator:  # answers of others stay secret
            raise UnknownIdError(f"There is no answer {answer_id!r:.60} of {annotator!r}.")
        if event.id in self._state.counters.undone:
            raise ConflictError(f"The answer {answer_id} was undone already.")
        return event

    def _closing_of(self, row: Row) -> int | None:
        """The event that taught the model this question's answers; None if it has not learned them."""
        number = self._state.counters.closed.get(row.example)
        event = None if number is None else self._state.log.get(number)
        return number if event is not None and event.body.get("question") == row.number else None


def _before(row: Row, remaining: list[Event]) -> Row:
    """The question after the remaining answers only; an undone answer may have given the same costs as they did."""
    found = replace(row.round, costs={}, unasked=(), by={}, truth=None)
    for answer in remaining:
        found = with_answer(found, answer.body, answer.who)
    return replace(row, round=found)


def _order_of_closing(answers: list[Event]) -> tuple[bool, int]:
    """By the last answer; then the examples cut off by the budget."""
    return "then" in answers[-1].body, answers[-1].id


def _record_undone(
    record: Recording, answer: Event, valid: list[Event], booked: Limits, closed: int | None = None
) -> None:
    """Record that an answer is undone; costs that another valid answer gives as well stay paid."""
    body: dict[str, Any] = {name: answer.body[name] for name in _COUNTED if name in answer.body}
    body |= charge(answer.who, answer.body, [other for other in valid if other.id != answer.id], booked)
    body |= {"answer": answer.id} | ({} if closed is None else {"closed": closed})
    record.add(UNDONE, body, answer.who, answer.example)
