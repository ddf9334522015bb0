"""The open connections of a server: slow clients are cut off, and idle connections do not shut others out.

Where there is no room for a new connection, one that waits makes room. Those that never sent a whole request go first,
then those that have waited longest since their last response. A request that arrives or is being answered is not cut
off, unless its head began long ago and does not go on.
"""

import enum
import time
from collections import OrderedDict
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Protocol


class ConnectionState(enum.Enum):
    """The state of a connection."""

    NEW = "it has not sent the head of a request"
    IDLE = "all its requests are answered"
    BEGUN = "it has sent a part of the head of its next request"
    ANSWERED = "its request is being answered"


class _Connection(Protocol):
    """What the book needs to know of a connection."""

    @property
    def standing(self) -> ConnectionState:
        """The state of the connection."""
        ...

    def abort(self) -> None:
        """Close the connection at once."""
        ...


@dataclass(frozen=True)
class _Entry:
    address: str
    standing: ConnectionState
    since: float


@dataclass
class ConnectionBook:
    """The open connections of a server, and which of them makes room for another."""

    most: int = 900  # a process may commonly have 1024 files open
    per_address: int = 300  # a whole team may share an address
    head_seconds: float = 10.0  # for the head of a request, from its first byte or the connection on
    head_grace: float = 1.0  # seconds in which a head that has begun is not cut off
    exempt: str | None = None  # the address of a proxy, which speaks for many
    clock: Callable[[], float] = time.monotonic
    evicted: int = 0
    timed_out: int = 0
    refused: int = 0
    _open: dict[_Connection, _Entry] = field(default_factory=dict)
    _of_address: dict[str, int] = field(default_factory=dict)
    _waiting: dict[tuple[str | None, ConnectionState], OrderedDict[_Connection, None]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self._open)

    @property
    def connections(self) -> Collection[_Connection]:
        """The open connections."""
        return self._open.keys()

    def admit(self, connection: _Connection, address: str) -> bool:
        """Whether a new connection may stay; another one may be closed for it."""
        crowded = address != self.exempt and self._of_address.get(address, 0) >= self.per_address
        if (crowded and not self._evict(address)) or (len(self) >= self.most and not self._evict(None)):
            self.refused += 1
            return False
        self._of_address[address] = self._of_address.get(address, 0) + 1
        self._enter(connection, address)
        return True

    def note(self, connection: _Connection) -> None:
        """Note that a connection may do something else now. One that goes on as before keeps its place."""
        entry = self._open.get(connection)
        if entry is not None and entry.standing is not connection.standing:
            self._leave(connection)
            self._enter(connection, entry.address)

    def forget(self, connection: _Connection) -> None:
        """Note that a connection is closed."""
        if connection in self._open:
            address = self._leave(connection).address
            self._of_address[address] -= 1
            if not self._of_address[address]:
                del self._of_address[address]

    def _enter(self, connection: _Connection, address: str) -> None:
        entry = _Entry(address, connection.standing, self.clock())
        self._open[connection] = entry
        for owner in (None, address):
            self._waiting.setdefault((owner, entry.standing), OrderedDict())[connection] = None

    def _leave(self, connection: _Connection) -> _Entry:
        entry = self._open.pop(connection)
        for owner in (None, entry.address):
            queue = self._waiting[owner, entry.standing]
            del queue[connection]
            if not queue:
                del self._waiting[owner, entry.standing]
        return entry

    def _evict(self, address: str | None) -> bool:
        """Close the connection that can be spared most, of one address if it is given; whether there was one."""
        for standing in (ConnectionState.NEW, ConnectionState.IDLE, ConnectionState.BEGUN):
            longest = next(iter(self._waiting.get((address, standing), ())), None)
            if longest is not None and self._can_go(longest):
                self.evicted += 1
                self.forget(longest)
                longest.abort()
                return True
        return False

    def _can_go(self, connection: _Connection) -> bool:
        entry = self._open[connection]
        return entry.standing is not ConnectionState.BEGUN or self.clock() - entry.since >= self.head_grace
