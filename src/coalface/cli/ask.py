"""``coalface ask``."""

from typing import Annotated

import typer

from coalface.cli import options
from coalface.cli.option_groups import ReaderOptions
from coalface.cli.option_values import given
from coalface.cli.screen import described_columns, spending

_ALL_ROWS = 2**62 - 1


def ask(
    model: options.Model,
    data: options.Data,
    *,
    max_costs: Annotated[
        int | None,
        typer.Option(help="Ask for at most this many costs, those with the widest ranges. All of DATA is read first."),
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Add the range, the prediction and the reason of every label.")
    ] = False,
    alike: options.Alike = None,
    candidates: options.Candidates = False,
    block: options.Block = options.BLOCK_ROWS,
    format: options.Format = "auto",
    reading: ReaderOptions,
) -> None:
    """Print the costs worth asking for, as JSON lines.

    The model does not change, and costs in DATA are ignored. Only a model that has learned nothing keeps how the
    columns of its first examples are encoded.
    There is one line per example. "ask" lists the labels whose cost is wanted, the most promising first; it may be
    empty. The annotator adds "costs": {label: number, or null for "can't tell"} to the line. A line with "ask_truth"
    asks for the true label instead: the annotator adds "truth": label, or null for "can't tell". Give all lines to
    tell, also those without a question: they close their rounds. "round" makes sure that no answer counts twice.
    "propensity" has the labels that were asked about at random, with the probability; the model does not keep it. The
    examples of a block are one batch: a cost is asked for once among equal examples. With --max-costs or a budget, all
    examples are one batch and are read first; otherwise, lines are printed as soon as a block is read.
    """
    from coalface.files.atomic import exclusive
    from coalface.learner.named_learner import NamedLearner
    from coalface.learner.streaming import Stream, examples_of
    from coalface.rounds.lines import question_line
    from coalface.rounds.queries import AskedCounts

    current, counts = NamedLearner.load(model), AskedCounts()
    learner = current.learner
    at_once = max_costs is not None or learner.budget is not None
    stream = Stream(data, format, reading.given(), rows=_ALL_ROWS if at_once else block)
    for dataset in examples_of(current, stream, candidates=candidates):
        if current.keep_encoder(dataset) and current.encoder is not None:
            with exclusive(model):
                current.save(model)
            typer.echo(described_columns(current.encoder), err=True)
        learner.set_params(**given(alike=alike))
        done = counts.all_examples
        queries = learner.ask(
            dataset.X, max_costs, candidates=dataset.candidates, first_round=learner.round_ + done if done else None
        )
        for i in range(len(queries)):
            typer.echo(question_line(queries, i, dataset, first=done, explain=explain))
        counts = counts.plus(queries.counts)
    typer.echo(str(counts), err=True)
    if learner.round_ > 1:
        typer.echo(
            f"Forecast for as many examples again, told one by one: {learner.forecast(counts.all_examples)}", err=True
        )
    spent = spending(learner)
    if spent is not None:
        typer.echo(f"{spent} before these.", err=True)
