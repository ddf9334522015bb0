"""``coalface tell``."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from coalface.cli import options
from coalface.cli.screen import counted

if TYPE_CHECKING:
    from coalface.learner.classifiers import CoalClassifier


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
        "true label": learner.truths_queried_,
        "cost": learner.costs_queried_,
        "served cost": learner.costs_seen_,
    }


def _listed(counts: dict[str, int]) -> str:
    """What there is of each, without what there is none of.

    >>> _listed({"true label": 2, "cost": 0, "served cost": 1}), _listed({"cost": 0})
    ('2 true labels and 1 served cost', '0 costs')
    """
    return " and ".join(counted(n, what) for what, n in counts.items() if n) or counted(0, "cost")
