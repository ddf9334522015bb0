"""The books of a project: its log, the counts over it and the model, which never fall apart.

What happens is written to the log in one transaction, together with where the questions stand. Once that is safe, the
counts and the model take it in, in the order of the log.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from threading import RLock
from typing import Any

import sqlalchemy as sa

from coalface.app.model import LiveModel
from coalface.app.project import Project
from coalface.app.store import Store
from coalface.app.tally import Tally
from coalface.ledger.events import Event, EventLog


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
        self.tally = Tally(project.labels, project.cost_bounds, project.limits)
        for event in self.log.read():
            self.tally.take_in(event)
        self.model = LiveModel(project, self.log)

    @contextmanager
    def recording(self) -> Iterator[Recording]:
        """A transaction whose events are counted and learned once they are safe."""
        with self.lock:
            with self.store.database.writing() as connection:
                record = Recording(self.log, connection, self.clock())
                yield record
            for event in record.events:
                self.tally.take_in(event)
                self.model.take_in(event)
