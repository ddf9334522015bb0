"""What keeps one caller from spoiling the service for the others: limits on bodies and rates, and strict headers."""

import threading
import time
from collections.abc import Callable
from typing import Any

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from coalface.service.web.http_errors import in_haste, problem

LARGEST_BODY = 1 << 20  # bytes
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


class RateLimit:
    """At most ``per_minute`` requests of each caller on average, and ``burst`` of them at once.

    >>> limit = RateLimit(per_minute=60, burst=2, clock=lambda: 0.0)
    >>> [limit.wait("ann") for _ in range(3)], limit.wait("bob")
    ([0.0, 0.0, 1.0], 0.0)
    """

    def __init__(self, per_minute: float, burst: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._burst, self._clock = per_minute / 60.0, burst, clock
        self._left: dict[str, tuple[float, float]] = {}  # by caller: requests left, and when that was
        self._lock = threading.Lock()

    def wait(self, caller: str) -> float:
        """Count one request; seconds until it may come, 0 if it may come now."""
        now = self._clock()
        with self._lock:
            if len(self._left) > 10_000:  # strangers must not fill the memory
                self._left = {
                    name: seen for name, seen in self._left.items() if self._now_left(seen, now) < self._burst
                }
            left = self._now_left(self._left.get(caller, (self._burst, now)), now)
            if left < 1.0:
                return (1.0 - left) / self._rate
            self._left[caller] = (left - 1.0, now)
            return 0.0

    def _now_left(self, seen: tuple[float, float], now: float) -> float:
        left, then = seen
        return min(self._burst, left + (now - then) * self._rate)


class AddressLimit:
    """Makes an address wait that asks too often for what is given without a token; the door limits everything else."""

    def __init__(self, app: ASGIApp, limit: RateLimit, open_to_all: tuple[str, ...]) -> None:
        self._app, self._limit, self._open_to_all = app, limit, open_to_all

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or say when it may come."""
        wait = 0.0
        if scope["type"] == "http" and scope["path"].startswith(self._open_to_all):
            wait = self._limit.wait((scope.get("client") or ("nowhere",))[0])
        await (problem(429, *in_haste(wait)) if wait > 0 else self._app)(scope, receive, send)


class BodyLimit:
    """Refuses a body that says or turns out to be larger than ``largest`` bytes, before anyone reads it whole."""

    def __init__(self, app: ASGIApp, largest: int = LARGEST_BODY) -> None:
        self._app, self._largest = app, largest

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on with a body that cannot be too large."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        said = dict(scope["headers"]).get(b"content-length", b"0")
        if not said.isdigit() or int(said) > self._largest:
            await self._refusal()(scope, receive, send)
            return
        seen, begun = 0, False

        async def counted() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > self._largest:
                raise _TooLarge
            return message

        async def noted(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._app(scope, counted, noted)
        except _TooLarge:
            if not begun:
                await self._refusal()(scope, receive, send)

    def _refusal(self) -> Any:
        return problem(413, f"A request may have a body of at most {self._largest} bytes. Send less at a time.")


class _TooLarge(BaseException):  # no handler on the way may take it for something else
    pass


class StrictHeaders:
    """Every answer forbids scripts, frames and sources that are not ours, and is kept by no cache."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Add the headers that an answer does not have."""

        async def strict(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
                if scope.get("scheme") == "https":
                    headers.setdefault("strict-transport-security", "max-age=31536000")
            await send(message)

        await self._app(scope, receive, strict if scope["type"] == "http" else send)
