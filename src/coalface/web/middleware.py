"""The middleware around every request: ids, counts and logs, limits on rates and bodies, hosts, headers, projects.

With any host name allowed, a foreign page could read the service by DNS rebinding.
"""

import asyncio
import logging
import re
import secrets
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Any

from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from coalface.version import __version__
from coalface.web.http_errors import error_response
from coalface.web.logs import REQUEST_ID
from coalface.web.metrics import Metric, Sample, gauge

LARGEST_BODY = 1 << 20  # bytes
_ENDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)  # of the classes of durations, in seconds
BODY_SECONDS = 30.0  # for the whole body of a request
_ID_HEADER = b"x-request-id"
_GIVEN_ID = re.compile(r"[A-Za-z0-9._-]{8,64}")  # ids of a proxy that are safe in logs
_UNKNOWN = "none"  # the route of requests that no route fits
_LOG = logging.getLogger("coalface.requests")
_SEND_SECONDS = 60.0  # for a client to take one part of a response
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; frame-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
_HEADERS = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
    "cache-control": "no-store",
}


_CLOSE = {"connection": "close"}  # the rest of the body is not read
LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")
_MISDIRECTED = 421
PROJECT = "coalface.project"  # in the scope of a request: the project whose page it is
_PROJECTS = "/projects/"
_OF_SERVICE = ("/login", "/logout", "/static/", "/api/", _PROJECTS)  # addresses that belong to no project


class _BadBody(BaseException):  # not an Exception: the framework would turn that into a 400
    """The status and the reason of a body that is not taken."""


class _LimitedBody:
    """The body of a request as it arrives, within limits of bytes and seconds."""

    def __init__(self, receive: Receive, most: int, seconds: float) -> None:
        self._receive, self._most, self._left, self._seconds, self._whole = receive, most, most, seconds, False
        self._deadline = asyncio.get_running_loop().time() + seconds

    async def receive(self) -> Message:
        """The next part; after the last one, what comes is that the client goes away, at any time."""
        if self._whole:
            return await self._receive()
        try:
            async with asyncio.timeout_at(self._deadline):
                message = await self._receive()
        except TimeoutError:
            detail = f"The body of a request must arrive within {self._seconds:g} s. Send it again."
            raise _BadBody(408, detail) from None
        self._left -= len(message.get("body", b""))
        self._whole = not message.get("more_body", False)
        if self._left < 0:
            raise _BadBody(*_too_large(self._most))
        return message


class Safeguards:
    """Limits what one caller can take from the others, and forbids browsers to run or load anything foreign.

    Paths that begin with one of ``open_paths`` need no token; ``check_address`` raises an error if an address asks for
    them too often.
    """

    def __init__(
        self,
        app: ASGIApp,
        check_address: Callable[[str], None] = lambda _: None,
        open_paths: tuple[str, ...] = (),
        largest_body: int = LARGEST_BODY,
        body_seconds: float = BODY_SECONDS,
        send_seconds: float = _SEND_SECONDS,
    ) -> None:
        self._app, self._check_address = app, check_address
        self._body_seconds, self._send_seconds = body_seconds, send_seconds
        self._open_paths, self._largest_body = open_paths, largest_body

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        body, begun = _LimitedBody(receive, self._largest_body, self._body_seconds), False

        async def strict(message: Message) -> None:
            nonlocal begun
            begun = True
            if message["type"] == "http.response.start":
                _add_headers(MutableHeaders(scope=message), scope)
            async with asyncio.timeout(self._send_seconds):  # a client that reads nothing is left alone
                await send(message)

        try:
            await (self._refusal(scope) or self._app)(scope, body.receive, strict)
        except _BadBody as problem:
            if not begun:
                status, detail = problem.args
                await error_response(Request(scope), status, detail, _CLOSE)(scope, receive, strict)
        except TimeoutError:
            logging.getLogger("coalface").warning("a client did not take its response; the connection is closed")

    def _refusal(self, scope: Scope) -> Response | None:
        """The response to a request that is refused before its body is read."""
        if scope["path"].startswith(self._open_paths):
            request = Request(scope)
            try:
                self._check_address(address_of(request))
            except HTTPException as refusal:
                return error_response(request, refusal.status_code, refusal.detail, refusal.headers)
        length = dict(scope["headers"]).get(b"content-length", b"0")
        if length.isdigit() and int(length) <= self._largest_body:
            return None
        return error_response(Request(scope), *_too_large(self._largest_body), _CLOSE)


def _too_large(most: int) -> tuple[int, str]:
    return 413, f"A request may have a body of at most {most} bytes. Send less at a time."


def address_of(request: Request) -> str:
    """The address that a request comes from."""
    return request.client.host if request.client else "unknown"


def _add_headers(headers: MutableHeaders, scope: Scope) -> None:
    for name, value in _HEADERS.items():
        headers.setdefault(name, value)
    if scope.get("scheme") == "https":
        headers.setdefault("strict-transport-security", "max-age=31536000")


