"""The service: an ASGI application of routes, pages, middleware and webhooks around desks, and how it is served.

Operators ask whether the process is alive, whether it can take answers, and for its numbers for Prometheus.
"""

import logging
import time
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from fastapi import APIRouter, FastAPI, HTTPException, Request, Response
from fastapi.responses import JSONResponse, PlainTextResponse
from fastapi.staticfiles import StaticFiles

from coalface.desk.project.project import Project
from coalface.desk.service.desk import Desk
from coalface.desk.service.model import teach
from coalface.desk.service.overview import predictions
from coalface.desk.web.admin_api import admin_api
from coalface.desk.web.api import api
from coalface.desk.web.api_page import api_page
from coalface.desk.web.auth import AnyCaller, Authenticator, Desks, cookie_of
from coalface.desk.web.label_studio_api import label_studio_api
from coalface.desk.web.pages import pages
from coalface.desk.web.rendering import error_page
from coalface.desk.web.reviewing import review_api, review_pages
from coalface.desk.web.webhooks import Messenger
from coalface.errors import InputError
from coalface.version import __version__
from coalface.web.http_errors import install_error_handlers
from coalface.web.logs import configure_logs
from coalface.web.metrics import MEDIA_TYPE, Metric, gauge, page
from coalface.web.middleware import (
    BODY_SECONDS,
    LARGEST_BODY,
    HostCheck,
    Observer,
    ProjectPaths,
    RequestMetrics,
    Safeguards,
)
from coalface.web.server import ServerOptions, listen, message_if_slow

_STATIC = Path(__file__).parent / "static"
_DESCRIPTION = "/api/v1/openapi.json"
_health = APIRouter(include_in_schema=False)
_OPEN_PATHS = ("/login", "/static/", "/healthz", "/readyz", "/docs", _DESCRIPTION)


def service_of(
    served: Desk | Sequence[Desk],
    messengers: Messenger | Sequence[Messenger] | None = None,
    *,
    per_minute: float = 3000.0,
    largest_body: int = LARGEST_BODY,
    clock: Callable[[], float] = time.monotonic,
    host_names: Collection[str] | None = None,
    open_addresses: bool = False,
    body_seconds: float = BODY_SECONDS,
) -> FastAPI:
    """The ASGI app that serves a desk, or several.

    ``per_minute`` limits the requests of each caller, and of each address where no token is needed. The limits measure
    time by ``clock``, in seconds. Requests under other ``host_names`` are refused; None allows all, and with
    ``open_addresses`` so is every IP address.
    """
    desks = Desks([served] if isinstance(served, Desk) else served)
    sending = [messengers] if isinstance(messengers, Messenger) else list(messengers or ())

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        for messenger in sending:
            messenger.start()
        try:
            yield
        finally:
            for messenger in sending:
                messenger.stop()

    app = FastAPI(
        title="coalface",
        version=__version__,
        description="Lease queries about the costs of labels, and answer them. Send Authorization: Bearer TOKEN.",
        openapi_url=_DESCRIPTION,
        docs_url=None,  # FastAPI's documentation pages load scripts from other sites; ours is api_page
        redoc_url=None,
        generate_unique_id_function=lambda route: route.name,
        lifespan=lifespan,
    )
    authenticator = Authenticator(desks, per_minute, clock)
    app.state.desks, app.state.authenticator = desks, authenticator
    app.state.cookie = cookie_of(next(iter(desks)).project)
    app.state.messengers, app.state.metrics, app.state.connections = sending, RequestMetrics(), None
    app.state.stop = lambda _: None  # what ends the server after an error that will not pass
    install_error_handlers(app, error_page)
    for router in (api, admin_api, review_api, pages, review_pages, label_studio_api, _health, api_page):
        app.include_router(router)
    app.mount("/static", StaticFiles(directory=_STATIC), name="static")
    app.add_middleware(ProjectPaths, names=desks.names)
    app.add_middleware(
        Safeguards,
        check_address=authenticator.check_address,
        open_paths=_OPEN_PATHS,
        largest_body=largest_body,
        body_seconds=body_seconds,
    )
    if host_names is not None:
        app.add_middleware(HostCheck, names=host_names, open_addresses=open_addresses)
    app.add_middleware(Observer, metrics=app.state.metrics)
    return app


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
        if not any(desk.access.tokens() for desk in desks):
            named = projects[0]
            raise InputError(
                f"{named.name} has no tokens, so no annotator can log in. Make one with coalface serve "
                f"{named.folder} --new-token NAME --role engineer."
            )
        with message_if_slow(warn):
            for project in projects:
                warm_up(project)  # or the first annotator would wait for the compiler
        messengers = [
            Messenger(desk, options.webhook, options.webhook_secret, desk.project.folder / "webhook.told")
            for desk in desks
            if options.webhook
        ]
        app = service_of(
            desks,
            messengers,
            per_minute=options.per_minute,
            host_names=options.allowed_names,
            open_addresses=not options.is_local,
        )
        configure_logs(options.log_format, options.log_level)
        listen(app, options, ", ".join(project.title for project in projects), say)


