"""``coalface route report``."""

import json
from pathlib import Path
from typing import Annotated

import typer

from coalface.cli import options
from coalface.cli.option_values import check_output
from coalface.cli.route.columns import ColumnNames
from coalface.cli.route.serve import LedgerFile, RouterFile, existing, journal_of
from coalface.cli.screen import print_table
from coalface.errors import InputError

_FIGURES = (".svg", ".png", ".pdf")


def report(
    model: RouterFile,
    table: Annotated[
        Path | None,
        typer.Argument(metavar="[TABLE]", help="Outcomes of all models, to measure quality against price."),
    ] = None,
    *,
    ledger: LedgerFile = None,
    columns: ColumnNames,
    figure: Annotated[Path | None, typer.Option(help="Draw quality against price: a file .svg, .png or .pdf.")] = None,
    as_json: options.Json = False,
) -> None:
    """Report what a router has spent and lost, and its quality against its price.

    Without TABLE, the numbers are those of the journal that route serve keeps.
    With TABLE, which needs the outcome of every model, the router is measured on it at many quality weights.
    Its columns have the names that route train was given, unless options name others.
    """
    from coalface.routing.desk import RoutingDesk
    from coalface.routing.outcomes import OutcomeColumns, Outcomes
    from coalface.routing.router import Router

    if figure is not None:
        _check_figure(figure, table)
    router = Router.load(existing(model))
    if table is None:
        journal = journal_of(model, ledger)
        if not journal.is_file():
            raise InputError(f"There is no journal {journal}. Start the service with: coalface route serve {model}")
        found = RoutingDesk(router, journal).report()
        if as_json:
            typer.echo(json.dumps(found.to_json()))
        else:
            print_table("Routing", ("number", "value"), found.rows())
        return
    trained = OutcomeColumns() if router.columns is None else router.columns.remembered()
    outcomes = Outcomes.read(table, columns.within(trained), router.models.tolist())
    paid = outcomes.price if outcomes.has_prices else None
    trade_off = router.trade_off(outcomes.examples, outcomes.loss, paid=paid)
    if as_json:
        typer.echo(trade_off.to_json())
    else:
        typer.echo(trade_off.table())
    if figure is not None:
        trade_off.save_figure(figure)
        typer.echo(f"Figure: {figure.resolve()}", err=True)


def _check_figure(figure: Path, table: Path | None) -> None:
    """Refuse a figure that cannot be drawn, before anything is printed."""
    if table is None:
        raise InputError("--figure needs TABLE, the outcomes to measure the router on. Pass it.")
    if figure.suffix.lower() not in _FIGURES:
        raise InputError(f"--figure must end in {', '.join(_FIGURES[:-1])} or {_FIGURES[-1]}, got {str(figure)!r}.")
    check_output(figure, "--figure")
