"""The state of a project: its log, the counters over it and its model, which always agree.

A call writes its events and changes of questions in one transaction. After the commit, the counters and the model take
in the events in the order of the log. After an error on the way, the outcome is unknown; the next caller replays the
log first.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import RLock
from typing import Any

import sqlalchemy as sa

from coalface.rounds.event_log import Event
from coalface.service.desk.counters import Counters
from coalface.service.desk.events import CLOSED, PASSED, SNAPSHOT, Decided, passed_body, rounds_in
from coalface.service.desk.model import LiveModel
from coalface.service.desk.snapshots import Snapshots
from coalface.service.desk.store import Row, Store
from coalface.service.project.label_history import LabelHistory
from coalface.service.project.ownership import opening
from coalface.service.project.project import Project

_PAGE = 2000  # events taken in at a time


@dataclass
class Recording:
    """An open transaction and its events, which are written at its end."""

    store: Store
    connection: sa.Connection
    now: float
    closed: Mapping[int, int]  # example -> the event that closed it
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
        self.events.append(Event(kind, self.now, who, seconds, example, ref, body))
        self.rounds.append([])

    def pass_over(self, decided: list[Decided], **more: int) -> None:
        """Record that nothing is asked about these examples."""
        self.events.append(Event(PASSED, self.now, body=passed_body(decided) | more))
        self.rounds.append(decided)

    def save(self, row: Row, plain: dict[str, Any], who: str | None = None) -> None:
        """Write a question after an answer or an undo; if it is closed, by ``who``, the model learns its answers.

        ``plain`` is the JSON form of its round. Of several copies, the model learns the one that is closed first.
        """
        columns = {name: getattr(row, name) for name in ("open", "step", "asking", "lease", "holder", "expires")}
        if not row.open and not self._is_closed(row.example):
            self.teach(row, plain, who)
        self.store.change(self.connection, row.number, round=plain, **columns)

    def teach(self, row: Row, plain: dict[str, Any], who: str | None) -> None:
        """Let the model learn the answers to a question; ``plain`` is the JSON form of its round."""
        self.events.append(Event(CLOSED, self.now, who, example=row.example, body={"question": row.number, **plain}))
        self.rounds.append([(row.example, row.round)])

    def _is_closed(self, example: int) -> bool:
        return example in self.closed or any(event.kind == CLOSED and event.example == example for event in self.events)


class ProjectState:
    """What is known about a project, from its folder and database. A caller that writes holds ``lock``."""

    def __init__(self, project: Project, store: Store, clock: Callable[[], float]) -> None:
        self.project, self.store, self.clock = project, store, clock
        self.log, self.labels = store.log, LabelHistory()
        self.log.as_now = lambda event: self.labels.as_now(event)
        self.lock = RLock()
        self._counters, self._last = self._no_counts(), 0
        self._stale = True  # the log may have events that were not taken in
        with opening(project.address):
            self._model = LiveModel(project, self.log)
            self.catch_up()
        self._snapshots = Snapshots(project.folder, self._model, self._record_snapshot)

    @property
    def counters(self) -> Counters:
        """The counters, up to date with the log."""
        self.catch_up()
        return self._counters

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
    def model(self) -> LiveModel:
        """The model, up to date with the log."""
        self.catch_up()
        return self._model

    @contextmanager
    def recording(self) -> Iterator[Recording]:
        """A transaction; after the commit, the counters and the model take in its events."""
        with self.lock:
            self.catch_up()
            try:
                with self.store.database.writing() as connection:
                    record = Recording(self.store, connection, self.clock(), self._counters.closed)
                    yield record
                    record.events = self.log.extend(connection, record.events)  # which numbers them
                self._take_in(record.events, record.rounds)
            except BaseException:
                self._stale = True
                raise
        self._snapshots.consider()

    def catch_up(self) -> None:
        """Take in what the log has more; most often that is nothing."""
        if self._stale:
            with self.lock, self.store.database.writing():  # a commit on its way is done by now, or never will be
                self._replay()
                self._stale = False

    def close(self) -> None:
        """Write a last snapshot."""
        self._snapshots.close()
        self._model.close()

    def _replay(self) -> None:
        while page := self.log.page(self._last, _PAGE):
            self._take_in(page, [rounds_in(event, self.project.first_labels) for event in page])

    def _take_in(self, events: Sequence[Event], rounds: Sequence[list[Decided]]) -> None:
        try:
            self._counters.take_in(events, rounds)
            self._model.take_in(events, rounds)
            labels = self.labels.with_events(events)
            if labels is not self.labels:
                self.labels, self.project = labels, labels.project(self.project)
        except BaseException:  # some events may be half counted: count all again
            self._counters, self._last = self._no_counts(), 0
            raise
        self._last = events[-1].id if events else self._last

    def _no_counts(self) -> Counters:
        return Counters(self.project.first_labels, self.project.cost_bounds, self.project.limits)

    def _record_snapshot(self, body: dict[str, Any]) -> None:
        with self.recording() as record:
            record.add(SNAPSHOT, body)
