"""The state of a project: its log, the counters over it and its model, which always agree.

A call writes its events and changes of questions in one transaction. After the commit, the counters and the model take
in the events in the order of the log. After an error on the way, the outcome is unknown; the next caller replays the
log first. Leases and events have the time of ``SteadyClock``: the time of day may jump, and would stretch a lease or
cut it short.
"""

import logging
import math
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from threading import RLock
from typing import Any

import sqlalchemy as sa

from coalface.buying import CallBook
from coalface.data import Agreement
from coalface.desk.log.events import (
    ADDED,
    CLOSED,
    HELD_BACK,
    LABELS,
    PASSED,
    SETTLED,
    SNAPSHOT,
    Decided,
    passed_body,
    rounds_in,
)
from coalface.desk.log.ownership import opening
from coalface.desk.log.store import QuestionRow, Store
from coalface.desk.project.label_history import LabelHistory
from coalface.desk.project.project import Project
from coalface.desk.project.spending import Limits
from coalface.desk.service.agreements import Gates
from coalface.desk.service.counters import Counters
from coalface.desk.service.messages import PoolState
from coalface.desk.service.model import LiveModel, Snapshots
from coalface.errors import LostDatabaseError, UnknownLabelError
from coalface.rounds import Event, Round, without_password

_PAGE = 2000  # events taken in at a time
_JUMP = 60.0  # seconds between the two clocks that are worth a line in the log


@dataclass
class Recording:
    """An open transaction and its events, which are written at its end."""

    store: Store
    connection: sa.Connection
    now: float
    closed: Mapping[int, int]  # example -> the event that closed it
    retired: Collection[int] = ()  # examples
    untrusted: frozenset[str] = frozenset()  # judges whose answers the model does not learn for now
    events: list[Event] = field(default_factory=list)
    rounds: list[list[Decided]] = field(default_factory=list)  # what each event teaches

    def add(
        self,
        kind: str,
        body: dict[str, Any],
        who: str | None = None,
        example: int | None = None,
        seconds: float | None = None,
        ref: str | None = None,
    ) -> None:
        """Add an event that teaches the model nothing."""
        self._append(Event(kind, self.now, who, seconds, example, ref, body), [])

    def pass_over(self, decided: list[Decided], **more: int) -> None:
        """Record that nothing is asked about these examples."""
        self._append(Event(PASSED, self.now, body=passed_body(decided) | more), decided)

    def save(self, row: QuestionRow, who: str | None = None) -> None:
        """Write a question after an answer or an undo; if it is closed, by ``who``, the model learns its answers.

        Of several copies, the model learns the one that is closed first. Answers of an untrusted judge are held back.
        """
        columns = {name: getattr(row, name) for name in ("open", "step", "asking", "lease", "holder", "expires")}
        if not row.open and not self.is_closed(row.example):
            self.teach_trusted(row, who)
        self.store.change(self.connection, row.number, round=row.round.to_json(), **columns)

    def withdraw_questions(self, example: int) -> None:
        """Remove open questions about an example that are not leased; those with answers are closed, not learned."""
        for row in self.store.about(example):
            if not row.open or row.is_held(self.now):
                continue  # the answer is kept beside what is known
            if row.step == 0 and row.holder is None:
                self.store.remove(self.connection, [row.number])
            else:
                self.store.change(self.connection, row.number, open=False, asking=0, lease=None, expires=None)

    def teach_trusted(self, row: QuestionRow, who: str | None) -> bool:
        """Whether the model learns the answers to a question; those of an untrusted judge are held back instead."""
        doubted = self.untrusted.intersection(row.round.by.values())
        if doubted:
            self.add(HELD_BACK, {"question": row.number, "judges": sorted(doubted)}, who, row.example)
        else:
            self.teach(row, who)
        return not doubted

    def teach(self, row: QuestionRow, who: str | None) -> None:
        """Let the model learn the answers to a question."""
        body = {"question": row.number, **row.round.to_json()}
        self._append(Event(CLOSED, self.now, who, example=row.example, body=body), [(row.example, row.round)])

    def settle(self, event: Event, settled: Round) -> None:
        """Add an event that gives costs without a question; the model learns them if they are new to it."""
        self._append(event, [(event.example or 0, settled)] if settled.costs and "confirms" not in event.body else [])

    def repeat(self, event: Event) -> None:
        """Let the model learn again what an event taught that was taken back since."""
        body = {name: value for name, value in event.body.items() if name != "closed"}
        again = replace(event, at=self.now, ref=None, id=0, body=body)
        self._append(again, rounds_in(again))

    def _append(self, event: Event, decided: list[Decided]) -> None:
        self.events.append(event)
        self.rounds.append(decided)

    def is_closed(self, example: int) -> bool:
        """Whether the model learns an example, from the log or from this transaction, or never will: it is retired."""
        if example in self.closed or example in self.retired:
            return True
        return any(event.kind in (CLOSED, SETTLED) and event.example == example for event in self.events)

    def settles(self, example: int) -> bool:
        """Whether this transaction gives costs of an example."""
        return any(event.kind == SETTLED and event.example == example for event in self.events)

    def has(self, ref: str) -> bool:
        """Whether this transaction has an event of this name."""
        return any(event.ref == ref for event in self.events)


