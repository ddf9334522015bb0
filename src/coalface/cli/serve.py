"""``coalface serve``: annotators answer in a browser, programs over HTTP."""

import os
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from coalface.cli import options

if TYPE_CHECKING:
    from coalface.desk.project.project import Project

SECRET = "COALFACE_WEBHOOK_SECRET"


def serve(
    folders: Annotated[list[Path], typer.Argument(metavar="PROJECT...", help="Project folders that init made.")],
    host: options.Host = "127.0.0.1",
    port: options.Port = 8137,
    new_token: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Print a new token for this person and exit. It is shown only once."),
    ] = None,
    role: Annotated[
        str, typer.Option(help="The role of the new token: annotator, reviewer or engineer.")
    ] = "annotator",
    remove_token: Annotated[
        str | None, typer.Option(metavar="NAME", help="Revoke this person's token and exit.")
    ] = None,
    webhook: Annotated[
        str | None, typer.Option(metavar="URL", help=f"Send events to this URL, signed with ${SECRET}.")
    ] = None,
    proxy: options.Proxy = None,
    host_name: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A name under which the service may be called, such as that of the proxy."),
    ] = None,
    log_format: Annotated[str, typer.Option(help="The form of log lines: text or json.")] = "text",
    log_level: Annotated[str, typer.Option(help="The least level that is logged: debug, info, warning or error.")] = (
        "info"
    ),
    per_minute: Annotated[float, typer.Option(min=1.0, help="Requests per minute that each caller may send.")] = 3000.0,
) -> None:
    """Serve labelling projects over HTTP.

    There are pages for annotators and engineers, and a REST API under /api/v1.
    With several projects, a person sees those in which their token has a role; --new-token gives one for all of them.
    Every caller needs a token; there is no default password. Only --host lets other machines connect; put a proxy
    with HTTPS in front of the server then.
    """
    from coalface.desk.project.project import Project

    projects = [Project.open(folder) for folder in folders]
    if new_token is not None:
        typer.echo(_add_token(projects, new_token, role))
        return
    if remove_token is not None:
        _remove_token(projects, remove_token)
        return
    from coalface.desk.web.service import DeskOptions, run_server

    server = DeskOptions(
        host,
        port,
        proxy,
        tuple(host_name or ()),
        per_minute=per_minute,
        webhook=webhook,
        webhook_secret=os.environ.get(SECRET, ""),
        log_format=log_format,
        log_level=log_level,
    )
    run_server(projects, server, typer.echo, partial(typer.echo, err=True))


def _add_token(projects: "list[Project]", name: str, role: str) -> str:
    from coalface.desk.log.ownership import opening
    from coalface.web import tokens

    tokens.check_person(name, role)
    token = tokens.new_token()
    for project in projects:
        with opening(project.address), closing(project.open_store()) as store:
            store.add_token(name, role, token)
    return token


def _remove_token(projects: "list[Project]", name: str) -> None:
    from coalface.desk.log.ownership import opening

    for project in projects:
        with opening(project.address), closing(project.open_store()) as store:
            store.remove_token(name)
    typer.echo(f"The token of {name} is revoked.")
