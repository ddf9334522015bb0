"""The queue of open questions, a few ahead of those who answer: what is leased next, and what may still be spent."""

import secrets
from dataclasses import replace
from typing import Any

from coalface.service.desk.counters import ASKED, LEASED, STOPPED
from coalface.service.desk.messages import NoQuestion
from coalface.service.desk.plan import Plan
from coalface.service.desk.pool_scan import decide, decide_again
from coalface.service.desk.project_state import Books, Recording
from coalface.service.desk.replay import CLOSED, PASSED, closing
from coalface.service.desk.store import Row
from coalface.service.project.spending import Spent

LEASE = 600.0  # seconds
MOST_HELD = 32  # questions that one annotator may hold at once, lest one take them all
_AHEAD = 16  # questions kept ahead, at least
_MOST_LOOKED_AT, _MOST_OPENED = 1024, 32  # examples decided and questions opened in one call, lest somebody wait long
_FOR_GOOD = ("budget-spent", "nothing-worth-asking")  # reasons that the log notes


class QuestionQueue:
    """The open questions of a project; whoever calls holds the lock of the books."""

    def __init__(self, books: Books) -> None:
        self._books = books
        self._place = {label: place for place, label in enumerate(books.project.labels)}

    def lease(self, annotator: str, lasting: float) -> Row | NoQuestion:
        """A question for one annotator, decided by what the model knows now, or why there is none."""
        store = self._books.store
        if store.n_held(annotator, self._books.clock()) >= MOST_HELD:
            return NoQuestion("too-many-held")
        row = self._take(annotator, lasting)
        while row is None and self._may_open() and self._decide_more():
            row = self._take(annotator, lasting)
        if row is None:
            return NoQuestion(self._why_none(annotator))
        now = self._books.clock()
        if store.n_free(now) < self._wanted(now) // 2:
            self._decide_more()
        return row

    def asking(self, row: Row) -> list[str]:
        """The labels in question now, in the order of the project: that of the plan says what the model believes."""
        labels = Plan(**row.plan).next(row.known, self._books.project.cost_bounds)[: row.asking]
        return sorted(labels, key=self._place.__getitem__)

    def committed(self, without: int | None = None) -> Spent:
        """What was spent, and what those who hold a question may spend yet; one question aside."""
        books, limits = self._books, self._books.project.limits
        if not limits.budget:
            return books.tally.spent
        return books.tally.spent + limits.spent_on(*books.store.outstanding(books.clock(), without))

    def note_lease(self, record: Recording, row: Row, lasting: float) -> None:
        """Write down that somebody holds a question, what it asks and until when."""
        labels, audits = self.asking(row), row.plan["audits"] or {}
        body: dict[str, Any] = {"question": row.number, "step": row.step, "labels": labels}
        body |= {"audits": {label: audits[label] for label in labels if label in audits}}
        body |= {"ttl": lasting, "until": row.expires}
        record.add(LEASED, body, row.holder, row.example, ref=f"lease:{row.lease}")

    def close(self, record: Recording, row: Row, who: str | None = None) -> None:
        """Let the model learn what is known of an example; of several copies the first one that is closed counts."""
        already = any(event.kind == CLOSED and event.example == row.example for event in record.events)
        if row.example not in self._books.tally.closed and not already:
            self.teach(record, row, who)

    def teach(self, record: Recording, row: Row, who: str | None) -> None:
        """Let the model learn from this copy, whatever the others have."""
        plan = Plan(**row.plan)
        record.add(CLOSED, {"question": row.number, **closing(plan, row.known, plan.put(row.known))}, who, row.example)

    def _take(self, annotator: str, lasting: float) -> Row | None:
        store, limits = self._books.store, self._books.project.limits
        spent = self.committed()
        room_to_open, room_to_go_on = limits.room(spent + limits.spent_on(1, 0)), limits.room(spent)
        if room_to_go_on < 1:
            return None
        with self._books.recording() as record:
            while True:
                lease, until = secrets.token_urlsafe(12), record.now + lasting
                row = store.take(record.connection, annotator, lease, record.now, until, room_to_open >= 1)
                if row is None:
                    return None
                row = self._as_of_now(record, row)
                if row is None:
                    continue  # it was passed, and the next one may be worth asking
                room = room_to_go_on if row.step else room_to_open
                if room < row.asking:
                    row = replace(row, asking=int(room))
                    store.change(record.connection, row.number, asking=row.asking)
                if row.previous is not None:
                    record.add("expired", {"question": row.number, "step": row.step}, row.previous, row.example)
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
        row = replace(row, plan=vars(plan), asking=self._n_first(plan), decided=books.tally.learned)
        books.store.change(record.connection, row.number, plan=row.plan, asking=row.asking, decided=row.decided)
        return row

    def _n_first(self, plan: Plan) -> int:
        """How many costs the first question takes; a true label is one, whatever follows from it."""
        return 1 if self._books.project.true_label else len(plan.first)

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
                    asked[example] = {"labels": plan.labels, "audits": plan.audits or {}, "reason": plan.reason}
                    row = Row(
                        number=0,  # the database gives it one
                        example=example,
                        copy=0,
                        open=True,
                        step=0,
                        asking=self._n_first(plan),
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

    # -- the end --------------------------------------------------------------------------------

    def _may_open(self) -> bool:
        """Whether the budget allows for another example."""
        limits = self._books.project.limits
        return limits.room(self.committed() + limits.spent_on(1, 0)) >= 1

    def _why_none(self, annotator: str) -> str:
        """Why there is no question; the log notes it when that is for good."""
        books, reason = self._books, self._reason(annotator)
        if reason == "budget-spent":
            self._close_half_finished()
        if reason in _FOR_GOOD and books.tally.stopped != reason:
            with books.recording() as record:
                record.add(STOPPED, {"reason": reason})
        return reason

    def _reason(self, annotator: str) -> str:
        books, limits = self._books, self._books.project.limits
        more = books.tally.cursor < len(books.project.pool)
        if not more and not books.store.n_open():
            return "nothing-worth-asking"
        if limits.room(books.tally.spent + limits.spent_on(1, 0)) < 1:
            return "budget-spent"
        if more and self._may_open():
            return "looking"
        return "all-leased" if more or books.store.n_open(annotator) else "others-only"

    def _close_half_finished(self) -> None:
        """Where not even a follow-up can be paid for, what was said so far is all that will be: learn it."""
        books = self._books
        if books.project.limits.room(books.tally.spent) >= 1:
            return
        with books.recording() as record:
            for row in books.store.half_finished(record.now):
                books.store.change(record.connection, row.number, open=False, asking=0, lease=None, expires=None)
                self.close(record, row)
