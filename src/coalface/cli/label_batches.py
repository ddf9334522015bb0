"""Batches and forecasts of ``coalface label``."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coalface.cli.option_values import check_output, numbers_in
from coalface.cli.screen import counted
from coalface.errors import InputError

if TYPE_CHECKING:
    from coalface.desk.service.desk import Desk

_REFUSED_LINES = 1  # exit code if a line of answers was refused


@dataclass(frozen=True)
class Trip:
    """Whose questions go out or come back, and what an LLM judge is told."""

    folder: Path
    name: str
    model: str | None
    prompt: Any
    price_in: float | None
    price_out: float | None
    max_tokens: int

    def form(self, name: str) -> Any:
        """The form of the lines."""
        from coalface.desk.annotators.batches import OwnForm
        from coalface.desk.project.label_history import project_now

        if name == "own":
            return OwnForm()
        if name != "openai":
            raise InputError(f"--batch-form must be own or openai, got {name!r}.")
        if self.model is None:
            raise InputError("--batch-form openai needs a model. Pass --annotator openai:MODEL.")
        from coalface.buying.oracles.judge import Prices
        from coalface.desk.annotators.openai_batches import OpenAIForm

        project = project_now(self.folder)
        price_in = project.limits.price_in if self.price_in is None else self.price_in
        price_out = project.limits.price_out if self.price_out is None else self.price_out
        prices = Prices(price_in, price_out)
        return OpenAIForm(project, self.model, self.prompt, prices=prices, max_tokens=self.max_tokens)


@dataclass(frozen=True)
class BatchOptions:
    """Options with which a run asks nothing: forecasts and batches."""

    forecast: Annotated[
        bool, typer.Option("--forecast", help="Forecast what the rest of the pool will take, without asking.")
    ] = False
    batch_out: Annotated[
        Path | None, typer.Option(help="Write the questions worth asking now to this file, and ask nothing.")
    ] = None
    batch_in: Annotated[Path | None, typer.Option(help="Take the answers in this file.")] = None
    batch_form: Annotated[
        str, typer.Option(help="The form of batches: own, or openai for the batch endpoint of openai:MODEL.")
    ] = "own"
    again: Annotated[
        bool, typer.Option("--again", help="With --batch-out: the questions on lease once more, after a lost file.")
    ] = False
    lease: Annotated[float, typer.Option(min=0.01, max=168.0, help="Hours for which a batch is leased.")] = 48.0

    @property
    def given(self) -> bool:
        """Whether one of them is given."""
        return self.forecast or self.batch_out is not None or self.batch_in is not None

    def run(self, trip: Trip, budget: str | None, limit: int | None, *, as_json: bool) -> None:
        """Forecast, then take answers, then write questions."""
        if self.forecast:
            _say_forecast(trip.folder, as_json=as_json)
        form = trip.form(self.batch_form)
        refused = self.batch_in is not None and not _take(trip, self.batch_in, form, as_json=as_json)
        if self.batch_out is not None:
            self._write(trip, self.batch_out, form, budget, limit, as_json=as_json)
        if refused:
            raise typer.Exit(_REFUSED_LINES)

    def _write(
        self, trip: Trip, path: Path, form: Any, budget: str | None, limit: int | None, *, as_json: bool
    ) -> None:
        """Lease questions and write them, or write those on lease once more."""
        from coalface.desk.annotators.batches import lease_batch, write_batch

        check_output(path, "--batch-out")
        with _opened(trip.folder) as desk:
            desk.limit_run(numbers_in("--budget", budget))
            most = {} if limit is None else {"most": limit}
            if self.again:
                questions, why = desk.held(trip.name), ""
            else:
                questions, why = lease_batch(desk, trip.name, self.lease * 3600.0, **most)
            write_batch(desk, questions, path, form)
        costs = sum(1 if question.true_label else len(question.labels) for question in questions)
        if as_json:
            typer.echo(json.dumps({"questions": len(questions), "costs": costs, "stopped": why}))
            return
        said = f"{counted(len(questions), 'question')} about {counted(costs, 'cost')}"
        typer.echo(f"{path}: {said}, leased to {trip.name}.")


def _take(trip: Trip, path: Path, form: Any, *, as_json: bool) -> bool:
    """Take the answers in a file, and say what is wrong with the lines that are refused; whether none was."""
    from coalface.desk.annotators.batches import take_batch

    with _opened(trip.folder) as desk:
        taken = take_batch(desk, trip.name, path, form)
        progress = desk.progress()
    for problem in taken.problems:
        typer.echo(problem, err=True)
    if as_json:
        typer.echo(json.dumps({**vars(taken), "costs": progress.costs, "examples": progress.examples}))
        return not taken.problems
    typer.echo(
        f"{trip.folder}: {counted(taken.answers, 'answer')} by {trip.name}, {taken.late} late; {taken.before} taken "
        f"before, {taken.unanswered} unanswered, {len(taken.problems)} refused; {counted(progress.costs, 'cost')} on "
        f"{counted(progress.examples, 'example')} in all, price {progress.price:g}."
    )
    return not taken.problems


def _say_forecast(folder: Path, *, as_json: bool) -> None:
    """Print what the rest of the pool will take."""
    with _opened(folder) as desk:
        expected = desk.expected()
    if as_json:
        plain = {} if expected is None else {name: value and vars(value) for name, value in vars(expected).items()}
        typer.echo(json.dumps(plain))
    elif expected is None:
        typer.echo(f"{folder}: the whole pool is decided.")
    else:
        typer.echo(f"{folder}: the rest of the pool will take {expected} (90 % intervals).")


def with_expected(progress: Callable[[int], None], desk: "Desk", *, as_json: bool) -> Callable[[int], None]:
    """Progress of a run that prints the forecast to standard error when the first answer has come.

    A run that fails before that says only why.
    """
    waiting = [] if as_json or (expected := desk.expected()) is None else [expected]

    def show(answers: int) -> None:
        if waiting:
            typer.echo(f"Forecast for the rest of the pool: {waiting.pop()} (90 % intervals).", err=True)
        progress(answers)

    return show


def _opened(folder: Path) -> Any:
    from contextlib import closing

    from coalface.desk.project.project import Project
    from coalface.desk.service.desk import Desk

    return closing(Desk(Project.open(folder)))
