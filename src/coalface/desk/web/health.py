"""Routes for operators: is the process alive, can it take answers, and its numbers for Prometheus."""

from collections.abc import Iterator, Sequence

from fastapi import APIRouter, HTTPException, Request, Response
from fastapi.responses import JSONResponse, PlainTextResponse

from coalface.desk.service.desk import Desk
from coalface.desk.web.auth import AnyCaller, Authenticator
from coalface.web.metrics import MEDIA_TYPE, Metric, gauge, page
from coalface.web.middleware import RequestMetrics

health = APIRouter(include_in_schema=False)


@health.get("/healthz")
async def _healthz() -> Response:
    """Whether the process answers; it says nothing about the database."""
    return PlainTextResponse("ok\n")


@health.get("/readyz")
def _readyz(request: Request) -> Response:
    """Whether answers can be taken now: the database is there and can be read. 503 if not."""
    problems = [problem for desk in request.app.state.desks if (problem := desk.problem())]
    return JSONResponse({"ready": not problems, "problems": problems}, 503 if problems else 200)


@health.get("/metrics")
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
