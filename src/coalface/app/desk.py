"""The desk: it hands out questions and takes answers, and forgets nothing that it has acknowledged.

Every call is one transaction: events go into the log and questions change together, and then the model learns what the
log says. Threads may call it as they like; a project has one desk at a time.
"""

import secrets
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from threading import RLock
from typing import Any

from coalface.app import exchange
from coalface.app.deciding import decide, decide_again
from coalface.app.exchange import Answered, NoQuestion, Overview, Progress, Question, Receipt
from coalface.app.exports import export
from coalface.app.lessons import CLOSED, PASSED, UNDONE, closing
from coalface.app.limits import Spent
from coalface.app.model import LiveModel
from coalface.app.overview import overview_of, predictions
from coalface.app.plan import Plan
from coalface.app.project import SETTINGS, Project
from coalface.app.recording import Recording
from coalface.app.store import Row, Store
from coalface.app.tally import ANSWERED, ASKED, LEASED, STOPPED, Tally
from coalface.errors import ConflictError, InputError, NotYoursError, UnknownIdError, UnknownLabelError
from coalface.files import exclusive
from coalface.ledger.events import Event

LEASE = 600.0  # seconds
_QUEUE = 16  # questions kept ahead, at least
_MOST_LOOKED_AT = 1024  # examples decided in one call, lest somebody wait long
_LONGEST_TTL = 7 * 86400.0


