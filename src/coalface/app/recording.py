"""One transaction of a desk: the events that it adds to the log, to be taken in once they are safe."""

from typing import Any

import sqlalchemy as sa

from coalface.ledger.events import Event, EventLog


class Recording:
    """The open transaction and its events so far."""

    def __init__(self, log: EventLog, connection: sa.Connection, now: float) -> None:
        self.connection = connection
        self.events: list[Event] = []
        self._log, self._now = log, now

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
        event = Event(kind, self._now, who, seconds, example, ref, body)
        number = self._log.append(self.connection, event)
        self.events.append(Event(kind, self._now, who, seconds, example, ref, body, number))
        return self.events[-1]
