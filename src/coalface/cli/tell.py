"""``coalface tell``."""

from pathlib import Path
from typing import Annotated

import typer

from coalface.cli import options
from coalface.cli.screen import counted


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
    from coalface.data.streams.line_source import text_lines
    from coalface.files.atomic import exclusive
    from coalface.learner.named_learner import NamedLearner, require_model
    from coalface.learner.telling import tell_lines

    require_model(model)
    lines = text_lines(answers)
    with exclusive(model):  # or another process would overwrite what this one learns
        current = NamedLearner.load(model)
        learner = current.learner
        before, truths_before, seen_before = learner.costs_queried_, learner.truths_queried_, learner.costs_seen_
        tell_lines(current, lines, str(answers), rows=block, late=late, fill_gaps=fill_gaps)
        current.save(model)
    truths, seen = learner.truths_queried_, learner.costs_seen_
    if truths:
        typer.echo(f"{model}: {counted(truths - truths_before, 'true label')} counted, {truths:,} in all")
    if seen:
        typer.echo(f"{model}: {counted(seen - seen_before, 'cost')} of served labels seen, {seen:,} in all")
    typer.echo(
        f"{model}: {counted(learner.costs_queried_ - before, 'cost')} counted, {learner.costs_queried_:,} in all on "
        f"{counted(learner.examples_queried_, 'example')}; next round {learner.round_:,}"
    )
    if learner.saving_ is not None:
        typer.echo(f"More asking could save {learner.saving_}")
