"""``coalface route train``."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coalface.cli import options
from coalface.cli.option_values import budget_in, check_output, embedder_in, given, model_in, numbers_in
from coalface.cli.route.columns import ColumnNames
from coalface.cli.screen import counted
from coalface.errors import InputError

if TYPE_CHECKING:
    from coalface.routing.outcomes import Outcomes

_UNIT_VALUE = 1.0  # what a loss of 1 costs, unless the user says otherwise


def train(
    table: Annotated[Path, typer.Argument(metavar="TABLE", help="Outcomes: one line per request and model.")],
    *,
    model: Annotated[Path, typer.Option(help="The file to save the router in.")],
    value_of_quality: Annotated[
        float | None,
        typer.Option(help="What a loss of 1 costs you, in the unit of the prices.", show_default="1.0, which it says"),
    ] = None,
    price: Annotated[
        str | None,
        typer.Option(help="The price of each model, such as small=0.1,large=2; by default the mean of its prices."),
    ] = None,
    active: Annotated[
        bool, typer.Option("--active", help="Learn only the outcomes that the router asks for, row by row.")
    ] = False,
    budget: Annotated[
        str | None,
        typer.Option(
            metavar="NAME=NUMBER,...",
            help="What --active may spend: price=5, in the unit of the prices, or costs=500, a number of outcomes.",
        ),
    ] = None,
    audit_rate: options.AuditRate = None,
    columns: ColumnNames,
    features: options.Features = None,
    mellowness: options.Mellowness = None,
    cost_model: options.CostModel = None,
    seed: options.SeedIfGiven = None,
    format: options.Format = "auto",
    as_json: options.Json = False,
) -> None:
    """Learn which model handles which request, and save the router.

    TABLE is CSV, JSON lines or Parquet. It has the columns model, loss (or cost) and, if known, price and id; all
    other columns are the request: its text, or features. A request may lack the outcomes of some models.
    """
    from coalface.files.atomic import exclusive
    from coalface.routing.outcomes import OutcomeColumns, Outcomes
    from coalface.routing.router import Router, learn_outcomes

    check_output(model, "--model")
    if budget is not None and not active:
        raise InputError("--budget limits what --active asks for. Pass --active, too, or leave out --budget.")
    named = columns.within(OutcomeColumns())
    outcomes = Outcomes.read(table, named, format=format)
    parameters = given(
        features=embedder_in(features),
        mellowness=mellowness,
        audit_rate=audit_rate,
        budget=budget_in(budget),
        model=model_in(cost_model, None),
        random_state=seed,
    )
    prices = prices_in(price, outcomes)
    with exclusive(model):
        if model.exists():
            raise InputError(f"{model} exists already. Pass another --model.")
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
    if as_json:
        typer.echo(json.dumps(facts))
        return
    typer.echo(
        f"{model}: {counted(len(outcomes), 'request')}, {counted(len(outcomes.models), 'model')}, learned "
        f"{counted(router.outcomes_known_, 'outcome')} of {n_known:,}"
    )
    if active:
        typer.echo(
            f"Asked for {counted(n_asked, 'outcome')}; the table has {router.outcomes_known_:,} of them, which cost "
            f"{router.spent_:.6g}"
        )
    if value_of_quality is None:
        typer.echo(
            "A loss of 1 counts as 1.0 in the unit of the prices. Say what it costs you with --value-of-quality."
        )


def prices_in(text: str | None, outcomes: "Outcomes") -> Any:
    """The prices that an option gives, else the mean prices of the table; 0 if it has none."""
    if text is None:
        return outcomes.mean_prices() if outcomes.has_prices else 0.0
    return numbers_in("--price", text)