class HostCheck:
    """Refuses requests for other hosts. ``names`` are allowed; with ``open_addresses``, so is every IP address."""

    def __init__(self, app: ASGIApp, names: Collection[str], *, open_addresses: bool = False) -> None:
        self._app, self._open_addresses = app, open_addresses
        self._names = {name.lower() for name in names}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it."""
        if scope["type"] != "http" or self._allows(name := _host_name(scope)):
            await self._app(scope, receive, send)
            return
        detail = f"This service is not called {name!r:.100}. Start it with --host-name {name:.100} if it is."
        await error_response(Request(scope), _MISDIRECTED, detail)(scope, receive, send)

    def _allows(self, name: str) -> bool:
        with suppress(ValueError):
            return name in self._names or (self._open_addresses and bool(ip_address(name)))
        return False


def _host_name(scope: Scope) -> str:
    """The name in the Host header, without its port.

    >>> [_host_name({"headers": [(b"host", text)]}) for text in (b"Mail.example:8137", b"[::1]:80", b"10.0.0.5")]
    ['mail.example', '::1', '10.0.0.5']
    """
    text: str = dict(scope["headers"]).get(b"host", b"").decode("latin-1").lower().strip()
    if text.startswith("["):
        return text[1:].partition("]")[0]
    return text.partition(":")[0]


class ProjectPaths:
    """Routes ``/projects/NAME/...`` to the pages of a project, and keeps their redirects there.

    With one project, its pages are at ``/label`` and so on. With several, those of a project are at
    ``/projects/NAME/label``; that address works with one project, too.
    """

    def __init__(self, app: ASGIApp, names: Collection[str]) -> None:
        self._app, self._names = app, names

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Pass the request on with the project's name and without its prefix."""
        name, slash, _ = scope.get("path", "").removeprefix(_PROJECTS).partition("/")
        if scope["type"] != "http" or not scope["path"].startswith(_PROJECTS) or name not in self._names:
            return self._app(scope, receive, send)
        root = f"{_PROJECTS}{name}"
        if not slash:
            return RedirectResponse(f"{root}/", 307)(scope, receive, send)

        async def within(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                place = headers.get("location", "")
                if place.startswith("/") and not place.startswith(_OF_SERVICE):
                    headers["location"] = f"{RedirectResponse(root).headers['location']}{place}"
            await send(message)

        return self._app({**scope, "root_path": scope.get("root_path", "") + root, PROJECT: name}, receive, within)


@dataclass
class RequestMetrics:
    """Counts and durations of requests, by method, route and status. Only the event loop changes them."""

    in_flight: int = 0
    started: float = field(default_factory=time.time)
    _counts: Counter[tuple[str, str, int]] = field(default_factory=Counter)
    _classes: dict[str, list[int]] = field(default_factory=dict)  # by route: how many requests end in each class
    _seconds: Counter[str] = field(default_factory=Counter)

    def add(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count one request."""
        self._counts[method, route, status] += 1
        classes = self._classes.setdefault(route, [0] * (len(_ENDS) + 1))
        classes[bisect_left(_ENDS, seconds)] += 1
        self._seconds[route] += seconds  # type: ignore[assignment]

    def metrics(self) -> Iterator[Metric]:
        """All metrics of requests and of the process."""
        counts = [
            ("", {"method": method, "route": route, "status": str(status)}, float(n))
            for (method, route, status), n in sorted(self._counts.items())
        ]
        yield Metric("coalface_requests_total", "counter", "Requests by method, route and status.", counts)
        yield Metric("coalface_request_seconds", "histogram", "Durations of requests by route.", self._durations())
        yield gauge("coalface_requests_in_flight", "Requests being answered now.", self.in_flight)
        yield gauge("process_start_time_seconds", "When the service was started.", self.started)
        cpu = time.process_time()
        yield Metric("process_cpu_seconds_total", "counter", "Processor time of the service.", [("", {}, cpu)])
        yield gauge("coalface_build_info", "The version of coalface.", 1.0, version=__version__)

    def _durations(self) -> list[Sample]:
        samples: list[Sample] = []
        for route, classes in sorted(self._classes.items()):
            total = 0
            for end, n in zip((*map(str, _ENDS), "+Inf"), classes, strict=True):
                total += n
                samples.append(("_bucket", {"route": route, "le": end}, total))
            samples += [("_sum", {"route": route}, self._seconds[route]), ("_count", {"route": route}, total)]
        return samples


class Observer:
    """The outermost middleware: each request gets an id, or keeps that of the proxy, and one line in the log.

    Requests are timed and counted, and HEAD is answered like GET.
    """

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
            _log(inner, method, status, seconds)
            self._metrics.add(method, _route_of(inner), status, seconds)


def _log(scope: Scope, method: str, status: int, seconds: float) -> None:
    level = logging.ERROR if status >= 500 else logging.WARNING if status in (401, 403, 429) else logging.INFO
    if _LOG.isEnabledFor(level):
        client, path = scope.get("client") or ("", 0), str(scope["path"])
        fields: dict[str, Any] = {"method": method, "path": path, "status": status, "client": client[0]}
        fields["ms"] = round(1000 * seconds, 1)
        _LOG.log(level, "%s %s %d %.1f ms", method, path, status, fields["ms"], extra={"fields": fields})


def _id_of(scope: Scope) -> str:
    given = dict(scope["headers"]).get(_ID_HEADER, b"").decode("latin-1")
    return given if _GIVEN_ID.fullmatch(given) else secrets.token_hex(8)


def _route_of(scope: Scope) -> str:
    """The template of the route, such as /answers/{id}: paths themselves would be countless."""
    route = scope.get("route")
    return str(getattr(route, "path", _UNKNOWN))
