"""``coalface route serve``."""

import os
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from coalface.errors import InputError

TOKEN = "COALFACE_ROUTE_TOKEN"
RouterFile = Annotated[Path, typer.Argument(metavar="MODEL", help="A router that route train has saved.")]
LedgerFile = Annotated[
    Path | None, typer.Option(help="The journal of decisions and outcomes; by default MODEL.journal.")
]


def serve(
    model: RouterFile,
    ledger: LedgerFile = None,
    host: Annotated[
        str, typer.Option(help="The address to listen at; 0.0.0.0 lets other machines connect.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 takes a free one.")] = 8138,
    proxy: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Trust X-Forwarded-* headers from this proxy.")
    ] = None,
) -> None:
    """Serve a router over HTTP: POST /route, POST /outcomes, GET /report.

    Decisions and outcomes are written to a journal before they are acknowledged; a restart goes on with them.
    If $COALFACE_ROUTE_TOKEN is set, every request needs it as a bearer token; it must be set if other machines can
    connect.
    """
    from coalface.files.atomic import exclusive
    from coalface.routing.desk import RoutingDesk
    from coalface.routing.router import Router
    from coalface.routing.web import routing_service
    from coalface.web.server import ServerOptions, listen, message_if_slow

    token, server = os.environ.get(TOKEN) or None, ServerOptions(host, port, proxy)
    if token is None and not server.is_local:
        raise InputError(f"--host {host} lets other machines connect, so a token is needed. Set ${TOKEN}.")
    journal = journal_of(model, ledger)
    with exclusive(journal):
        with message_if_slow(partial(typer.echo, err=True)):
            desk = RoutingDesk(Router.load(existing(model)), journal)
        listen(routing_service(desk, token), server, model.name, typer.echo)


def journal_of(model: Path, ledger: Path | None) -> Path:
    """The journal of a router."""
    return model.with_name(f"{model.name}.journal") if ledger is None else ledger


def existing(model: Path) -> Path:
    """The file of a router; an InputError if there is none."""
    if not model.is_file():
        raise InputError(f"There is no router {model}. Train one with: coalface route train TABLE --model {model}")
    return model
