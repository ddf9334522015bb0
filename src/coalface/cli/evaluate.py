"""``coalface evaluate``."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from coalface.cli import options
from coalface.cli.option_groups import ReaderOptions
from coalface.cli.option_values import check_drawn
from coalface.cli.screen import print_table
from coalface.errors import InputError

if TYPE_CHECKING:
    from coalface.evaluate import EvaluationReport


def evaluate(
    model: options.Model,
    data: options.Data,
    *,
    report: options.Report = None,
    logged: Annotated[
        bool, typer.Option("--logged", help="DATA is a log of served labels: estimate what the model would have cost.")
    ] = False,
    as_json: options.Json = False,
    reading: ReaderOptions,
) -> None:
    """Measure how good a model is on data with known costs.

    The mean cost has a 95 % interval and is compared with the best single label and the cheapest label of each row.
    Rows count only if the cost of the predicted label is known.

    With --logged, DATA has a JSON line per served label, with "served", "probability", "costs" and the example. The
    estimates say what the model's predictions would have cost instead.
    """
    if logged:
        if report is not None:
            raise InputError("--report cannot be used with --logged, which prints one table. Leave out --report.")
        _evaluate_log(model, data, as_json=as_json)
        return
    from coalface.data import format_of
    from coalface.evaluate import evaluation_report
    from coalface.learner import NamedLearner

    check_drawn(report)
    current = NamedLearner.load(model)
    options = reading.given()
    if "cost_matrix" not in options:
        options = current.with_own_costs(format_of(data, reading.format), options)
    dataset = current.warn_of_inputs(current.read(data, reading.format, options))
    if reading.label is not None:
        typer.echo(f"Costs: {'0 and 1' if 'cost_matrix' not in options else 'of the cost matrix'}.", err=True)
    found = evaluation_report(
        current.learner,
        dataset.X,
        dataset.cost,
        candidates=dataset.candidates,
        feature_names=current.feature_names,
    )
    if as_json:
        typer.echo(found.to_json())
    else:
        _print_report(found)
    if report is not None:
        found.to_html(report, f"{model.name} on {data.name}")
        typer.echo(f"Report: {report.resolve()}", err=True)


def _print_report(report: "EvaluationReport") -> None:
    from coalface.evaluate import facts_of, notice_of, tables_of

    for table in tables_of(report):
        print_table(table.title, table.headings, table.rows)
        if table.note:
            typer.echo(f"  {table.note}\n")
    print_table("Ranges and counts", ("number", "value"), [list(fact) for fact in facts_of(report).items()])
    if notice := notice_of(report):
        typer.echo(notice)


def _evaluate_log(model: Path, log: Path, *, as_json: bool) -> None:
    """Print the estimates of what the model's predictions would have cost."""
    import json

    from coalface.data import text_lines
    from coalface.evaluate import evaluate_lines
    from coalface.learner import NamedLearner

    report = evaluate_lines(NamedLearner.load(model), text_lines(log), str(log))
    if as_json:
        typer.echo(json.dumps(report.to_values()))
        return
    numbers = [[one.method, f"{one.mean:.4f}", f"{one.low:.4f} to {one.high:.4f}"] for one in report.estimates]
    print_table("Estimated cost of the predictions", ("estimate", "mean cost", "95 % interval"), numbers)
    typer.echo(
        f"Served: mean cost {report.logged_cost:.4f} on {report.rows} rows; {report.matched} of them match the "
        f"predictions, worth {report.effective_rows:.0f} rows of equal weight."
    )
