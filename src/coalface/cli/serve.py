"""``coalface serve``: people answer in a browser, programs over HTTP."""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from socket import IPPROTO_TCP, TCP_NODELAY
from typing import TYPE_CHECKING, Annotated

import typer

from coalface.cli.projects import ProjectFolder
from coalface.errors import InputError

if TYPE_CHECKING:
    from coalface.service.project.project import Project

SECRET = "COALFACE_WEBHOOK_SECRET"
_MOST_CONNECTIONS = 900  # a process may commonly have 1024 files open
_PATIENCE = 1.5  # seconds, before it is said what takes so long
_LOOPBACK = ("127.0.0.1", "::1", "localhost")


def serve(
    folder: ProjectFolder,
    host: Annotated[str, typer.Option(help="Where to listen; 0.0.0.0 lets other machines in.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 takes a free one.")] = 8137,
    new_token: Annotated[
        str | None, typer.Option(metavar="NAME", help="Print a token for this person, and stop. It is shown once.")
    ] = None,
    role: Annotated[str, typer.Option(help="Of the new token: annotator or engineer.")] = "annotator",
    remove_token: Annotated[
        str | None, typer.Option(metavar="NAME", help="Let this person in no longer, and stop.")
    ] = None,
    webhook: Annotated[
        str | None, typer.Option(metavar="URL", help=f"Tell this address what happens, signed with ${SECRET}.")
    ] = None,
    proxy: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Believe the server at this address who calls and whether by HTTPS."),
    ] = None,
    per_minute: Annotated[float, typer.Option(min=1.0, help="Requests a minute that each caller may make.")] = 3000.0,
) -> None:
    """Serve a project: pages for annotators and engineers, and REST under /api/v1.

    Everybody needs a token; there is no password to begin with. Other machines are let in only if --host says so, and
    then should come through a server that speaks HTTPS.
    """
    from coalface.service.project.project import Project

    project = Project.open(folder)
    if new_token is not None:
        typer.echo(_add_token(project, new_token, role))
    elif remove_token is not None:
        _remove_token(project, remove_token)
    else:
        _serve(project, host, port, webhook, per_minute, proxy)


def _add_token(project: "Project", name: str, role: str) -> str:
    from coalface.service.project.ownership import opening
    from coalface.service.web.tokens import check_person, digest_of
    from coalface.service.web.tokens import new_token as draw

    check_person(name, role)
    token = draw()
    with opening(project.address), closing(project.open_store()) as store:
        store.add_token(name, role, digest_of(token))
    return token


def _remove_token(project: "Project", name: str) -> None:
    from coalface.service.project.ownership import opening

    with opening(project.address), closing(project.open_store()) as store:
        store.remove_token(name)
    typer.echo(f"{name} has no token any longer.")


def _serve(project: "Project", host: str, port: int, webhook: str | None, per_minute: float, proxy: str | None) -> None:
    try:
        import uvicorn

        from coalface.service.desk.desk import Desk
        from coalface.service.web.precompile import warm_up
        from coalface.service.web.service import service_of
        from coalface.service.web.webhooks import Messenger
    except ModuleNotFoundError as missing:
        raise InputError(f"serve needs {missing.name}, which is not installed: pip install 'coalface[app]'.") from None

    with _saying_if_slow():
        desk = Desk(project)  # first of all, it sees to it that nobody else has the project open
    try:
        if not desk.store.tokens():
            raise InputError(
                f"Nobody could log in: {project.name} has no tokens. Make one with coalface serve {project.folder} "
                "--new-token NAME --role engineer."
            )
        with _saying_if_slow():
            warm_up(project)  # lest the first annotator wait for the compiler
        told = project.folder / "webhook.told"
        messenger = webhook and Messenger(desk, webhook, os.environ.get(SECRET, ""), told)
        config = uvicorn.Config(
            service_of(desk, messenger or None, per_minute=per_minute),
            host,
            port,
            log_level="warning",
            access_log=False,
            server_header=False,
            ws="none",
            proxy_headers=proxy is not None,  # what a stranger says of itself is not believed
            forwarded_allow_ips=proxy,
            limit_concurrency=_MOST_CONNECTIONS,
            timeout_graceful_shutdown=5,
            timeout_keep_alive=75,  # longer than clients keep a silent connection, so that it is they who close it
        )
        with config.bind_socket() as socket:
            socket.setsockopt(IPPROTO_TCP, TCP_NODELAY, 1)  # else every other reply waits 40 ms for an acknowledgement
            typer.echo(f"{project.title} is at http://{_shown(host)}:{socket.getsockname()[1]}  (Ctrl-C ends)")
            if host not in _LOOPBACK:
                typer.echo("Other machines can reach it: let them come through HTTPS, tokens travel with requests.")
            signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # once uvicorn has ended: the desk saves a snapshot
            uvicorn.Server(config).run(sockets=[socket])
    finally:
        desk.close()


@contextmanager
def _saying_if_slow() -> Iterator[None]:
    words = "Getting ready; the first start on a machine compiles for a minute or so ..."
    patience = threading.Timer(_PATIENCE, lambda: typer.echo(words, err=True))
    patience.start()
    try:
        yield
    finally:
        patience.cancel()


def _shown(host: str) -> str:
    return f"[{host}]" if ":" in host else host
