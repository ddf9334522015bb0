"""Tables on standard output, progress on standard error, and numbers in words; no colours in a pipe."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from coalface.learner.classifiers import CoalClassifier


class Progress(Protocol):
    """Shows how much is done, of how much, and a new name for it."""

    def __call__(self, done: int, total: int, what: str | None = None) -> None:
        """Update the bar."""


def counted(n: int, noun: str) -> str:
    """A number with its noun.

    >>> counted(1, "cost"), counted(1200, "cost"), counted(2, "pass")
    ('1 cost', '1,200 costs', '2 passes')
    """
    plural = f"{noun}es" if noun.endswith("s") else f"{noun}s"
    return f"{n:,} {noun if n == 1 else plural}"


def spending(learner: "CoalClassifier") -> str | None:
    """How much of its budget a learner has spent; None if it has no budget."""
    from coalface.learner.budget import Budget

    if learner.budget is None:
        return None
    budget = Budget.of(learner.budget)
    return f"Budget: {learner.spent_:,.10g} of {budget.amount:,.10g} {budget.unit} spent"


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
    """A function ``progress(done, total)`` that draws a bar on standard error if it is a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bars:
        task = bars.add_task(what, total=None)

        def progress(done: int, total: int, what: str | None = None) -> None:
            bars.update(task, completed=done, total=total, description=what)

        yield progress
