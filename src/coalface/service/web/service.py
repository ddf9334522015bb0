"""The ASGI application: routes, pages, middleware and webhooks around one desk."""

import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import FastAPI
from fastapi.staticfiles import StaticFiles

from coalface.service.desk.desk import Desk
from coalface.service.web.admin_api import admin_api
from coalface.service.web.api import api
from coalface.service.web.auth import Authenticator, cookie_of
from coalface.service.web.http_errors import install_error_handlers
from coalface.service.web.middleware import LARGEST_BODY, Safeguards
from coalface.service.web.pages import pages
from coalface.service.web.webhooks import Messenger
from coalface.version import __version__

_STATIC = Path(__file__).parent / "static"
_DESCRIPTION = "/api/v1/openapi.json"
_OPEN_PATHS = ("/login", "/static/", _DESCRIPTION)


def service_of(
    desk: Desk,
    messenger: Messenger | None = None,
    *,
    per_minute: float = 3000.0,
    largest_body: int = LARGEST_BODY,
    clock: Callable[[], float] = time.monotonic,
) -> FastAPI:
    """The ASGI app that serves a desk.

    ``per_minute`` limits the requests of each caller, and of each address where no token is needed. The limits measure
    time by ``clock``, in seconds.
    """

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        if messenger is not None:
            messenger.start()
        try:
            yield
        finally:
            if messenger is not None:
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
    authenticator = Authenticator(desk.store, per_minute, clock)
    app.state.desk, app.state.authenticator, app.state.cookie = desk, authenticator, cookie_of(desk.project)
    install_error_handlers(app)
    app.include_router(api)
    app.include_router(admin_api)
    app.include_router(pages)
    app.mount("/static", StaticFiles(directory=_STATIC), name="static")
    app.add_middleware(Safeguards, authenticator=authenticator, open_paths=_OPEN_PATHS, largest_body=largest_body)
    return app
