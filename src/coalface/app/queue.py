"""The queue of open questions, a few ahead of those who answer: what is leased next, and what may still be spent."""

import secrets
from dataclasses import replace
from typing import Any

from coalface.app.books import Books, Recording
from coalface.app.deciding import decide, decide_again
from coalface.app.lessons import PASSED
from coalface.app.limits import Spent
from coalface.app.store import Row
from coalface.app.tally import ASKED, LEASED, STOPPED

LEASE = 600.0  # seconds
_AHEAD = 16  # questions kept ahead, at least
_MOST_LOOKED_AT, _MOST_OPENED = 1024, 32  # examples decided and questions opened in one call, lest somebody wait long


class QuestionQueue:
    """The open questions of a project; whoever calls holds the lock of the books."""

    def __init__(self, books: Books) -> None:
        self._books = books

    def lease(self, annotator: str, lasting: float) -> Row | None:
        """A question for one annotator, decided by what the model knows now; None if there is none."""
        new = self._books.project.limits.spent_on(1, 0)
        row = self._take(annotator, lasting)
        while row is None and self.room(new) >= 1 and self._decide_more():
            row = self._take(annotator, lasting)
        now = self._books.clock()
        if row is not None and self._books.store.n_free(now) < self._wanted(now) // 2:
            self._decide_more()
        return row

    def why_none(self) -> str:
        """Why there is no question; the log notes it when it becomes so."""
        books = self._books
        new = books.project.limits.spent_on(1, 0)
        reason = "all-leased"
        if books.tally.cursor >= len(books.project.pool) and not books.store.n_open():
            reason = "nothing-worth-asking"
        elif books.project.limits.room(books.tally.spent + new) < 1:
            reason = "budget-spent"
        if reason != "all-leased" and books.tally.stopped != reason:
            with books.recording() as record:
                record.add(STOPPED, {"reason": reason})
        return reason

    def room(self, more: Spent, without: int | None = None) -> float:
        """How many more costs the budget allows, where ``more`` is about to be spent; one lease aside."""
        books, limits = self._books, self._books.project.limits
        if not limits.budget:
            return float("inf")
        leased = limits.spent_on(*books.store.outstanding(books.clock(), without))
        return limits.room(books.tally.spent + leased + more)

    def note_lease(self, record: Recording, row: Row, lasting: float) -> None:
        """Write down that somebody holds a question."""
        body = {"question": row.number, "step": row.step, "ttl": lasting}
        record.add(LEASED, body, row.holder, row.example, ref=f"lease:{row.lease}")

    def _take(self, annotator: str, lasting: float) -> Row | None:
        store, limits = self._books.store, self._books.project.limits
        with self._books.recording() as record:
            while True:
                lease = secrets.token_urlsafe(12)
                row = store.take(record.connection, annotator, lease, record.now, record.now + lasting)
                if row is None:
                    return None
                row = self._as_of_now(record, row)
                if row is None:
                    continue  # it was passed, and the next one may be worth asking
                room = self.room(limits.spent_on(int(row.step == 0), 0), without=row.number)
                if room < 1:
                    store.change(record.connection, row.number, lease=None, holder=None, expires=None)
                    return None
                if room < row.asking:
                    row = replace(row, asking=int(room))
                    store.change(record.connection, row.number, asking=row.asking)
                if row.previous is not None:
                    record.add("expired", {"question": row.number}, row.previous, row.example)
                self.note_lease(record, row, lasting)
                return row

    def _as_of_now(self, record: Recording, row: Row) -> Row | None:
        """The question as the model would put it now; None, and the example is passed, if it would not."""
        books = self._books
        seen = row.step > 0 or row.previous is not None or books.project.overlap > 1
        if seen or row.decided == books.tally.learned:
            return row
        plan, outlook = decide_again(books.model.learner, books.project.pool, row.example, row.turn)
        if plan is None:
            books.store.remove(record.connection, [row.number])
            record.add(PASSED, {"examples": [row.example], "outlooks": [outlook]})
            return None
        row = replace(row, plan=vars(plan), asking=len(plan.first), decided=books.tally.learned)
        books.store.change(record.connection, row.number, plan=row.plan, asking=row.asking, decided=row.decided)
        return row

    def _decide_more(self) -> bool:
        """Fill the queue; whether a question was found."""
        books, now, found = self._books, self._books.clock(), False
        lacking = min(self._wanted(now) - books.store.n_free(now), _MOST_OPENED)
        wanted = max(1, lacking // books.project.overlap)
        learner, pool = books.model.learner, books.project.pool
        for decided in decide(learner, pool, books.tally.cursor, wanted, _MOST_LOOKED_AT):
            with books.recording() as record:
                passed = [place for place, plan in enumerate(decided.plans) if plan is None]
                body: dict[str, Any] = {
                    "examples": [decided.examples[place] for place in passed],
                    "outlooks": [decided.outlooks[place] for place in passed],
                    "cursor": decided.first + len(decided.examples),
                }
                record.add(PASSED, body)
                rows: list[Row] = []
                asked: dict[int, dict[str, Any]] = {}
                for place, (example, plan) in enumerate(zip(decided.examples, decided.plans, strict=True)):
                    if plan is None:
                        continue
                    found = True
                    asked[example] = {"labels": plan.labels, "reason": plan.reason}
                    row = Row(
                        number=0,  # the database gives it one
                        example=example,
                        copy=0,
                        open=True,
                        step=0,
                        asking=len(plan.first),
                        turn=decided.first + place + 1,
                        decided=books.tally.learned,
                        plan=vars(plan),
                        known={},
                    )
                    rows += [replace(row, copy=copy) for copy in range(books.project.overlap)]
                record.note(ASKED, asked)
                books.store.add(record.connection, rows)
        return found

    def _wanted(self, now: float) -> int:
        """How many questions are to be free: two for everybody who was here lately."""
        workers = self._books.tally.workers.values()
        return max(_AHEAD, 2 * sum((worker.last_seen or 0.0) > now - LEASE for worker in workers))
