"""The verbs of ``coalface route``."""

import os
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coalface.cli import options
from coalface.cli.learner_options import ROUTER, LearnerSettings
from coalface.cli.option_groups import OptionGroup
from coalface.cli.option_values import (
    budget_in,
    check_drawn,
    check_new,
    check_output,
    embedder_in,
    given,
    numbers_in,
    pairs_in,
)
from coalface.cli.screen import counted, print_table, show
from coalface.errors import InputError

if TYPE_CHECKING:
    from coalface.routing.outcomes import OutcomeColumns, Outcomes


@dataclass(frozen=True)
class _ColumnNames(OptionGroup):
    """The columns of a table of outcomes; those left out have the names of the training, or the usual ones."""

    columns: Annotated[
        str | None,
        typer.Option(
            metavar="ROLE=COLUMN,...",
            help="The columns of the model, of its loss from 0 to 1, of the price of its run and of the request's id, "
            "where they are not called model, loss (or cost), price and id: such as model=llm,loss=wrong.",
        ),
    ] = None
    ignore: options.Ignore = None

    def within(self, others: "OutcomeColumns") -> "OutcomeColumns":
        """The columns with these names, and those of ``others`` that the user did not name."""
        named = pairs_in("--columns", self.columns, "ROLE=COLUMN")
        for role in named:
            if role not in _ROLES:
                raise InputError(f"--columns has no {role!r}. Use some of {', '.join(_ROLES)}.")
        return replace(others, **named, **given(ignore=None if self.ignore is None else tuple(self.ignore)))


_ROLES = ("model", "loss", "price", "id")
_UNIT_VALUE = 1.0  # what a loss of 1 costs, unless the user says otherwise


def train(
    table: Annotated[Path, typer.Argument(metavar="TABLE", help="Outcomes: one line per request and model.")],
    *,
    model: options.ModelFile,
    value_of_quality: Annotated[
        float | None,
        typer.Option(help="What a loss of 1 costs you, in the unit of the prices.", show_default="1.0, which it says"),
    ] = None,
    price: Annotated[
        str | None,
        options.amounts(
            "The price of each model, such as small=0.1,large=2; by default the mean of its prices.", "MODEL"
        ),
    ] = None,
    active: Annotated[
        bool, typer.Option("--active", help="Learn only the outcomes that the router asks for, row by row.")
    ] = False,
    budget: Annotated[
        str | None,
        options.amounts("What --active may spend: price=5, in the unit of the prices, or costs=500 outcomes."),
    ] = None,
    naming: _ColumnNames,
    features: options.Features = None,
    settings: Annotated[LearnerSettings, ROUTER],
    format: options.Format = "auto",
    as_json: options.Json = False,
) -> None:
    """Learn which model handles which request, and save the router.

    TABLE is CSV, JSON lines or Parquet. It has the columns model, loss (or cost) and, if known, price and id; all
    other columns are the request: its text, or features. A request may lack the outcomes of some models.
    """
    from coalface.files import exclusive
    from coalface.routing.outcomes import OutcomeColumns, Outcomes
    from coalface.routing.router import Router, learn_outcomes

    check_output(model, "--model")
    if budget is not None and not active:
        raise InputError("--budget limits what --active asks for. Pass --active, too, or leave out --budget.")
    named = naming.within(OutcomeColumns())
    outcomes = Outcomes.read(table, named, format=format)
    parameters = {**settings.parts(), **given(features=embedder_in(features), budget=budget_in(budget))}
    prices = _prices_in(price, outcomes)
    with exclusive(model):
        check_new(model, "Pass another --model.")
        value = _UNIT_VALUE if value_of_quality is None else value_of_quality
        router = Router(outcomes.models, prices, value, **parameters)
        router.columns = named
        learn_outcomes(router, outcomes, active=active)
        router.save(model)
    n_known, n_asked = int((outcomes.loss == outcomes.loss).sum()), router.learner.costs_queried_
    facts = {
        "model": str(model),
        "requests": len(outcomes),
        "models": len(outcomes.models),
        "asked": n_asked,
        "outcomes": router.outcomes_known_,
        "outcomes_in_table": n_known,
        "spent": router.spent_,
        "value_of_quality": router.value_of_quality,
        "prices": dict(zip(map(str, outcomes.models.tolist()), router.price(outcomes.examples[:1])[0], strict=True)),
    }
    lines = [
        f"{model}: {counted(len(outcomes), 'request')}, {counted(len(outcomes.models), 'model')}, learned "
        f"{counted(router.outcomes_known_, 'outcome')} of {n_known:,}"
    ]
    if active:
        lines.append(
            f"Asked for {counted(n_asked, 'outcome')}; the table has {router.outcomes_known_:,} of them, which cost "
            f"{router.spent_:.6g}"
        )
    if value_of_quality is None:
        lines.append(
            "A loss of 1 counts as 1.0 in the unit of the prices. Say what it costs you with --value-of-quality."
        )
    show(facts, "\n".join(lines), as_json=as_json)


