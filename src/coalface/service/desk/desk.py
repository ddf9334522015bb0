"""The desk of a project: it leases questions to annotators and takes their answers.

Each call is one transaction: it writes events to the log and changes questions together. Then the model learns what the
log says. An acknowledged answer is on disk. Threads may share a desk; a project has one desk at a time.
"""

import math
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

from coalface.errors import FileBusyError, InputError, UnknownLabelError
from coalface.files.atomic import exclusive
from coalface.rounds.event_log import Event
from coalface.rounds.label_change import RENAME, LabelChange
from coalface.service.desk import messages
from coalface.service.desk.answers import Answers, Costs, Given, learned_answers, with_answer
from coalface.service.desk.checks import checked_annotator, checked_name, checked_said, checked_ttl, parsed_question
from coalface.service.desk.events import ANSWERED, JUDGE, LABELS
from coalface.service.desk.gates import checked_gate
from coalface.service.desk.messages import (
    AnnotatorRow,
    Answered,
    Estimate,
    Expected,
    NoQuestion,
    Overview,
    Progress,
    Question,
    Receipt,
)
from coalface.service.desk.overview import expected_spending, overview_of, predictions
from coalface.service.desk.project_state import ProjectState
from coalface.service.desk.queue import LEASE, MOST_HELD, QuestionQueue
from coalface.service.desk.store import Row, Store
from coalface.service.desk.undo import Undo
from coalface.service.project.exports import export
from coalface.service.project.label_history import checked_change
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
        with ExitStack() as stack:
            try:
                stack.enter_context(exclusive(project.folder / SETTINGS, patience=0.5))
            except FileBusyError:
                raise FileBusyError(
                    f"The project {project.folder} is already open in another process, a service or coalface label. "
                    "Stop that one first."
                ) from None
            self.store = project.open_store(alone=True) if store is None else store
            stack.callback(self.store.close)
            self.state = ProjectState(project, self.store, clock)
            self._closing = stack.pop_all()
        self._closed = False
        self._queue = QuestionQueue(self.state)
        self._answers = Answers(self.state, self._queue)
        self._undo = Undo(self.state, self._queue)
        self.state.release_trusted()  # if an earlier process ended before it could

    @property
    def project(self) -> Project:
        """The project with its labels as they are now."""
        return self.state.project

    def close(self) -> None:
        """Save a snapshot and let other processes open the project; a second call does nothing."""
        with self.state.lock:
            if self._closed:
                return
            self._closed = True
        try:
            self.state.close()
        finally:
            self._closing.close()

    # -- questions ------------------------------------------------------------------------------

    def lease(
        self, annotator: str, ttl: float = LEASE, without: Collection[int] = (), *, most_held: float = MOST_HELD
    ) -> Question | NoQuestion:
        """A question for this annotator alone until the lease expires, or why there is none.

        ``without`` has the numbers of questions that the annotator does not want. A batch of questions may hold more
        than ``MOST_HELD`` at a time.
        """
        lasting = checked_ttl(ttl)
        checked_annotator(annotator)
        with self._live.lock:
            found = self._queue.lease(annotator, lasting, without, most_held)
            return found if isinstance(found, NoQuestion) else self._question(found)

    def limit_run(self, budget: Mapping[str, float], *, priced: bool = False) -> None:
        """Spend at most so many "examples" and "costs", and so much "price", from now until the desk is closed.

        What annotators hold now counts as spent. The budget of the project holds, too. ``priced`` says that the
        annotator gives prices of its own, as an LLM judge with prices of tokens does.
        """
        for name, value in budget.items():
            if name not in ("examples", "costs", "price") or not 0 <= value < math.inf:
                raise InputError(
                    f"The budget of a run must be some of examples, costs and price, got {name}={value!r}. Prices are "
                    "in the [budget] of project.toml."
                )
        limits, state = self.project.limits, self._live
        if "price" in budget and not (priced or limits.has_prices or limits.price_in or limits.price_out):
            raise InputError(
                "The project must say what questions cost if a run has a budget in price. Set price_per_cost in the "
                "[budget] of project.toml, or for an LLM judge price_in and price_out."
            )
        with state.lock:
            spent = state.counters.spent + limits.spent_on(*self.store.outstanding(state.clock()))
            state.run_limits = limits.tightened(budget, spent)

    def displayed_labels(self, annotator: str, question_id: str, lease_id: str) -> list[str]:
        """The labels that a question under a lease of this annotator asks about."""
        with self._live.lock:
            return self._answers.displayed_labels(annotator, parsed_question(question_id), lease_id)

    def held(self, annotator: str) -> list[Question]:
        """The questions that this annotator holds now, the newest lease first."""
        return [self._question(row) for row in self.store.held(annotator, self._live.clock())]

    def renew(self, lease_id: str, annotator: str, ttl: float = LEASE) -> float:
        """Extend a lease, also an expired one whose question is still free; the time at which it ends now."""
        lasting = checked_ttl(ttl)
        with self._live.lock:
            return self._answers.renew(lease_id, annotator, lasting)

    def release(self, lease_id: str, annotator: str) -> None:
        """Give a question back unanswered; nothing happens if the lease is over."""
        with self._live.lock:
            self._answers.release(lease_id, annotator)

    def judge(self, name: str, gate: float | None = None) -> None:
        """Say that an annotator is a program, to be checked against people on the examples that both see.

        While its agreement with people is below the ``gate``, its answers are held back: they are kept, but the model
        does not learn them. None leaves the gate as it is, 0 removes it.
        """
        checked_annotator(name)
        with self._live.lock:
            known = self._live.counters.judges
            wanted = known.get(name, 0.0) if gate is None else checked_gate(gate, self.project.overlap)
            if known.get(name) != wanted:
                with self._live.recording() as record:
                    record.add(JUDGE, {"gate": wanted}, name)
                self._live.release_trusted()

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
        """Take the costs of some labels, None for "can't tell", which is also assumed for missing labels.

        The same ``key`` again gives the same receipt. ``price`` replaces the usual price of the answer.
        If the question is for the true label, only "can't tell" can be answered here.
        """
        costs = {self._known(label): cost for label, cost in costs.items()}
        row = self.store.question(parsed_question(question_id)[0])
        if self.project.true_label or (row is not None and row.round.ask_truth):
            _refuse_costs(self.project.scale.checked(costs))
            return self.answer_truth(annotator, question_id, lease_id, None, key, seconds, note, price)
        return self._take(annotator, question_id, lease_id, key, costs, (seconds, note, price))

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
        """Take the true label, which gives the cost of every label; None for "can't tell"."""
        costs: Costs = {}
        if label is not None:
            label = self._known(label)
            costs = dict(zip(self.project.labels, self.project.costs_of_truth(label).tolist(), strict=True))
        said = (seconds, note, price)
        return self._take(annotator, question_id, lease_id, key, costs, said, whole=True, truth=label)

    def undo(self, annotator: str, answer_id: str) -> Question | None:
        """Withdraw one's own answer and those that followed from it; the question, leased to its author again."""
        with self._live.lock:
            row = self._undo.undo(annotator, answer_id)
            self._live.release_trusted()
            return None if row is None else self._question(row)

    # -- labels ---------------------------------------------------------------------------------

    def change_labels(self, change: LabelChange, who: str | None = None) -> Project:
        """Add, rename or retire a label; returns the project with its labels from now on.

        Questions that annotators hold stay as they are displayed. Others never ask about a retired label again.

        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     desk = Desk(Project.create(f"{folder}/mail", [{"text": "hi"}], labels=["delivery", "refund"]))
        ...     desk.change_labels(LabelChange("add", "legal", round=0)).offered
        ...     desk.close()
        ['delivery', 'refund', 'legal']
        """
        with self._live.lock:
            change = checked_change(self.project, replace(change, round=self._live.counters.cursor + 1))
            with self._live.recording() as record:
                if change.kind == RENAME:
                    self._queue.rename(record, change.label, change.new_name)
                record.add(LABELS, change.to_json(), who)
            return self.project

    # -- looking --------------------------------------------------------------------------------

    def recent(self, annotator: str, n: int = 10, before: int | None = None) -> list[Answered]:
        """An annotator's last answers, or the last ones before an answer, newest first."""
        return [self._answered(event) for event in self._live.log.latest(annotator, ANSWERED, n, before)]

    def progress(self, annotator: str | None = None) -> Progress:
        """What was asked so far, what may be spent, and one annotator's share of it."""
        counters = self._live.latest_counters
        spent, own = counters.spent, counters.workers.get(annotator or "")
        mine, pace = (Spent(), None) if own is None else (own.spent, own.pace)
        budget = self.project.limits.budget
        return Progress(spent.examples, spent.costs, spent.price, budget, mine.examples, mine.costs, pace)

    def overview(self) -> Overview:
        """Everything the dashboard shows."""
        with self._live.lock:
            found = overview_of(self.project, self._live.model, self._live.counters, self.progress())
            return replace(found, annotators=[self._with_alpha(row) for row in found.annotators])

    def expected(self) -> Expected | None:
        """What the questions about the rest of the pool will take; None at its end."""
        with self._live.lock:
            return expected_spending(self.project, self._live.model.learner, self.progress())

    def events(self, after: int = 0, limit: int = 100) -> list[messages.Event]:
        """The log after an event, in order."""
        return [self._message(event) for event in self._live.log.page(after, limit)]

    def predict(self, examples: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """For each example the best label, and the predicted cost and range of each label."""
        return predictions(self.project, self._live.model.learner, examples)

    def export(self, form: str) -> Iterator[bytes]:
        """The answers as "jsonl", "csv" or "vw", or the "model"."""
        return export(self.project, self._live.log, lambda: self._live.model.settled()[0], form)

    def settle(self) -> None:
        """Wait until the model agrees with the log."""
        self._live.model.settle()

    # -- inside ---------------------------------------------------------------------------------

    @property
    def _live(self) -> ProjectState:
        """The state, unless the desk is closed."""
        if self._closed:
            raise InputError(
                f"This desk of {self.project.folder} is closed. Open the project again with Desk(Project.open(folder))."
            )
        return self.state

    def _known(self, label: str) -> str:
        """The label, or the one that had this name when its question was displayed."""
        found = label if label in self.project.labels else self.state.labels.name_now(label)
        if found not in self.project.labels:
            raise UnknownLabelError(label, self.project.labels)
        return found

    def _take(
        self,
        annotator: str,
        question_id: str,
        lease_id: str,
        key: str,
        costs: Mapping[str, float | None],
        said: tuple[float | None, str | None, float | None],
        *,
        whole: bool = False,
        truth: str | None = None,
    ) -> Receipt:
        """Check an answer, take it and say what became of it."""
        given = Given(
            annotator=annotator,
            costs=self.project.scale.checked(costs),
            question=parsed_question(question_id),
            lease_id=lease_id,
            key=checked_name("key", key),
            said=checked_said(*said),
            whole=whole,
            truth=truth,
        )
        with self._live.lock:
            taken = self._answers.answer(given)
            self._live.release_trusted()
            follow_up = None if taken.next is None else self._question(taken.next)
        body = taken.event.body
        return Receipt(str(taken.event.id), body["late"], body["learned"], follow_up)

    def _question(self, row: Row) -> Question:
        asks_truth = self._queue.asks_truth(row.round)
        labels = self.project.offered if asks_truth else self._queue.labels_asked(row)
        return Question(
            id=f"{row.number}.{row.step}",
            example_id=self.project.pool.example_id(row.example),
            content=self.project.pool.content(row.example),
            labels=list(labels),
            known=self._own_costs(row),
            lease_id=row.lease or "",
            expires_at=row.expires or 0.0,
            ranges=dict(row.round.ranges),
            reason=messages.reason_in_words(row.round),
            true_label=asks_truth,
        )

    def _own_costs(self, row: Row) -> Costs:
        """What the holder of a question answered before; the answers of others could bias the holder."""
        own = replace(row.round, costs={}, unasked=(), by={})
        for event in learned_answers(self.state.log.about(row.example), row.number) if row.round.costs else ():
            if event.who == row.holder:
                own = with_answer(own, event.body, event.who)
        return {label: own.costs[label] for label in self.project.labels if label in own.costs}

    def _with_alpha(self, row: AnnotatorRow) -> AnnotatorRow:
        found = self._live.agreement(row.name)
        known = math.isfinite(found.alpha)
        return replace(row, alpha=Estimate(found.alpha, found.low, found.high, found.examples) if known else None)

    def _answered(self, event: Event) -> Answered:
        body = event.body
        return Answered(
            answer_id=str(event.id),
            question_id=f"{body['question']}.{body['step']}",
            example_id=self.project.pool.example_id(event.example or 0),
            costs=body["costs"],
            at=event.at,
            late=body["late"],
            undone=event.id in self.state.counters.undone,
            note=body.get("note"),
            content=self.project.pool.content(event.example or 0),
        )

    def _message(self, event: Event) -> messages.Event:
        body: dict[str, Any] = dict(event.body)
        if event.example is not None:
            body["example_id"] = self.project.pool.example_id(event.example)
        if event.seconds is not None:
            body["seconds"] = event.seconds
        return messages.Event(event.id, event.at, event.kind, event.who, body)


def _refuse_costs(given: Costs) -> None:
    for label, cost in given.items():
        if cost is not None:
            raise InputError(f"The question is for the true label, got the cost of {label!r}. Send the label instead.")
