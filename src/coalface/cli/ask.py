"""``coalface ask``."""

from typing import Annotated

import typer

from coalface.cli import options
from coalface.cli.option_groups import ReaderOptions
from coalface.cli.option_values import given
from coalface.cli.screen import spending


def ask(
    model: options.Model,
    data: options.Data,
    *,
    max_costs: Annotated[
        int | None, typer.Option(help="Ask for at most this many costs, those with the widest ranges.")
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Add the range, the prediction and the reason of every label.")
    ] = False,
    alike: options.Alike = None,
    format: options.Format = "auto",
    reading: ReaderOptions,
) -> None:
    """Print the costs worth asking for, as JSON lines.

    The model does not change, and costs in DATA are ignored.
    There is one line per example. "ask" lists the labels whose cost is wanted, the most promising first; it may be
    empty. The annotator adds "costs": {label: number, or null for "can't tell"} to the line. Give all lines to tell,
    also those without a question: they close their rounds. "round" makes sure that no answer counts twice.
    "propensity" has the labels that were asked about at random, with the probability; the model does not keep it. The
    examples are one batch: a cost is asked for once among equal examples.
    """
    from coalface.learner.named_learner import NamedLearner
    from coalface.rounds.lines import question_line

    current = NamedLearner.load(model)
    current.learner.set_params(**given(alike=alike))
    dataset = current.read(data, format, reading.given())
    queries = current.learner.ask(dataset.X, max_costs, candidates=dataset.candidates)
    for i in range(len(queries)):
        typer.echo(question_line(queries, i, dataset, explain=explain))
    typer.echo(str(queries), err=True)
    spent = spending(current.learner)
    if spent is not None:
        typer.echo(f"{spent} before these.", err=True)
