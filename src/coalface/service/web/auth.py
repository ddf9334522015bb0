"""Who may do what: a bearer token for programs, the same token in a cookie for pages."""

from hashlib import blake2b
from typing import Annotated

from fastapi import Depends, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from coalface.service.desk.store import Store
from coalface.service.project.project import Project
from coalface.service.web.http_errors import RefusedError, in_haste
from coalface.service.web.middleware import RateLimit
from coalface.service.web.tokens import Caller, digest_of, form_key, same_text

_READING = ("GET", "HEAD")
_BEARER = HTTPBearer(auto_error=False, scheme_name="token", description="A token that an engineer has given you.")


class Door:
    """Knows callers by their tokens, and makes those wait who come too often or guess."""

    def __init__(self, store: Store, per_minute: float = 3000.0) -> None:
        self._store = store
        self._requests = RateLimit(per_minute, burst=max(per_minute / 10.0, 20.0))
        self._guesses = RateLimit(per_minute=10.0, burst=10.0)

    def admit(self, token: str, address: str) -> Caller:
        """The caller with this token; a RefusedError if there is none."""
        found = self._store.token(digest_of(token))
        if found is None:
            _refuse_haste(self._guesses.wait(address))
            raise RefusedError(401, "Unknown token. Ask an engineer for one.", {"www-authenticate": "Bearer"})
        name, role = found
        _refuse_haste(self._requests.wait(name))
        return Caller(name, role, token)


def cookie_of(project: Project) -> str:
    """The name of a project's cookie: browsers give one to every port of a machine, and there may be another service.

    The folder tells projects apart, and stays the same over restarts.
    """
    folder = str(project.folder.resolve()).encode("utf-8", "replace")
    return f"coalface-{blake2b(folder, digest_size=6).hexdigest()}"


def address_of(request: Request) -> str:
    """Where a request comes from."""
    return request.client.host if request.client else "nowhere"


def caller_of_api(
    request: Request, bearer: Annotated[HTTPAuthorizationCredentials | None, Depends(_BEARER)]
) -> Caller:
    """The caller of a route under ``/api``. A cookie must come with the key of our own pages to change anything."""
    door: Door = request.app.state.door
    if bearer is not None:
        return door.admit(bearer.credentials.strip(), address_of(request))
    cookie = request.cookies.get(request.app.state.cookie)
    if cookie is None:
        raise RefusedError(401, "A token is needed: Authorization: Bearer TOKEN.", {"www-authenticate": "Bearer"})
    caller = door.admit(cookie, address_of(request))
    if request.method not in _READING:
        check_form_key(caller, request.headers.get("x-csrf-token", ""))
    return caller


def check_form_key(caller: Caller, given: str) -> None:
    """Refuse what did not come from a page of ours."""
    if not same_text(given, form_key(caller.token)):
        raise RefusedError(403, "This did not come from a page of this service. Load the page again.")


async def engineer_of_api(caller: Annotated[Caller, Depends(caller_of_api)]) -> Caller:
    """The caller, who must be an engineer."""
    return only_engineers(caller)


def only_engineers(caller: Caller) -> Caller:
    """The caller again; a RefusedError if it is an annotator."""
    if not caller.is_engineer:
        raise RefusedError(403, "Only engineers may see this.")
    return caller


def _refuse_haste(seconds: float) -> None:
    if seconds > 0:
        raise RefusedError(429, *in_haste(seconds))


AnyCaller = Annotated[Caller, Depends(caller_of_api)]
Engineer = Annotated[Caller, Depends(engineer_of_api)]
