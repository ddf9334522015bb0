"""HTTP/1.1 as uvicorn speaks it, with the limits of a book of connections."""

import asyncio
import socket
from typing import Any, ClassVar

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from coalface.web.connections import ConnectionBook, Standing

_ACCEPTED_AT_ONCE = 8  # before the server reads again: a crowd of new connections does not hold up requests
_WAITING_TO_BE_ACCEPTED = 2048  # connections that the system holds meanwhile


class GuardedProtocol(H11Protocol):
    """A connection with a time limit for the head of each request."""

    book: ClassVar[ConnectionBook]
    _timer: asyncio.TimerHandle | None = None

    @property
    def standing(self) -> Standing:
        """What the connection does now."""
        if not self.cycle:  # None before the first request
            return Standing.NEW
        if not self.cycle.response_complete:
            return Standing.ANSWERED
        unread, _ = self.conn.trailing_data
        return Standing.BEGUN if unread else Standing.IDLE

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Let the connection in, or close it."""
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
        """Go on with the next request; its bytes may have come already."""
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
        if self.standing in (Standing.ANSWERED, Standing.IDLE):
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
        protocol = type("BookedProtocol", (GuardedProtocol,), {"book": book})
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
