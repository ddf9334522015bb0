"""``coalface vw``."""

from typing import Annotated

import typer


def vw(
    options: Annotated[
        list[str], typer.Argument(metavar="-- OPTIONS", help="The options of Vowpal Wabbit, with -d FILE.")
    ],
) -> None:
    """Run a command line of Vowpal Wabbit here.

    Options that cannot change the result are ignored and listed; options that would change it are refused.
    At the end come the equivalent coalface line and Python lines. The page Come from
    Vowpal Wabbit of the documentation lists the options that are translated.
    """
    from coalface.studies.vw_command import command_line, python_lines, run_vw, translate

    command = translate(options)
    if command.quiet:
        run_vw(command)
        return
    run = run_vw(command, show=lambda line: typer.echo(line, err=True))
    for heading, lines in (("Ignored", command.ignored), ("Different from VW", command.differences)):
        for line in lines:
            typer.echo(f"{heading}: {line}", err=True)
    typer.echo(run.summary())
    typer.echo(f"\nThe same with coalface:\n\n{command_line(run)}")
    typer.echo(f"\nThe same in Python:\n\n{python_lines(run)}")
