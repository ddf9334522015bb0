"""Serving an app: its address, the names under which it may be called, and its end."""

import logging
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from socket import IPPROTO_TCP, TCP_NODELAY

from fastapi import FastAPI

from coalface.web.connections import ConnectionBook, GuardedServer
from coalface.web.middleware import LOOPBACK_NAMES

_PATIENCE = 1.5  # seconds before a message says why the start is slow


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
        names = {*LOOPBACK_NAMES, self.host, *self.host_names}
        return names if self.is_local else names | {socket.gethostname(), socket.getfqdn()}


def listen(app: FastAPI, options: ServerOptions, title: str, say: Callable[[str], None]) -> None:
    """Serve an app until Ctrl-C or a SIGTERM."""
    book = ConnectionBook(exempt=options.proxy)
    app.state.connections = book
    reasons = list[Exception]()
    server = GuardedServer(
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
