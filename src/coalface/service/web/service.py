"""The service: routes, limits and pages around a desk."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

from fastapi import FastAPI
from fastapi.staticfiles import StaticFiles
from fastapi.templating import Jinja2Templates

from coalface.service.desk.desk import Desk
from coalface.service.web.admin_api import for_engineers
from coalface.service.web.api import api
from coalface.service.web.auth import Door, cookie_of
from coalface.service.web.http_errors import answer_in_problems
from coalface.service.web.middleware import LARGEST_BODY, AddressLimit, BodyLimit, RateLimit, StrictHeaders
from coalface.service.web.pages import pages
from coalface.service.web.webhooks import Messenger
from coalface.version import __version__

_HERE = Path(__file__).parent
_NOTHING = "\N{EN DASH}"
_DESCRIPTION = "/api/v1/openapi.json"


def service_of(
    desk: Desk, messenger: Messenger | None = None, *, per_minute: float = 3000.0, largest_body: int = LARGEST_BODY
) -> FastAPI:
    """The ASGI app that serves a desk; ``per_minute`` limits the requests of each caller, and of each address."""

    @asynccontextmanager
    async def while_serving(_: FastAPI) -> AsyncIterator[None]:
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
        description="Questions about costs, and their answers. Send Authorization: Bearer TOKEN.",
        openapi_url=_DESCRIPTION,
        docs_url=None,  # FastAPI's pages would load scripts from elsewhere
        redoc_url=None,
        lifespan=while_serving,
    )
    app.state.desk, app.state.door = desk, Door(desk.store, per_minute)
    app.state.cookie, app.state.templates = cookie_of(desk.project), _templates()
    answer_in_problems(app)
    app.include_router(api)
    app.include_router(for_engineers)
    app.include_router(pages)
    app.mount("/static", StaticFiles(directory=_HERE / "static"), name="static")
    app.add_middleware(BodyLimit, largest=largest_body)
    a_minute_at_once = RateLimit(per_minute, burst=max(per_minute, 20.0))  # a whole team may share an address
    app.add_middleware(AddressLimit, limit=a_minute_at_once, open_to_all=("/login", "/static/", _DESCRIPTION))
    app.add_middleware(StrictHeaders)
    return app


def _templates() -> Jinja2Templates:
    templates = Jinja2Templates(_HERE / "templates")
    templates.env.filters |= {"short": _short, "seconds": _seconds, "moment": _moment}
    templates.env.trim_blocks = templates.env.lstrip_blocks = True
    return templates


def _short(number: float | None, digits: int = 3) -> str:
    """A number as people write it.

    >>> _short(1234567.8), _short(0.12345), _short(0.000012345), _short(None)
    ('1,234,568', '0.123', '0.0000123', '–')
    """
    if number is None:
        return _NOTHING
    whole = number == int(number) or abs(number) >= 10**digits
    return f"{number:,.0f}" if whole else format(Decimal(f"{number:.{digits}g}"), ",f")


def _seconds(number: float | None) -> str:
    """How long somebody takes, as people would say it.

    >>> _seconds(2.43e-05), _seconds(12.34), _seconds(None)
    ('under 0.1', '12.3', '–')
    """
    if number is None:
        return _NOTHING
    return f"{number:,.1f}" if number >= 0.1 else "under 0.1"


def _moment(seconds: float | None) -> str:
    """A time as people write it, in UTC.

    >>> _moment(0.0)
    '1970-01-01 00:00'
    """
    return _NOTHING if seconds is None else datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M")
