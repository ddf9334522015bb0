"""Tables on standard output, progress on standard error, and numbers in words; no colours in a pipe."""

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from textwrap import indent
from typing import TYPE_CHECKING, Protocol

from coalface.errors import counted as counted

if TYPE_CHECKING:
    from coalface.data.encoding.encoder import Encoder
    from coalface.learner.classifiers import CoalClassifier


QUIET_SECONDS = 30.0  # between two lines of progress in a log


class Progress(Protocol):
    """Shows how much is done, of how much, and a new name for it."""

    def __call__(self, done: int, total: int | None, what: str | None = None) -> None:
        """Update the bar."""


_MOST_NAMED = 5
_ENOUGH = 10  # examples per label


def rarely_best(learner: "CoalClassifier") -> str | None:
    """A line that names the labels hardly ever seen; None if there are none, or too few examples to tell."""
    rare = learner.rare_labels_
    if not rare or learner.examples_queried_ < _ENOUGH * len(learner.classes_):
        return None
    named = ", ".join(f"{label} ({often})" for label, often in list(rare.items())[:_MOST_NAMED])
    more = f" and {len(rare) - _MOST_NAMED} more" if len(rare) > _MOST_NAMED else ""
    return f"Hardly ever the best label, so predictions of it are guesses: {named}{more}"


def spending(learner: "CoalClassifier") -> str | None:
    """How much of its budget a learner has spent; None if it has no budget."""
    from coalface.learner.budget import Budget

    if learner.budget is None:
        return None
    budget = Budget.of(learner.budget)
    return f"Budget: {learner.spent_:,.10g} of {budget.amount:,.10g} {budget.unit} spent"


def described_columns(encoder: "Encoder") -> str:
    """What an encoder does to each column, under a heading."""
    return "  Columns:\n" + indent(encoder.describe(), "    ")


def print_table(title: str, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table; the first column is aligned left, the others right."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, title_style="bold")
    for place, heading in enumerate(headings):
        table.add_column(heading, justify="left" if place == 0 else "right", no_wrap=place == 0)
    for row in rows:
        table.add_row(*row)
    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=max(console.width, 120))  # a pipe has no width to fit
    console.print(table)


@contextmanager
def progress_bar(what: str) -> Iterator[Progress]:
    """A function ``progress(done, total)`` that shows a bar on a terminal, and otherwise a line now and then."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console, last_line, name = Console(stderr=True), time.monotonic(), what
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bars:
        task = bars.add_task(what, total=None)

        def progress(done: int, total: int | None, what: str | None = None) -> None:
            nonlocal last_line
            bars.update(task, completed=done, total=total, description=what)
            if not console.is_terminal and time.monotonic() - last_line > QUIET_SECONDS:
                last_line = time.monotonic()
                print(
                    f"{what or name}: {done:,}" + ("" if total is None else f" of {total:,}"),
                    file=sys.stderr,
                    flush=True,
                )

        yield progress


def with_forecast(progress: Progress, learner: "CoalClassifier", what: str) -> Callable[[int, int], None]:
    """A function that shows how much of a run is done, and how many costs it will take in all."""

    def show(done: int, total: int) -> None:
        left = learner.forecast(max(total - done, 0)).costs.plus(learner.price_queried_)
        progress(done, total, f"{what}: {learner.price_queried_:,.0f} of {left} costs")

    return show


@contextmanager
def reading_bar(what: str) -> Iterator[Callable[[int, int | None, int], None]]:
    """A function ``progress(bytes read, size, examples)`` that shows a bar on a terminal, or a line now and then."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeElapsedColumn

    console, began = Console(stderr=True), time.monotonic()
    last_line = began
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bars:
        task = bars.add_task(what, total=None)

        def progress(done: int, total: int | None, rows: int) -> None:
            nonlocal last_line
            per_second = rows / max(time.monotonic() - began, 1e-9)
            said = f"{what}: {counted(rows, 'example')}, {per_second:,.0f} per second"
            bars.update(task, completed=done, total=total, description=said)
            if not console.is_terminal and time.monotonic() - last_line > QUIET_SECONDS:
                last_line = time.monotonic()
                share = "" if not total else f", {done / total:.0%} read"
                print(said + share, file=sys.stderr, flush=True)

        yield progress
