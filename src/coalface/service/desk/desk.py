"""The desk: it hands out questions and takes answers, and forgets nothing that it has acknowledged.

Every call is one transaction: events go into the log and questions change together, and then the model learns what the
log says. Threads may call it as they like; a project has one desk at a time.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import Any

from coalface.errors import FileBusyError, InputError, UnknownLabelError
from coalface.files.locks import exclusive
from coalface.rounds.event_log import Event
from coalface.service.desk import messages as exchange
from coalface.service.desk.answers import Costs, Given, Interviews
from coalface.service.desk.checks import checked_annotator, checked_said, checked_ttl
from coalface.service.desk.counters import ANSWERED
from coalface.service.desk.example_log import learned
from coalface.service.desk.messages import Answered, NoQuestion, Overview, Progress, Question, Receipt
from coalface.service.desk.overview import overview_of, predictions
from coalface.service.desk.plan import Plan
from coalface.service.desk.project_state import Books
from coalface.service.desk.queue import LEASE, QuestionQueue
from coalface.service.desk.store import Row, Store
from coalface.service.desk.undo import Undoing
from coalface.service.project.exports import export
from coalface.service.project.project import Project
from coalface.service.project.settings_file import SETTINGS
from coalface.service.project.spending import Spent


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
        self.project = project
        with ExitStack() as stack:
            try:
                stack.enter_context(exclusive(project.folder / SETTINGS, patience=0.5))
            except FileBusyError:
                raise FileBusyError(
                    f"{project.folder} must be open once at a time, a service or coalface label has it open. Stop that "
                    "one first."
                ) from None
            self.store = project.open_store(alone=True) if store is None else store
            stack.callback(self.store.close)
            self.books = Books(project, self.store, clock)
            self._closing = stack.pop_all()
        self._closed = False
        self._queue = QuestionQueue(self.books)
        self._interviews = Interviews(self.books, self._queue)
        self._undoing = Undoing(self.books, self._queue)

    def close(self) -> None:
        """Save a snapshot and let others open the project; a second time, do nothing."""
        with self.books.lock:
            if self._closed:
                return
            self._closed = True
        try:
            self.books.close()
        finally:
            self._closing.close()

    # -- questions ------------------------------------------------------------------------------

    def lease(self, annotator: str, ttl: float = LEASE) -> Question | NoQuestion:
        """A question for this annotator alone until the lease runs out, or why there is none."""
        lasting = checked_ttl(ttl)
        checked_annotator(annotator)
        with self.books.lock:
            found = self._queue.lease(annotator, lasting)
            return found if isinstance(found, NoQuestion) else self._question(found)

    def held(self, annotator: str) -> list[Question]:
        """The questions that this annotator holds now, the newest lease first."""
        return [self._question(row) for row in self.store.held(annotator, self.books.clock())]

    def renew(self, lease_id: str, annotator: str, ttl: float = LEASE) -> float:
        """Keep a lease for longer, also one that ran out and was given to nobody else; when it ends now."""
        lasting = checked_ttl(ttl)
        with self.books.lock:
            return self._interviews.renew(lease_id, annotator, lasting)

    def release(self, lease_id: str, annotator: str) -> None:
        """Give a question back unanswered; nothing happens if the lease is over."""
        with self.books.lock:
            self._interviews.release(lease_id, annotator)

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
        Where the true label is wanted, this can only say "can't tell".
        """
        given = {self._known(label): self.project.scale.checked(label, cost) for label, cost in costs.items()}
        if self.project.true_label:
            self._refuse_costs(given)
            return self.answer_truth(annotator, question_id, lease_id, None, key, seconds, note, price)
        said = checked_said(seconds, note, price)
        return self._receipt(Given(annotator, question_id, lease_id, key, given, said))

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
        costs: dict[str, float | None] = {}
        if label is not None:
            truth = self.project.costs_of_truth(self._known(label))
            costs = dict(zip(self.project.labels, truth.tolist(), strict=True))
        said = checked_said(seconds, note, price)
        return self._receipt(Given(annotator, question_id, lease_id, key, costs, said, whole=True, truth=label))

    def undo(self, annotator: str, answer_id: str) -> Question | None:
        """Take back one's own answer and those that followed from it; the question comes back, leased to its author."""
        with self.books.lock:
            row = self._undoing.undo(annotator, answer_id)
            return None if row is None else self._question(row)

    # -- looking --------------------------------------------------------------------------------

    def recent(self, annotator: str, n: int = 10, before: int | None = None) -> list[Answered]:
        """An annotator's last answers, or the last ones before an answer, the last one first."""
        return [self._answered(event) for event in self.books.log.latest(annotator, ANSWERED, n, before)]

    def progress(self, annotator: str | None = None) -> Progress:
        """What was asked so far, what may be spent, and one annotator's share of it."""
        tally = self.books.latest_tally
        spent, own = tally.spent, tally.workers.get(annotator or "")
        mine, pace = (Spent(), None) if own is None else (own.spent, own.pace)
        budget = self.project.limits.budget
        return Progress(spent.examples, spent.costs, spent.price, budget, mine.examples, mine.costs, pace)

    def overview(self) -> Overview:
        """Everything the dashboard shows."""
        with self.books.lock:
            return overview_of(self.project, self.books.model, self.books.tally, self.progress())

    def events(self, after: int = 0, limit: int = 100) -> list[exchange.Event]:
        """The log behind an event, in order."""
        return [self._told(event) for event in self.books.log.page(after, limit)]

    def predict(self, examples: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """For each example the label, and what each label is expected to cost and may cost."""
        return predictions(self.project, self.books.model.learner, examples)

    def export(self, form: str) -> Iterator[bytes]:
        """The answers as "jsonl", "csv" or "vw", or the "model"."""
        return export(self.project, self.books.log, lambda: self.books.model.settled()[0], form)

    def settle(self) -> None:
        """Wait until the model is what the log says."""
        self.books.model.settle()

    # -- inside ---------------------------------------------------------------------------------

    def _known(self, label: str) -> str:
        if label not in self.project.labels:
            raise UnknownLabelError(label, self.project.labels)
        return label

    def _refuse_costs(self, given: Costs) -> None:
        told = [label for label, cost in given.items() if cost is not None]
        if told:
            raise InputError(f"The project wants the true label, got the cost of {told[0]!r}. Send the label instead.")

    def _receipt(self, given: Given) -> Receipt:
        with self.books.lock:
            taken = self._interviews.answer(given)
            follow_up = None if taken.next is None else self._question(taken.next)
        return Receipt(str(taken.event.id), taken.body["late"], taken.body["learned"], follow_up)

    def _question(self, row: Row) -> Question:
        labels = self.project.labels if self.project.true_label else self._queue.asking(row)
        return Question(
            id=f"{row.number}.{row.step}",
            example_id=self.project.pool.example_id(row.example),
            content=self.project.pool.content(row.example),
            labels=list(labels),
            known=self._own_costs(row),
            lease_id=row.lease or "",
            expires_at=row.expires or 0.0,
            ranges={label: (low, high) for label, (low, high) in (row.plan["ranges"] or {}).items()},
            reason=row.plan["reason"],
        )

    def _own_costs(self, row: Row) -> dict[str, float | None]:
        """What the holder of a question said of it before; what others said would sway him."""
        plan, own = Plan(**row.plan), Costs()
        for event in learned(self.books.log.about(row.example), row.number) if row.known else ():
            if event.who == row.holder:
                _, own = plan.heard(own, event.body["asked"], event.body["costs"])
        return {label: own[label] for label in self.project.labels if label in own}

    def _answered(self, event: Event) -> Answered:
        body = event.body
        return Answered(
            answer_id=str(event.id),
            question_id=f"{body['question']}.{body['step']}",
            example_id=self.project.pool.example_id(event.example or 0),
            costs=body["costs"],
            at=event.at,
            late=body["late"],
            undone=event.id in self.books.tally.undone,
            note=body.get("note"),
            content=self.project.pool.content(event.example or 0),
        )

    def _told(self, event: Event) -> exchange.Event:
        body: dict[str, Any] = dict(event.body)
        if event.example is not None:
            body["example_id"] = self.project.pool.example_id(event.example)
        if event.seconds is not None:
            body["seconds"] = event.seconds
        return exchange.Event(event.id, event.at, event.kind, event.who, body)
