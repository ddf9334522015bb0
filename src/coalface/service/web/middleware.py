"""The middleware around every request: limits on rates and bodies, and strict headers on every response."""

from typing import Protocol

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from coalface.service.web.auth import address_of
from coalface.service.web.http_errors import RefusedError, error_response

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


class _BodyTooLarge(BaseException):  # not an Exception: the framework would turn that into a 400
    pass


class AddressLimit(Protocol):
    """Limits how often an address may call."""

    def check_address(self, address: str) -> None:
        """Raise an error if the address calls too often."""
        ...


class Safeguards:
    """Limits what one caller can take from the others, and forbids browsers to run or load anything foreign.

    Paths that begin with one of ``open_paths`` need no token, so their rate is limited by address.
    """

    def __init__(
        self,
        app: ASGIApp,
        authenticator: AddressLimit,
        open_paths: tuple[str, ...],
        largest_body: int = LARGEST_BODY,
    ) -> None:
        self._app, self._authenticator = app, authenticator
        self._open_paths, self._largest_body = open_paths, largest_body

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        n_bytes, begun = 0, False

        async def limited() -> Message:
            nonlocal n_bytes
            message = await receive()
            n_bytes += len(message.get("body", b""))
            if n_bytes > self._largest_body:
                raise _BodyTooLarge
            return message

        async def strict(message: Message) -> None:
            nonlocal begun
            begun = True
            if message["type"] == "http.response.start":
                _add_headers(MutableHeaders(scope=message), scope)
            await send(message)

        declared = b"content-length" in dict(scope["headers"])  # then the server lets no more than that through
        try:
            await (self._refusal(scope) or self._app)(scope, receive if declared else limited, strict)
        except _BodyTooLarge:
            if not begun:
                await self._too_large(Request(scope))(scope, receive, strict)

    def _refusal(self, scope: Scope) -> Response | None:
        """The response to a request that is refused before its body is read."""
        if scope["path"].startswith(self._open_paths):
            request = Request(scope)
            try:
                self._authenticator.check_address(address_of(request))
            except RefusedError as refusal:
                return error_response(request, refusal.status, refusal.detail, refusal.headers)
        length = dict(scope["headers"]).get(b"content-length", b"0")
        return None if length.isdigit() and int(length) <= self._largest_body else self._too_large(Request(scope))

    def _too_large(self, request: Request) -> Response:
        detail = f"A request may have a body of at most {self._largest_body} bytes. Send less at a time."
        return error_response(request, 413, detail)


def _add_headers(headers: MutableHeaders, scope: Scope) -> None:
    for name, value in _HEADERS.items():
        headers.setdefault(name, value)
    if scope.get("scheme") == "https":
        headers.setdefault("strict-transport-security", "max-age=31536000")