class ProjectState:
    """What is known about a project, from its folder and database. A caller that writes holds ``lock``."""

    def __init__(self, project: Project, store: Store, clock: Callable[[], float]) -> None:
        self.project, self.store, self.clock = project, store, clock
        self.log, self.labels = store.log, LabelHistory()
        self.lock = RLock()
        self._counters, self._last = self._no_counts(), 0
        self.run_budget: dict[str, float] = {}  # what this process may spend: see ``Desk.limit_run``
        self._stale = True  # the log may have events that were not taken in
        self._gates = Gates()
        with opening(project.address):
            self._model = LiveModel(project, self.log)
            self.catch_up()
        self.project.limits.check_labels(self.project.offered)
        self._snapshots = Snapshots(project.folder, self._model, self._record_snapshot)

    @property
    def counters(self) -> Counters:
        """The counters, up to date with the log."""
        self.catch_up()
        return self._counters

    def known_costs(self, costs: Mapping[str, float | None]) -> dict[str, float | None]:
        """The costs by the present names of their labels."""
        return {self.known_label(label): cost for label, cost in costs.items()}

    def known_label(self, label: str) -> str:
        """The label, or the one that had this name when its question was displayed."""
        found = label if label in self.project.labels else self.labels.name_now(label)
        if found not in self.project.labels:
            raise UnknownLabelError(label, self.project.labels)
        return found

    @property
    def limits(self) -> Limits:
        """What may be spent now. If a program has charged more than the usual price, all costs count at that price."""
        return replace(self.project_limits, **self.run_budget)

    @property
    def project_limits(self) -> Limits:
        """What may be spent in all runs."""
        return self.project.limits.raised(self.counters.excess)

    @property
    def latest_counters(self) -> Counters:
        """Counters that may be stale, without blocking."""
        if self._stale and self.lock.acquire(blocking=False):
            try:  # a commit may still be on its way, so the state stays marked as stale
                self._replay()
            finally:
                self.lock.release()
        return self._counters

    @property
    def untrusted(self) -> frozenset[str]:
        """The judges whose answers the model does not learn for now."""
        return self._gates.closed(self.counters)

    def agreement(self, name: str) -> Agreement:
        """How far an annotator agrees with people."""
        with self.lock:
            return self._gates.agreement(self.counters, name)

    def pool_states(self, places: list[int]) -> dict[int, PoolState]:
        """The states of examples: retired, closed, undecided, open or passed."""
        counters, pool, in_question = self.counters, self.project.pool, self.store.in_question(places)

        def of(place: int) -> PoolState:
            if counters.is_known(place):
                return "retired" if place in counters.retired else "closed"
            if pool.turn(place) > counters.cursor:
                return "undecided"
            return "open" if place in in_question else "passed"

        return {place: of(place) for place in places}

    def release_trusted(self) -> None:
        """Let the model learn answers that were held back and whose judge is trusted now."""
        with self.lock:
            counters = self.counters
            held_back = counters.held_back if counters.judges else {}  # others are always trusted
            untrusted = self._gates.closed(counters) if held_back else frozenset()
            trusted = [number for number, judges in held_back.items() if untrusted.isdisjoint(judges)]
            if trusted:
                with self.recording() as record:
                    for row in filter(None, map(self.store.question, trusted)):
                        if not record.is_closed(row.example):
                            record.teach(row, row.holder)

    @property
    def calls(self) -> CallBook:
        """The sums over the paid calls of judges."""
        return self.counters.calls

    @property
    def price_left(self) -> float:
        """What the budget in money leaves; calls that may have been paid are not subtracted."""
        limit = self.limits.price
        return math.inf if limit is None else limit * (1 + 1e-12) - self.counters.spent.price  # sums are not exact

    def record_call(self, kind: str, body: dict[str, Any], who: str, example_id: str | None = None, **more: Any) -> int:
        """Write an event of a paid call; its number."""
        example = None if example_id is None else self.project.pool.place(example_id)
        with self.recording() as record:
            record.add(kind, body, who, example, **more)
        return record.events[0].id

    @property
    def model(self) -> LiveModel:
        """The model, up to date with the log."""
        self.catch_up()
        return self._model

    @property
    def newest_model(self) -> LiveModel:
        """The model without blocking; it may lag the log by a moment."""
        return self._model

    @contextmanager
    def recording(self) -> Iterator[Recording]:
        """A transaction; after the commit, the counters and the model take in its events, and trusted judges count."""
        with self.lock:
            self.catch_up()
            now = self.clock()
            try:
                with self.store.database.writing() as connection:
                    counters = self._counters
                    untrusted = self._gates.closed(counters) if counters.judges else frozenset[str]()
                    record = Recording(self.store, connection, now, counters.closed, counters.retired, untrusted)
                    yield record
                    record.events = self.log.extend(connection, record.events)  # which numbers them
                    if record.events and record.events[0].id <= self._last:
                        raise self._replaced(record.events[0].id - 1)
                self._take_in(record.events, record.rounds)
            except BaseException:
                self._stale = True
                raise
        self._snapshots.consider()
        if self._counters.judges:
            self.release_trusted()

    def catch_up(self) -> None:
        """Take in what the log has more; most often that is nothing."""
        if self._stale:
            with self.lock, self.store.database.writing():  # a commit on its way is done by now, or never will be
                if (last := self.log.last()) < self._last:
                    raise self._replaced(last)
                self._replay()
                self._stale = False

    def _replaced(self, last: int) -> LostDatabaseError:
        """The error of a log that ends before what was taken in."""
        return LostDatabaseError(
            f"The database {without_password(self.project.address)} has fewer events than before ({last}, not "
            f"{self._last}): an older copy has replaced it, and what was sent last is not stored. Start again."
        )

    def close(self) -> None:
        """Write a last snapshot, unless the database that would record it is lost."""
        if not self.store.database.file.is_lost:
            self._snapshots.close()
        self._model.close()

    def _replay(self) -> None:
        while page := self.log.page(self._last, _PAGE):
            self._take_in(page, [rounds_in(event) for event in page])

    def _take_in(self, events: Sequence[Event], rounds: Sequence[list[Decided]]) -> None:
        try:
            kinds = {event.kind for event in events}
            if ADDED in kinds:
                self.project.pool.follow(events)
            self._counters.take_in(events, rounds)
            self._model.take_in(events, rounds)
            if LABELS in kinds:
                self.labels = self.labels.with_events(events)
                self.log.as_now, self.project = self.labels.as_now, self.labels.project(self.project)
        except BaseException:  # some events may be half counted: count all again
            self._counters, self._last = self._no_counts(), 0
            raise
        self._last = events[-1].id if events else self._last

    def _no_counts(self) -> Counters:
        return Counters(self.project.cost_bounds, self.project.limits)

    def _record_snapshot(self, body: dict[str, Any]) -> None:
        with self.recording() as record:
            record.add(SNAPSHOT, body)


def _since_boot() -> float:
    """Seconds that also pass while the machine sleeps, where the system counts them."""
    if hasattr(time, "CLOCK_BOOTTIME"):
        return time.clock_gettime(time.CLOCK_BOOTTIME)
    return time.monotonic()


class SteadyClock:
    """The time in seconds since 1970: the time of day when a desk is opened, which then runs evenly.

    >>> day, even = iter([1000.0, 5000.0]), iter([7.0, 9.0])
    >>> clock = SteadyClock(lambda: next(day), lambda: next(even))
    >>> clock()  # 2 seconds later, although the time of day was set back
    1002.0
    """

    def __init__(self, time_of_day: Callable[[], float] = time.time, even: Callable[[], float] = _since_boot) -> None:
        self._time_of_day, self._even = time_of_day, even
        self._ahead = time_of_day() - even()
        self._warned = False

    def __call__(self) -> float:
        """The time now."""
        now = self._ahead + self._even()
        if not self._warned and abs(jump := self._time_of_day() - now) > _JUMP:
            self._warned = True
            logging.getLogger("coalface").warning(
                "the time of day jumped by %.0f s; leases and events keep the time as it was until a restart", jump
            )
        return now
