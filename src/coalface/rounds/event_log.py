"""What happened, in order: who did what to which example, when, and how long it took. Nothing is ever changed."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa

from coalface.rounds.database import BIG, Database, written_out

_PAGE = 2000  # events read at a time
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
    written_out(
        "CREATE TABLE events (id {counted}, at DOUBLE PRECISION NOT NULL, kind TEXT NOT NULL, who TEXT, "
        "seconds DOUBLE PRECISION, example BIGINT, ref TEXT UNIQUE, body TEXT NOT NULL)",
        "CREATE INDEX events_by_kind ON events (kind, id)",
        "CREATE INDEX events_by_who ON events (who, id)",
        "CREATE INDEX events_by_example ON events (example, id)",
    ),
)


@dataclass(frozen=True)
class Event:
    """One thing that happened; ``ref`` is a name of it that nothing else has, ``id`` grows with time."""

    kind: str
    at: float
    who: str | None = None
    seconds: float | None = None
    example: int | None = None
    ref: str | None = None
    body: dict[str, Any] = field(default_factory=dict)
    id: int = 0  # given by the log

    def to_json(self) -> dict[str, Any]:
        """The event as plain values; what is None is left out."""
        return {name: value for name, value in vars(self).items() if value is not None}


class EventLog:
    """The events of a database, to be added to and read in order.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     log = EventLog(Database(f"sqlite:///{folder}/events.db"))
    ...     with log.database.writing() as connection:
    ...         _ = log.append(connection, Event("asked", at=12.5, who="ada"))
    ...     [(event.id, event.kind) for event in log.read()]
    ...     log.database.close()
    [(1, 'asked')]
    """

    def __init__(self, database: Database) -> None:
        self.database = database
        database.bring_up_to_date("events", STEPS)

    def append(self, connection: sa.Connection, event: Event) -> int:
        """Add an event; the number it got."""
        added = connection.execute(_events.insert().values(_row(event)).returning(_events.c.id))
        return int(added.scalar_one())

    def extend(self, connection: sa.Connection, events: Iterable[Event]) -> None:
        """Add several events in order; those that have a number keep it."""
        rows = [_row(event) | ({"id": event.id} if event.id else {}) for event in events]
        if rows:
            connection.execute(_events.insert(), rows)

    def read(self, after: int = 0, kinds: Iterable[str] | None = None) -> Iterator[Event]:
        """All events behind a number, in order; what is added meanwhile may or may not be among them."""
        wanted = None if kinds is None else tuple(kinds)
        while page := self.page(after, _PAGE, wanted):
            yield from page
            after = page[-1].id

    def page(self, after: int, limit: int, kinds: Iterable[str] | None = None) -> list[Event]:
        """The next events behind a number."""
        query = sa.select(_events).where(_events.c.id > after).order_by(_events.c.id).limit(limit)
        if kinds is not None:
            query = query.where(_events.c.kind.in_(tuple(kinds)))
        with self.database.reading() as connection:
            return [_event(row) for row in connection.execute(query)]

    def latest(self, who: str, kind: str, limit: int, before: int | None = None) -> list[Event]:
        """Somebody's last events of a kind, or the last ones before a number, the last one first."""
        query = sa.select(_events).where(_events.c.who == who, _events.c.kind == kind)
        if before is not None:
            query = query.where(_events.c.id < before)
        with self.database.reading() as connection:
            return [_event(row) for row in connection.execute(query.order_by(_events.c.id.desc()).limit(limit))]

    def about(self, example: int) -> list[Event]:
        """All that happened to an example, in order."""
        query = sa.select(_events).where(_events.c.example == example).order_by(_events.c.id)
        with self.database.reading() as connection:
            return [_event(row) for row in connection.execute(query)]

    def named(self, ref: str) -> Event | None:
        """The event of this name, if there is one."""
        return self._one(_events.c.ref == ref)

    def get(self, number: int) -> Event | None:
        """The event of this number, if there is one."""
        return self._one(_events.c.id == number)

    def last(self, connection: sa.Connection | None = None) -> int:
        """The number of the last event, 0 before there is one; as a transaction sees it, if it is given."""
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
        return None if row is None else _event(row)


def any_event(connection: sa.Connection) -> bool:
    """Whether the log has begun."""
    return connection.execute(sa.select(_events.c.id).limit(1)).first() is not None


def _row(event: Event) -> dict[str, Any]:
    fields = {name: getattr(event, name) for name in ("kind", "at", "who", "seconds", "example", "ref")}
    return {**fields, "body": json.dumps(event.body, allow_nan=False, separators=(",", ":"))}


def _event(row: Any) -> Event:
    return Event(
        kind=row.kind,
        at=row.at,
        who=row.who,
        seconds=row.seconds,
        example=row.example,
        ref=row.ref,
        body=json.loads(row.body),
        id=row.id,
    )
