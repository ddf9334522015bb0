"""What a ledger is, and the one that lives in memory."""

from collections.abc import Iterable, Iterator
from typing import Any, Protocol

from coalface.errors import InputError
from coalface.rounds.entry import Entry

Header = dict[str, Any]


class Ledger(Protocol):
    """Append-only: a header that says which learner it belongs to, then entries in order."""

    @property
    def header(self) -> Header | None:
        """The learner's settings and labels; None before ``begin``."""
        ...

    def begin(self, header: Header) -> None:
        """Write the header, once."""
        ...

    def append(self, entries: Iterable[Entry]) -> None:
        """Write entries; when this comes back, they are safe."""
        ...

    def __iter__(self) -> Iterator[Entry]: ...

    def __len__(self) -> int: ...


class MemoryLedger:
    """A ledger for experiments and tests.

    >>> ledger = MemoryLedger()
    >>> ledger.begin({"classes": ["a", "b"]})
    >>> ledger.append([Entry(1, False, 3, (), (), ())])
    >>> len(ledger)
    1
    """

    def __init__(self) -> None:
        self._header: Header | None = None
        self._entries: list[Entry] = []

    @property
    def header(self) -> Header | None:
        """The learner's settings and labels; None before ``begin``."""
        return self._header

    def begin(self, header: Header) -> None:
        """Write the header, once."""
        refuse_second_header(self._header)
        self._header = dict(header)

    def append(self, entries: Iterable[Entry]) -> None:
        """Write entries."""
        require_header(self._header)
        self._entries.extend(entries)

    def __iter__(self) -> Iterator[Entry]:
        return iter(tuple(self._entries))

    def __len__(self) -> int:
        return len(self._entries)


def refuse_second_header(header: Header | None) -> None:
    """A ledger belongs to one learner from its first line on."""
    if header is not None:
        raise InputError("This ledger has begun already; use a new one, or go on with CoalClassifier.from_ledger.")


def require_header(header: Header | None) -> None:
    """Entries mean nothing without the labels they speak of."""
    if header is None:
        raise InputError("This ledger has not begun; attach it with learner.record_to(ledger).")
