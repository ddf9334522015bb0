"""``coalface label``."""

import json
from typing import Annotated, Any

import typer

from coalface.cli import options
from coalface.cli.screen import counted, progress_bar


def label(
    folder: options.ProjectFolder,
    annotator: Annotated[
        str, typer.Option(help="http://... (POST, JSON), module:function, or a command that speaks JSON lines.")
    ],
    name: Annotated[str, typer.Option(help="The name of the annotator in the answers.")] = "program",
    workers: Annotated[int, typer.Option(min=1, help="Questions to ask at the same time.")] = 1,
    timeout: Annotated[float, typer.Option(min=0.001, help="Seconds to wait for one reply.")] = 60.0,
    retries: Annotated[int, typer.Option(min=0, help="Further attempts, each after twice the pause.")] = 3,
    backoff: Annotated[float, typer.Option(min=0.0, help="Seconds before the second attempt.")] = 1.0,
    limit: Annotated[int | None, typer.Option(min=1, help="Stop after this many answers.")] = None,
    as_json: options.Json = False,
) -> None:
    """Let a program answer the questions of a project.

    It stops when nothing is worth asking or the budget is spent.
    The program gets a question as a JSON object with "content", "labels" and "known". It replies with {"costs":
    {label: number, or null for "can't tell"}} or {"label": the true label}, and optionally a "price" and a "note". The
    project's server must not run at the same time.
    """
    from coalface.service.annotators.labelling import Labelling
    from coalface.service.annotators.programs import annotator_of
    from coalface.service.desk.desk import Desk
    from coalface.service.desk.messages import ENDED
    from coalface.service.project.ownership import opening
    from coalface.service.project.project import Project

    program: Any = annotator_of(annotator, timeout)
    desk = Desk(Project.open(folder))
    try:
        with opening(desk.project.address), progress_bar("Answers") as bar:
            done = Labelling(
                desk,
                program,
                name,
                workers=workers,
                retries=retries,
                backoff=backoff,
                timeout=timeout,
                limit=limit,
                progress=lambda answers: bar(answers, limit),
            ).run()
            progress = desk.progress()
    finally:
        desk.close()
        if hasattr(program, "close"):
            program.close()
    if as_json:
        typer.echo(json.dumps({**vars(done), "examples": progress.examples, "costs": progress.costs}))
        return
    typer.echo(
        f"{folder}: {counted(done.answers, 'answer')} by {name}, {counted(done.failures, 'failure')}; "
        f"{counted(progress.costs, 'cost')} on {counted(progress.examples, 'example')} in all, "
        f"price {progress.price:g}. {ENDED[done.stopped]}"
    )
