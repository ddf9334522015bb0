"""Undoing: an answer taken back, with those that followed from it, and the question given to its author again."""

import secrets
from dataclasses import replace
from typing import Any

from coalface.errors import ConflictError, UnknownIdError
from coalface.rounds.event_log import Event
from coalface.service.desk.answers import Costs, put_down
from coalface.service.desk.checks import parsed_answer
from coalface.service.desk.counters import ANSWERED
from coalface.service.desk.example_log import learned, pay_for, standing
from coalface.service.desk.plan import Plan
from coalface.service.desk.project_state import Books, Recording
from coalface.service.desk.queue import LEASE, MOST_HELD, QuestionQueue
from coalface.service.desk.replay import UNDONE
from coalface.service.desk.store import Row

_COUNTED = ("question", "step", "asked", "costs", "price")  # what the counts take back, beside the pay


class Undoing:
    """Answers taken back; whoever calls holds the lock of the books."""

    def __init__(self, books: Books, queue: QuestionQueue) -> None:
        self._books, self._queue = books, queue

    def undo(self, annotator: str, answer_id: str, lasting: float = LEASE) -> Row | None:
        """Take back an answer and those that followed from it; the question, leased to its author anew.

        An answer that was kept beside an earlier one has no question to come back: None.
        """
        answer = self._own_answer(annotator, answer_id)
        row = self._books.store.question(answer.body["question"]) if answer.body["learned"] else None
        past = self._books.log.about(answer.example or 0)
        if row is None:
            with self._books.recording() as record:
                _note_undone(record, answer, standing(past))
            return None
        undone = [one for one in learned(past, row.number) if one.body["step"] >= answer.body["step"]]
        self._refuse_taking_away(row, annotator, undone)
        return self._take_back(row, past, undone, lasting)

    def _take_back(self, row: Row, past: list[Event], undone: list[Event], lasting: float) -> Row:
        books, first, stands = self._books, undone[0], standing(past)
        closed = self._closing_of(row)
        row = _before(row, [one for one in learned(past, row.number) if one not in undone])
        left = len(Plan(**row.plan).next(row.known, books.project.cost_bounds))
        row = replace(row, open=True, step=first.body["step"], asking=min(left, len(first.body["asked"])))
        with books.recording() as record:
            for answer in reversed(undone):
                _note_undone(record, answer, stands, closed if answer is undone[-1] else None)
                stands.remove(answer)
            lease, expires = secrets.token_urlsafe(12), record.now + lasting
            row = replace(row, holder=first.who, lease=lease, expires=expires)
            put_down(books, record, row)
            self._queue.note_lease(record, row, lasting)
            if closed is not None:
                self._promote_copy(record, row, past)
        if closed is not None:
            books.model.rebuild()
        return row

    def _promote_copy(self, record: Recording, row: Row, past: list[Event]) -> None:
        """Let the model learn from the copy of the example that was done next, where there is one."""
        done = [copy for copy in self._books.store.copies(row) if not copy.open]
        if done:
            copy = min(done, key=lambda copy: _when_done(learned(past, copy.number)))
            self._queue.teach(record, copy, copy.holder)

    def _refuse_taking_away(self, row: Row, annotator: str, undone: list[Event]) -> None:
        answer_id = undone[0].id
        if any(past.who != annotator for past in undone):
            raise ConflictError(f"The answer {answer_id} cannot be undone: somebody else went on from it.")
        now = self._books.clock()
        held = row.open and row.lease is not None and (row.expires or 0.0) >= now
        if held and row.holder != annotator:
            raise ConflictError(f"The answer {answer_id} cannot be undone now: somebody else has its example.")
        if not held and self._books.store.n_held(annotator, now) >= MOST_HELD:
            raise ConflictError(
                f"The answer {answer_id} cannot be undone now: {annotator!r} holds {MOST_HELD} questions. "
                "Answer or release some first."
            )

    def _own_answer(self, annotator: str, answer_id: str) -> Event:
        event = self._books.log.get(parsed_answer(answer_id))
        if event is None or event.kind != ANSWERED or event.who != annotator:  # lest answers of others be counted
            raise UnknownIdError(f"There is no answer {answer_id!r:.60} of {annotator!r}.")
        if event.id in self._books.tally.undone:
            raise ConflictError(f"The answer {answer_id} was undone already.")
        return event

    def _closing_of(self, row: Row) -> int | None:
        """The event that taught the model this question's answers; None if it has not learned them."""
        number = self._books.tally.closed.get(row.example)
        event = None if number is None else self._books.log.get(number)
        return number if event is not None and event.body["question"] == row.number else None


def _before(row: Row, remaining: list[Event]) -> Row:
    """The question as the answers that remain have left it: an undone one may have told what they told, too."""
    plan, known = replace(Plan(**row.plan), unasked=()), Costs()
    for past in remaining:
        plan, known = plan.heard(known, past.body["asked"], past.body["costs"])
    return replace(row, plan=vars(plan), known=known)


def _when_done(answers: list[Event]) -> tuple[bool, int]:
    """The order of closing: by the last answer, and behind those all that went on until the budget ended."""
    return "then" in answers[-1].body, answers[-1].id


def _note_undone(record: Recording, answer: Event, stands: list[Event], closed: int | None = None) -> None:
    """Write down that one of the answers that stand does so no longer; what another of them tells stays paid."""
    body: dict[str, Any] = {name: answer.body[name] for name in _COUNTED if name in answer.body}
    body |= pay_for(answer.who, answer.body, [other for other in stands if other.id != answer.id])
    body |= {"answer": answer.id} | ({} if closed is None else {"closed": closed})
    record.add(UNDONE, body, answer.who, answer.example)
