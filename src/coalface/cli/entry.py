"""From a command to an exit code: 0, 2 with one line on what was wrong, or 130 after Ctrl-C."""

import os
import sys
import warnings
from collections.abc import Sequence

import typer

from coalface.cli.app import app
from coalface.cli.wording import as_options
from coalface.errors import CoalfaceError, StudyError

BAD_INPUT = 2
INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command, by default that of this process, and give back its exit code.

    >>> main(["--version"])
    coalface 0.1.0
    0
    """
    command = typer.main.get_command(app)
    given = list(sys.argv[1:] if arguments is None else arguments) or ["--help"]
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            code = command.main(args=given, prog_name="coalface", standalone_mode=False)
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # nobody reads on: say nothing more
        return 0
    except Exception as problem:
        line = _one_line(problem)
        if line is None or os.environ.get("COALFACE_DEBUG"):
            raise
        return _say(line, BAD_INPUT)
    if code == INTERRUPTED:
        return _say("Interrupted.", INTERRUPTED)
    return code if isinstance(code, int) else 0


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    print(f"coalface: warning: {message}", file=sys.stderr)


def _say(line: str, code: int) -> int:
    print(f"coalface: {line}", file=sys.stderr)
    return code


def _one_line(problem: Exception) -> str | None:
    """What a person did wrong, in one line; None for what only a programmer could have done wrong."""
    if isinstance(problem, StudyError):  # its remedies are words of the study, not options
        return " ".join(str(problem).split())
    if isinstance(problem, CoalfaceError):
        return as_options(" ".join(str(problem).split()))
    if isinstance(problem, OSError) and problem.filename is not None:
        return f"{problem.filename}: {problem.strerror}. Check the path and its permissions."
    if hasattr(problem, "format_message"):  # Typer's own complaints about options and arguments
        text = " ".join(problem.format_message().split()).rstrip(".")
        return text + (" See --help." if text.endswith("?") else ". See --help.")
    return None
