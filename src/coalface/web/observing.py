"""The outermost middleware: every request has an id, is timed, counted and logged, and HEAD is answered like GET.

Log lines have a time and a level, as text for people or as JSON for programs.
"""

import json
import logging
import re
import secrets
import sys
import time
from contextvars import ContextVar
from typing import Any, TextIO

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from coalface.errors import InputError
from coalface.web.metrics import RequestMetrics

REQUEST_ID: ContextVar[str] = ContextVar("request_id", default="")
_HEADER = b"x-request-id"
_GIVEN = re.compile(r"[A-Za-z0-9._-]{8,64}")  # ids of a proxy that are safe in logs
_UNKNOWN = "none"  # the route of requests that no route fits
_LOG = logging.getLogger("coalface.requests")
FORMS = ("text", "json")
LEVELS = ("debug", "info", "warning", "error")
_LOGGERS = ("coalface", "uvicorn", "py.warnings")


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


class JsonLogLines(logging.Formatter):
    """One JSON object per line.

    >>> record = logging.LogRecord("coalface", logging.INFO, "", 0, "wrote %s", ("a.coalface",), None)
    >>> record.created = 0.25
    >>> JsonLogLines().format(record)
    '{"time": "1970-01-01T00:00:00.250Z", "level": "info", "logger": "coalface", "message": "wrote a.coalface"}'
    """

    def format(self, record: logging.LogRecord) -> str:
        """The record as one line."""
        line = {"time": _time(record), "level": record.levelname.lower(), "logger": record.name}
        line["message"] = record.getMessage()
        line |= {"request_id": REQUEST_ID.get()} if REQUEST_ID.get() else {}
        line |= getattr(record, "fields", {})
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False, default=str)


class TextLogLines(logging.Formatter):
    r"""Time, level and message; a line break in a message is written as \n, so that a caller cannot forge a line."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as one line, and the traceback of an error after it."""
        message = record.getMessage().replace("\r", "\\r").replace("\n", "\\n")
        request = f" [{REQUEST_ID.get()}]" if REQUEST_ID.get() else ""
        trace = "\n" + self.formatException(record.exc_info) if record.exc_info else ""
        return f"{_time(record)} {record.levelname.lower()}{request} {message}{trace}"


def configure_logs(form: str = "text", level: str = "info", stream: TextIO | None = None) -> None:
    """Send the log of the service to a stream, by default to stderr."""
    if form not in FORMS or level not in LEVELS:
        raise InputError(
            f"The log must be one of {', '.join(FORMS)} at one of {', '.join(LEVELS)}, got {form!r} at {level!r}. "
            "Choose from these."
        )
    handler = logging.StreamHandler(sys.stderr if stream is None else stream)
    handler.setFormatter(JsonLogLines() if form == "json" else TextLogLines())
    for name in _LOGGERS:
        logger = logging.getLogger(name)
        logger.handlers[:], logger.propagate = [handler], False
        logger.setLevel(level.upper())


def _time(record: logging.LogRecord) -> str:
    whole = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
    return f"{whole}.{int(record.created % 1 * 1000):03d}Z"
