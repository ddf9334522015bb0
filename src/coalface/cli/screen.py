"""Text, tables and JSON on standard output, progress on standard error, and numbers in words; no colours in a pipe."""

import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from textwrap import indent
from typing import TYPE_CHECKING, Any, Protocol

from coalface.errors import counted as counted

if TYPE_CHECKING:
    from coalface.data import Encoder
    from coalface.learner import CoalClassifier

QUIET_SECONDS = 30.0  # between two lines of progress in a log

_MOST_NAMED = 5
_ENOUGH = 10  # examples per label


class Progress(Protocol):
    """Shows how much is done, of how much, and a new name for it."""

    def __call__(self, done: int, total: int | None, what: str | None = None) -> None:
        """Update the bar."""


def rarely_best(learner: "CoalClassifier") -> str | None:
    """A line that names the labels hardly ever seen; None if there are none, or too few examples to tell."""
    rare = learner.labels_.rare
    if not rare or learner.examples_queried_ < _ENOUGH * len(learner.classes_):
        return None
    named = ", ".join(f"{label} ({often})" for label, often in list(rare.items())[:_MOST_NAMED])
    more = f" and {len(rare) - _MOST_NAMED} more" if len(rare) > _MOST_NAMED else ""
    return f"Hardly ever the best label, so predictions of it are guesses: {named}{more}"


def spending(learner: "CoalClassifier") -> str | None:
    """How much of its budget a learner has spent; None if it has no budget."""
    from coalface.learner import Budget

    if learner.budget is None:
        return None
    budget = Budget.of(learner.budget)
    return f"Budget: {learner.spent_:,.10g} of {budget.amount:,.10g} {budget.unit} spent"


def described_columns(encoder: "Encoder") -> str:
    """What an encoder does to each column, under a heading."""
    return "  Columns:\n" + indent(encoder.describe(), "    ")


def show(values: Any, text: str | Callable[[], None], *, as_json: bool) -> None:
    """Print the values with ``--json``, otherwise the text, or what a function prints."""
    if as_json:
        print(json.dumps(values), flush=True)
    elif not isinstance(text, str):
        text()
    elif text:
        print(text, flush=True)


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
def bar(what: str, *, of_bytes: bool = False) -> Iterator[Callable[[int, int | None, str | None, str], None]]:
    """A function ``update(done, total, what, line)``: it moves a bar on a terminal, or prints the line now and then."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console, last_line = Console(stderr=True), time.monotonic()
    count = DownloadColumn() if of_bytes else MofNCompleteColumn()
    columns = (TextColumn("{task.description}"), BarColumn(), count, TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bars:
        task = bars.add_task(what, total=None)

        def update(done: int, total: int | None, what: str | None, line: str) -> None:
            nonlocal last_line
            bars.update(task, completed=done, total=total, description=what)
            if not console.is_terminal and time.monotonic() - last_line > QUIET_SECONDS:
                last_line = time.monotonic()
                print(line, file=sys.stderr, flush=True)

        yield update


@contextmanager
def progress_bar(name: str) -> Iterator[Progress]:
    """A function ``progress(done, total)`` that shows a bar on a terminal, and otherwise a line now and then."""
    with bar(name) as update:

        def progress(done: int, total: int | None, what: str | None = None) -> None:
            update(done, total, what, f"{what or name}: {done:,}" + ("" if total is None else f" of {total:,}"))

        yield progress


@contextmanager
def reading_bar(name: str) -> Iterator[Callable[[int, int | None, int], None]]:
    """A function ``progress(bytes read, size, examples)`` that shows a bar on a terminal, or a line now and then."""
    began = time.monotonic()
    with bar(name, of_bytes=True) as update:

        def progress(done: int, total: int | None, rows: int) -> None:
            per_second = rows / max(time.monotonic() - began, 1e-9)
            said = f"{name}: {counted(rows, 'example')}, {per_second:,.0f} per second"
            update(done, total, said, said + ("" if not total else f", {done / total:.0%} read"))

        yield progress


def with_forecast(progress: Progress, learner: "CoalClassifier", what: str) -> Callable[[int, int], None]:
    """A function that shows how much of a run is done, and how many costs it will take in all."""

    def show(done: int, total: int) -> None:
        left = learner.forecast(max(total - done, 0)).costs.plus(learner.totals_.price)
        progress(done, total, f"{what}: {learner.totals_.price:,.0f} of {left} costs")

    return show
