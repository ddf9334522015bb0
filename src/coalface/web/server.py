"""Serving an app: HTTP/1.1 as uvicorn speaks it, with the limits of a book of connections."""

import asyncio
import logging
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from socket import IPPROTO_TCP, TCP_NODELAY
from typing import Any, ClassVar

import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.h11_impl import H11Protocol

from coalface.web.connections import ConnectionBook, ConnectionState
from coalface.web.middleware import LOOPBACK_NAMES, names_of

_PATIENCE = 1.5  # seconds before a message says why the start is slow
_ACCEPTED_AT_ONCE = 8  # before the server reads again: a crowd of new connections does not hold up requests
_WAITING_TO_BE_ACCEPTED = 2048  # connections that the system holds meanwhile


@dataclass(frozen=True)
class ServerOptions:
    """The address of a server; ``proxy`` is an address whose X-Forwarded-* headers are trusted."""

    host: str
    port: int
    proxy: str | None = None
    host_names: tuple[str, ...] = ()  # further names under which it may be called

    @property
    def is_local(self) -> bool:
        """Whether only this machine can reach the server."""
        return self.host in LOOPBACK_NAMES

    @property
    def allowed_names(self) -> set[str]:
        """The host names under which the server may be called."""
        return names_of(self.host, self.host_names, local=self.is_local)


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


def listen(app: FastAPI, options: ServerOptions, title: str, say: Callable[[str], None]) -> None:
    """Serve an app until Ctrl-C or a SIGTERM."""
    book = ConnectionBook(exempt=options.proxy)
    app.state.connections = book
    server, reasons = _server(app, options, book), list[Exception]()
    with server.config.bind_socket() as socket:
        socket.setsockopt(IPPROTO_TCP, TCP_NODELAY, 1)  # or every other reply waits 40 ms for an acknowledgement
        host = f"[{options.host}]" if ":" in options.host else options.host
        say(f"{title} is at http://{host}:{socket.getsockname()[1]}  (Ctrl-C ends)")
        if not options.is_local:
            say("Other machines can reach it. Use HTTPS for them, because requests carry tokens.")
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # after uvicorn has ended, the desk saves a snapshot
        logging.getLogger("coalface").info("serving %s on port %d", title, socket.getsockname()[1])

        def stop(reason: Exception) -> None:
            reasons.append(reason)
            server.should_exit = True

        app.state.stop = stop
        with suppress(KeyboardInterrupt):  # Ctrl-C is the way to end it
            server.run(sockets=[socket])
    if reasons:
        raise reasons[0]


def _server(app: FastAPI, options: ServerOptions, book: ConnectionBook) -> GuardedServer:
    return GuardedServer(
        app,
        book,
        host=options.host,
        port=options.port,
        log_config=None,  # of this module
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=options.proxy is not None,  # any other client could forge these headers
        forwarded_allow_ips=options.proxy,
        timeout_graceful_shutdown=5,
        timeout_keep_alive=75,  # longer than clients keep an idle connection, so that they close it
    )


@contextmanager
def message_if_slow(warn: Callable[[str], None]) -> Iterator[None]:
    """Say why a start takes long, if it does."""
    message = "Starting; the first start on a machine compiles for about a minute ..."
    timer = threading.Timer(_PATIENCE, lambda: warn(message))
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
