"""The desks of a service, one per project, by name; and the addresses of their pages.

With one project, its pages are at ``/label`` and so on. With several, those of a project are at
``/projects/NAME/label``; that address works with one project, too.
"""

from collections.abc import Awaitable, Iterator, Sequence

from starlette.datastructures import MutableHeaders
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from coalface.desk.service.desk import Desk
from coalface.errors import InputError

PREFIX = "/projects/"
PROJECT = "coalface.project"  # in the scope of a request: the project whose page it is
_OF_SERVICE = ("/login", "/logout", "/static/", "/api/", "/projects/")  # addresses that belong to no project


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


class ProjectPaths:
    """Routes ``/projects/NAME/...`` to the pages of a project, and keeps their redirects there."""

    def __init__(self, app: ASGIApp, desks: Desks) -> None:
        self._app, self._desks = app, desks

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Pass the request on with the project's name and without its prefix."""
        name, slash, _ = scope.get("path", "").removeprefix(PREFIX).partition("/")
        if scope["type"] != "http" or not scope["path"].startswith(PREFIX) or self._desks.get(name) is None:
            return self._app(scope, receive, send)
        root = f"{PREFIX}{name}"
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
