"""``coalface evaluate``."""

from pathlib import Path
from typing import Annotated

import typer

from coalface.cli import options
from coalface.cli.option_groups import ReaderOptions
from coalface.cli.option_values import check_output
from coalface.cli.screen import print_table


def evaluate(
    model: options.Model,
    data: options.Data,
    *,
    html: Annotated[Path | None, typer.Option(help="Write an HTML page with tables and figures.")] = None,
    as_json: options.Json = False,
    format: options.Format = "auto",
    reading: ReaderOptions,
) -> None:
    """Measure how good a model is on data with known costs.

    The mean cost has a 95 % interval and is compared with the best single label and the cheapest label of each row.
    Rows count only if the cost of the predicted label is known.
    """
    from coalface.data.formats.readers import format_of
    from coalface.learner.named_learner import NamedLearner
    from coalface.studies.evaluation.report import evaluation_report
    from coalface.studies.evaluation.tables import facts_of, notice_of, tables_of

    if html is not None:
        check_output(html, "--html")
    current = NamedLearner.load(model)
    options = reading.given()
    if "cost_matrix" not in options:
        options = current.with_own_costs(format_of(data, format), options)
    dataset = current.read(data, format, options)
    if reading.label is not None:
        typer.echo(f"Costs: {'0 and 1' if 'cost_matrix' not in options else 'of the cost matrix'}.", err=True)
    report = evaluation_report(
        current.learner,
        dataset.X,
        dataset.cost,
        candidates=dataset.candidates,
        feature_names=current.feature_names,
    )
    if as_json:
        typer.echo(report.to_json())
    else:
        for table in tables_of(report):
            print_table(table.title, table.headings, table.rows)
            if table.note:
                typer.echo(f"  {table.note}\n")
        print_table("Ranges and counts", ("number", "value"), [list(fact) for fact in facts_of(report).items()])
        if notice := notice_of(report):
            typer.echo(notice)
    if html is not None:
        report.to_html(html, f"{model.name} on {data.name}")
        typer.echo(f"Report: {html.resolve()}", err=True)
