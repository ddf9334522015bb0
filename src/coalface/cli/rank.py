"""``coalface rank``."""

from pathlib import Path
from typing import Annotated

import typer

from coalface.cli import options
from coalface.cli.option_values import check_output
from coalface.cli.screen import counted, progress_bar


def rank(
    model: options.Model,
    data: options.Parts,
    *,
    out: Annotated[Path, typer.Option(help="The ranking, a .parquet or .jsonl file.")],
    top: Annotated[int, typer.Option(min=1, help="How many examples to keep.")] = 10_000,
    alike: Annotated[
        float | None,
        typer.Option(help="Keep near-duplicates of this similarity once; 1 for equal ones, by default as the model."),
    ] = None,
    executor: options.PoolExecutor = None,
    workers: options.Workers = None,
    id: options.Id = None,
    ignore: options.Ignore = None,
) -> None:
    """Find the examples of a pool that are most worth asking about.

    They are those where questions could still save most: the predicted cost of the label less the least cost that any
    label may have. Near-duplicates count once. `coalface init DIR --from-ranking FILE` makes a labelling project of
    them. Results of single files are kept until the end: after Ctrl-C or a crash, the same command continues.
    """
    from coalface.studies.pools import rank_pool

    check_output(out, "--out")
    with progress_bar("Ranking") as progress:
        outcome, found = rank_pool(
            model,
            data,
            out,
            top,
            alike=alike,
            executor=executor or "threads",
            workers=workers,
            progress=progress,
            id=id,
            ignore=ignore or (),
        )
    typer.echo(f"{outcome}.")
    typer.echo(f"{out}: {counted(found, 'example')}, the most worth asking about first.")
    if found < top:
        typer.echo("About all others, the model would ask nothing, or they are near-duplicates.")
