"""What the desk shows of its state: questions, answers, events and remarks, and the examples with what comes next."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from coalface.buying import Calls
from coalface.desk.log.access import AccessTables
from coalface.desk.log.events import ANSWERED, FLAGGED, learned_answers
from coalface.desk.log.store import QuestionRow, Store
from coalface.desk.project.project import Project
from coalface.desk.project.spending import Spent
from coalface.desk.service.agreements import CheckedJudge
from coalface.desk.service.exports import export
from coalface.desk.service.messages import (
    AnnotatorRow,
    Answered,
    ComingQuestion,
    DeskProgress,
    EstimatedMean,
    ExampleState,
    Expected,
    LogEvent,
    Overview,
    Question,
    Remark,
    reason_in_words,
)
from coalface.desk.service.model import decide_again, scan
from coalface.desk.service.overview import expected_spending, overview_of, predictions
from coalface.desk.service.project_state import ProjectState
from coalface.desk.service.queue import QuestionQueue
from coalface.errors import InputError
from coalface.rounds import Event, Round

_MOST_SCANNED = 1024  # examples, so that other callers do not wait long


class DeskViews:
    """What a desk shows to annotators, engineers and operators; nothing here changes anything."""

    state: ProjectState
    store: Store
    _queue: QuestionQueue
    access: AccessTables  # who may enter: tokens and the sessions of browsers

    _closed = False

    @property
    def _live(self) -> ProjectState:
        """The state, unless the desk is closed."""
        if self._closed:
            raise InputError(
                f"This desk of {self.project.folder} is closed. Open the project again with Desk(Project.open(folder))."
            )
        return self.state

    @property
    def project(self) -> Project:
        """The project with its labels as they are now."""
        return self.state.project

    def has_answer(self, annotator: str, key: str) -> bool:
        """Whether this annotator has sent an answer with this key."""
        return self._live.log.named(f"answer:{annotator}:{key}") is not None

    def has_lease(self, lease_id: str, annotator: str) -> bool:
        """Whether this annotator ever got this lease."""
        event = self._live.log.named(f"lease:{lease_id}")
        return event is not None and event.who == annotator

    def last_skip(self, annotator: str) -> int:
        """The number of the event of this annotator's last skip that still holds; 0 if there is none."""
        return max(self._live.latest_counters.remarks.skips_of(annotator), default=0)

    def recent(self, annotator: str, n: int = 10, before: int | None = None) -> list[Answered]:
        """An annotator's last answers, or the last ones before an answer, newest first."""
        return [_answer_of(self._live, event) for event in self._live.log.latest(annotator, ANSWERED, n, before)]

    def remarks(self, n: int = 20) -> list[Remark]:
        """The flags that engineers have not resolved, then the latest notes."""
        state, pool = self._live, self.project.pool
        return [
            Remark(
                id=event.id,
                at=event.at,
                who=event.who or "",
                example_id=pool.example_id(event.example or 0),
                note=str(event.body["note"]),
                flag=event.kind == FLAGGED,
                content=pool.content(event.example or 0),
            )
            for event in state.latest_counters.remarks.latest(n)
        ]

    def progress(self, annotator: str | None = None) -> DeskProgress:
        """What was asked so far, what may be spent, and one annotator's share of it."""
        counters = self._live.latest_counters
        spent, own = counters.spent, counters.workers.get(annotator or "")
        mine, pace = (Spent(), None) if own is None else (own.spent, own.pace)
        budget = self.project.limits.budget
        return DeskProgress(spent.examples, spent.costs, spent.price, budget, mine.examples, mine.costs, pace)

    def overview(self) -> Overview:
        """Everything the dashboard shows."""
        state, progress = self._live, self.progress()
        found = overview_of(state, progress)
        return replace(found, annotators=[_with_alpha(state, row) for row in found.annotators])

    def expected(self) -> Expected | None:
        """What the questions about the rest of the pool will take; None at its end."""
        state = self._live
        return expected_spending(self.project, state.model.learner, self.progress(), state.latest_counters.decided)

    def events(self, after: int = 0, limit: int = 100) -> list[LogEvent]:
        """The log after an event, in order."""
        return [_message_of(self.project, event) for event in self._live.log.page(after, limit)]

    def predict(self, examples: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """For each example the best label, and the predicted cost and range of each label."""
        return predictions(self.project, self._live.model.learner, examples)

    def export(self, form: str, top: int | None = None) -> Iterator[bytes]:
        """The answers as "jsonl", "csv" or "vw", the "model", or the "predictions" for the whole pool.

        ``top`` limits the predictions to so many examples, the most uncertain first.
        """
        return export(self.project, self._live.log, lambda: self._live.model.settled()[0], form, top)

    def last_seen(self) -> dict[str, float | None]:
        """When each annotator was last active."""
        return {name: worker.last_seen for name, worker in self._live.latest_counters.workers.items()}

    def judged(self, name: str) -> CheckedJudge | None:
        """How far a judge agrees with people; None about a program that is not checked against them."""
        counters = self._live.counters
        return CheckedJudge.of(counters, name) if name in counters.judges else None

    def calls(self, name: str) -> Calls:
        """The paid calls of a judge, which the log records."""
        return Calls(self._live, name)

    def vital_signs(self) -> dict[str, float]:
        """Counts for operators; they may be slightly stale, because reading them never blocks."""
        state = self._live
        return {
            "decided_examples": state.latest_counters.cursor,
            "open_questions": self.store.n_open(),
            "log_events": self.store.log.last(),
            "model_rebuilding": state.newest_model.rebuilding,
        }

    def problem(self) -> str | None:
        """Why answers cannot be taken now; None if they can."""
        if self.store.database.file.is_lost:
            return f"{self.project.name}: the database file was moved, deleted or replaced"
        try:
            self.store.log.last()
        except Exception as problem:
            return f"{self.project.name}: the database cannot be read ({type(problem).__name__})"
        return None

    def examples(self, turn: int = 0, limit: int = 100) -> list[ExampleState]:
        """The examples after a place in the order of the pool."""
        state = self._live
        with state.lock:
            pool = state.project.pool
            places = np.asarray(pool.order[turn : turn + limit]).tolist()
            states = state.pool_states(places)
            return [
                ExampleState(pool.example_id(place), at, states[place]) for at, place in enumerate(places, turn + 1)
            ]

    def upcoming(self, n: int = 10) -> list[ComingQuestion]:
        """The next questions, fewer if the pool or the budget ends or after many examples without a question."""
        state = self._live
        with state.lock:
            limits, counters, pool = state.project.limits, state.counters, state.project.pool
            if limits.room(counters.spent + limits.spent_on(1)) < 1:
                return []
            waiting = sorted(state.store.free(state.clock()), key=lambda row: (-row.step, row.number))
            found: dict[int, ComingQuestion] = {}  # by example: each annotator gets one of several copies
            for row in waiting:
                asked = Round(0) if row.example in found else _as_of_now(state, row)
                if asked.ask and len(found) < n:
                    found[row.example] = _coming(state, row.example, asked)
            lacking, price = n - len(found), state.project.asking_price
            for decided in scan(state.model.learner, pool, counters.cursor, lacking, _MOST_SCANNED, price):
                new = [pair for pair in decided if pair[1].ask and not counters.is_known(pair[0])]
                found |= {example: _coming(state, example, one) for example, one in new}
            return list(found.values())

    def not_asked(self, question: Question) -> dict[str, list[str]]:
        """The labels that are not asked about, by the reason why, according to the model now."""
        state, project = self._live, self.project
        place = np.array([project.pool.place(question.example_id)])
        ranges = state.model.learner.cost_range(project.pool.rows(place))
        guaranteed = min(ranges.highest[0, project.labels.index(label)] for label in project.offered)
        reasons: dict[str, list[str]] = {"perhaps later": [], "surely worse": [], "known well enough": []}
        for k, label in enumerate(project.labels):
            if label in question.labels or label in question.known or label in project.retired:
                continue
            worse = "surely worse" if ranges.lowest[0, k] > guaranteed else "known well enough"
            reasons["perhaps later" if label in question.ranges else worse].append(label)
        return {reason: labels for reason, labels in reasons.items() if labels}

    def _question(self, row: QuestionRow) -> Question:
        """A leased question, for its holder."""
        project, queue = self.project, self._queue
        asks_truth = queue.asks_truth(row.round)
        return Question(
            id=f"{row.number}.{row.step}",
            example_id=project.pool.example_id(row.example),
            content=project.pool.content(row.example),
            labels=project.offered if asks_truth else queue.labels_asked(row),
            known=_own_costs(self.state, row),
            lease_id=row.lease or "",
            expires_at=row.expires or 0.0,
            ranges=dict(row.round.ranges),
            reason=reason_in_words(row.round),
            true_label=asks_truth,
            later=[] if asks_truth else queue.later(row),
        )

    def settle(self) -> None:
        """Wait until the model agrees with the log."""
        self._live.model.settle()


def _own_costs(state: ProjectState, row: QuestionRow) -> dict[str, float | None]:
    """What the holder of a question answered before; the answers of others could bias the holder."""
    own = replace(row.round, costs={}, unasked=(), by={})
    for event in learned_answers(state.log.about(row.example), row.number) if row.round.costs else ():
        if event.who == row.holder:
            own = own.with_answer(event.body, event.who)
    return {label: own.costs[label] for label in state.project.labels if label in own.costs}


def _answer_of(state: ProjectState, event: Event) -> Answered:
    """An answer as its annotator sees it again."""
    body, pool = event.body, state.project.pool
    return Answered(
        answer_id=str(event.id),
        question_id=f"{body['question']}.{body['step']}",
        example_id=pool.example_id(event.example or 0),
        costs=body["costs"],
        at=event.at,
        late=body["late"],
        undone=event.id in state.counters.undone,
        note=body.get("note"),
        content=pool.content(event.example or 0),
        asked=list(body["asked"]),
        truth=body.get("truth"),
    )


def _message_of(project: Project, event: Event) -> LogEvent:
    """An event of the log, with the id of its example."""
    example_id = None if event.example is None else project.pool.example_id(event.example)
    more = {"example_id": example_id, "seconds": event.seconds}
    body = event.body | {name: value for name, value in more.items() if value is not None}
    return LogEvent(event.id, event.at, event.kind, event.who, body)


def _with_alpha(state: ProjectState, row: AnnotatorRow) -> AnnotatorRow:
    """The row of an annotator with the agreement with others, if it is known."""
    found = state.agreement(row.name)
    known = math.isfinite(found.alpha)
    return replace(row, alpha=EstimatedMean(found.alpha, found.low, found.high, found.examples) if known else None)


def _as_of_now(state: ProjectState, row: QuestionRow) -> Round:
    """The round of a waiting question; one that was displayed stays as it was, others are decided again."""
    displayed = row.step > 0 or row.holder is not None or state.project.overlap > 1
    if displayed or row.decided == state.counters.learned:
        return row.round.without(state.project.retired)
    return decide_again(state.model.learner, state.project.pool, row, state.project.asking_price)


def _coming(state: ProjectState, example: int, asked: Round) -> ComingQuestion:
    now = asked.next_labels(state.project.cost_bounds)
    return ComingQuestion(
        example_id=state.project.pool.example_id(example),
        labels=[label for label in state.project.labels if label in now],  # as annotators see them
        later=[label for label in asked.ask if label not in now and label not in asked.costs],
        ranges=dict(asked.ranges),
        reason=reason_in_words(asked),
    )
