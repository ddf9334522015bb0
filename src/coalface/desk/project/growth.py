"""The growth of a pool, as the log records it."""

from collections.abc import Iterable

from coalface.desk.log.events import ADDED
from coalface.desk.project.pool import Pool
from coalface.rounds.event_log import Event, EventLog


def follow(pool: Pool, events: Iterable[Event]) -> None:
    """Count the examples that these events add, most of which add none; known ones change nothing."""
    for event in events:
        if event.kind == ADDED:
            pool.grow(event.body)


def grown(pool: Pool, log: EventLog) -> Pool:
    """The pool with all examples that the log has."""
    follow(pool, log.read(kinds=[ADDED]))
    return pool
