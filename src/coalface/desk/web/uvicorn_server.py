"""Serving a project over HTTP with uvicorn: compile first, then listen until stopped."""

import logging
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from socket import IPPROTO_TCP, TCP_NODELAY

import numpy as np
from fastapi import FastAPI

from coalface.desk.project.project import Project
from coalface.desk.service.desk import Desk
from coalface.desk.service.model import teach
from coalface.desk.service.overview import predictions
from coalface.desk.web.service import service_of
from coalface.desk.web.webhooks import Messenger
from coalface.errors import InputError
from coalface.web.connections import ConnectionBook
from coalface.web.guarded_server import GuardedServer
from coalface.web.hosts import names_of
from coalface.web.logs import configure_logs

_PATIENCE = 1.5  # seconds before a message says why the start is slow
_LOOPBACK = ("127.0.0.1", "::1", "localhost")


@dataclass(frozen=True)
class ServerOptions:
    """The address and the limits of a server; ``proxy`` is an address whose X-Forwarded-* headers are trusted."""

    host: str
    port: int
    per_minute: float
    proxy: str | None = None
    webhook: str | None = None
    webhook_secret: str = ""
    host_names: tuple[str, ...] = ()  # further names under which it may be called
    log_format: str = "text"
    log_level: str = "info"

    @property
    def is_local(self) -> bool:
        """Whether only this machine can reach the server."""
        return self.host in _LOOPBACK

    @property
    def allowed_names(self) -> set[str]:
        """The host names under which the server may be called."""
        return names_of(self.host, self.host_names, local=self.is_local)


def run_server(
    projects: Sequence[Project], options: ServerOptions, say: Callable[[str], None], warn: Callable[[str], None]
) -> None:
    """Serve projects until Ctrl-C or a SIGTERM; ``say`` and ``warn`` print a line for the user."""
    with ExitStack() as stack:
        with message_if_slow(warn):
            desks = [_opened(stack, project) for project in projects]  # before all else: it locks the projects
        if not any(desk.store.tokens() for desk in desks):
            named = projects[0]
            raise InputError(
                f"{named.name} has no tokens, so no annotator can log in. Make one with coalface serve "
                f"{named.folder} --new-token NAME --role engineer."
            )
        with message_if_slow(warn):
            for project in projects:
                warm_up(project)  # or the first annotator would wait for the compiler
        app = _app(desks, options)
        configure_logs(options.log_format, options.log_level)
        listen(app, options, ", ".join(project.title for project in projects), say)


def _opened(stack: ExitStack, project: Project) -> Desk:
    desk = Desk(project)
    stack.callback(logging.getLogger("coalface").info, "the desk of %s is closed", project.folder)
    stack.callback(desk.close)
    return desk


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


def _app(desks: Sequence[Desk], options: ServerOptions) -> FastAPI:
    messengers = [
        Messenger(desk, options.webhook, options.webhook_secret, desk.project.folder / "webhook.told")
        for desk in desks
        if options.webhook
    ]
    names, addresses = options.allowed_names, not options.is_local
    return service_of(desks, messengers, per_minute=options.per_minute, host_names=names, open_addresses=addresses)


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


def warm_up(project: Project) -> None:
    """Ask, learn and predict once with a temporary learner; the project stays unchanged."""
    learner, pool = project.new_learner(), project.pool
    places = np.arange(min(len(pool), 2))
    for first_round, labels in ((1, project.labels[:1]), (3, project.labels)):  # first with an empty learner
        costs = dict.fromkeys(labels, project.cost_bounds[0])
        queries = learner.ask(pool.rows(places), first_round=first_round)
        teach(learner, pool, [(place, queries.round(place).with_answers(costs)) for place in places.tolist()])
        predictions(project, learner, [{"id": pool.example_id(0)}])  # also where some labels have no answer
    _ = learner.saving_
