"""The append-only event log of a database: who did what to which example, when, and how long it took.

``SqlLedger`` is a ledger whose entries are events.
"""

import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from coalface.errors import FileFormatError
from coalface.rounds.database import BIG, Database, sql_step, without_password
from coalface.rounds.label_change import LabelChange
from coalface.rounds.ledger import Entry, Header, recorded_entry, refuse_second_header, require_header

import sqlalchemy as sa  # isort: skip  (after the module that says how to install it)

_PAGE = 2000  # events read at a time
_BEGUN, _TOLD, _LABELS = "begun", "told", "labels"  # the kinds of events of a ledger
_metadata = sa.MetaData()
_events = sa.Table(
    "events",
    _metadata,
    sa.Column("id", BIG, primary_key=True),
    sa.Column("at", sa.Double, nullable=False),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("who", sa.Text),
    sa.Column("seconds", sa.Double),
    sa.Column("example", BIG),
    sa.Column("ref", sa.Text, unique=True),
    sa.Column("body", sa.Text, nullable=False),
    sa.Index("events_by_kind", "kind", "id"),
    sa.Index("events_by_who", "who", "id"),
    sa.Index("events_by_example", "example", "id"),
    sqlite_autoincrement=True,
)
STEPS = (
    sql_step(
        "CREATE TABLE events (id {counted}, at DOUBLE PRECISION NOT NULL, kind TEXT NOT NULL, who TEXT, "
        "seconds DOUBLE PRECISION, example BIGINT, ref TEXT UNIQUE, body TEXT NOT NULL)",
        "CREATE INDEX events_by_kind ON events (kind, id)",
        "CREATE INDEX events_by_who ON events (who, id)",
        "CREATE INDEX events_by_example ON events (example, id)",
    ),
)


@dataclass(frozen=True)
class Event:
    """One event; ``ref`` is its unique name, if it has one, and ``id`` grows with time."""

    kind: str
    at: float
    who: str | None = None
    seconds: float | None = None
    example: int | None = None
    ref: str | None = None
    body: dict[str, Any] = field(default_factory=dict)
    id: int = 0  # set by the log

    def to_json(self) -> dict[str, Any]:
        """The event as plain values, without those that are None."""
        return {name: value for name, value in vars(self).items() if value is not None}


class EventLog:
    """The events in a database, in order.

    ``read`` and ``page`` give them as they were written. The others look events up, and give them ``as_now``.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     log = EventLog(Database(f"sqlite:///{folder}/events.db"))
    ...     with log.database.writing() as connection:
    ...         _ = log.extend(connection, [Event("asked", at=12.5, who="ada")])
    ...     [(event.id, event.kind) for event in log.read()]
    ...     log.database.close()
    [(1, 'asked')]
    """

    def __init__(self, database: Database) -> None:
        self.database = database
        self.as_now: Callable[[Event], Event] = lambda event: event  # applied where events are looked up
        database.bring_up_to_date("events", STEPS)

    def extend(self, connection: sa.Connection, events: Sequence[Event]) -> list[Event]:
        """Add events in order and return them with their numbers; an event that has a number keeps it."""
        if not events:
            return []
        statement = _events.insert().returning(_events.c.id, sort_by_parameter_order=True)
        numbers = connection.execute(statement, [_row(event) for event in events]).scalars()
        return [replace(event, id=number) for event, number in zip(events, numbers, strict=True)]

    def read(self, after: int = 0, kinds: Iterable[str] | None = None) -> Iterator[Event]:
        """All events after a number, in order; events added meanwhile may or may not be among them."""
        wanted = None if kinds is None else tuple(kinds)
        while page := self.page(after, _PAGE, wanted):
            yield from page
            after = page[-1].id

    def page(self, after: int, limit: int, kinds: Iterable[str] | None = None) -> list[Event]:
        """The next events after a number."""
        query = sa.select(_events).where(_events.c.id > after).order_by(_events.c.id).limit(limit)
        if kinds is not None:
            query = query.where(_events.c.kind.in_(tuple(kinds)))
        with self.database.reading() as connection:
            return [_event(row) for row in connection.execute(query)]

    def latest(self, who: str, kind: str, limit: int, before: int | None = None) -> list[Event]:
        """A person's last events of a kind, or the last ones before a number, newest first."""
        query = sa.select(_events).where(_events.c.who == who, _events.c.kind == kind)
        if before is not None:
            query = query.where(_events.c.id < before)
        with self.database.reading() as connection:
            found = connection.execute(query.order_by(_events.c.id.desc()).limit(limit))
            return [self.as_now(_event(row)) for row in found]

    def about(self, example: int) -> list[Event]:
        """All events about an example, in order."""
        with self.database.reading() as connection:
            return self._about(connection, example)

    def of_answer(
        self, connection: sa.Connection, answer: str, lease: str
    ) -> tuple[Event | None, Event | None, list[Event]]:
        """The answer and the lease of these names, if there are any, and all events about the lease's example."""
        rows = connection.execute(sa.select(_events).where(_events.c.ref.in_((answer, lease))))
        found = {row.ref: self.as_now(_event(row)) for row in rows}
        past = self._about(connection, found[lease].example) if lease in found else []
        return found.get(answer), found.get(lease), past

    def named(self, ref: str) -> Event | None:
        """The event of this name, if there is one."""
        return self._one(_events.c.ref == ref)

    def get(self, number: int) -> Event | None:
        """The event of this number, if there is one."""
        return self._one(_events.c.id == number)

    def last(self, connection: sa.Connection | None = None) -> int:
        """The number of the last event, 0 before the first; as the transaction sees it, if one is given."""
        query = sa.select(sa.func.coalesce(sa.func.max(_events.c.id), 0))
        if connection is not None:
            return int(connection.execute(query).scalar_one())
        with self.database.reading() as reader:
            return int(reader.execute(query).scalar_one())

    def count(self, kind: str) -> int:
        """How many events of a kind there are."""
        query = sa.select(sa.func.count()).select_from(_events).where(_events.c.kind == kind)
        with self.database.reading() as connection:
            return int(connection.execute(query).scalar_one())

    def _one(self, condition: sa.ColumnElement[bool]) -> Event | None:
        with self.database.reading() as connection:
            row = connection.execute(sa.select(_events).where(condition)).first()
        return None if row is None else self.as_now(_event(row))

    def _about(self, connection: sa.Connection, example: int | None) -> list[Event]:
        query = sa.select(_events).where(_events.c.example == example).order_by(_events.c.id)
        return [self.as_now(_event(row)) for row in connection.execute(query)]