class Desk:
    """The desk of a project; ``close`` it at the end.

    >>> from tempfile import TemporaryDirectory
    >>> examples = [{"id": "1", "text": "Where is my parcel?"}, {"id": "2", "text": "I want my money back"}]
    >>> with TemporaryDirectory() as folder:
    ...     desk = Desk(Project.create(f"{folder}/mail", examples, labels=["delivery", "refund"]))
    ...     question = desk.lease("ada")
    ...     receipt = desk.answer("ada", question.id, question.lease_id, {"delivery": 0, "refund": 1}, key="a1")
    ...     receipt.learned, receipt.follow_up, desk.progress("ada").own_costs
    ...     desk.close()
    (True, None, 2)
    """

    def __init__(self, project: Project, store: Store | None = None, clock: Callable[[], float] = time.time) -> None:
        self.project, self.clock = project, clock
        self._lock = RLock()
        with ExitStack() as stack:
            stack.enter_context(exclusive(project.folder / SETTINGS, patience=0.5))
            self.store = project.open_store() if store is None else store
            stack.callback(self.store.close)
            self.log = self.store.log
            self.tally = Tally(project.labels, project.cost_bounds, project.limits)
            for event in self.log.read():
                self.tally.take_in(event)
            self.model = LiveModel(project, self.log)
            self._closing = stack.pop_all()

    def close(self) -> None:
        """Save a snapshot and let others open the project."""
        with self._lock:
            saved = self.model.save(self.project.folder)
            if saved is not None:
                with self._recording() as record:
                    record.add("snapshot", {"events": self.model.last, "round": self.model.learner.round_})
            self._closing.close()

    # -- questions ------------------------------------------------------------------------------

    def lease(self, annotator: str, ttl: float = LEASE) -> Question | NoQuestion:
        """A question for this annotator alone until the lease runs out, or why there is none."""
        _check_name(annotator)
        lasting = _checked_ttl(ttl)
        with self._lock:
            now = self.clock()
            row = self._take(annotator, now, lasting)
            new = self.project.limits.spent_on(1, 0)
            while row is None and self._room(now, new) >= 1 and self._decide_more(now):
                row = self._take(annotator, now, lasting)
            if row is None:
                return self._stopped(now)
            if self.store.n_free(now) < self._ahead(now) // 2:
                self._decide_more(now)
            return self._question(row)

    def held(self, annotator: str) -> list[Question]:
        """The questions that this annotator holds now, the newest lease first."""
        return [self._question(row) for row in self.store.held(annotator, self.clock())]

    def renew(self, lease_id: str, annotator: str, ttl: float = LEASE) -> float:
        """Keep a lease for longer, also one that ran out and was given to nobody else; when it ends now."""
        self._leased(lease_id, annotator)
        expires = self.clock() + _checked_ttl(ttl)
        with self._lock, self.store.database.writing() as connection:
            if not self.store.renew(connection, lease_id, annotator, expires):
                raise ConflictError(f"The lease {lease_id} is over: its question was answered or given to somebody else.")
        return expires

    def release(self, lease_id: str, annotator: str) -> None:
        """Give a question back unanswered."""
        number = self._leased(lease_id, annotator)
        with self._recording() as record:
            row = self.store.question(number)
            if row.open and row.lease == lease_id:
                self.store.change(record.connection, number, lease=None, holder=None, expires=None)
                record.add("released", {"question": number}, who=annotator, example=row.example)

    # -- answers --------------------------------------------------------------------------------

    def answer(
        self,
        annotator: str,
        question_id: str,
        lease_id: str,
        costs: Mapping[str, float | None],
        key: str,
        seconds: float | None = None,
        note: str | None = None,
        price: float | None = None,
    ) -> Receipt:
        """Take the costs of some labels, None for "can't tell"; labels asked about that are missing count as that.

        The same ``key`` again gives the same receipt. ``price`` is what this answer took, where it is not the usual.
        """
        given = {str(label): self.project.scale.checked(label, cost) for label, cost in costs.items()}
        for label in given:
            if label not in self.tally.asked:
                raise UnknownLabelError(label, self.project.labels)
        return self._answer(annotator, question_id, lease_id, given, None, key, _said(seconds, note, price))

    def answer_truth(
        self,
        annotator: str,
        question_id: str,
        lease_id: str,
        label: str | None,
        key: str,
        seconds: float | None = None,
        note: str | None = None,
        price: float | None = None,
    ) -> Receipt:
        """Take the true label, which says what all labels cost; None for "can't tell"."""
        if label is not None and label not in self.tally.asked:
            raise UnknownLabelError(label, self.project.labels)
        costs: dict[str, float | None] = {}
        if label is not None:
            costs = dict(zip(self.project.labels, self.project.costs_of_truth(label).tolist(), strict=True))
        return self._answer(annotator, question_id, lease_id, costs, label, key, _said(seconds, note, price), whole=True)

    def _answer(
        self,
        annotator: str,
        question_id: str,
        lease_id: str,
        given: dict[str, float | None],
        truth: str | None,
        key: str,
        said: dict[str, Any],
        whole: bool = False,
    ) -> Receipt:
        number, step = _parsed(question_id)
        ref = f"answer:{annotator}:{_checked_key(key)}"
        with self._lock:
            now = self.clock()
            before = self.log.named(ref)
            if before is not None:
                return self._same_receipt(before, number, step, given, truth)
            lasting = self._check_lease(lease_id, annotator, number)
            row = self.store.question(number)
            if step > row.step:
                raise UnknownIdError(f"There is no question {question_id!r}.")
            self._refuse_second(row, number, step, annotator)
            first = row.open and row.step == step
            late = row.lease != lease_id or (row.expires or 0.0) < now or not first
            asked = self._asking(row) if first else []
            costs = {**dict.fromkeys(asked), **given}
            body = {"question": number, "step": step, "costs": costs, "late": late, "learned": first}
            body |= {"put": 1 if whole else max(len(asked), len(given))} | ({"truth": truth} if truth else {})
            with self._recording() as record:
                body |= {name: value for name, value in said.items() if name != "seconds" and value is not None}
                answer = record.add(ANSWERED, body, annotator, row.example, said["seconds"], ref)
                if first:
                    row = self._go_on(record, row, costs, lease_id, annotator, now, lasting, whole)
            follow_up = self._question(row) if first and row.open else None
            return Receipt(str(answer.id), late, first, follow_up)

    def _go_on(
        self,
        record: Recording,
        row: Row,
        costs: dict[str, float | None],
        lease: str,
        annotator: str,
        now: float,
        lasting: float,
        whole: bool,
    ) -> Row:
        """Put the next question about the example, or close it."""
        plan, asked = Plan(**row.plan), len(self._asking(row))
        row = replace(row, known={**row.known, **costs}, step=row.step + 1, lease=lease, holder=annotator)
        left = [] if whole else plan.next(row.known, self.project.cost_bounds)
        beyond = self.project.limits.spent_on(int(row.step == 1), asked)
        room = self._room(now, beyond, without=row.number)
        if left and room >= 1:
            row = replace(row, asking=int(min(len(left), room)), expires=now + lasting)
            state = {"asking": row.asking, "lease": lease, "expires": row.expires}
        else:
            row = replace(row, open=False, asking=0, lease=None, expires=None)
            state = {"open": False, "asking": 0, "lease": None, "expires": None}
            if row.example not in self.tally.closed:  # of several copies the first one closed is learned
                put = plan.labels if whole else [label for label in plan.labels if label in row.known]
                body = {"question": row.number, **closing(plan, row.known, put)}
                record.add(CLOSED, body, annotator, row.example)
        self.store.change(record.connection, row.number, known=row.known, step=row.step, holder=annotator, **state)
        return row

    def undo(self, annotator: str, answer_id: str) -> Question | None:
        """Take back one's own answer and those that followed from it; the question comes back, leased to its author."""
        with self._lock:
            event = self._own_answer(annotator, answer_id)
            body: Any = event.body
            if not body["learned"]:
                with self._recording() as record:
                    self._undo_event(record, event, None)
                return None
            row = self.store.question(body["question"])
            later = [past for past in self._answers_to(row) if (past.body or {})["step"] >= body["step"]]
            if any(past.who != annotator for past in later):
                raise ConflictError(f"The answer {answer_id} cannot be undone: somebody else went on from it.")
            closed = self._closed_by(row)
            known = dict(row.known)
            for past in later:
                for label in (past.body or {})["costs"]:
                    known.pop(label, None)
            asking = len(Plan(**row.plan).next(known, self.project.cost_bounds)) or 1
            with self._recording() as record:
                for past in reversed(later):
                    self._undo_event(record, past, closed if past is later[-1] else None)
                now, lease = self.clock(), secrets.token_urlsafe(12)
                row = replace(row, open=True, known=known, step=body["step"], asking=asking, lease=lease)
                row = replace(row, holder=annotator, expires=now + LEASE)
                state = {"open": True, "step": row.step, "asking": asking, "lease": lease, "expires": row.expires}
                self.store.change(record.connection, row.number, known=known, holder=annotator, **state)
                self._lease_event(record, row, LEASE)
            if closed is not None:
                self.model.rebuild()
            return self._question(row)

    # -- looking --------------------------------------------------------------------------------

    def recent(self, annotator: str, n: int = 10) -> list[Answered]:
        """An annotator's last answers, the last one first."""
        return [
            Answered(
                answer_id=str(event.id),
                question_id=f"{body['question']}.{body['step']}",
                example_id=self.project.pool.example_id(event.example or 0),
                costs=body["costs"],
                at=event.at,
                late=body["late"],
                undone=event.id in self.tally.undone,
                note=body.get("note"),
                content=self.project.pool.content(event.example or 0),
            )
            for event in self.log.latest(annotator, ANSWERED, n)
            for body in [event.body or {}]
        ]

    def progress(self, annotator: str | None = None) -> Progress:
        """What was asked so far, what may be spent, and one annotator's share of it."""
        with self._lock:
            own = self.tally.workers.get(annotator or "")
            spent, mine = self.tally.spent, Spent() if own is None else own.spent
            pace = None if own is None else own.pace
            return Progress(
                spent.examples,
                spent.costs,
                spent.price,
                self.project.limits.budget,
                mine.examples,
                mine.costs,
                pace,
            )

    def overview(self) -> Overview:
        """Everything the dashboard shows."""
        with self._lock:
            return overview_of(self.project, self.model, self.tally, self.progress())

    def events(self, after: int = 0, limit: int = 100) -> list[exchange.Event]:
        """The log behind an event, in order."""
        return [self._told(event) for event in self.log.page(after, limit)]

    def predict(self, examples: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """For each example the label, and what each label is expected to cost and may cost."""
        return predictions(self.project, self.model.learner, examples)

    def export(self, form: str) -> Iterator[bytes]:
        """The answers as "jsonl", "csv" or "vw", or the "model"."""
        self.model.settle()
        return export(self.project, self.log, self.model.learner, form)

    def settle(self) -> None:
        """Wait until the model is what the log says."""
        self.model.settle()

    # -- inside: deciding ------------------------------------------------------------------------

    def _take(self, annotator: str, now: float, lasting: float) -> Row | None:
        """Lease a question, decided by what the model knows now: of a few that nobody needs any more, all are passed."""
        with self._recording() as record:
            while True:
                lease = secrets.token_urlsafe(12)
                row = self.store.take(record.connection, annotator, lease, now, now + lasting)
                if row is None:
                    return None
                row = self._fresh(record, row)
                if row is None:
                    continue
                new = self.project.limits.spent_on(int(row.step == 0), 0)
                room = self._room(now, new, without=row.number)
                if room < 1:
                    self.store.change(record.connection, row.number, lease=None, holder=None, expires=None)
                    return None
                if room < row.asking:
                    row = replace(row, asking=int(room))
                    self.store.change(record.connection, row.number, asking=row.asking)
                if row.previous is not None:
                    record.add("expired", {"question": row.number}, row.previous, row.example)
                self._lease_event(record, row, lasting)
                return row

    def _fresh(self, record: Recording, row: Row) -> Row | None:
        """The question as the model would put it now; None if it would not."""
        seen = row.step > 0 or row.previous is not None or self.project.overlap > 1
        if seen or row.decided == self.tally.learned:
            return row
        plan, outlook = decide_again(self.model.learner, self.project.pool, row.example, row.turn)
        if plan is None:
            self.store.remove(record.connection, [row.number])
            record.add(PASSED, {"examples": [row.example], "outlooks": [outlook]})
            return None
        row = replace(row, plan=vars(plan), asking=len(plan.first), decided=self.tally.learned)
        self.store.change(record.connection, row.number, plan=row.plan, asking=row.asking, decided=row.decided)
        return row

    def _decide_more(self, now: float) -> bool:
        """Fill the queue; whether a question was found."""
        found = False
        wanted = max(1, (self._ahead(now) - self.store.n_free(now)) // self.project.overlap)
        pool, learner = self.project.pool, self.model.learner
        for decided in decide(learner, pool, self.tally.cursor, wanted, _MOST_LOOKED_AT):
            with self._recording() as record:
                cursor = decided.first + len(decided.examples)
                passed = [place for place, plan in enumerate(decided.plans) if plan is None]
                body: dict[str, Any] = {"examples": [decided.examples[place] for place in passed]}
                body |= {"outlooks": [decided.outlooks[place] for place in passed], "cursor": cursor}
                record.add(PASSED, body)
                rows = []
                for place, (example, plan) in enumerate(zip(decided.examples, decided.plans, strict=True)):
                    if plan is not None:
                        found = True
                        record.add(ASKED, {"labels": plan.labels, "reason": plan.reason}, example=example)
                        turn = decided.first + place + 1
                        common = (True, 0, len(plan.first), turn, self.tally.learned, vars(plan), {})
                        rows += [Row(0, example, copy, *common) for copy in range(self.project.overlap)]
                self.store.add(record.connection, rows)
        return found

    def _ahead(self, now: float) -> int:
        active = sum((worker.last_seen or 0.0) > now - LEASE for worker in self.tally.workers.values())
        return max(_QUEUE, 2 * active)

    def _room(self, now: float, more: Spent | None = None, without: int | None = None) -> float:
        """How many more costs the budget allows, where ``more`` is about to be spent, and one lease does not count."""
        if not self.project.limits.budget:
            return float("inf")
        leased = self.store.outstanding(now, without)
        return self.project.limits.room(self.tally.spent + self.project.limits.spent_on(*leased) + (more or Spent()))

    def _stopped(self, now: float) -> NoQuestion:
        """Why there is no question; the log notes it when it becomes so."""
        over = self.tally.cursor >= len(self.project.pool) and not self.store.n_open()
        new = self.project.limits.spent_on(1, 0)
        spent = self.project.limits.room(self.tally.spent + new) < 1
        reason = "nothing-worth-asking" if over else "budget-spent" if spent else "all-leased"
        if reason != "all-leased" and self.tally.stopped != reason:
            with self._recording() as record:
                record.add(STOPPED, {"reason": reason})
        return NoQuestion(reason)

    # -- inside: leases and answers --------------------------------------------------------------

    def _lease_event(self, record: Recording, row: Row, lasting: float) -> None:
        body = {"question": row.number, "step": row.step, "ttl": lasting}
        record.add(LEASED, body, row.holder, row.example, ref=f"lease:{row.lease}")

    def _leased(self, lease_id: str, annotator: str) -> int:
        """The question of a lease that this annotator got at some time."""
        event = self.log.named(f"lease:{lease_id}")
        if event is None:
            raise UnknownIdError(f"There is no lease {lease_id!r:.60}.")
        if event.who != annotator:
            raise NotYoursError(f"The lease {lease_id} is not {annotator!r}'s.")
        return int((event.body or {})["question"])

    def _check_lease(self, lease_id: str, annotator: str, number: int) -> float:
        """How long the lease was to last; an error if it is not this annotator's, or for another question."""
        if self._leased(lease_id, annotator) != number:
            raise UnknownIdError(f"The lease {lease_id} is for another question.")
        event = self.log.named(f"lease:{lease_id}")
        return float((event.body or {}).get("ttl", LEASE)) if event else LEASE

    def _refuse_second(self, row: Row, number: int, step: int, annotator: str) -> None:
        for event in self.log.about(row.example):
            body: Any = event.body
            same = event.kind == ANSWERED and event.who == annotator and (body["question"], body["step"]) == (number, step)
            if same and event.id not in self.tally.undone:
                raise ConflictError(f"{annotator!r} has answered question {number}.{step} already. Undo that first.")

    def _same_receipt(
        self, event: Event, number: int, step: int, given: dict[str, float | None], truth: str | None
    ) -> Receipt:
        body: Any = event.body
        same = (body["question"], body["step"], body.get("truth")) == (number, step, truth)
        if not same or any(body["costs"].get(label, cost) != cost for label, cost in given.items()):
            raise ConflictError("This key was used for another answer. Choose a new key for each answer.")
        row = self.store.question(number)
        goes_on = body["learned"] and row.open and row.holder == event.who and row.step == step + 1
        return Receipt(str(event.id), body["late"], body["learned"], self._question(row) if goes_on else None)

    def _own_answer(self, annotator: str, answer_id: str) -> Event:
        event = self.log.get(int(answer_id)) if answer_id.isascii() and answer_id.isdigit() and len(answer_id) < 19 else None
        if event is None or event.kind != ANSWERED:
            raise UnknownIdError(f"There is no answer {answer_id!r:.60}.")
        if event.who != annotator:
            raise NotYoursError(f"The answer {answer_id} is not {annotator!r}'s.")
        if event.id in self.tally.undone:
            raise ConflictError(f"The answer {answer_id} was undone already.")
        return event

    def _answers_to(self, row: Row) -> list[Event]:
        """The answers to a question that count, in order."""
        return [
            event
            for event in self.log.about(row.example)
            if event.kind == ANSWERED and event.id not in self.tally.undone
            if (event.body or {})["question"] == row.number and (event.body or {})["learned"]
        ]

    def _closed_by(self, row: Row) -> int | None:
        """The event that taught the model this question's answers."""
        number = self.tally.closed.get(row.example)
        event = None if number is None else self.log.get(number)
        return number if event is not None and (event.body or {}).get("question") == row.number else None

    def _undo_event(self, record: Recording, answer: Event, closed: int | None) -> None:
        body: Any = answer.body
        undone = {name: body[name] for name in ("question", "step", "costs", "put", "price") if name in body}
        undone |= {"answer": answer.id} | ({"closed": closed} if closed else {})
        record.add(UNDONE, undone, answer.who, answer.example)

    def _asking(self, row: Row) -> list[str]:
        """The labels in question now."""
        return Plan(**row.plan).next(row.known, self.project.cost_bounds)[: row.asking]

    def _question(self, row: Row) -> Question:
        labels = self.project.labels if self.project.true_label else self._asking(row)
        ranges = {label: (low, high) for label, (low, high) in (row.plan.get("ranges") or {}).items()}
        return Question(
            id=f"{row.number}.{row.step}",
            example_id=self.project.pool.example_id(row.example),
            content=self.project.pool.content(row.example),
            labels=list(labels),
            known=row.known,
            lease_id=row.lease or "",
            expires_at=row.expires or 0.0,
            ranges=ranges,
            reason=row.plan.get("reason", ""),
        )

    def _told(self, event: Event) -> exchange.Event:
        body: dict[str, Any] = dict(event.body or {})
        if event.example is not None:
            body["example_id"] = self.project.pool.example_id(event.example)
        if event.seconds is not None:
            body["seconds"] = event.seconds
        return exchange.Event(event.id, event.at, event.kind, event.who, body)

    @contextmanager
    def _recording(self) -> Iterator[Recording]:
        """A transaction whose events are counted and learned once they are safe."""
        with self._lock:
            with self.store.database.writing() as connection:
                record = Recording(self.log, connection, self.clock())
                yield record
            for event in record.events:
                self.tally.take_in(event)
                self.model.take_in(event)


def _parsed(question_id: str) -> tuple[int, int]:
    number, _, step = str(question_id).partition(".")
    if not all(part.isascii() and part.isdigit() and len(part) < 18 for part in (number, step)):
        raise UnknownIdError(f"There is no question {question_id!r:.60}.")
    return int(number), int(step)


def _said(seconds: float | None, note: str | None, price: float | None) -> dict[str, Any]:
    for name, value in (("seconds", seconds), ("price", price)):
        if value is not None and not (isinstance(value, int | float) and 0 <= value < 1e9):
            raise InputError(f"{name} must be a number from 0 on, got {value!r}.")
    return {"seconds": seconds, "note": note, "price": price}


def _checked_key(key: str) -> str:
    if not isinstance(key, str) or not 1 <= len(key) <= 200:
        raise InputError(f"key must be a text of 1 to 200 characters, another one for each answer, got {key!r:.60}.")
    return key


def _checked_ttl(ttl: float) -> float:
    if not isinstance(ttl, int | float) or not 0 < ttl <= _LONGEST_TTL:
        raise InputError(f"ttl must be a number of seconds above 0, at most {_LONGEST_TTL:g}, got {ttl!r}.")
    return float(ttl)


def _check_name(annotator: str) -> None:
    if not isinstance(annotator, str) or not 1 <= len(annotator) <= 200:
        raise InputError(f"annotator must be a name of 1 to 200 characters, got {annotator!r:.60}.")
