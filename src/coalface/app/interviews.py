"""Interviews: the answers of one person to the questions about one example, one after the other, and their undoing."""

import secrets
from dataclasses import dataclass, replace
from typing import Any

from coalface.app.books import Books, Recording
from coalface.app.checks import checked_name, parsed_answer, parsed_question
from coalface.app.lessons import CLOSED, UNDONE, closing
from coalface.app.plan import Plan
from coalface.app.queue import LEASE, QuestionQueue
from coalface.app.store import Row
from coalface.app.tally import ANSWERED
from coalface.errors import ConflictError, NotYoursError, UnknownIdError
from coalface.ledger.events import Event

Costs = dict[str, float | None]


@dataclass(frozen=True)
class Given:
    """An answer as somebody sent it. A ``truth`` says what every label costs, so that nothing is left to ask."""

    annotator: str
    question_id: str
    lease_id: str
    key: str
    costs: Costs
    said: dict[str, Any]  # seconds, note, price: those that were given
    whole: bool = False
    truth: str | None = None


@dataclass(frozen=True)
class Taken:
    """An answer that is safe, and the question as it stands if the same person is asked on."""

    event: Event
    next: Row | None

    @property
    def body(self) -> Any:
        """What the log says of the answer."""
        return self.event.body


class Interviews:
    """Answers in, follow-up questions out; whoever calls holds the lock of the books."""

    def __init__(self, books: Books, queue: QuestionQueue) -> None:
        self._books, self._queue = books, queue

    def answer(self, given: Given) -> Taken:
        """Keep an answer and, if it is the first to its question, go on from it."""
        books, store = self._books, self._books.store
        number, step = parsed_question(given.question_id)
        ref = f"answer:{given.annotator}:{checked_name('key', given.key)}"
        before = books.log.named(ref)
        if before is not None:
            return self._again(before, number, step, given)
        lease = self.lease_of(given.lease_id, given.annotator)
        row = store.question(number)
        if lease.body["question"] != number or step > row.step:
            raise UnknownIdError(f"There is no question {given.question_id!r} under the lease {given.lease_id}.")
        self._refuse_second(row, step, given.annotator)
        first = row.open and row.step == step
        asked = self.asking(row) if first else []
        in_time = row.lease == given.lease_id and (row.expires or 0.0) >= books.clock()
        body: dict[str, Any] = {
            "question": number,
            "step": step,
            "costs": {**dict.fromkeys(asked), **given.costs},
            "put": 1 if given.whole else len(asked) if first else len(given.costs),  # what is paid for
            "late": not (first and in_time),
            "learned": first,
            **{name: value for name, value in given.said.items() if name != "seconds"},
        }
        if given.truth is not None:
            body["truth"] = given.truth
        with books.recording() as record:
            event = record.add(ANSWERED, body, given.annotator, row.example, given.said.get("seconds"), ref)
            row = self._go_on(record, row, given, body["costs"], lease) if first else row
        return Taken(event, row if first and row.open else None)

    def _go_on(self, record: Recording, row: Row, given: Given, costs: Costs, lease: Event) -> Row:
        """Put the next question about the example to whoever answered, or close it."""
        books, asked = self._books, self.asking(row)
        plan = Plan(**row.plan)
        if not given.whole:
            plan = replace(plan, unasked=(*plan.unasked, *(label for label in costs if label not in asked)))
        spent = books.project.limits.spent_on(int(row.step == 0), len(asked))
        row = replace(row, known={**row.known, **costs}, step=row.step + 1, holder=given.annotator, plan=vars(plan))
        left = [] if given.whole else plan.next(row.known, books.project.cost_bounds)
        room = self._queue.room(spent, without=row.number) if left else 0
        if room >= 1:
            expires = record.now + float(lease.body["ttl"])
            row = replace(row, asking=int(min(len(left), room)), lease=given.lease_id, expires=expires)
        else:
            row = replace(row, open=False, asking=0, lease=None, expires=None)
            if row.example not in books.tally.closed:  # of several copies the first one that is closed is learned
                put = [label for label in plan.labels if label in row.known and label not in plan.unasked]
                record.add(CLOSED, {"question": row.number, **closing(plan, row.known, put)}, row.holder, row.example)
        self._put(record, row)
        return row

    def undo(self, annotator: str, answer_id: str, lasting: float = LEASE) -> Row | None:
        """Take back an answer and those that followed from it; the question, leased to its author anew.

        An answer that was kept beside an earlier one has no question to come back: None.
        """
        books, event = self._books, self._own_answer(annotator, answer_id)
        body = event.body
        if not body["learned"]:
            with books.recording() as record:
                self._note_undone(record, event, None)
            return None
        row = books.store.question(body["question"])
        undone = [past for past in self._answers_to(row) if past.body["step"] >= body["step"]]
        if any(past.who != annotator for past in undone):
            raise ConflictError(f"The answer {answer_id} cannot be undone: somebody else went on from it.")
        taken_back = {label for past in undone for label in past.body["costs"]}
        known = {label: cost for label, cost in row.known.items() if label not in taken_back}
        plan = Plan(**row.plan)
        plan = replace(plan, unasked=tuple(label for label in plan.unasked if label not in taken_back))
        asking = max(1, len(plan.next(known, books.project.cost_bounds)))
        closed = self._closing_of(row)
        with books.recording() as record:
            for past in reversed(undone):
                self._note_undone(record, past, closed if past is undone[-1] else None)
            row = replace(row, open=True, known=known, plan=vars(plan), step=body["step"], asking=asking)
            row = replace(row, holder=annotator, lease=secrets.token_urlsafe(12), expires=record.now + lasting)
            self._put(record, row)
            self._queue.note_lease(record, row, lasting)
        if closed is not None:
            books.model.rebuild()
        return row

    def lease_of(self, lease_id: str, annotator: str) -> Event:
        """The event of a lease that this annotator got at some time."""
        event = self._books.log.named(f"lease:{lease_id}")
        if event is None:
            raise UnknownIdError(f"There is no lease {lease_id!r:.60}.")
        if event.who != annotator:
            raise NotYoursError(f"The lease {lease_id} is not {annotator!r}'s.")
        return event

    def asking(self, row: Row) -> list[str]:
        """The labels in question now."""
        return Plan(**row.plan).next(row.known, self._books.project.cost_bounds)[: row.asking]

    def _again(self, event: Event, number: int, step: int, given: Given) -> Taken:
        """What an answer with the same key came to."""
        body = event.body
        if event.who != given.annotator or event.id in self._books.tally.undone:
            raise ConflictError("This key belongs to an answer that was undone, or to somebody else. Choose a new key.")
        same = (body["question"], body["step"], body.get("truth")) == (number, step, given.truth)
        if not same or {**dict.fromkeys(body["costs"]), **given.costs} != body["costs"]:
            raise ConflictError("This key was used for another answer. Choose a new key for each answer.")
        row = self._books.store.question(number)
        goes_on = body["learned"] and row.open and row.holder == event.who and row.step == step + 1
        return Taken(event, row if goes_on else None)

    def _refuse_second(self, row: Row, step: int, annotator: str) -> None:
        for event in self._books.log.about(row.example):
            if event.kind != ANSWERED or event.who != annotator or event.id in self._books.tally.undone:
                continue
            body = event.body
            if (body["question"], body["step"]) == (row.number, step):
                raise ConflictError(
                    f"{annotator!r} has answered question {row.number}.{step} already. Undo that first."
                )

    def _own_answer(self, annotator: str, answer_id: str) -> Event:
        event = self._books.log.get(parsed_answer(answer_id))
        if event is None or event.kind != ANSWERED:
            raise UnknownIdError(f"There is no answer {answer_id!r:.60}.")
        if event.who != annotator:
            raise NotYoursError(f"The answer {answer_id} is not {annotator!r}'s.")
        if event.id in self._books.tally.undone:
            raise ConflictError(f"The answer {answer_id} was undone already.")
        return event

    def _answers_to(self, row: Row) -> list[Event]:
        """The answers that a question has gone on from, in order."""
        answers = [event for event in self._books.log.about(row.example) if event.kind == ANSWERED]
        mine = [event for event in answers if event.body["question"] == row.number]
        return [event for event in mine if event.id not in self._books.tally.undone and event.body["learned"]]

    def _closing_of(self, row: Row) -> int | None:
        """The event that taught the model this question's answers; None if it has not learned them."""
        number = self._books.tally.closed.get(row.example)
        event = None if number is None else self._books.log.get(number)
        return number if event is not None and event.body["question"] == row.number else None

    def _note_undone(self, record: Recording, answer: Event, closed: int | None) -> None:
        body = answer.body
        undone: dict[str, Any] = {
            name: body[name] for name in ("question", "step", "costs", "put", "price") if name in body
        }
        undone |= {"answer": answer.id} | ({} if closed is None else {"closed": closed})
        record.add(UNDONE, undone, answer.who, answer.example)

    def _put(self, record: Recording, row: Row) -> None:
        """Write down where the question stands."""
        names = ("open", "known", "plan", "step", "asking", "lease", "holder", "expires")
        self._books.store.change(record.connection, row.number, **{name: getattr(row, name) for name in names})
