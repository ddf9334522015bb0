"""Serving projects over HTTP: compile first, then listen until stopped."""

import logging
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

import numpy as np
from fastapi import FastAPI

from coalface.desk.project.project import Project
from coalface.desk.service.desk import Desk
from coalface.desk.service.model import teach
from coalface.desk.service.overview import predictions
from coalface.desk.web.service import service_of
from coalface.desk.web.webhooks import Messenger
from coalface.errors import InputError
from coalface.web.logs import configure_logs
from coalface.web.server import ServerOptions, listen, message_if_slow


@dataclass(frozen=True, kw_only=True)
class DeskOptions(ServerOptions):
    """How to serve desks: the limit of requests, the webhook and the log."""

    per_minute: float
    webhook: str | None = None
    webhook_secret: str = ""
    log_format: str = "text"
    log_level: str = "info"


def run_server(
    projects: Sequence[Project], options: DeskOptions, say: Callable[[str], None], warn: Callable[[str], None]
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


def _app(desks: Sequence[Desk], options: DeskOptions) -> FastAPI:
    messengers = [
        Messenger(desk, options.webhook, options.webhook_secret, desk.project.folder / "webhook.told")
        for desk in desks
        if options.webhook
    ]
    return service_of(
        desks,
        messengers,
        per_minute=options.per_minute,
        host_names=options.allowed_names,
        open_addresses=not options.is_local,
    )


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
