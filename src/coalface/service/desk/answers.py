"""Interviews: leases kept and given back, and the answers of people to the questions about one example, in turn.

An answer under a lease that ever showed its question is kept, whatever has become of the question since. It is learned
if it is the first to that question; otherwise it stands in the log beside the one that was.
"""

from dataclasses import dataclass, replace
from typing import Any

from coalface.errors import ConflictError, UnknownIdError
from coalface.rounds.event_log import Event
from coalface.service.desk.checks import checked_name, parsed_question
from coalface.service.desk.counters import ANSWERED
from coalface.service.desk.example_log import pay_for, put_under, standing
from coalface.service.desk.plan import Plan
from coalface.service.desk.project_state import Books, Recording
from coalface.service.desk.queue import MOST_HELD, QuestionQueue
from coalface.service.desk.store import Row
from coalface.service.project.spending import Spent

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

    # -- leases ---------------------------------------------------------------------------------

    def lease_of(self, lease_id: str, annotator: str) -> Event:
        """The event of a lease that this annotator got at some time."""
        event = self._books.log.named(f"lease:{lease_id}")
        if event is None or event.who != annotator:
            raise UnknownIdError(f"There is no lease {lease_id!r:.60} of {annotator!r}.")
        return event

    def renew(self, lease_id: str, annotator: str, lasting: float) -> float:
        """A new end for a lease. One that ran out is noted in the log, the many renewals in time are not."""
        store, lease = self._books.store, self.lease_of(lease_id, annotator)
        row = store.question(lease.body["question"])
        if row is None or not row.open or row.lease != lease_id:
            raise ConflictError(f"The lease {lease_id} is over: its question was answered, or somebody else has it.")
        with self._books.recording() as record:
            expires = record.now + lasting
            if _is_over(row, record.now):
                self._refuse_regaining(row, lease_id, annotator)
                body = {"question": row.number, "step": row.step, "until": expires}
                record.add("renewed", body, annotator, row.example)
            store.change(record.connection, row.number, expires=expires)
        return expires

    def release(self, lease_id: str, annotator: str) -> None:
        """Give a question back; nothing happens if the lease is over."""
        lease = self.lease_of(lease_id, annotator)
        row = self._books.store.question(lease.body["question"])
        if row is not None and row.open and row.lease == lease_id:
            with self._books.recording() as record:
                self._books.store.change(record.connection, row.number, lease=None, holder=None, expires=None)
                body = {"question": row.number, "step": row.step, "until": row.expires}
                record.add("released", body, annotator, row.example)

    def _refuse_regaining(self, row: Row, lease_id: str, annotator: str) -> None:
        """A lease that ran out made room for others, and its holder may have taken something else."""
        books, limits = self._books, self._books.project.limits
        spent = self._queue.committed(without=row.number) + limits.spent_on(int(row.step == 0), 0)
        if limits.room(spent) < row.asking:
            raise ConflictError(f"The lease {lease_id} ran out, and the budget has no room for its question any more.")
        if books.store.n_held(annotator, books.clock()) >= MOST_HELD:
            raise ConflictError(f"The lease {lease_id} ran out, and {annotator!r} holds {MOST_HELD} others by now.")
        if self._is_elsewhere(row, annotator, books.log.about(row.example)):
            raise ConflictError(f"The lease {lease_id} ran out, and {annotator!r} was asked about the example again.")

    # -- answers --------------------------------------------------------------------------------

    def answer(self, given: Given) -> Taken:
        """Keep an answer and, if it is the first to its question, go on from it."""
        books = self._books
        number, step = parsed_question(given.question_id)
        ref = f"answer:{given.annotator}:{checked_name('key', given.key)}"
        before = books.log.named(ref)
        if before is not None:
            return self._again(before, number, step, given)
        lease = self.lease_of(given.lease_id, given.annotator)
        past = books.log.about(lease.example or 0)
        asked = put_under(lease, past, number, step)
        if asked is None:
            raise UnknownIdError(f"There is no question {given.question_id!r} under the lease {given.lease_id}.")
        _refuse_second(past, lease, step)
        row = books.store.question(number)
        with books.recording() as record:
            body: dict[str, Any] = {"question": number, "step": step, "lease": lease.id, "asked": asked}
            body["costs"] = {**dict.fromkeys(asked), **given.costs}
            body |= {name: value for name, value in given.said.items() if name != "seconds"}
            body |= {"truth": given.truth} if given.truth is not None else {}
            body |= pay_for(given.annotator, body, standing(past))
            following: Row | None = None
            if row is not None and row.open and row.step == step and not self._is_elsewhere(row, given.annotator, past):
                in_time = row.lease == given.lease_id and not _is_over(row, record.now)
                body |= {"until": row.expires} if row.lease == given.lease_id else {}
                body |= {"learned": True, "late": not in_time}
                following = self._following(row, given, body, record.now + float(lease.body["ttl"]))
                if following.open:
                    body["then"] = {"labels": self._queue.asking(following), "until": following.expires}
            else:
                body |= {"learned": False, "late": True}
            event = record.add(ANSWERED, body, given.annotator, lease.example, given.said.get("seconds"), ref)
            if following is not None:
                self._go_on(record, following)
        return Taken(event, following if following is not None and following.open else None)

    def _following(self, row: Row, given: Given, body: dict[str, Any], expires: float) -> Row:
        """The question as it stands after an answer: put to whoever answered, or closed."""
        project, plan = self._books.project, Plan(**row.plan)
        plan, known = plan.heard(row.known, plan.labels if given.whole else body["asked"], body["costs"])
        row = replace(row, plan=vars(plan), known=known, step=row.step + 1, holder=given.annotator)
        left = [] if given.whole else plan.next(known, project.cost_bounds)
        price = body.get("price", project.limits.price_of(body["looks"], body["put"]))
        spent = self._queue.committed(without=row.number) + Spent(body["looks"], body["put"], price)
        room = project.limits.room(spent)
        if left and room >= 1:
            return replace(row, asking=int(min(len(left), room)), lease=given.lease_id, expires=expires)
        return replace(row, open=False, asking=0, lease=None, expires=None)

    def _go_on(self, record: Recording, row: Row) -> None:
        if not row.open:
            self._queue.close(record, row, row.holder)
        put_down(self._books, record, row)

    def _again(self, event: Event, number: int, step: int, given: Given) -> Taken:
        """What an answer with the same key came to."""
        body = event.body
        if event.who != given.annotator or event.id in self._books.tally.undone:
            raise ConflictError("This key belongs to an answer that was undone, or to somebody else. Choose a new key.")
        same = (body["question"], body["step"], body.get("truth")) == (number, step, given.truth)
        if not same or {**dict.fromkeys(body["costs"]), **given.costs} != body["costs"]:
            raise ConflictError("This key was used for another answer. Choose a new key for each answer.")
        row = self._books.store.question(number)
        goes_on = row is not None and row.open and row.holder == event.who and row.step == step + 1
        return Taken(event, row if body["learned"] and goes_on else None)

    def _is_elsewhere(self, row: Row, annotator: str, past: list[Event]) -> bool:
        """Whether this annotator is asked or was heard by another copy of the question: nobody counts as two."""
        if self._books.project.overlap == 1:
            return False
        if any(event.who == annotator and event.body["question"] != row.number for event in standing(past)):
            return True
        now = self._books.clock()
        return any(row.holder == annotator and not _is_over(row, now) for row in self._books.store.copies(row))


def put_down(books: Books, record: Recording, row: Row) -> None:
    """Write down where a question stands."""
    names = ("open", "known", "plan", "step", "asking", "lease", "holder", "expires")
    books.store.change(record.connection, row.number, **{name: getattr(row, name) for name in names})


def _is_over(row: Row, now: float) -> bool:
    """Whether nobody holds the question."""
    return row.lease is None or (row.expires or 0.0) < now


def _refuse_second(past: list[Event], lease: Event, step: int) -> None:
    for event in standing(past):
        if (event.body.get("lease"), event.body["step"]) == (lease.id, step):
            number = event.body["question"]
            raise ConflictError(f"{event.who!r} has answered question {number}.{step} already. Undo that first.")