class SqlLedger:
    """The ledger in the database at ``url``, such as ``sqlite:///answers.db``; a database holds one ledger.

    >>> from coalface.rounds.round import Round
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     ledger = SqlLedger(f"sqlite:///{folder}/answers.db")
    ...     ledger.begin({"classes": ["a", "b"]})
    ...     ledger.append([Round(1, width=3)])
    ...     [one.number for one in ledger]
    ...     ledger.close()
    [1]
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self._log = EventLog(Database(url))
        self._last = self._log.last()  # the last event that this instance has seen

    @property
    def header(self) -> Header | None:
        """The learner's settings and labels; None before ``begin``."""
        begun = self._log.named(_BEGUN)
        return None if begun is None else begun.body

    def begin(self, header: Header) -> None:
        """Write the header, once."""
        refuse_second_header(self.header)
        self._write([Event(_BEGUN, time.time(), ref=_BEGUN, body=header)])

    def append(self, entries: Iterable[Entry]) -> None:
        """Write rounds and label changes; they are on disk when this returns."""
        require_header(self.header)
        now = time.time()
        kinds = ((_LABELS if isinstance(one, LabelChange) else _TOLD, one) for one in entries)
        self._write([Event(kind, now, body=one.to_json()) for kind, one in kinds])

    def _write(self, events: list[Event]) -> None:
        """Append, unless another process has written in the meantime: a ledger must not mix two learners."""
        with self._log.database.writing() as connection:
            if self._log.last(connection) != self._last:
                raise FileFormatError(
                    f"{without_password(self.url)} has changed since it was opened. Open it again and continue there."
                )
            self._log.extend(connection, events)
            last = self._log.last(connection)
        self._last = last

    def __iter__(self) -> Iterator[Entry]:
        for event in self._log.read(kinds=[_TOLD, _LABELS]):
            try:
                yield recorded_entry(event.body)
            except ValueError as problem:
                raise FileFormatError(
                    f"Event {event.id} of {without_password(self.url)} is damaged: {problem}. Restore a copy."
                ) from None

    def __len__(self) -> int:
        return self._log.count(_TOLD) + self._log.count(_LABELS)

    def close(self) -> None:
        """Close the database."""
        self._log.database.close()


def any_event(connection: sa.Connection) -> bool:
    """Whether the log has begun."""
    return connection.execute(sa.select(_events.c.id).limit(1)).first() is not None


def _row(event: Event) -> dict[str, Any]:
    row = {**vars(event), "body": json.dumps(event.body, allow_nan=False, separators=(",", ":"))}
    if not event.id:
        del row["id"]
    return row


def _event(row: Any) -> Event:
    return Event(**{**row._mapping, "body": json.loads(row.body)})