def _prices_in(text: str | None, outcomes: "Outcomes") -> dict[Any, float] | float:
    """The prices that an option gives, else the mean prices of the table; 0 if it has none."""
    if text is None:
        return outcomes.mean_prices() if outcomes.has_prices else 0.0
    return numbers_in("--price", text)


TOKEN = "COALFACE_ROUTE_TOKEN"
RouterFile = Annotated[Path, typer.Argument(metavar="MODEL", help="A router that route train has saved.")]
LedgerFile = Annotated[
    Path | None, typer.Option(help="The journal of decisions and outcomes; by default MODEL.journal.")
]


def serve(
    model: RouterFile,
    ledger: LedgerFile = None,
    host: options.Host = "127.0.0.1",
    port: options.Port = 8138,
    proxy: options.Proxy = None,
) -> None:
    """Serve a router over HTTP: POST /route, POST /outcomes, GET /report.

    Decisions and outcomes are written to a journal before they are acknowledged; a restart replays them.
    If $COALFACE_ROUTE_TOKEN is set, every request needs it as a bearer token; it must be set if other machines can
    connect.
    """
    from coalface.files import exclusive
    from coalface.routing.desk import RoutingDesk
    from coalface.routing.router import Router
    from coalface.routing.web import routing_service
    from coalface.web.server import ServerOptions, listen, message_if_slow

    token, server = os.environ.get(TOKEN) or None, ServerOptions(host, port, proxy)
    if token is None and not server.is_local:
        raise InputError(f"--host {host} lets other machines connect, so a token is needed. Set ${TOKEN}.")
    journal = _journal_of(model, ledger)
    with exclusive(journal):
        with message_if_slow(partial(typer.echo, err=True)):
            desk = RoutingDesk(Router.load(existing(model)), journal)
        listen(routing_service(desk, token), server, model.name, typer.echo)


def _journal_of(model: Path, ledger: Path | None) -> Path:
    """The journal of a router."""
    return model.with_name(f"{model.name}.journal") if ledger is None else ledger


def existing(model: Path) -> Path:
    """The file of a router; an InputError if there is none."""
    if not model.is_file():
        raise InputError(f"There is no router {model}. Train one with: coalface route train TABLE --model {model}")
    return model


_FIGURES = (".svg", ".png", ".pdf")


def report(
    model: RouterFile,
    table: Annotated[
        Path | None,
        typer.Argument(metavar="[TABLE]", help="Outcomes of all models, to measure quality against price."),
    ] = None,
    *,
    ledger: LedgerFile = None,
    naming: _ColumnNames,
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
        journal = _journal_of(model, ledger)
        if not journal.is_file():
            raise InputError(f"There is no journal {journal}. Start the service with: coalface route serve {model}")
        found = RoutingDesk(router, journal).report()
        show(found.to_json(), lambda: print_table("Routing", ("number", "value"), found.rows()), as_json=as_json)
        return
    trained = OutcomeColumns() if router.columns is None else router.columns.remembered()
    outcomes = Outcomes.read(table, naming.within(trained), router.models.tolist())
    paid = outcomes.price if outcomes.has_prices else None
    trade_off = router.trade_off(outcomes.examples, outcomes.loss, paid=paid)
    typer.echo(trade_off.to_json() if as_json else trade_off.table())
    if figure is not None:
        trade_off.save_figure(figure)
        typer.echo(f"Figure: {figure.resolve()}", err=True)


def _check_figure(figure: Path, table: Path | None) -> None:
    """Refuse a figure that cannot be drawn, before anything is printed."""
    if table is None:
        raise InputError("--figure needs TABLE, the outcomes to measure the router on. Pass it.")
    if figure.suffix.lower() not in _FIGURES:
        raise InputError(
            f"--figure must end in {', '.join(_FIGURES[:-1])} or {_FIGURES[-1]}, got {str(figure)!r}. Choose another "
            "name."
        )
    check_drawn(figure, "--figure")
