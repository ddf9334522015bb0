"""The books of a project: its log, the counts over it and the model, which never fall apart.

What happens is written to the log in one transaction, together with where the questions stand. Once that is safe, the
counts and the model take it in, in the order of the log. Where something goes wrong on the way, nobody knows how much
is safe; then whoever comes next first takes in what the log has.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from threading import RLock
from typing import Any

import sqlalchemy as sa

from coalface.rounds.event_log import Event, EventLog
from coalface.service.desk.counters import Tally
from coalface.service.desk.model import SNAPSHOT, LiveModel
from coalface.service.desk.snapshots import Snapshots
from coalface.service.desk.store import Store
from coalface.service.project.ownership import opening
from coalface.service.project.project import Project


class Recording:
    """An open transaction and its events so far."""

    def __init__(self, log: EventLog, connection: sa.Connection, now: float) -> None:
        self.connection, self.now = connection, now
        self.events: list[Event] = []
        self._log = log

    def add(
        self,
        kind: str,
        body: dict[str, Any],
        who: str | None = None,
        example: int | None = None,
        seconds: float | None = None,
        ref: str | None = None,
    ) -> Event:
        """Write an event; as it stands in the log."""
        number = self._log.append(self.connection, Event(kind, self.now, who, seconds, example, ref, body))
        self.events.append(Event(kind, self.now, who, seconds, example, ref, body, number))
        return self.events[-1]

    def note(self, kind: str, bodies: Mapping[int, dict[str, Any]]) -> None:
        """Write an event per example, of a kind that nothing is counted or learned from, in one go."""
        events = [Event(kind, self.now, example=example, body=body) for example, body in bodies.items()]
        self._log.extend(self.connection, events)


class Books:
    """What is known of a project, opened from its folder and database; whoever writes holds the lock."""

    def __init__(self, project: Project, store: Store, clock: Callable[[], float]) -> None:
        self.project, self.store, self.clock = project, store, clock
        self.log = store.log
        self.lock = RLock()
        self._tally, self._last = self._no_counts(), 0
        self._behind = True  # the log may have more than was taken in
        with opening(project.address):
            self._model = LiveModel(project, self.log)
            self.catch_up()
        self._snapshots = Snapshots(project.folder, self._model, self._note_snapshot)

    @property
    def tally(self) -> Tally:
        """The counts, as the log has them."""
        self.catch_up()
        return self._tally

    @property
    def latest_tally(self) -> Tally:
        """The counts for those who would not wait: the last ones while somebody writes, or tries to."""
        if self._behind and self.lock.acquire(blocking=False):
            try:  # a commit may still be on its way: the books stay behind
                self._take_in(self.log.read(self._last))
            finally:
                self.lock.release()
        return self._tally

    @property
    def model(self) -> LiveModel:
        """The model, as the log has it."""
        self.catch_up()
        return self._model

    @contextmanager
    def recording(self) -> Iterator[Recording]:
        """A transaction whose events are counted and learned once they are safe."""
        with self.lock:
            self.catch_up()
            try:
                with self.store.database.writing() as connection:
                    record = Recording(self.log, connection, self.clock())
                    yield record
                self._take_in(record.events)
            except BaseException:
                self._behind = True
                raise
        self._snapshots.consider()

    def catch_up(self) -> None:
        """Take in what the log has more; most often there is nothing to do."""
        if self._behind:
            with self.lock, self.store.database.writing():  # a commit on its way is done by now, or never will be
                self._take_in(self.log.read(self._last))
                self._behind = False

    def close(self) -> None:
        """Write a last snapshot."""
        self._snapshots.close()
        self._model.close()

    def _take_in(self, events: Iterable[Event]) -> None:
        for event in events:
            try:
                self._tally.take_in(event)
                self._model.take_in(event)
                self._last = event.id
            except BaseException:  # it may be counted by half: begin anew
                self._tally, self._last = self._no_counts(), 0
                raise

    def _no_counts(self) -> Tally:
        return Tally(self.project.labels, self.project.cost_bounds, self.project.limits)

    def _note_snapshot(self, body: dict[str, Any]) -> None:
        with self.recording() as record:
            record.add(SNAPSHOT, body)
