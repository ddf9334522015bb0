"""``coalface ask`` and ``coalface tell``."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from coalface.cli import options
from coalface.cli.budgets import spending
from coalface.cli.reading import read_like, reader_options
from coalface.errors import FileFormatError

_STDIN = Path("-")


def ask(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A model made by train or simulate --save.")],
    data: options.Data,
    max_costs: Annotated[int | None, typer.Option(help="Ask for this many costs at most: the least certain.")] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Say for every label why it is asked for or not.")] = False,
    alike: options.Alike = None,
    format: options.Format = "auto",
    label: options.Label = None,
    cost_matrix: options.CostMatrix = None,
    reader: options.Reader = None,
) -> None:
    """The costs worth asking for, as JSON lines; the model does not change. Costs in DATA are not looked at.

    There is a line for every example; "ask" lists the labels whose cost is wanted and is empty where none is. Whoever
    answers adds "costs": {label: number, or null for "can't tell"} to the line. Give all lines to tell, also those
    without a question: they close their rounds. "round" makes sure that no answer is learned twice. "audit" lists the
    labels that were asked about at random, and "propensity" with which chance: keep the lines, the model does not.
    The examples are asked about together: a cost asked for on one is not asked for on another equal to it.
    """
    from coalface.cli.models import Model
    from coalface.cli.question_lines import question_lines

    current = Model.load(model)
    current.learner.set_params(**options.given(alike=alike))
    dataset = read_like(current, data, format, reader_options(label, cost_matrix, reader))
    queries = current.learner.ask(dataset.X, max_costs, candidates=dataset.candidates)
    for line in question_lines(queries, dataset, explain=explain):
        typer.echo(line)
    typer.echo(str(queries), err=True)
    spent = spending(current.learner)
    if spent is not None:
        typer.echo(f"{spent} before these.", err=True)


def tell(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="The model that asked.")],
    answers: Annotated[Path, typer.Argument(metavar="ANSWERS", help="The answered lines; - for standard input.")],
    late: Annotated[
        bool,
        typer.Option("--late", help="Second or late answers to rounds told before. The same file twice counts twice."),
    ] = False,
    fill_gaps: Annotated[
        bool, typer.Option("--fill-gaps", help="Close rounds without a line as if nothing had been asked.")
    ] = False,
) -> None:
    """Learn answered lines of ask and save the model; one bad line, and nothing changes.

    The lines go on from the model's round without a gap, in any order. What was told already is refused, so the same
    file cannot count twice. Lines may be told in several parts, the earlier rounds first.
    """
    from coalface.cli.answer_lines import answer_lines
    from coalface.cli.answers import tell_answers
    from coalface.cli.models import Model, require_model
    from coalface.files.locks import exclusive

    require_model(model)
    lines = answer_lines(_text_of(answers).split("\n"), str(answers), partial=late)
    with exclusive(model):  # what another process learns meanwhile would be lost
        current = Model.load(model)
        before = current.learner.costs_queried_
        tell_answers(current, lines, late=late, fill_gaps=fill_gaps)
        current.save(model)
    learner = current.learner
    typer.echo(
        f"{model}: {learner.costs_queried_ - before:,} costs counted, {learner.costs_queried_:,} in all on "
        f"{learner.examples_queried_:,} examples; next round {learner.round_:,}"
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
