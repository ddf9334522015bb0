"""Answers: what happens when an annotator answers, takes an answer back, renews a lease or gives a question back.

Any answer under a lease whose question was displayed is kept, whatever has happened to the question since. The model
learns it if it is the first answer to that question. Otherwise the log keeps it beside the first one. An answer that is
undone is withdrawn with those that followed from it, and its author gets the question again.
"""

import secrets
from collections import ChainMap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from coalface.desk.log.events import ANSWERED, UNDONE, learned_answers, valid_answers
from coalface.desk.log.store import QuestionRow
from coalface.desk.project.spending import Limits, Spent
from coalface.desk.service.checks import (
    GivenAnswer,
    checked_ttl,
    parsed_answer,
    parsed_question,
)
from coalface.desk.service.messages import Question, Receipt
from coalface.desk.service.project_state import Recording
from coalface.desk.service.queue import LEASE, MOST_HELD
from coalface.desk.service.shown import DeskViews
from coalface.errors import ConflictError, UnknownIdError
from coalface.rounds import Event

_NO_LIMITS = Limits()
_COUNTED = ("question", "step", "asked", "costs", "price")  # parts of an answer that the counters subtract


class AnswerIntake(DeskViews):
    """Answers in, follow-up questions out."""

    # -- answers --------------------------------------------------------------------------------

    def _take(self, given: GivenAnswer) -> Receipt:
        """Keep an answer and, if it is the first to its question, continue the question."""
        with self._live.lock:
            event, row = self._kept(given)
            follow_up = None if row is None else self._question(row)
        return Receipt(str(event.id), event.body["late"], event.body["learned"], follow_up)

    def _kept(self, given: GivenAnswer) -> tuple[Event, QuestionRow | None]:
        """The event of an answer, and the question if the annotator is asked on."""
        state, (number, step) = self.state, given.question
        ref = f"answer:{given.annotator}:{given.key}"
        earlier, lease, past, row = state.store.situation(number, ref, f"lease:{given.lease_id}")
        if not given.whole and (state.project.true_label or (row is not None and row.round.ask_truth)):
            given = given.without_costs()
        if earlier is not None:
            return self._again(earlier, given, row)
        lease = _own_lease(lease, given.lease_id, given.annotator)
        asked = _displayed_labels(lease, past, given.question, given.lease_id)
        valid = valid_answers(past)
        _refuse_second(valid, lease, step)
        costs, limits = {**dict.fromkeys(asked), **given.costs}, state.project.limits
        body: dict[str, Any] = {"question": number, "step": step, "lease": lease.id, "asked": asked, "costs": costs}
        body |= given.said | ({"truth": given.truth} if given.truth is not None else {})
        body |= _charge(given.annotator, body, valid, limits)
        first = row is not None and row.open and row.step == step
        if row is not None and first and given.ahead:
            body["asked"] = [*asked, *self._asked_ahead(row, given, body)]
            body |= _charge(given.annotator, body, valid, limits)
        with state.recording() as record:
            if row is None or not first or self._is_elsewhere(row, given.annotator, valid):
                row, body = None, body | {"learned": False, "late": True}
            else:
                in_time = row.lease == given.lease_id and row.is_held(record.now)
                body |= {"until": row.expires} if row.lease == given.lease_id else {}
                body |= {"learned": True, "late": not in_time}
                row = self._continued(row, given, body, record.now + float(lease.body["ttl"]))
            record.add(ANSWERED, body, given.annotator, lease.example, given.seconds, ref)
            if row is not None:
                record.save(row, given.annotator)
        return record.events[0], row if row is not None and row.open and row.lease is not None else None

    def _continued(self, row: QuestionRow, given: GivenAnswer, body: dict[str, Any], expires: float) -> QuestionRow:
        """The question after an answer: the next labels are leased to the same annotator, or it is closed."""
        project = self.state.project
        answered = row.round.with_answer(body, given.annotator, whole=given.whole)
        row = replace(row, round=answered, step=row.step + 1, holder=given.annotator)
        pending = answered.without(project.retired)
        left = () if given.whole else pending.next_labels(project.scale.bounds)
        asking = self._n_fitting(row, body, self.state.limits, left) if left else 0
        later = self._n_fitting(row, body, self.state.project_limits, left) if left and not asking else 0
        if later:  # this run may spend no more, but another one may go on
            return replace(row, round=pending, asking=later, lease=None, holder=None, expires=None)
        if not asking:
            return replace(row, open=False, asking=0, lease=None, expires=None)
        row = replace(row, round=pending)
        body["then"] = {"labels": self._queue.in_project_order(left[:asking]), "until": expires}
        return replace(row, asking=asking, lease=given.lease_id, expires=expires)

    def _asked_ahead(self, row: QuestionRow, given: GivenAnswer, body: dict[str, Any]) -> list[str]:
        """The follow-up labels that an answer gives already, as far as the rule asks for them and the budget allows.

        So one answer gives the same round, at the same price, as one answer per label. Others count as volunteered.
        """
        ahead = list[str]()
        found = row.round.without(self.state.project.retired)
        others = {label: cost for label, cost in body["costs"].items() if label not in given.ahead}
        found = found.with_answers(others, asked=body["asked"])
        while left := found.next_labels(self.state.project.scale.bounds):
            wanted = [*ahead, *left]
            if not {*left} <= {*given.ahead} & {*given.costs}:
                break
            if self._n_fitting(row, body, self.state.limits, wanted) < len(wanted):
                break
            ahead += left
            found = found.with_answers({label: given.costs[label] for label in left})
        return ahead

    def _n_fitting(self, row: QuestionRow, body: dict[str, Any], limits: Limits, labels: Sequence[str]) -> int:
        """How many of these labels the limits allow to ask about after an answer."""
        costs = list(body["booked"]) if "booked" in body else body["put"]
        price = body.get("price", limits.price_of(body["looks"], costs))
        spent = self._queue.committed(without=row.number) + Spent(body["looks"], body["put"], price)
        return limits.n_fitting(spent, labels)

    def _again(self, event: Event, given: GivenAnswer, row: QuestionRow | None) -> tuple[Event, QuestionRow | None]:
        """The same for an answer that was sent before with the same key."""
        body = event.body
        if event.who != given.annotator or event.id in self.state.counters.undone:
            raise ConflictError(
                "This key belongs to an answer that was undone, or to another annotator. Choose a new key."
            )
        same = (body["question"], body["step"], body.get("truth")) == (*given.question, given.truth)
        if not same or {**dict.fromkeys(body["costs"]), **given.costs} != body["costs"]:
            raise ConflictError("This key was used for another answer. Choose a new key for each answer.")
        goes_on = row is not None and row.open and row.holder == event.who and row.step == given.question[1] + 1
        return event, row if body["learned"] and goes_on else None

    def displayed_labels(self, annotator: str, question_id: str, lease_id: str) -> list[str]:
        """The labels that a question under a lease of this annotator asks about."""
        with self._live.lock:
            question, lease = parsed_question(question_id), self._lease_of(lease_id, annotator)
            return _displayed_labels(lease, self.state.log.about(lease.example or 0), question, lease_id)

    # -- leases ---------------------------------------------------------------------------------

    def renew(self, lease_id: str, annotator: str, ttl: float = LEASE) -> float:
        """Extend a lease, also an expired one whose question is still free; the time at which it ends now.

        The log records the renewal of an expired lease, not the many in time.
        """
        lasting = checked_ttl(ttl)
        with self._live.lock:
            store, lease = self.store, self._lease_of(lease_id, annotator)
            row = store.question(lease.body["question"])
            if row is None or not row.open or row.lease != lease_id:
                raise ConflictError(
                    f"The lease {lease_id} is over: its question was answered or leased to another annotator. "
                    "Lease a new one."
                )
            with self.state.recording() as record:
                expires = record.now + lasting
                if not row.is_held(record.now):
                    self._refuse_regaining(row, lease_id, annotator)
                    body = {"question": row.number, "step": row.step, "until": expires}
                    record.add("renewed", body, annotator, row.example)
                store.change(record.connection, row.number, expires=expires)
            return expires

    def release(self, lease_id: str, annotator: str) -> None:
        """Give a question back unanswered; nothing happens if the lease is over."""
        with self._live.lock:
            lease = self._lease_of(lease_id, annotator)
            row = self.store.question(lease.body["question"])
            if row is not None and row.open and row.lease == lease_id:
                with self.state.recording() as record:
                    self.store.change(record.connection, row.number, lease=None, holder=None, expires=None)
                    body = {"question": row.number, "step": row.step, "until": row.expires}
                    record.add("released", body, annotator, row.example)

    def _lease_of(self, lease_id: str, annotator: str) -> Event:
        return _own_lease(self.state.log.named(f"lease:{lease_id}"), lease_id, annotator)

    def _refuse_regaining(self, row: QuestionRow, lease_id: str, annotator: str) -> None:
        """An expired lease made room for others, and its holder may have leased another question."""
        state, limits = self.state, self.state.limits
        if self._queue.n_affordable(row, limits, self._queue.committed(without=row.number)) < row.asking:
            raise ConflictError(
                f"The lease {lease_id} has expired, and the budget has no room for its question now. "
                "Raise the budget, or wait for other leases to end."
            )
        if state.store.n_held(annotator, state.clock()) >= MOST_HELD:
            raise ConflictError(
                f"The lease {lease_id} has expired, and {annotator!r} holds {MOST_HELD} others now. "
                "Answer or release one of those."
            )
        if self._is_elsewhere(row, annotator, valid_answers(state.log.about(row.example))):
            raise ConflictError(
                f"The lease {lease_id} has expired, and {annotator!r} has another copy of it. Answer that one."
            )

    def _is_elsewhere(self, row: QuestionRow, annotator: str, valid: list[Event]) -> bool:
        """Whether this annotator has or answered another copy of the question: each annotator counts once."""
        if self.state.project.overlap == 1:
            return False
        if any(event.who == annotator and event.body["question"] != row.number for event in valid):
            return True
        now = self.state.clock()
        return any(copy.holder == annotator and copy.is_held(now) for copy in self.store.copies(row))

    # -- undo -----------------------------------------------------------------------------------

    def undo(self, annotator: str, answer_id: str) -> Question | None:
        """Withdraw one's own answer and those that followed from it; the question, leased to its author again.

        None for an answer that was kept beside an earlier one: it has no question to return.
        """
        with self._live.lock:
            answer = self._own_answer(annotator, answer_id)
            row = self.store.question(answer.body["question"]) if answer.body["learned"] else None
            past = self.state.log.about(answer.example or 0)
            if row is None:
                with self.state.recording() as record:
                    _record_undone(record, answer, valid_answers(past), self._booked(answer.who, past))
                return None
            undone = [one for one in learned_answers(past, row.number) if one.body["step"] >= answer.body["step"]]
            self._refuse_taking_away(row, annotator, undone)
            return self._question(self._withdraw(row, past, undone))

    def _withdraw(self, row: QuestionRow, past: list[Event], undone: list[Event]) -> QuestionRow:
        state, first, valid = self.state, undone[0], valid_answers(past)
        closed = self._closing_of(row)
        row = _before(row, [one for one in learned_answers(past, row.number) if one not in undone])
        left = len(row.round.next_labels(state.project.scale.bounds))
        row = replace(row, open=True, step=first.body["step"], asking=min(left, len(first.body["asked"])))
        with state.recording() as record:
            for answer in reversed(undone):
                booked = self._booked(answer.who, past)
                _record_undone(record, answer, valid, booked, closed if answer is undone[-1] else None)
                valid.remove(answer)
            lease, expires = secrets.token_urlsafe(12), record.now + LEASE
            row = replace(row, holder=first.who, lease=lease, expires=expires)
            record.save(row)
            self._queue.record_lease(record, row, LEASE)
            if closed is not None:
                self._promote_copy(record, row, past)
        if closed is not None:
            state.model.rebuild()
        return row

    def _booked(self, who: str | None, past: list[Event]) -> Limits:
        """The limits with the prices at which an annotator's answers about an example were booked."""
        limits = self.state.project.limits
        if not limits.by_label:
            return limits
        booked = [event.body.get("booked", {}) for event in past if event.who == who and event.kind == ANSWERED]
        return replace(limits, price_per_cost=dict(ChainMap(*booked, limits.price_per_cost)))

    def _promote_copy(self, record: Recording, row: QuestionRow, past: list[Event]) -> None:
        """Let the model learn the copy of the question that was closed next, if there is one."""
        done = [copy for copy in self.store.copies(row) if not copy.open]
        for copy in sorted(done, key=lambda copy: _order_of_closing(learned_answers(past, copy.number))):
            if record.teach_trusted(copy, copy.holder):
                return

    def _refuse_taking_away(self, row: QuestionRow, annotator: str, undone: list[Event]) -> None:
        answer_id = undone[0].id
        if any(past.who != annotator for past in undone):
            raise ConflictError(
                f"The answer {answer_id} cannot be undone: another annotator continued from it. "
                "Correct it in the review."
            )
        now = self.state.clock()
        held = row.open and row.is_held(now)
        if held and row.holder != annotator:
            raise ConflictError(
                f"The answer {answer_id} cannot be undone now: another annotator has its example. Try later."
            )
        if not held and self.store.n_held(annotator, now) >= MOST_HELD:
            raise ConflictError(
                f"The answer {answer_id} cannot be undone now: {annotator!r} holds {MOST_HELD} questions. "
                "Answer or release some first."
            )

    def _own_answer(self, annotator: str, answer_id: str) -> Event:
        event = self.state.log.get(parsed_answer(answer_id))
        if event is None or event.kind != ANSWERED or event.who != annotator:  # answers of others stay secret
            raise UnknownIdError(f"There is no answer {answer_id!r:.60} of {annotator!r}.")
        if event.id in self.state.counters.undone:
            raise ConflictError(f"The answer {answer_id} was undone already.")
        return event

    def _closing_of(self, row: QuestionRow) -> int | None:
        """The event that taught the model this question's answers; None if it has not learned them."""
        number = self.state.counters.closed.get(row.example)
        event = None if number is None else self.state.log.get(number)
        return number if event is not None and event.body.get("question") == row.number else None


