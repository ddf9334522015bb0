"""The queue of open questions: a scan of the pool keeps it a few questions ahead of the annotators, who lease them."""

import secrets
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from coalface.learner.classifiers import CoalClassifier
from coalface.rounds.round import Round
from coalface.service.desk.events import ASKED, LEASED, STOPPED, Decided
from coalface.service.desk.messages import NoQuestion, reason_in_words
from coalface.service.desk.project_state import ProjectState, Recording
from coalface.service.desk.store import Row
from coalface.service.project.label_history import round_renamed
from coalface.service.project.pool import Pool
from coalface.service.project.spending import Spent

LEASE = 600.0  # seconds
MOST_HELD = 32  # questions that one annotator may hold at once, so that some are left for others
_AHEAD = 16  # questions kept ahead, at least
_MOST_SCANNED, _MOST_OPENED = 1024, 32  # examples scanned and questions opened in one call, so that it ends soon
_FIRST_BATCH, _LARGEST_BATCH = 16, 512  # examples scanned at a time
_FINAL = ("budget-spent", "nothing-worth-asking")  # reasons that the log records


def scan(learner: CoalClassifier, pool: Pool, start: int, wanted: int, most: int) -> Iterator[list[Decided]]:
    """Examples with their rounds in the order of the pool, in batches, from a place on.

    It ends after ``wanted`` examples with questions, or after ``most`` examples. Each example is decided at the round
    that its place gives, so its random draws do not depend on what was learned before.
    """
    size, stop = _FIRST_BATCH, min(start + most, len(pool))
    while wanted > 0 and start < stop:
        places = np.asarray(pool.order[start : min(start + size, stop)], np.int64)
        queries = learner.ask(pool.rows(places), first_round=start + 1)
        asked = np.flatnonzero(queries.mask.any(axis=1))
        n = int(asked[wanted - 1]) + 1 if len(asked) >= wanted else len(places)  # later ones wait for a newer model
        yield [(place, queries.round(i)) for i, place in enumerate(places[:n].tolist())]
        wanted -= len(asked[asked < n])
        start += n
        size = min(2 * size, _LARGEST_BATCH)


def decide_again(learner: CoalClassifier, pool: Pool, row: Row) -> Round:
    """The round of a question that was never displayed, as the model decides it now."""
    return learner.ask(pool.rows(np.array([row.example])), first_round=row.round.number).round(0)


def without_labels(asked: Round, labels: Sequence[str]) -> Round:
    """The round without questions about these labels, unless they were answered; the same round if it has none.

    >>> without_labels(Round(3, ask=("cat", "dog"), first=1), ["cat"]).ask
    ('dog',)
    """
    gone = {label for label in labels if label in asked.ask and label not in asked.costs}
    if not gone:
        return asked
    first = asked.first if asked.first is None else sum(label not in gone for label in asked.ask[: asked.first])
    ask = tuple(label for label in asked.ask if label not in gone)
    return replace(asked, ask=ask, first=max(first, min(1, len(ask))) if first is not None else None)


