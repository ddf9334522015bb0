"""The state of a project: its log, the counters over it and its model, which always agree.

A call writes its events and changes of questions in one transaction. After the commit, the counters and the model take
in the events in the order of the log. After an error on the way, the outcome is unknown; the next caller replays the
log first.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from threading import RLock
from typing import Any

import sqlalchemy as sa

from coalface.rounds.event_log import Event
from coalface.service.desk.counters import Counters
from coalface.service.desk.events import CLOSED, SNAPSHOT, closed_body, rounds_in
from coalface.service.desk.model import LiveModel
from coalface.service.desk.snapshots import Snapshots
from coalface.service.desk.store import Row, Store
from coalface.service.project.ownership import opening
from coalface.service.project.project import Project

_PAGE = 2000  # events taken in at a time


class Recording:
    """An open transaction and its events, which are written at its end."""

    def __init__(self, store: Store, connection: sa.Connection, now: float, closed: dict[int, int]) -> None:
        self.store, self.connection, self.now = store, connection, now
        self.events: list[Event] = []
        self._closed = closed  # example -> the event that closed it

    def add(
        self,
        kind: str,
        body: dict[str, Any],
        who: str | None = None,
        example: int | None = None,
        seconds: float | None = None,
        ref: str | None = None,
    ) -> None:
        """Add an event."""
        self.events.append(Event(kind, self.now, who, seconds, example, ref, body))

    def close(self, row: Row, who: str | None = None) -> None:
        """Let the model learn the answers to a question, unless it has learned another copy of it."""
        now = any(event.kind == CLOSED and event.example == row.example for event in self.events)
        if row.example not in self._closed and not now:
            self.teach(row, who)

    def teach(self, row: Row, who: str | None) -> None:
        """Let the model learn the answers to a question, whatever the other copies are."""
        self.add(CLOSED, closed_body(row.number, row.round), who, row.example)

    def write(self) -> None:
        """Write the events; the log numbers them."""
        numbers = self.store.log.extend(self.connection, self.events)
        self.events = [replace(event, id=number) for event, number in zip(self.events, numbers, strict=True)]


class ProjectState:
    """What is known about a project, from its folder and database. A caller that writes holds ``lock``."""

    def __init__(self, project: Project, store: Store, clock: Callable[[], float]) -> None:
        self.project, self.store, self.clock = project, store, clock
        self.log = store.log
        self.lock = RLock()
        self._counters, self._last = self._no_counts(), 0
        self._behind = True  # the log may have events that were not taken in
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
        if self._behind and self.lock.acquire(blocking=False):
            try:  # a commit may still be on its way, so the state stays behind
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
                    record.write()
                self._take_in(record.events)
            except BaseException:
                self._behind = True
                raise
        self._snapshots.consider()

    def catch_up(self) -> None:
        """Take in what the log has more; most often that is nothing."""
        if self._behind:
            with self.lock, self.store.database.writing():  # a commit on its way is done by now, or never will be
                self._replay()
                self._behind = False

    def close(self) -> None:
        """Write a last snapshot."""
        self._snapshots.close()
        self._model.close()

    def _replay(self) -> None:
        while page := self.log.page(self._last, _PAGE):
            self._take_in(page)

    def _take_in(self, events: Sequence[Event]) -> None:
        taught = [(event, rounds_in(event, self.project.labels)) for event in events]
        try:
            self._counters.take_in(taught)
            self._model.take_in(taught)
        except BaseException:  # some events may be half counted: count all again
            self._counters, self._last = self._no_counts(), 0
            raise
        self._last = events[-1].id if events else self._last

    def _no_counts(self) -> Counters:
        return Counters(self.project.labels, self.project.cost_bounds, self.project.limits)

    def _record_snapshot(self, body: dict[str, Any]) -> None:
        with self.recording() as record:
            record.add(SNAPSHOT, body)
