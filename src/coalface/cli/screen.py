"""What a person sees: tables on standard output, progress on standard error; no colours in a pipe."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol


class Progress(Protocol):
    """Takes how much is done, of how much, and what to call it from now on."""

    def __call__(self, done: int, total: int, what: str | None = None) -> None:
        """Show it."""


def print_table(title: str, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table on standard output; the first column stands left, numbers stand right."""
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
        console = Console(highlight=False, width=max(console.width, 120))  # a pipe has no edge to fit
    console.print(table)


@contextmanager
def progress_bar(what: str) -> Iterator[Progress]:
    """A function ``progress(done, total)`` that draws a bar on standard error if a person looks at it."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bars:
        task = bars.add_task(what, total=None)

        def progress(done: int, total: int, what: str | None = None) -> None:
            bars.update(task, completed=done, total=total, description=what)

        yield progress
