"""``coalface serve``: annotators answer in a browser, programs over HTTP."""

import os
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from coalface.cli import options

if TYPE_CHECKING:
    from coalface.service.project.project import Project

SECRET = "COALFACE_WEBHOOK_SECRET"


def serve(
    folder: options.ProjectFolder,
    host: Annotated[
        str, typer.Option(help="The address to listen at; 0.0.0.0 lets other machines connect.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 takes a free one.")] = 8137,
    new_token: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Print a new token for this person and exit. It is shown only once."),
    ] = None,
    role: Annotated[str, typer.Option(help="The role of the new token: annotator or engineer.")] = "annotator",
    remove_token: Annotated[
        str | None, typer.Option(metavar="NAME", help="Revoke this person's token and exit.")
    ] = None,
    webhook: Annotated[
        str | None, typer.Option(metavar="URL", help=f"Send events to this URL, signed with ${SECRET}.")
    ] = None,
    proxy: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Trust X-Forwarded-* headers from this proxy.")
    ] = None,
    per_minute: Annotated[float, typer.Option(min=1.0, help="Requests per minute that each caller may send.")] = 3000.0,
) -> None:
    """Serve a labelling project over HTTP.

    There are pages for annotators and engineers, and a REST API under /api/v1.
    Every caller needs a token; there is no default password. Only --host lets other machines connect; put a proxy
    with HTTPS in front of the server then.
    """
    from coalface.service.project.project import Project

    project = Project.open(folder)
    if new_token is not None:
        typer.echo(_add_token(project, new_token, role))
        return
    if remove_token is not None:
        _remove_token(project, remove_token)
        return
    from coalface.service.web.uvicorn_server import ServerOptions, run_server

    server = ServerOptions(host, port, per_minute, proxy, webhook, os.environ.get(SECRET, ""))
    run_server(project, server, typer.echo, partial(typer.echo, err=True))


def _add_token(project: "Project", name: str, role: str) -> str:
    from coalface.service.project.ownership import opening
    from coalface.service.web import tokens

    tokens.check_person(name, role)
    token = tokens.new_token()
    with opening(project.address), closing(project.open_store()) as store:
        store.add_token(name, role, token)
    return token


def _remove_token(project: "Project", name: str) -> None:
    from coalface.service.project.ownership import opening

    with opening(project.address), closing(project.open_store()) as store:
        store.remove_token(name)
    typer.echo(f"The token of {name} is revoked.")