def _opened(stack: ExitStack, project: Project) -> Desk:
    desk = Desk(project)
    stack.callback(logging.getLogger("coalface").info, "the desk of %s is closed", project.folder)
    stack.callback(desk.close)
    return desk


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


# -- routes for operators -------------------------------------------------------------------------


@_health.get("/healthz")
async def _healthz() -> Response:
    """Whether the process answers; it says nothing about the database."""
    return PlainTextResponse("ok\n")


@_health.get("/readyz")
def _readyz(request: Request) -> Response:
    """Whether answers can be taken now: the database is there and can be read. 503 if not."""
    problems = [problem for desk in request.app.state.desks if (problem := desk.problem())]
    return JSONResponse({"ready": not problems, "problems": problems}, 503 if problems else 200)


@_health.get("/metrics")
def _metrics(request: Request, caller: AnyCaller) -> Response:
    """The numbers of the service, and of the projects in which the caller is an engineer, for Prometheus."""
    authenticator: Authenticator = request.app.state.authenticator
    roles = authenticator.projects_of(caller)
    desks = [desk for desk in request.app.state.desks if roles.get(desk.project.name) == "engineer"]
    if not desks:
        raise HTTPException(403, "Only engineers may see this. Send the token of one.")
    return Response(page(_all_metrics(request, desks)), media_type=MEDIA_TYPE)


def _all_metrics(request: Request, desks: Sequence[Desk]) -> Iterator[Metric]:
    requests: RequestMetrics = request.app.state.metrics
    yield from requests.metrics()
    book = request.app.state.connections
    if book is not None:
        yield gauge("coalface_connections", "Open connections.", len(book))
        for name in ("evicted", "timed_out", "refused"):
            count = float(getattr(book, name))
            yield Metric(f"coalface_connections_{name}_total", "counter", f"Connections {name}.", [("", {}, count)])
    for desk in desks:
        yield from _project_metrics(desk)
    waiting = sum(messenger.waiting for messenger in request.app.state.messengers)
    yield gauge("coalface_webhook_waiting", "Events of the logs that the webhook has not got.", waiting)


def _project_metrics(desk: Desk) -> Iterator[Metric]:
    """The numbers of one project; they may be slightly old, because reading them never blocks."""
    name, progress, signs = desk.project.name, desk.progress(), desk.vital_signs()
    numbers = {
        "pool_examples": ("Examples in the pool.", len(desk.project.pool)),
        "decided_examples": ("Examples that the model has decided.", signs["decided_examples"]),
        "asked_examples": ("Examples that annotators were asked about.", progress.examples),
        "answered_costs": ("Costs that annotators were asked for.", progress.costs),
        "spent_price": ("Money spent on answers.", progress.price),
        "open_questions": ("Questions that wait for an answer.", signs["open_questions"]),
        "log_events": ("The number of the last event of the log.", signs["log_events"]),
        "model_rebuilding": ("1 while the model is rebuilt after an undo.", signs["model_rebuilding"]),
    }
    for metric, (help, value) in numbers.items():
        yield gauge(f"coalface_{metric}", help, float(value), project=name)
