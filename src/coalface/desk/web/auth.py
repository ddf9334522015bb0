"""Authentication: who sends a request, what that person may do, and how often.

Programs send their token in the Authorization header. Pages keep the random id of a session in a cookie. A person may
have a role in each of several projects, with one token.
"""

import hmac
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from hashlib import blake2b
from ipaddress import IPv6Network, ip_address
from typing import Annotated
from urllib.parse import urlsplit

from fastapi import Depends, HTTPException, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from coalface.desk.log.access import digest_of
from coalface.desk.project.project import Project
from coalface.desk.service.desk import Desk
from coalface.errors import InputError
from coalface.web.middleware import PROJECT, address_of
from coalface.web.tokens import A_MONTH, Caller, new_token

NOBODY = ""  # the role of a caller in a project that is not theirs
_READING = ("GET", "HEAD")
_FOREIGN_FORM = "This form was not sent by a page of this service. Load the page again."
_BEARER = HTTPBearer(auto_error=False, scheme_name="token", description="A token that an engineer has given you.")
_CHALLENGE = {"www-authenticate": "Bearer"}


class Desks:
    """The desks by the names of their projects, in the order given."""

    def __init__(self, desks: Sequence[Desk]) -> None:
        self._desks: dict[str, Desk] = {}
        for desk in desks:
            if desk.project.name in self._desks:
                raise InputError(
                    f"The projects of a service must have distinct names, got {desk.project.name!r} twice. Rename one."
                )
            self._desks[desk.project.name] = desk

    def __iter__(self) -> Iterator[Desk]:
        return iter(self._desks.values())

    def __len__(self) -> int:
        return len(self._desks)

    @property
    def names(self) -> list[str]:
        """The names of the projects."""
        return list(self._desks)

    @property
    def only(self) -> Desk | None:
        """The desk of a service with one project."""
        return next(iter(self)) if len(self) == 1 else None

    def get(self, name: str | None) -> Desk | None:
        """The desk of a project; without a name, the only one."""
        return self.only if name is None else self._desks.get(name)


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
    """Finds the caller with a token or a session, and limits the rates of callers, addresses and wrong tokens."""

    def __init__(
        self,
        desks: Desks,
        per_minute: float,
        clock: Callable[[], float] = time.monotonic,
        today: Callable[[], float] = time.time,
    ) -> None:
        self._desks, self._today = desks, today
        self._by_caller = _RateLimit(per_minute, max(per_minute / 10.0, 20.0), clock)
        self._by_address = _RateLimit(per_minute, max(per_minute, 20.0), clock)  # a whole team may share an address
        self._wrong_tokens = _RateLimit(10.0, 10.0, clock)
        self._all_wrong_tokens = _RateLimit(100.0, 100.0, clock)  # whatever addresses a proxy is made to report

    def authenticate(self, request: Request, token: str) -> Caller:
        """The caller with this token; a HTTPException if the token is unknown or the caller is too fast."""
        return self._caller(request, token, digest_of)

    def resume(self, request: Request, session: str) -> Caller:
        """The caller with this session."""
        return self._caller(request, session, self._token_of)

    def begin_session(self, token: str) -> str:
        """A session for the person with this token, in the first of their projects."""
        session, digest, now = new_token("sess"), digest_of(token), self._today()
        for desk in self._desks:
            if desk.access.role_of(digest) is not None:
                desk.access.begin_session(session, token, now + A_MONTH, now)
                return session
        raise _unknown_token()

    def end_session(self, session: str) -> None:
        """Forget a session."""
        for desk in self._desks:
            if desk.access.token_of_session(session, self._today()) is not None:
                desk.access.end_session(session)

    def projects_of(self, caller: Caller) -> dict[str, str]:
        """The projects that a caller may see, with the caller's role in each."""
        found = {desk.project.name: desk.access.role_of(caller.digest) for desk in self._desks}
        return {name: role[1] for name, role in found.items() if role is not None}

    def check_address(self, address: str) -> None:
        """Refuse an address that asks too often for what needs no token."""
        _refuse_if(self._by_address.wait(_network_of(address)))

    def _caller(self, request: Request, secret: str, digest_by: Callable[[str], str | None]) -> Caller:
        """The caller with this secret. The route finds the desk of the address in the state of the request."""
        request.state.desk = desk = self._desks.get(project_named(request))
        digest, member = digest_by(secret), None
        if digest is not None:
            member = (None if desk is None else desk.access.role_of(digest)) or self._elsewhere(digest, desk)
        if digest is None or member is None:
            _refuse_if(self._wrong_tokens.wait(_network_of(address_of(request))))
            _refuse_if(self._all_wrong_tokens.wait(""))
            raise _unknown_token()
        _refuse_if(self._by_caller.wait(member[0]))
        return Caller(*member, secret, digest)

    def _token_of(self, session: str) -> str | None:
        """The digest of the token with which a session began; None if no project has the session."""
        found = (desk.access.token_of_session(session, self._today()) for desk in self._desks)
        return next((digest for digest in found if digest is not None), None)

    def _elsewhere(self, digest: str, desk: Desk | None) -> tuple[str, str] | None:
        """The person with this token, if they are a member of other projects only, without a role in this one."""
        others = (one.access.role_of(digest) for one in self._desks if one is not desk)
        return next(((member[0], NOBODY) for member in others if member is not None), None)