def _before(row: QuestionRow, remaining: list[Event]) -> QuestionRow:
    """The question after the remaining answers only; an undone answer may have given the same costs as they did."""
    found = replace(row.round, costs={}, unasked=(), by={}, truth=None)
    for answer in remaining:
        found = found.with_answer(answer.body, answer.who)
    return replace(row, round=found)


def _order_of_closing(answers: list[Event]) -> tuple[bool, int]:
    """By the last answer; then the examples cut off by the budget."""
    return "then" in answers[-1].body, answers[-1].id


def _record_undone(
    record: Recording, answer: Event, valid: list[Event], booked: Limits, closed: int | None = None
) -> None:
    """Record that an answer is undone; a cost is still charged if another valid answer gave it too."""
    body: dict[str, Any] = {name: answer.body[name] for name in _COUNTED if name in answer.body}
    body |= _charge(answer.who, answer.body, [other for other in valid if other.id != answer.id], booked)
    body |= {"answer": answer.id} | ({} if closed is None else {"closed": closed})
    record.add(UNDONE, body, answer.who, answer.example)


def _own_lease(lease: Event | None, lease_id: str, annotator: str) -> Event:
    """The lease, if it is one of this annotator."""
    if lease is None or lease.who != annotator:
        raise UnknownIdError(f"There is no lease {lease_id!r:.60} of {annotator!r}. Lease a question first.")
    return lease


