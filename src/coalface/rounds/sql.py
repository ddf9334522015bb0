"""``SqlLedger``: a ledger in a database, SQLite or PostgreSQL."""

import time
from collections.abc import Iterable, Iterator

from coalface.errors import FileFormatError
from coalface.rounds.database import Database, without_password
from coalface.rounds.event_log import Event, EventLog
from coalface.rounds.label_change import LabelChange
from coalface.rounds.ledger import Entry, Header, recorded_entry, refuse_second_header, require_header

_BEGUN, _TOLD, _LABELS = "begun", "told", "labels"  # kinds of events


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
