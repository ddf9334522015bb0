"""Authentication: who sends a request, what that person may do, and how often.

Programs send their token in the Authorization header. Pages keep the same token in a cookie.
"""

import threading
import time
from collections.abc import Callable
from hashlib import blake2b
from typing import Annotated
from urllib.parse import urlsplit

from fastapi import Depends, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from coalface.service.desk.store import Store
from coalface.service.project.project import Project
from coalface.service.web.http_errors import RefusedError, too_many_requests
from coalface.service.web.tokens import Caller, is_form_key

_READING = ("GET", "HEAD")
_FOREIGN_FORM = "This form was not sent by a page of this service. Load the page again."
_BEARER = HTTPBearer(auto_error=False, scheme_name="token", description="A token that an engineer has given you.")
_CHALLENGE = {"www-authenticate": "Bearer"}


class _RateLimit:
    """At most ``per_minute`` requests per caller on average, and ``burst`` at once.

    >>> limit = _RateLimit(per_minute=60, burst=2, clock=lambda: 0.0)
    >>> [limit.wait("ann") for _ in range(3)], limit.wait("bob")
    ([0.0, 0.0, 1.0], 0.0)
    """

    def __init__(self, per_minute: float, burst: float, clock: Callable[[], float]) -> None:
        self._rate, self._burst, self._clock = per_minute / 60.0, burst, clock
        self._left: dict[str, tuple[float, float]] = {}  # by caller: requests left, and the time of that count
        self._lock = threading.Lock()

    def wait(self, caller: str) -> float:
        """Count one request; return the seconds to wait before it is allowed, 0 if it is allowed now."""
        now = self._clock()
        with self._lock:
            if len(self._left) > 10_000:  # unknown callers must not fill the memory
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


class Authenticator:
    """Finds the caller with a token, and limits the rates of callers, addresses and wrong tokens."""

    def __init__(self, store: Store, per_minute: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._store = store
        self._by_caller = _RateLimit(per_minute, max(per_minute / 10.0, 20.0), clock)
        self._by_address = _RateLimit(per_minute, max(per_minute, 20.0), clock)  # a whole team may share an address
        self._wrong_tokens = _RateLimit(10.0, 10.0, clock)

    def authenticate(self, token: str, address: str) -> Caller:
        """The caller with this token; a RefusedError if the token is unknown or the caller is too fast."""
        found = self._store.holder_of(token)
        if found is None:
            _refuse_if(self._wrong_tokens.wait(address))
            raise RefusedError(401, "Unknown token. Ask an engineer for one.", _CHALLENGE)
        name, role = found
        _refuse_if(self._by_caller.wait(name))
        return Caller(name, role, token)

    def check_address(self, address: str) -> None:
        """Refuse an address that asks too often for what needs no token."""
        _refuse_if(self._by_address.wait(address))


def _refuse_if(seconds: float) -> None:
    if seconds > 0:
        raise too_many_requests(seconds)


def cookie_of(project: Project) -> str:
    """The name of a project's cookie. Browsers share cookies between the ports of a machine, so each project has one.

    It is made from the project's folder, and so stays the same after a restart.
    """
    folder = str(project.folder.resolve()).encode("utf-8", "replace")
    return f"coalface-{blake2b(folder, digest_size=6).hexdigest()}"


def address_of(request: Request) -> str:
    """The address that a request comes from."""
    return request.client.host if request.client else "unknown"


def caller_of_api(request: Request, bearer: Annotated[HTTPAuthorizationCredentials | None, Depends(_BEARER)]) -> Caller:
    """The caller of a route under ``/api``. A change by cookie also needs the form key of one of our pages."""
    authenticator: Authenticator = request.app.state.authenticator
    if bearer is not None:
        return authenticator.authenticate(bearer.credentials.strip(), address_of(request))
    cookie = request.cookies.get(request.app.state.cookie)
    if cookie is None:
        raise RefusedError(401, "A token is needed: Authorization: Bearer TOKEN.", _CHALLENGE)
    caller = authenticator.authenticate(cookie, address_of(request))
    if request.method not in _READING:
        check_form_key(caller, request.headers.get("x-csrf-token", ""))
    return caller


def caller_of_page(request: Request) -> Caller:
    """The caller of a page by cookie; a redirect to the login page without a valid one."""
    authenticator: Authenticator = request.app.state.authenticator
    token = request.cookies.get(request.app.state.cookie)
    if token is not None:
        try:
            return authenticator.authenticate(token, address_of(request))
        except RefusedError as refusal:
            if refusal.status != 401:
                raise
    raise RefusedError(303, "Log in first.", {"location": "/login"})


async def engineer_of_api(caller: Annotated[Caller, Depends(caller_of_api)]) -> Caller:
    """The caller, who must be an engineer."""
    return only_engineers(caller)


def only_engineers(caller: Caller) -> Caller:
    """The caller; a RefusedError if it is an annotator."""
    if not caller.is_engineer:
        raise RefusedError(403, "Only engineers may see this.")
    return caller


def check_form_key(caller: Caller, given: str) -> None:
    """Refuse a request that no page of ours sent."""
    if not is_form_key(given, caller.token):
        raise RefusedError(403, _FOREIGN_FORM)


async def refuse_other_sites(request: Request) -> None:
    """Refuse a login form of another site, which could log a visitor in under another person's name.

    Over HTTPS browsers send Sec-Fetch-Site, which stays right when a proxy changes the host; otherwise Origin decides.
    """
    site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    same_host = origin is None or urlsplit(origin).netloc == request.headers.get("host")
    if not (same_host if site is None else site == "same-origin"):
        raise RefusedError(403, _FOREIGN_FORM)


AnyCaller = Annotated[Caller, Depends(caller_of_api)]
Engineer = Annotated[Caller, Depends(engineer_of_api)]
PageCaller = Annotated[Caller, Depends(caller_of_page)]
