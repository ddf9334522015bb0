"""``coalface ask`` and ``coalface tell``."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from coalface.cli import options
from coalface.cli.option_groups import BlockOptions
from coalface.cli.option_values import given
from coalface.cli.screen import counted, described_columns, spending

if TYPE_CHECKING:
    from coalface.learner import CoalClassifier


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
    reading: BlockOptions,
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
    from coalface.files import exclusive
    from coalface.learner import NamedLearner
    from coalface.rounds import AskedCounts, question_line

    current, counts = NamedLearner.load(model), AskedCounts()
    learner = current.learner
    at_once = max_costs is not None or learner.budget is not None
    for dataset in reading.examples(current, data, rows=_ALL_ROWS if at_once else None):
        if current.keep_encoder(dataset) and current.encoder is not None:
            with exclusive(model):
                current.save(model)
            typer.echo(described_columns(current.encoder), err=True)
        learner.set_params(**given(rule__alike=alike))
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


def tell(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="The model that asked.")],
    answers: Annotated[Path, typer.Argument(metavar="ANSWERS", help="The answered lines; - for standard input.")],
    late: Annotated[
        bool,
        typer.Option("--late", help="Second or late answers to closed rounds. The same file twice counts twice."),
    ] = False,
    fill_gaps: Annotated[
        bool, typer.Option("--fill-gaps", help="Close rounds without a line as if nothing had been asked.")
    ] = False,
    block: options.Block = options.BLOCK_ROWS,
) -> None:
    """Learn the answered lines of ask and save the model.

    After an error in any line, nothing changes.
    The lines continue from the model's round without a gap, in any order. Rounds that the model has learned are
    refused, so the same file cannot count twice. The lines may come in several files, the earlier rounds first.
    They are learned block by block; lines that come too early wait in memory, and so do late answers.
    """
    from coalface.data import text_lines
    from coalface.files import exclusive
    from coalface.learner import NamedLearner, require_model, tell_lines

    require_model(model)
    lines = text_lines(answers)
    with exclusive(model):  # or another process would overwrite what this one learns
        current = NamedLearner.load(model)
        learner = current.learner
        before = _counts(learner)
        tell_lines(current, lines, str(answers), rows=block, late=late, fill_gaps=fill_gaps)
        current.save(model)
    now = _counts(learner)
    rounds = now.pop("example")
    new = rounds - before.pop("example")
    learned = _listed({what: n - before[what] for what, n in now.items()})
    typer.echo(f"{model}: learned {learned}" + (f" from {counted(new, 'example')}" if new else ""))
    asked = f", on {learner.examples_queried_:,} of {counted(rounds, 'example')}" if learner.examples_queried_ else ""
    typer.echo(f"{_listed(now)} in all{asked}; next round {rounds + 1:,}")
    if learner.saving_ is not None:
        typer.echo(f"More asking could save {learner.saving_}")


def _counts(learner: "CoalClassifier") -> dict[str, int]:
    """How much a learner has learned, by what it is."""
    return {
        "example": learner.round_ - 1,
        "true label": learner.totals_.truths,
        "cost": learner.costs_queried_,
        "served cost": learner.totals_.seen,
    }


def _listed(counts: dict[str, int]) -> str:
    """What there is of each, without what there is none of.

    >>> _listed({"true label": 2, "cost": 0, "served cost": 1}), _listed({"cost": 0})
    ('2 true labels and 1 served cost', '0 costs')
    """
    return " and ".join(counted(n, what) for what, n in counts.items() if n) or counted(0, "cost")