class QuestionQueue:
    """The open questions of a project. The caller holds the lock of the project's state."""

    def __init__(self, state: ProjectState) -> None:
        self._state = state

    def lease(self, annotator: str, lasting: float) -> Row | NoQuestion:
        """A question for one annotator, as the model decides it now, or the reason why there is none."""
        store = self._state.store
        if store.n_held(annotator, self._state.clock()) >= MOST_HELD:
            return NoQuestion("too-many-held")
        row = self._take(annotator, lasting)
        while row is None and self._may_open() and self._open_more():
            row = self._take(annotator, lasting)
        if row is None:
            return NoQuestion(self._why_none(annotator))
        now = self._state.clock()
        if store.n_free(now) < self._wanted(now) // 2:
            self._open_more()
        return row

    def labels_asked(self, row: Row) -> list[str]:
        """The labels asked about now, in the order of the project."""
        return self.in_project_order(row.round.next_labels(self._state.project.scale.bounds)[: row.asking])

    def asks_truth(self, one: Round) -> bool:
        """Whether a question asks for the true label: always in some projects, else where the learner decides so."""
        return self._state.project.true_label or one.ask_truth

    def in_project_order(self, labels: Iterable[str]) -> list[str]:
        """Labels as annotators see them; the order of a round would reveal what the model believes."""
        return sorted(labels, key=self._state.project.labels.index)

    def committed(self, without: int | None = None) -> Spent:
        """What was spent, and what the holders of leases may still spend; ``without`` leaves out a question."""
        state, limits = self._state, self._state.project.limits
        if not limits.budget:
            return state.counters.spent
        return state.counters.spent + limits.spent_on(*state.store.outstanding(state.clock(), without))

    def record_lease(self, record: Recording, row: Row, lasting: float) -> None:
        """Record who holds a question, what it asks and until when."""
        labels, audits = self.labels_asked(row), row.round.propensity
        body: dict[str, Any] = {"question": row.number, "step": row.step, "labels": labels}
        body |= {"audits": {label: audits[label] for label in labels if label in audits}}
        body |= {"ttl": lasting, "until": row.expires}
        record.add(LEASED, body, row.holder, row.example, ref=f"lease:{row.lease}")

    def _take(self, annotator: str, lasting: float) -> Row | None:
        store, limits = self._state.store, self._state.project.limits
        spent = self.committed()
        room_to_open, room_to_go_on = limits.room(spent + limits.spent_on(1, 0)), limits.room(spent)
        if room_to_go_on < 1:
            return None
        with self._state.recording() as record:
            while True:
                lease, until = secrets.token_urlsafe(12), record.now + lasting
                row = store.take(record.connection, annotator, lease, record.now, until, room_to_open >= 1)
                if row is None:
                    return None
                row = self._as_of_now(record, row)
                if row is None:
                    continue  # the example was passed; try the next question
                room = room_to_go_on if row.step else room_to_open
                if room < row.asking:
                    row = replace(row, asking=int(room))
                    store.change(record.connection, row.number, asking=row.asking)
                if row.previous is not None:
                    record.add("expired", {"question": row.number, "step": row.step}, row.previous, row.example)
                self.record_lease(record, row, lasting)
                return row

    def _as_of_now(self, record: Recording, row: Row) -> Row | None:
        """The question as the model decides it now; None, and the example is passed, if nothing is asked."""
        state = self._state
        displayed = row.step > 0 or row.previous is not None or state.project.overlap > 1
        if displayed or row.decided == state.counters.learned:
            return self._without_retired(record, row)
        found = decide_again(state.model.learner, state.project.pool, row)
        if not found.ask:
            state.store.remove(record.connection, [row.number])
            record.pass_over([(row.example, found)])
            return None
        row = replace(row, round=found, asking=self._n_first(found), decided=state.counters.learned)
        state.store.change(record.connection, row.number, round=found.to_json(), asking=row.asking, decided=row.decided)
        return row

    def _without_retired(self, record: Recording, row: Row) -> Row | None:
        """The question without retired labels; None, and it is closed or passed, if it has no others."""
        state, found = self._state, without_labels(row.round, self._state.project.retired)
        if found is row.round:
            return row
        left = found.next_labels(state.project.scale.bounds)
        if left:
            asking = 1 if self.asks_truth(found) else len(left)
            row = replace(row, round=found, asking=asking)
            state.store.change(record.connection, row.number, round=found.to_json(), asking=asking)
            return row
        if row.step == 0 and state.project.overlap == 1:
            state.store.remove(record.connection, [row.number])
            record.pass_over([(row.example, found)])
        else:
            closed = replace(row, round=found, open=False, asking=0, lease=None, expires=None)
            record.save(closed, found.to_json())
        return None

    def rename(self, record: Recording, old: str, new: str) -> None:
        """Rename a label in all questions."""
        for row in self._state.store.rows():
            found = round_renamed(row.round, old, new)
            if found != row.round:
                self._state.store.change(record.connection, row.number, round=found.to_json())

    def _n_first(self, found: Round) -> int:
        """How many costs the first question asks for; a true label counts as one."""
        if self.asks_truth(found):
            return 1
        return len(found.ask) if found.first is None else found.first

    def _open_more(self) -> bool:
        """Fill the queue; whether a question was found."""
        state, now, found = self._state, self._state.clock(), False
        lacking = min(self._wanted(now) - state.store.n_free(now), _MOST_OPENED)
        wanted = max(1, lacking // state.project.overlap)
        learner, pool = state.model.learner, state.project.pool
        for decided in scan(learner, pool, state.counters.cursor, wanted, _MOST_SCANNED):
            asked = [(example, one) for example, one in decided if one.ask]
            found = found or bool(asked)
            with state.recording() as record:
                passed = [(example, one) for example, one in decided if not one.ask]
                record.pass_over(passed, cursor=decided[-1][1].number)
                for example, one in asked:
                    body = {"labels": list(one.ask), "audits": dict(one.propensity), "reason": reason_in_words(one)}
                    record.add(ASKED, body, example=example)
                state.store.add(record.connection, [row for pair in asked for row in self._new_rows(*pair)])
        return found

    def _new_rows(self, example: int, asked: Round) -> list[Row]:
        """The copies of a new question, one for each annotator who is to answer it."""
        row = Row(
            number=0,  # the database sets it
            example=example,
            copy=0,
            open=True,
            step=0,
            asking=self._n_first(asked),
            decided=self._state.counters.learned,
            round=asked,
        )
        return [replace(row, copy=copy) for copy in range(self._state.project.overlap)]

    def _wanted(self, now: float) -> int:
        """How many questions to keep free: two for each annotator who was active lately."""
        workers = self._state.counters.workers.values()
        return max(_AHEAD, 2 * sum((worker.last_seen or 0.0) > now - LEASE for worker in workers))

    # -- the end --------------------------------------------------------------------------------

    def _may_open(self) -> bool:
        """Whether the budget allows for another example."""
        limits = self._state.project.limits
        return limits.room(self.committed() + limits.spent_on(1, 0)) >= 1

    def _why_none(self, annotator: str) -> str:
        """Why there is no question; the log records a final reason."""
        state, reason = self._state, self._reason(annotator)
        if reason == "budget-spent":
            self._close_half_finished()
        if reason in _FINAL and state.counters.stopped != reason:
            with state.recording() as record:
                record.add(STOPPED, {"reason": reason})
        return reason

    def _reason(self, annotator: str) -> str:
        state, limits = self._state, self._state.project.limits
        more = state.counters.cursor < len(state.project.pool)
        if not more and not state.store.n_open():
            return "nothing-worth-asking"
        if limits.room(state.counters.spent + limits.spent_on(1, 0)) < 1:
            return "budget-spent"
        if more and self._may_open():
            return "looking"
        return "all-leased" if more or state.store.n_open(annotator) else "others-only"

    def _close_half_finished(self) -> None:
        """Close the questions whose follow-ups the budget cannot pay for; the model learns their answers so far."""
        state = self._state
        if state.project.limits.room(state.counters.spent) >= 1:
            return
        with state.recording() as record:
            for row in state.store.half_finished(record.now):
                closed = replace(row, open=False, asking=0, lease=None, expires=None)
                record.save(closed, closed.round.to_json())
