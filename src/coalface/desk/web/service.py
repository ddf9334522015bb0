"""The ASGI application: routes, pages, middleware and webhooks around the desks."""

import time
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import FastAPI
from fastapi.staticfiles import StaticFiles

from coalface.desk.service.desk import Desk
from coalface.desk.web.access_pages import access_pages
from coalface.desk.web.admin_api import admin_api
from coalface.desk.web.api import api
from coalface.desk.web.auth import Authenticator, cookie_of
from coalface.desk.web.desks import Desks, ProjectPaths
from coalface.desk.web.health import health
from coalface.desk.web.label_studio_api import label_studio_api
from coalface.desk.web.pages import pages
from coalface.desk.web.pool_api import pool_api
from coalface.desk.web.rendering import error_page
from coalface.desk.web.review_api import review_api
from coalface.desk.web.review_pages import review_pages
from coalface.desk.web.webhooks import Messenger
from coalface.version import __version__
from coalface.web.hosts import HostCheck
from coalface.web.http_errors import install_error_handlers
from coalface.web.metrics import RequestMetrics
from coalface.web.middleware import BODY_SECONDS, LARGEST_BODY, Safeguards
from coalface.web.observing import Observer

_STATIC = Path(__file__).parent / "static"
_DESCRIPTION = "/api/v1/openapi.json"
_OPEN_PATHS = ("/login", "/static/", "/healthz", "/readyz", _DESCRIPTION)


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
        docs_url=None,  # FastAPI's documentation pages load scripts from other sites
        redoc_url=None,
        lifespan=lifespan,
    )
    authenticator = Authenticator(desks, per_minute, clock)
    app.state.desks, app.state.authenticator = desks, authenticator
    app.state.cookie = cookie_of(next(iter(desks)).project)
    app.state.messengers, app.state.metrics, app.state.connections = sending, RequestMetrics(), None
    app.state.stop = lambda _: None  # what ends the server after an error that will not pass
    install_error_handlers(app, error_page)
    app.include_router(api)
    app.include_router(admin_api)
    app.include_router(pool_api)
    app.include_router(review_api)
    app.include_router(pages)
    app.include_router(review_pages)
    app.include_router(access_pages)
    app.include_router(label_studio_api)
    app.include_router(health)
    app.mount("/static", StaticFiles(directory=_STATIC), name="static")
    app.add_middleware(ProjectPaths, desks=desks)
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
