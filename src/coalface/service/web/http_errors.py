"""Errors as a caller sees them: RFC 9457 problem details under ``/api``, a plain page elsewhere."""

import logging
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from coalface.errors import CoalfaceError, ConflictError, FileBusyError, InputError, UnknownIdError, in_one_line

import sqlalchemy as sa  # isort: skip  (behind the module that says how to install it)

MEDIA_TYPE = "application/problem+json"
_PAUSE = 5  # seconds until a database that could not be used is tried again
_LATER = f"The database cannot be used now. Send the same again in {_PAUSE} s."
_SCHEMA = {
    "type": "object",
    "required": ["type", "title", "status", "detail"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
    },
}
_MEANINGS = {
    400: "The request cannot be read.",
    401: "The token is missing or unknown.",
    403: "This token may not do that.",
    404: "There is no such thing.",
    409: "That cannot follow what has happened.",
    413: "The body is too large.",
    422: "A value breaks a rule.",
    429: "Too many requests; Retry-After says when to come again.",
    503: "The database cannot be used now; Retry-After says when to come again.",
}
# For the OpenAPI description: what every route may answer.
RESPONSES: dict[int | str, dict[str, Any]] = {
    status: {"description": meaning, "content": {MEDIA_TYPE: {"schema": _SCHEMA}}}
    for status, meaning in _MEANINGS.items()
}


class RefusedError(Exception):
    """A request that is refused, with the status and the one line that say why."""

    def __init__(self, status: int, detail: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(detail)
        self.status, self.detail, self.headers = status, detail, headers or {}


def problem(status: int, detail: str, headers: dict[str, str] | None = None, **more: Any) -> JSONResponse:
    """A problem as RFC 9457 has it.

    >>> problem(404, "There is no answer 9.").body.decode()
    '{"type":"about:blank","title":"Not Found","status":404,"detail":"There is no answer 9."}'
    """
    content = {"type": "about:blank", "title": HTTPStatus(status).phrase, "status": status, "detail": detail, **more}
    return JSONResponse(content, status, headers, MEDIA_TYPE)


def in_haste(seconds: float) -> tuple[str, dict[str, str]]:
    """What is said to somebody who comes too often, and the header for programs.

    >>> in_haste(0.25)
    ('Too many requests. Come again in 0.2 s.', {'retry-after': '1'})
    """
    return f"Too many requests. Come again in {seconds:.1f} s.", {"retry-after": str(int(seconds) + 1)}


def status_of(error: Exception) -> int:
    """The status that says what kind of error it is.

    >>> status_of(ConflictError("Undone already.")), status_of(InputError("Costs lie in [0, 1]."))
    (409, 422)
    """
    if _may_pass(error):
        return 503
    if isinstance(error, UnknownIdError):
        return 404
    if isinstance(error, ConflictError):
        return 409
    return 422 if isinstance(error, InputError) else 500


def _may_pass(error: Exception) -> bool:
    """Whether somebody else has locked the database, or it went away: then the same may be sent again."""
    lost = isinstance(error, sa.exc.DBAPIError) and error.connection_invalidated
    return lost or isinstance(error, sa.exc.OperationalError | FileBusyError)


def answer_in_problems(app: FastAPI) -> None:
    """Let every error leave the app as a problem: JSON for programs, a page for people."""

    def shown(request: Request, status: int, detail: str, headers: Any = None, **more: Any) -> Response:
        if request.url.path.startswith("/api/"):
            return problem(status, detail, headers, **more)
        about = {"status": status, "title": HTTPStatus(status).phrase, "detail": detail}
        return request.app.state.templates.TemplateResponse(  # type: ignore[no-any-return]
            request, "problem.html", about, status, headers
        )

    def refused(request: Request, error: Exception) -> Response:
        assert isinstance(error, RefusedError)
        return shown(request, error.status, error.detail, error.headers)

    def of_http(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        return shown(request, error.status_code, str(error.detail), error.headers)

    def of_input(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        found = [(".".join(str(part) for part in one["loc"]), str(one["msg"])) for one in error.errors()]
        detail = "; ".join(f"{place}: {what}" for place, what in found[:5])
        return shown(request, 422, detail, errors=[{"place": place, "rule": what} for place, what in found])

    def of_desk(request: Request, error: Exception) -> Response:
        status = status_of(error)
        if status == 500:
            return unforeseen(request, error)
        if status == 503:
            why = in_one_line(getattr(error, "orig", None) or error)
            logging.getLogger("coalface").warning("%s %s: %s", request.method, request.url.path, why)
            return shown(request, status, _LATER, {"retry-after": str(_PAUSE)})
        return shown(request, status, " ".join(str(error).split()))

    def unforeseen(request: Request, error: Exception) -> Response:
        logging.getLogger("coalface").error("%s %s failed", request.method, request.url.path, exc_info=error)
        return shown(request, 500, "Something went wrong here, and was logged. Send the request again.")

    app.add_exception_handler(RefusedError, refused)
    app.add_exception_handler(HTTPException, of_http)
    app.add_exception_handler(RequestValidationError, of_input)
    app.add_exception_handler(CoalfaceError, of_desk)
    app.add_exception_handler(sa.exc.DBAPIError, of_desk)
    app.add_exception_handler(Exception, unforeseen)