def _unknown_token() -> HTTPException:
    return HTTPException(401, "Unknown token. Ask an engineer for one.", _CHALLENGE)


def _refuse_if(seconds: float) -> None:
    if seconds > 0:
        detail = f"Too many requests. Try again in {seconds:.1f} s."
        raise HTTPException(429, detail, {"retry-after": str(int(seconds) + 1)})


def _network_of(address: str) -> str:
    """What counts as one address: of IPv6, the network of 64 bits that a provider gives to one customer.

    >>> _network_of("10.0.0.5"), _network_of("2001:db8:1:2:3:4:5:6"), _network_of("unknown")
    ('10.0.0.5', '2001:db8:1:2::', 'unknown')
    """
    try:
        found = ip_address(address)
    except ValueError:
        return address
    if found.version == 4:
        return str(found)
    return str(found.ipv4_mapped or IPv6Network((int(found) >> 64 << 64, 64)).network_address)


def cookie_of(project: Project) -> str:
    """The name of a service's cookie. Browsers share cookies between the ports of a machine, so each service has one.

    It is made from the folder of the first project, and so stays the same after a restart.
    """
    folder = str(project.folder.resolve()).encode("utf-8", "replace")
    return f"coalface-{blake2b(folder, digest_size=6).hexdigest()}"


def project_named(request: Request) -> str | None:
    """The project in the address of a request; None if it names none."""
    found = request.path_params.get("project") or request.scope.get(PROJECT)
    return None if found is None else str(found)


def caller_of_api(request: Request, bearer: Annotated[HTTPAuthorizationCredentials | None, Depends(_BEARER)]) -> Caller:
    """The caller of a route under ``/api``. A change by cookie also needs the form key of one of our pages."""
    authenticator: Authenticator = request.app.state.authenticator
    if bearer is not None:
        return _member(request, authenticator.authenticate(request, bearer.credentials.strip()))
    cookie = request.cookies.get(request.app.state.cookie)
    if cookie is None:
        raise HTTPException(401, "A token is needed: Authorization: Bearer TOKEN.", _CHALLENGE)
    caller = authenticator.resume(request, cookie)
    if request.method not in _READING:
        check_form_key(caller, request.headers.get("x-csrf-token", ""))
    return _member(request, caller)


def _caller_of_page(request: Request) -> Caller:
    """The caller of a page by cookie; a redirect to the login page without a valid one."""
    authenticator: Authenticator = request.app.state.authenticator
    session = request.cookies.get(request.app.state.cookie)
    if session is not None:
        try:
            return _member(request, authenticator.resume(request, session))
        except HTTPException as refusal:
            if refusal.status_code != 401:
                raise
    raise HTTPException(303, "Log in first.", {"location": "/login"})


def _member(request: Request, caller: Caller) -> Caller:
    """The caller; a HTTPException if the address names a project in which the caller has no role."""
    name = project_named(request)
    if caller.role == NOBODY and name is not None and request.state.desk is not None:
        raise HTTPException(
            404, f"There is no project {name!r} here that you may see. Ask one of its engineers to admit you."
        )
    return caller


def _only_reviewers(caller: Caller) -> Caller:
    """The caller; a HTTPException if it is an annotator."""
    if not caller.may_review:
        raise HTTPException(403, "Only reviewers and engineers may do this. Ask an engineer for the role.")
    return caller


def only_engineers(caller: Caller) -> Caller:
    """The caller; a HTTPException unless it is an engineer."""
    if not caller.is_engineer:
        raise HTTPException(403, "Only engineers may do this. Ask one of them, or for the role.")
    return caller


def check_form_key(caller: Caller, given: str) -> None:
    """Refuse a request that no page of ours sent."""
    if not hmac.compare_digest(given.encode("utf-8", "replace"), caller.form_key.encode()):
        raise HTTPException(403, _FOREIGN_FORM)


async def refuse_other_sites(request: Request) -> None:
    """Refuse a login form of another site, which could log a visitor in under another person's name.

    Over HTTPS browsers send Sec-Fetch-Site, which stays right when a proxy changes the host; otherwise Origin decides.
    """
    site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    same_host = origin is None or urlsplit(origin).netloc == request.headers.get("host")
    if not (same_host if site is None else site == "same-origin"):
        raise HTTPException(403, _FOREIGN_FORM)


def _checked(caller_of: Callable[..., Caller], check: Callable[[Caller], Caller]) -> Callable[..., Awaitable[Caller]]:
    """The caller, who must pass the check of a role."""

    async def checked(caller: Annotated[Caller, Depends(caller_of)]) -> Caller:
        return check(caller)

    return checked


engineer_of_api, reviewer_of_api = _checked(caller_of_api, only_engineers), _checked(caller_of_api, _only_reviewers)
AnyCaller = Annotated[Caller, Depends(caller_of_api)]
Engineer = Annotated[Caller, Depends(engineer_of_api)]
Reviewer = Annotated[Caller, Depends(reviewer_of_api)]
PageCaller = Annotated[Caller, Depends(_caller_of_page)]
PageEngineer = Annotated[Caller, Depends(_checked(_caller_of_page, only_engineers))]
PageReviewer = Annotated[Caller, Depends(_checked(_caller_of_page, _only_reviewers))]
