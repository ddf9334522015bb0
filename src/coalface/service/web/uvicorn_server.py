"""Serving a project over HTTP with uvicorn: compile first, then listen until stopped."""

import logging
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from socket import IPPROTO_TCP, TCP_NODELAY

import numpy as np
import uvicorn
from fastapi import FastAPI

from coalface.errors import InputError
from coalface.service.desk.desk import Desk
from coalface.service.desk.model import teach
from coalface.service.desk.overview import predictions
from coalface.service.project.project import Project
from coalface.service.web.service import service_of
from coalface.service.web.webhooks import Messenger

_MOST_CONNECTIONS = 900  # a process may commonly have 1024 files open
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

    @property
    def is_local(self) -> bool:
        """Whether only this machine can reach the server."""
        return self.host in _LOOPBACK


def run_server(
    project: Project, options: ServerOptions, say: Callable[[str], None], warn: Callable[[str], None]
) -> None:
    """Serve the project until Ctrl-C or a SIGTERM; ``say`` and ``warn`` print a line for the user."""
    log = logging.getLogger("coalface")
    with message_if_slow(warn):
        desk = Desk(project)  # before all else: it locks the project
    try:
        if not desk.store.tokens():
            raise InputError(
                f"{project.name} has no tokens, so no annotator can log in. Make one with coalface serve "
                f"{project.folder} --new-token NAME --role engineer."
            )
        with message_if_slow(warn):
            warm_up(project)  # or the first annotator would wait for the compiler
        listen(_app(desk, options), options, project.title, say)
    finally:
        desk.close()
        log.info("the desk of %s is closed", project.folder)


def listen(app: FastAPI, options: ServerOptions, title: str, say: Callable[[str], None]) -> None:
    """Serve an app until Ctrl-C or a SIGTERM."""
    config = _config(app, options)
    with config.bind_socket() as socket:
        socket.setsockopt(IPPROTO_TCP, TCP_NODELAY, 1)  # or every other reply waits 40 ms for an acknowledgement
        host = f"[{options.host}]" if ":" in options.host else options.host
        say(f"{title} is at http://{host}:{socket.getsockname()[1]}  (Ctrl-C ends)")
        if not options.is_local:
            say("Other machines can reach it. Use HTTPS for them, because requests carry tokens.")
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # after uvicorn has ended, the desk saves a snapshot
        logging.getLogger("coalface").info("serving %s on port %d", title, socket.getsockname()[1])
        uvicorn.Server(config).run(sockets=[socket])


def _app(desk: Desk, options: ServerOptions) -> FastAPI:
    messenger = None
    if options.webhook:
        place = desk.project.folder / "webhook.told"
        messenger = Messenger(desk, options.webhook, options.webhook_secret, place)
    return service_of(desk, messenger, per_minute=options.per_minute)


def _config(app: FastAPI, options: ServerOptions) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        options.host,
        options.port,
        log_level="warning",
        access_log=False,
        server_header=False,
        ws="none",
        proxy_headers=options.proxy is not None,  # any other client could forge these headers
        forwarded_allow_ips=options.proxy,
        limit_concurrency=_MOST_CONNECTIONS,
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