def _displayed_labels(lease: Event, past: Iterable[Event], question: tuple[int, int], lease_id: str) -> list[str]:
    """The labels that a lease has displayed at a step of its question.

    A lease displays its first step and, after each answer under it, the next, even if that answer was undone later.
    """
    number, step = question
    if lease.body["question"] == number:
        if lease.body["step"] == step:
            return list(lease.body.get("labels", []))
        for event in past:
            body: dict[str, Any] = event.body
            followed = event.kind == ANSWERED and "then" in body
            if followed and (body.get("lease"), body["step"] + 1) == (lease.id, step):
                return list(body["then"]["labels"])
    raise UnknownIdError(f"There is no question '{number}.{step}' under the lease {lease_id}. Lease one.")


def _refuse_second(valid: list[Event], lease: Event, step: int) -> None:
    """Refuse a second valid answer under a lease at one step of its question."""
    for event in valid:
        if (event.body.get("lease"), event.body["step"]) == (lease.id, step):
            number = event.body["question"]
            raise ConflictError(f"{event.who!r} has already answered question {number}.{step}. Undo that answer first.")


def _charge(
    who: str | None, answer: Mapping[str, Any], others: Iterable[Event], limits: Limits = _NO_LIMITS
) -> dict[str, Any]:
    """What an answer adds to the same annotator's other answers about an example: "looks", 1 if it is new, and costs.

    Each annotator is paid once for each cost, however often and under however many leases it was asked for. If labels
    have prices, "booked" has the usual price of each new cost.

    >>> other = Event("answered", at=1.0, who="ada", body={"step": 0, "asked": ["cat"]})
    >>> _charge("ada", {"step": 0, "asked": ["cat", "dog"]}, [other])
    {'looks': 0, 'put': 1}
    """
    own = [event.body for event in others if event.who == who]
    asked = {label for body in own for label in body["asked"]}
    looks = answer["step"] == 0 and all(body["step"] > 0 for body in own)
    new = [label for label in dict.fromkeys(answer["asked"]) if label not in asked]
    booked = {"booked": {label: limits.cost_price(label) for label in new}} if limits.by_label else {}
    return {"looks": int(looks), "put": len(new), **booked}
