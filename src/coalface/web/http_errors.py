"""Error responses: RFC 9457 problem details where programs call, a page elsewhere."""

import logging
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any

import sqlalchemy as sa
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from coalface.errors import (
    CoalfaceError,
    ConflictError,
    FileBusyError,
    InputError,
    LostDatabaseError,
    UnknownIdError,
    in_one_line,
)

MEDIA_TYPE = "application/problem+json"
_FOR_PROGRAMS = ("/api/", "/metrics", "/healthz", "/readyz", "/label-studio/")  # where their addresses begin
_PAUSE = 5  # seconds until a client should try an unavailable database again
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
    400: "A form cannot be read.",
    401: "The token is missing or unknown.",
    403: "The caller's role does not allow this.",
    404: "Not found, or not the caller's.",
    409: "The request conflicts with an earlier one.",
    408: "The body came too slowly.",
    413: "The body is too large.",
    421: "The service is not called by this host name.",
    422: "The body is not valid JSON, a field or header is missing, or a value breaks a rule.",
    429: "Too many requests; Retry-After says how many seconds to wait.",
    503: "The database is unavailable; Retry-After says how many seconds to wait.",
}
# For the OpenAPI description: the errors that every route may return.
RESPONSES: dict[int | str, dict[str, Any]] = {
    status: {"description": meaning, "content": {MEDIA_TYPE: {"schema": _SCHEMA}}}
    for status, meaning in _MEANINGS.items()
}


_STATUSES = ((UnknownIdError, 404), (ConflictError, 409), (InputError, 422))
ErrorPage = Callable[[Request, int, str, Mapping[str, str] | None], Response]


def _problem(status: int, detail: str, headers: Mapping[str, str] | None = None, **more: Any) -> JSONResponse:
    """A problem in the format of RFC 9457.

    >>> _problem(404, "There is no answer 9.").body.decode()
    '{"type":"about:blank","title":"Not Found","status":404,"detail":"There is no answer 9."}'
    """
    content = {"type": "about:blank", "title": HTTPStatus(status).phrase, "status": status, "detail": detail, **more}
    return JSONResponse(content, status, headers, MEDIA_TYPE)


def error_response(
    request: Request, status: int, detail: str, headers: Mapping[str, str] | None = None, **more: Any
) -> Response:
    """An error as JSON for programs, as a page for people; an app of routes for programs only has no pages."""
    app, path = request.scope.get("app"), request.url.path.removeprefix(request.scope.get("root_path", ""))
    page: ErrorPage | None = None if app is None else getattr(app.state, "error_page", None)
    if page is None or path.startswith(_FOR_PROGRAMS):
        return _problem(status, detail, headers, **more)
    return page(request, status, detail, headers)


def _status_of(error: Exception) -> int:
    """The HTTP status for an error of the desk or the database.

    >>> _status_of(ConflictError("Undone already.")), _status_of(InputError("Costs lie in [0, 1]."))
    (409, 422)
    """
    if _is_unavailable(error):
        return 503
    return next((status for kind, status in _STATUSES if isinstance(error, kind)), 500)


def _is_unavailable(error: Exception) -> bool:
    """Whether another process has locked the database or the connection was lost, so that a second try may succeed."""
    lost = isinstance(error, sa.exc.DBAPIError) and error.connection_invalidated
    return lost or isinstance(error, sa.exc.OperationalError | FileBusyError | LostDatabaseError)


def install_error_handlers(app: FastAPI, page: ErrorPage | None = None) -> None:
    """Turn every exception of the app into an error response; ``page`` makes those for people."""
    app.state.error_page = page
    kinds = (HTTPException, RequestValidationError, CoalfaceError, sa.exc.DBAPIError, Exception)
    for kind in kinds:
        app.add_exception_handler(kind, _handle)


def _handle(request: Request, error: Exception) -> Response:
    if isinstance(error, HTTPException):
        return error_response(request, error.status_code, str(error.detail), error.headers)
    if isinstance(error, RequestValidationError):
        found = [
            (".".join(str(part) for part in one["loc"]), str(one["msg"]).removeprefix("Value error, "))
            for one in error.errors()
        ]
        if isinstance(error.body, bytes) and error.body:  # FastAPI reads JSON only if the header says that it is
            found = [("body", "Must be JSON. Send the header Content-Type: application/json.")]
        detail = "; ".join(f"{place}: {rule}" for place, rule in found[:5])
        return error_response(request, 422, detail, errors=[{"place": place, "rule": rule} for place, rule in found])
    return _handle_unexpected(request, error, _status_of(error))


def _handle_unexpected(request: Request, error: Exception, status: int) -> Response:
    log, where = logging.getLogger("coalface"), f"{request.method} {request.url.path}"
    if status == 500:
        log.error("%s failed", where, exc_info=error)
        return error_response(request, 500, "The server failed and has logged the error. Send the request again.")
    if isinstance(error, LostDatabaseError):
        request.app.state.stop(error)  # nothing that is sent now could be stored
    if status == 503:
        log.warning("%s: %s", where, in_one_line(getattr(error, "orig", None) or error))
        detail = f"The database cannot be used now. Send the same request again in {_PAUSE} s."
        return error_response(request, 503, detail, {"retry-after": str(_PAUSE)})
    return error_response(request, status, " ".join(str(error).split()))
