"""``coalface label`` without asking now: forecasts, and batches that go out and come back as files."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from coalface.cli.option_groups import OptionGroup
from coalface.cli.option_values import check_output, numbers_in
from coalface.cli.screen import counted, show

if TYPE_CHECKING:
    from coalface.desk.annotators.batches import OwnForm
    from coalface.desk.annotators.openai import OpenAIForm
    from coalface.desk.service.desk import Desk

    BatchForm: TypeAlias = OwnForm | OpenAIForm

_REFUSED_LINES = 1  # exit code if a line of answers was refused


@dataclass(frozen=True)
class BatchOptions(OptionGroup):
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

    def run(
        self, folder: Path, name: str, form: "BatchForm", budget: str | None, limit: int | None, *, as_json: bool
    ) -> None:
        """Forecast, then take answers, then write questions."""
        refused = False
        if self.batch_out is not None:
            check_output(self.batch_out, "--batch-out")
        with opened(folder) as desk:
            if self.forecast:
                _say_forecast(folder, desk, as_json=as_json)
            if self.batch_in is not None:
                refused = not _take(folder, desk, name, self.batch_in, form, as_json=as_json)
            if self.batch_out is not None:
                desk.limit_run(numbers_in("--budget", budget))
                self._write(desk, name, self.batch_out, form, limit, as_json=as_json)
        if refused:
            raise typer.Exit(_REFUSED_LINES)

    def _write(
        self, desk: "Desk", name: str, path: Path, form: "BatchForm", limit: int | None, *, as_json: bool
    ) -> None:
        """Lease questions and write them, or write those on lease once more."""
        from coalface.desk.annotators.batches import lease_batch, write_batch

        if self.again:
            questions, why = desk.held(name), ""
        else:
            most = {} if limit is None else {"most": limit}
            questions, why = lease_batch(desk, name, self.lease * 3600.0, **most)
        write_batch(desk, questions, path, form)
        costs = sum(1 if question.true_label else len(question.labels) for question in questions)
        said = f"{path}: {counted(len(questions), 'question')} about {counted(costs, 'cost')}, leased to {name}."
        show({"questions": len(questions), "costs": costs, "stopped": why}, said, as_json=as_json)


def _take(folder: Path, desk: "Desk", name: str, path: Path, form: "BatchForm", *, as_json: bool) -> bool:
    """Take the answers in a file, and say what is wrong with the lines that are refused; whether none was."""
    from coalface.desk.annotators.batches import take_batch

    taken = take_batch(desk, name, path, form)
    progress = desk.progress()
    for problem in taken.problems:
        typer.echo(problem, err=True)
    said = (
        f"{folder}: {counted(taken.answers, 'answer')} by {name}, {taken.late} late; {taken.before} taken before, "
        f"{taken.unanswered} unanswered, {len(taken.problems)} refused; {counted(progress.costs, 'cost')} on "
        f"{counted(progress.examples, 'example')} in all, price {progress.price:g}."
    )
    show({**vars(taken), "costs": progress.costs, "examples": progress.examples}, said, as_json=as_json)
    return not taken.problems


def _say_forecast(folder: Path, desk: "Desk", *, as_json: bool) -> None:
    """Print what the rest of the pool will take."""
    expected = desk.expected()
    said = (
        "the whole pool is decided."
        if expected is None
        else f"the rest of the pool will take {expected} (90 % intervals)."
    )
    plain = {} if expected is None else asdict(expected)
    show(plain, f"{folder}: {said}", as_json=as_json)


@contextmanager
def opened(folder: Path) -> "Iterator[Desk]":
    """The desk of a project, which is closed at the end."""
    from coalface.desk.project.project import Project
    from coalface.desk.service.desk import Desk

    with closing(Desk(Project.open(folder))) as desk:
        yield desk
