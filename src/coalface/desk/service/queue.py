"""The queue of open questions: a scan of the pool keeps it a few questions ahead of the annotators, who lease them.

Gold questions, whose costs are known, are mixed in among them. An annotator cannot tell them from others, and gets each
at most once. Their answers are kept and paid for like others, but the model does not learn them: it knows the example.
"""

import math
import secrets
from collections.abc import Collection, Iterable
from dataclasses import replace
from hashlib import blake2b

from coalface.desk.log.events import ANSWERED, ASKED, LEASED, STOPPED
from coalface.desk.log.store import QuestionRow
from coalface.desk.project.label_history import round_renamed
from coalface.desk.project.spending import Limits, Spent
from coalface.desk.service.messages import NoQuestion, reason_in_words
from coalface.desk.service.model import decide_again, scan
from coalface.desk.service.project_state import ProjectState, Recording
from coalface.rounds import Round

LEASE = 600.0  # seconds
MOST_HELD = 32  # questions that one annotator may hold at once, so that some are left for others
_AHEAD = 16  # questions kept ahead, at least
_MOST_SCANNED, _MOST_OPENED = 1024, 32  # examples scanned and questions opened in one call, so that it ends soon
_MOST_AWAITED = 30  # examples of an untrusted judge that wait for people, so that it does not buy answers in vain
_FINAL = ("budget-spent", "nothing-worth-asking")  # reasons that the log records


