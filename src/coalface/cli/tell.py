"""``coalface tell``."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from coalface.cli.screen import counted
from coalface.errors import FileFormatError

_STDIN = Path("-")


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
) -> None:
    """Learn the answered lines of ask and save the model.

    After an error in any line, nothing changes.
    The lines continue from the model's round without a gap, in any order. Rounds that the model has learned are
    refused, so the same file cannot count twice. The lines may come in several files, the earlier rounds first.
    """
    from coalface.data.labels import label_texts
    from coalface.files.atomic import exclusive
    from coalface.learner.named_learner import NamedLearner, require_model
    from coalface.rounds.lines import read_rounds

    require_model(model)
    lines = _text_of(answers).split("\n")
    with exclusive(model):  # or another process would overwrite what this one learns
        current = NamedLearner.load(model)
        learner = current.learner
        before = learner.costs_queried_
        labels = dict.fromkeys(label_texts(learner.classes_))
        rounds = read_rounds(lines, str(answers), labels=labels, partial=late)
        current.tell(rounds, late=late, fill_gaps=fill_gaps)
        current.save(model)
    typer.echo(
        f"{model}: {counted(learner.costs_queried_ - before, 'cost')} counted, {learner.costs_queried_:,} in all on "
        f"{counted(learner.examples_queried_, 'example')}; next round {learner.round_:,}"
    )
    if learner.saving_ is not None:
        typer.echo(f"More asking could save {learner.saving_}")


def _text_of(path: Path) -> str:
    if path == _STDIN:
        return sys.stdin.read()
    if not path.is_file():
        raise FileFormatError(f"There is no file {path}. Check the path of the answers, or pass - for standard input.")
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as problem:
        raise FileFormatError(f"{path} must be text in UTF-8 ({problem.reason}). Write it again.") from None
