"""The host names that a service answers to. With any name allowed, a foreign page could read it by DNS rebinding."""

import socket
from collections.abc import Collection
from ipaddress import ip_address

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from coalface.web.http_errors import error_response

LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")
_MISDIRECTED = 421


class HostCheck:
    """Refuses requests for other hosts. ``names`` are allowed; with ``open_addresses``, so is every IP address."""

    def __init__(self, app: ASGIApp, names: Collection[str], *, open_addresses: bool = False) -> None:
        self._app, self._open_addresses = app, open_addresses
        self._names = {name.lower() for name in names}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it."""
        if scope["type"] != "http" or self._allows(name := host_name(scope)):
            await self._app(scope, receive, send)
            return
        detail = f"This service is not called {name!r:.100}. Start it with --host-name {name:.100} if it is."
        await error_response(Request(scope), _MISDIRECTED, detail)(scope, receive, send)

    def _allows(self, name: str) -> bool:
        return name in self._names or (self._open_addresses and _is_address(name))


def host_name(scope: Scope) -> str:
    """The name in the Host header, without its port.

    >>> [host_name({"headers": [(b"host", text)]}) for text in (b"Mail.example:8137", b"[::1]:80", b"10.0.0.5")]
    ['mail.example', '::1', '10.0.0.5']
    """
    text: str = dict(scope["headers"]).get(b"host", b"").decode("latin-1").lower().strip()
    if text.startswith("["):
        return text[1:].partition("]")[0]
    return text.partition(":")[0]


def names_of(host: str, given: Collection[str], *, local: bool) -> set[str]:
    """The names of a service at an address: those given, those of the loopback and, for others, of the machine."""
    names = {*LOOPBACK_NAMES, host, *given}
    return names if local else names | {socket.gethostname(), socket.getfqdn()}


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True
