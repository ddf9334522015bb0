"""The outermost middleware: every request has an id, is timed, counted and logged, and HEAD is answered like GET."""

import logging
import re
import secrets
import time
from contextvars import ContextVar
from typing import Any

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from coalface.web.metrics import RequestMetrics

REQUEST_ID: ContextVar[str] = ContextVar("request_id", default="")
_HEADER = b"x-request-id"
_GIVEN = re.compile(r"[A-Za-z0-9._-]{8,64}")  # ids of a proxy that are safe in logs
_UNKNOWN = "none"  # the route of requests that no route fits
_LOG = logging.getLogger("coalface.requests")


class Observer:
    """Gives each request an id, or keeps that of the proxy, and writes one line about it to the log."""

    def __init__(self, app: ASGIApp, metrics: RequestMetrics) -> None:
        self._app, self._metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id, begin, status = _id_of(scope), time.perf_counter(), 500
        REQUEST_ID.set(request_id)
        method = str(scope["method"])
        inner = {**scope, "method": "GET"} if method == "HEAD" else scope

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)["x-request-id"] = request_id
            elif method == "HEAD":
                message = {**message, "body": b""}
            await send(message)

        self._metrics.in_flight += 1
        try:
            await self._app(inner, receive, noted)
        finally:
            self._metrics.in_flight -= 1
            seconds = time.perf_counter() - begin
            self._metrics.add(method, _route_of(inner), status, seconds)
            _log(inner, method, status, seconds)


def _log(scope: Scope, method: str, status: int, seconds: float) -> None:
    level = logging.ERROR if status >= 500 else logging.WARNING if status in (401, 403, 429) else logging.INFO
    if _LOG.isEnabledFor(level):
        client, path = scope.get("client") or ("", 0), str(scope["path"])
        fields: dict[str, Any] = {"method": method, "path": path, "status": status, "client": client[0]}
        fields["ms"] = round(1000 * seconds, 1)
        _LOG.log(level, "%s %s %d %.1f ms", method, path, status, fields["ms"], extra={"fields": fields})


def _id_of(scope: Scope) -> str:
    given = dict(scope["headers"]).get(_HEADER, b"").decode("latin-1")
    return given if _GIVEN.fullmatch(given) else secrets.token_hex(8)


def _route_of(scope: Scope) -> str:
    """The template of the route, such as /answers/{id}: paths themselves would be countless."""
    route = scope.get("route")
    return str(getattr(route, "path", _UNKNOWN))