class QuestionQueue:
    """The open questions of a project. The caller holds the lock of the project's state."""

    def __init__(self, state: ProjectState) -> None:
        self._state = state

    def lease(
        self, annotator: str, lasting: float, without: Collection[int] = (), most_held: float = MOST_HELD
    ) -> QuestionRow | NoQuestion:
        """A question for one annotator, as the model decides it now, or the reason why there is none.

        ``without`` has the numbers of questions that the annotator does not want.
        """
        store = self._state.store
        if store.n_held(annotator, self._state.clock()) >= most_held:
            return NoQuestion("too-many-held")
        if annotator in self._state.untrusted and store.n_awaited(annotator) >= _MOST_AWAITED:
            return NoQuestion("held-back")
        unwanted = {*without, *self._state.counters.remarks.skipped_by(annotator)}
        row = self._take_gold(annotator, lasting) or self._take(annotator, lasting, unwanted)
        while row is None and self._may_open() and self._open_more():
            row = self._take(annotator, lasting, unwanted)
        if row is None:
            return NoQuestion(self._why_none(annotator, without))
        now = self._state.clock()
        if store.n_free(now) < self._wanted(now) // 2:
            self._open_more()
        return row

    def shorten_leases(self) -> None:
        """End no lease later than if it had begun now: the time of day may have been set back since it did."""
        state, now = self._state, self._state.clock()
        with state.lock:
            for row in state.store.leased(now):
                lease = state.log.named(f"lease:{row.lease}")
                latest = now + max(LEASE, 0.0 if lease is None else float(lease.body.get("ttl", 0.0)))
                if row.expires is not None and row.expires > latest:
                    with state.recording() as record:
                        state.store.change(record.connection, row.number, expires=latest)

    def labels_asked(self, row: QuestionRow) -> list[str]:
        """The labels asked about now, in the order of the project."""
        return self.in_project_order(self._in_order_of_asking(row))

    def _in_order_of_asking(self, row: QuestionRow) -> tuple[str, ...]:
        """The labels asked about now, those that the budget is spent on first in front."""
        return tuple(row.round.next_labels(self._state.project.scale.bounds)[: row.asking])

    def n_affordable(self, row: QuestionRow, limits: Limits, spent: Spent) -> int:
        """How many of the labels of a question fit into the limits after this spending."""
        return limits.n_fitting(spent + limits.spent_on(int(row.step == 0)), self._in_order_of_asking(row))

    def later(self, row: QuestionRow) -> list[tuple[str, float]]:
        """The labels that follow those asked about now, each with the cost that, once known, makes it needless.

        An answer may give them in the same call. There are none beyond the budget.
        """
        now, scale = self.labels_asked(row), self._state.project.scale
        pending = row.round.without(self._state.project.retired)
        if {*now} != {*pending.next_labels(scale.bounds)}:
            return []  # the budget ends here
        known = min(scale.shares([cost for cost in pending.costs.values() if cost is not None]), default=math.inf)
        later = [label for label in pending.ask if label not in now and label not in pending.costs]
        lows = [pending.ranges[label][0] for label in later]
        pairs = zip(later, lows, scale.shares(lows), strict=True)
        waiting = [(label, low) for label, low, share in pairs if share < known]  # the others are settled
        if not self._state.limits.budget:
            return waiting
        return waiting[: self._state.limits.n_fitting(self.committed(), [label for label, _ in waiting])]

    def asks_truth(self, one: Round) -> bool:
        """Whether a question asks for the true label: always in some projects, else where the learner decides so."""
        return self._state.project.true_label or one.ask_truth

    def in_project_order(self, labels: Iterable[str]) -> list[str]:
        """Labels as annotators see them; the order of a round would reveal what the model believes."""
        return sorted(labels, key=self._state.project.labels.index)

    def committed(self, without: int | None = None) -> Spent:
        """What was spent, and what the holders of leases may still spend; ``without`` leaves out a question."""
        state, limits = self._state, self._state.limits
        if not limits.budget:
            return state.counters.spent
        return state.counters.spent + self.outstanding(limits, without)

    def outstanding(self, limits: Limits, without: int | None = None) -> Spent:
        """What the holders of leases may still spend; ``without`` leaves out a question."""
        store, now = self._state.store, self._state.clock()
        if not limits.by_label:
            return limits.spent_on(*store.outstanding(now, without))
        held = (row for row in store.leased(now) if row.number != without)
        return sum((limits.spent_on(int(row.step == 0), self._in_order_of_asking(row)) for row in held), Spent())

    def record_lease(self, record: Recording, row: QuestionRow, lasting: float) -> None:
        """Record who holds a question, what it asks and until when."""
        labels, audits = self.labels_asked(row), row.round.propensity
        body = {
            "question": row.number,
            "step": row.step,
            "labels": labels,
            "audits": {label: audits[label] for label in labels if label in audits},
            "ttl": lasting,
            "until": row.expires,
        }
        record.add(LEASED, body, row.holder, row.example, ref=f"lease:{row.lease}")

    def _take(self, annotator: str, lasting: float, without: Collection[int]) -> QuestionRow | None:
        store, limits = self._state.store, self._state.limits
        spent = self.committed()
        if limits.room(spent) < 1:
            return None
        new, too_dear = limits.room(spent + limits.spent_on(1)) >= 1, set[int]()
        with self._state.recording() as record:
            while True:
                lease, until = secrets.token_urlsafe(12), record.now + lasting
                judges, others = self._state.counters.judges, {*without, *too_dear}
                row = store.take(
                    record.connection, annotator, lease, record.now, until, new=new, without=others, judges=judges
                )
                if row is None:
                    return None
                row = self._as_of_now(record, row)
                if row is None:
                    continue  # the example was passed; try the next question
                if row.previous is not None:
                    record.add("expired", {"question": row.number, "step": row.step}, row.previous, row.example)
                asking = self.n_affordable(row, limits, spent)
                if asking < 1:  # other labels may be cheaper
                    too_dear.add(row.number)
                    store.change(record.connection, row.number, lease=None, holder=None, expires=None)
                    continue
                if asking < row.asking:
                    row = replace(row, asking=asking)
                    store.change(record.connection, row.number, asking=asking)
                self.record_lease(record, row, lasting)
                return row

    # -- gold questions -------------------------------------------------------------------------

    def _take_gold(self, annotator: str, lasting: float) -> QuestionRow | None:
        """A gold question for this annotator, if it is time for one and one is left."""
        state = self._state
        if not state.project.gold or not state.counters.review.gold or not self._is_time_for_gold(annotator):
            return None
        example = self._next_gold(annotator)
        if example is None:
            return None
        labels = tuple(label for label in state.project.offered if label in state.counters.review.gold[example])
        asking = labels[:1] if state.project.true_label else labels  # a true label counts as one cost
        fitting = state.limits.n_fitting(self.committed() + state.limits.spent_on(1), asking)
        if not fitting:
            return None
        with state.recording() as record:
            copies = [row.copy for row in state.store.about(example)]
            row = QuestionRow(
                number=0,  # the database sets it
                example=example,
                copy=max(copies, default=-1) + 1,
                open=True,
                step=0,
                asking=fitting,
                decided=state.counters.learned,
                round=Round(state.project.pool.turn(example), ask=labels),
                lease=secrets.token_urlsafe(12),
                holder=annotator,
                expires=record.now + lasting,
            )
            row = state.store.insert(record.connection, row)
            self.record_lease(record, row, lasting)
        return row

    def _is_time_for_gold(self, annotator: str) -> bool:
        """Drawn from the annotator's number of examples, so that it repeats exactly and cannot be foreseen."""
        done = self._state.counters.workers.get(annotator)
        seen = 0 if done is None else done.spent.examples
        text = f"{self._state.project.id} {self._state.project.seed} {annotator} {seen}".encode("utf-8", "replace")
        share = int.from_bytes(blake2b(text, digest_size=8).digest(), "little") / 2.0**64
        return share < self._state.project.gold

    def _next_gold(self, annotator: str) -> int | None:
        """The first gold example that this annotator has neither answered nor held."""
        counters, log = self._state.counters, self._state.log

        def is_new(example: int) -> bool:
            given = (event.kind for event in log.about(example) if event.who == annotator)
            return example not in counters.retired and not {LEASED, ANSWERED}.intersection(given)

        return next(filter(is_new, counters.review.gold), None)

    # -- questions as they are now --------------------------------------------------------------

    def _as_of_now(self, record: Recording, row: QuestionRow) -> QuestionRow | None:
        """The question as the model decides it now; None, and the example is passed, if nothing is asked."""
        state, counters = self._state, self._state.counters
        is_gold = row.example in counters.review.gold
        if not is_gold and (row.example in counters.settled or row.example in counters.retired):
            if row.step == 0:
                state.store.remove(record.connection, [row.number])
            else:
                state.store.change(record.connection, row.number, open=False, asking=0, lease=None, expires=None)
            return None
        displayed = is_gold or row.step > 0 or row.previous is not None or row.decided == counters.learned
        if displayed or (state.project.overlap > 1 and state.store.copies(row)):  # all copies ask the same
            return self._without_retired(record, row)
        found = decide_again(state.model.learner, state.project.pool, row, state.project.asking_price)
        if not found.ask:
            state.store.remove(record.connection, [row.number])
            record.pass_over([(row.example, found)])
            return None
        row = replace(row, round=found, asking=self._n_first(found), decided=state.counters.learned)
        state.store.change(record.connection, row.number, round=found.to_json(), asking=row.asking, decided=row.decided)
        return row

    def _without_retired(self, record: Recording, row: QuestionRow) -> QuestionRow | None:
        """The question without retired labels; None, and it is closed or passed, if it has no others."""
        state, found = self._state, row.round.without(self._state.project.retired)
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
            record.save(closed)
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
        wanted = max(1, int(lacking // state.project.overlap))
        learner, pool, price = state.model.learner, state.project.pool, state.project.asking_price
        for decided in scan(learner, pool, state.counters.cursor, wanted, _MOST_SCANNED, price):
            is_known = state.counters.is_known  # settled or retired before its turn came
            asked = [(example, one) for example, one in decided if one.ask and not is_known(example)]
            found = found or bool(asked)
            with state.recording() as record:
                passed = [(example, one) for example, one in decided if not one.ask and not is_known(example)]
                record.pass_over(passed, cursor=decided[-1][1].number)
                for example, one in asked:
                    body = {"labels": list(one.ask), "audits": dict(one.propensity), "reason": reason_in_words(one)}
                    record.add(ASKED, body, example=example)
                state.store.add(record.connection, [row for pair in asked for row in self._new_rows(*pair)])
        return found

    def _new_rows(self, example: int, asked: Round) -> list[QuestionRow]:
        """The copies of a new question, one for each annotator who is to answer it."""
        row = QuestionRow(
            number=0,  # the database sets it
            example=example,
            copy=0,
            open=True,
            step=0,
            asking=self._n_first(asked),
            decided=self._state.counters.learned,
            round=asked,
        )
        return [replace(row, copy=copy) for copy in range(self._state.project.copies_of(asked.number))]

    def _wanted(self, now: float) -> int:
        """How many questions to keep free: two for each annotator who was active lately."""
        workers = self._state.counters.workers.values()
        return max(_AHEAD, 2 * sum((worker.last_seen or 0.0) > now - LEASE for worker in workers))

    # -- the end --------------------------------------------------------------------------------

    def _may_open(self) -> bool:
        """Whether the budget allows for another example."""
        return self._affords_one(self._state.limits, self.committed())

    def _affords_one(self, limits: Limits, spent: Spent) -> bool:
        """Whether the limits allow for a question about a new example after this spending.

        If labels have prices, that is one of the questions that wait. So an expensive question ends the project, and
        the rest of the pool is not searched for cheaper ones.
        """
        if limits.room(spent + limits.spent_on(1)) < 1:
            return False
        waiting = self._state.store.free(self._state.clock()) if limits.by_label else []
        return not waiting or any(self.n_affordable(row, limits, spent) for row in waiting)

    def _why_none(self, annotator: str, without: Collection[int]) -> str:
        """Why there is no question; the log records a final reason."""
        state, reason = self._state, self._reason(annotator, without)
        if reason == "budget-spent":
            self._close_half_finished()
        if reason in _FINAL and state.counters.stopped != reason:
            with state.recording() as record:
                record.add(STOPPED, {"reason": reason})
        return reason

    def _reason(self, annotator: str, without: Collection[int]) -> str:
        state, limits = self._state, self._state.limits
        more = state.counters.cursor < len(state.project.pool)
        if not more and not state.store.n_open():
            return "nothing-worth-asking"
        if not self._affords_one(limits, state.counters.spent):
            whole = self._affords_one(state.project_limits, state.counters.spent)
            return "run-limit" if whole else "budget-spent"
        if more and self._may_open():
            return "looking"
        skipped = state.counters.remarks.skipped_by(annotator)
        if more or state.store.n_open(annotator, {*without, *skipped}, state.counters.judges):
            return "all-leased"
        if skipped and state.store.n_open(annotator, without, state.counters.judges):
            return "skipped"
        return "unanswerable" if without else "others-only"

    def _close_half_finished(self) -> None:
        """Close the questions whose follow-ups the budget cannot pay for; the model learns their answers so far."""
        state = self._state
        limits, spent = state.project_limits, state.counters.spent
        with state.recording() as record:
            for row in state.store.free(record.now):
                if row.step > 0 and not self.n_affordable(row, limits, spent):
                    closed = replace(row, open=False, asking=0, lease=None, expires=None)
                    record.save(closed)
