"""The open connections of a server: slow clients are cut off, and idle connections do not shut others out.

Where there is no room for a new connection, one that waits makes room. Those that never sent a whole request go first,
then those that have waited longest since their last response. A request that arrives or is being answered is not cut
off, unless its head began long ago and does not go on. The server speaks HTTP/1.1 as uvicorn does.
"""

import asyncio
import enum
import socket
import time
from collections import OrderedDict
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeAlias

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

_ACCEPTED_AT_ONCE = 8  # before the server reads again: a crowd of new connections does not hold up requests
_WAITING_TO_BE_ACCEPTED = 2048  # connections that the system holds meanwhile
_Ordered: TypeAlias = "OrderedDict[_GuardedProtocol, None]"


class ConnectionState(enum.Enum):
    """The state of a connection."""

    NEW = "it has not sent the head of a request"
    IDLE = "all its requests are answered"
    BEGUN = "it has sent a part of the head of its next request"
    ANSWERED = "its request is being answered"


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
    _open: "dict[_GuardedProtocol, _Entry]" = field(default_factory=dict)
    _waiting: "dict[tuple[str | None, ConnectionState], _Ordered]" = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self._open)

    @property
    def connections(self) -> "Collection[_GuardedProtocol]":
        """The open connections."""
        return self._open.keys()

    def admit(self, connection: "_GuardedProtocol", address: str) -> bool:
        """Whether a new connection may stay; another one may be closed for it."""
        own = sum(len(self._waiting.get((address, standing), ())) for standing in ConnectionState)
        crowded = address != self.exempt and own >= self.per_address
        if (crowded and not self._evict(address)) or (len(self) >= self.most and not self._evict(None)):
            self.refused += 1
            return False
        self._enter(connection, address)
        return True

    def note(self, connection: "_GuardedProtocol") -> None:
        """Note that a connection may do something else now. One that goes on as before keeps its place."""
        entry = self._open.get(connection)
        if entry is not None and entry.standing is not connection.standing:
            self._leave(connection)
            self._enter(connection, entry.address)

    def forget(self, connection: "_GuardedProtocol") -> None:
        """Note that a connection is closed."""
        if connection in self._open:
            self._leave(connection)

    def _enter(self, connection: "_GuardedProtocol", address: str) -> None:
        entry = _Entry(address, connection.standing, self.clock())
        self._open[connection] = entry
        for owner in (None, address):
            self._waiting.setdefault((owner, entry.standing), OrderedDict())[connection] = None

    def _leave(self, connection: "_GuardedProtocol") -> None:
        entry = self._open.pop(connection)
        for owner in (None, entry.address):
            queue = self._waiting[owner, entry.standing]
            del queue[connection]
            if not queue:
                del self._waiting[owner, entry.standing]

    def _evict(self, address: str | None) -> bool:
        """Close the connection that can be spared most, of one address if it is given; whether there was one."""
        for standing in (ConnectionState.NEW, ConnectionState.IDLE, ConnectionState.BEGUN):
            longest = next(iter(self._waiting.get((address, standing), ())), None)
            if longest is None:
                continue
            if standing is not ConnectionState.BEGUN or self.clock() - self._open[longest].since >= self.head_grace:
                self.evicted += 1
                self.forget(longest)
                longest.abort()
                return True
        return False


class _GuardedProtocol(H11Protocol):
    """A connection with a time limit for the head of each request."""

    book: ClassVar[ConnectionBook]
    _timer: asyncio.TimerHandle | None = None

    @property
    def standing(self) -> ConnectionState:
        """The state of the connection."""
        if not self.cycle:  # None before the first request
            return ConnectionState.NEW
        if not self.cycle.response_complete:
            return ConnectionState.ANSWERED
        unread, _ = self.conn.trailing_data
        return ConnectionState.BEGUN if unread else ConnectionState.IDLE

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept the connection, or close it."""
        super().connection_made(transport)
        if self.book.admit(self, self.client[0] if self.client else ""):
            self._note()
        else:
            self.abort()

    def data_received(self, data: bytes) -> None:
        """Take in bytes; those of an unfinished head start its time limit, a finished one ends it."""
        super().data_received(data)
        self._note()

    def on_response_complete(self) -> None:
        """Continue with the next request; its bytes may have come already."""
        super().on_response_complete()
        self._note()

    def connection_lost(self, exc: Exception | None) -> None:
        """Make room for others."""
        self._stop_timer()
        self.book.forget(self)
        super().connection_lost(exc)

    def abort(self) -> None:
        """Close the connection at once."""
        self._stop_timer()
        self.transport.abort()

    def _note(self) -> None:
        if self.transport.is_closing():
            return
        self.book.note(self)
        if self.standing in (ConnectionState.ANSWERED, ConnectionState.IDLE):
            self._stop_timer()
        elif self._timer is None:
            self._timer = self.loop.call_later(self.book.head_seconds, self._time_out)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _time_out(self) -> None:
        self.book.timed_out += 1
        self.abort()


class GuardedServer(uvicorn.Server):
    """A server that keeps a book of its connections; ``run`` it with the sockets that it listens on."""

    def __init__(self, app: Any, book: ConnectionBook, **settings: Any) -> None:
        protocol = type("BookedProtocol", (_GuardedProtocol,), {"book": book})
        limit = book.most + 10  # never reached: the book closes connections that wait
        super().__init__(
            uvicorn.Config(
                app, http=protocol, ws="none", backlog=_ACCEPTED_AT_ONCE, limit_concurrency=limit, **settings
            )
        )

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to serve. The event loop takes its number of connections per turn from the length of the queue."""
        await super().startup(sockets)
        for one in sockets or ():
            one.listen(_WAITING_TO_BE_ACCEPTED)
