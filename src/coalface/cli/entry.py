"""From a command to an exit code: 0, 2 with one line on what was wrong, or 130 after Ctrl-C."""

import logging
import os
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from shlex import quote
from typing import Any

import typer

from coalface.cli.app import app
from coalface.cli.learner_options import TITLES
from coalface.cli.option_values import READER_OPTIONS
from coalface.errors import CoalfaceError, DoubtfulDataWarning
from coalface.extras import missing_extra
from coalface.long_work import WORK

BAD_INPUT = 2
INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command, by default that of this process, and return its exit code.

    >>> main(["--version"])
    coalface ...
    0
    """
    with _log_on_stderr():
        return _run(arguments)


def _run(arguments: Sequence[str] | None) -> int:
    command = typer.main.get_command(app)
    words = list(sys.argv[1:] if arguments is None else arguments) or ["--help"]
    for place in [at for at, pair in enumerate(pairwise(words)) if pair == ("--cost-bounds", "auto")][::-1]:
        words[place + 1 : place + 2] = ["-inf", "inf"]  # Typer has no option of one word or two numbers
    try:
        with warnings.catch_warnings():
            warnings.showwarning = partial(_show_warning, _options_of(command, words))
            code = command.main(args=words, prog_name="coalface", standalone_mode=False)
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the reader of the pipe has gone
        return 0
    except Exception as problem:
        line = _one_line(problem, _options_of(command, words))
        if line is None or os.environ.get("COALFACE_DEBUG"):
            raise
        return _say(line, BAD_INPUT)
    if code == INTERRUPTED:
        return _say("Interrupted.", INTERRUPTED)
    return code if isinstance(code, int) else 0


class _Lines(logging.Handler):
    """Writes what long work does to the standard error of the moment, which a bar on the terminal may replace."""

    def filter(self, record: logging.LogRecord) -> bool:
        return record.name == WORK.name

    def emit(self, record: logging.LogRecord) -> None:
        print(f"coalface: {record.getMessage()}", file=sys.stderr, flush=True)


@contextmanager
def _log_on_stderr() -> Iterator[None]:
    """Show what long work does while a command runs; a service has a log of its own."""
    log, lines = logging.getLogger("coalface"), _Lines()
    level = log.level
    log.addHandler(lines)
    log.setLevel(logging.INFO)
    try:
        yield
    finally:
        log.removeHandler(lines)
        log.setLevel(level)


def _show_warning(options: Mapping[str, str], message: Warning | str, *_: object, **__: object) -> None:
    shown = _with_options(message, options) if isinstance(message, DoubtfulDataWarning) else message
    print(f"coalface: warning: {shown}", file=sys.stderr)


def _say(line: str, code: int) -> int:
    print(f"coalface: {line}", file=sys.stderr)
    return code


def _options_of(command: Any, words: Sequence[str]) -> dict[str, str]:
    """The options of the verb that the words name, by the names of their parameters."""
    for word in words:
        command = getattr(command, "commands", {}).get(word, command)
    return {option.name: option.opts[0] for option in command.params if option.param_type_name == "option"}


def _one_line(problem: Exception, options: Mapping[str, str]) -> str | None:
    """The user's mistake in one line; None for a mistake in the program."""
    if isinstance(problem, CoalfaceError):
        return _with_options(problem, options)
    if isinstance(problem, ModuleNotFoundError) and problem.name is not None:
        return missing_extra(problem.name)
    if isinstance(problem, OSError) and problem.filename is not None:
        return f"{problem.filename}: {problem.strerror}. Check the path and its permissions."
    if hasattr(problem, "format_message"):  # of Typer, which may or may not bring its own Click
        text = " ".join(problem.format_message().split()).rstrip(".")
        return text + (" See --help." if text.endswith("?") else ". See --help.")
    return None


def _with_options(problem: CoalfaceError | DoubtfulDataWarning, options: Mapping[str, str]) -> str:
    """The message with the verb's options: a message about a parameter starts with its name.

    >>> _with_options(CoalfaceError("warm_up must be at least 0, got -1."), {"warm_up": "--warm-up"})
    '--warm-up must be at least 0, got -1.'
    >>> _with_options(CoalfaceError("audits rate must be at most 1, got 2."), {"audit_rate": "--audit-rate"})
    '--audit-rate must be at most 1, got 2.'
    >>> remedy = {"label": "kind", "ignore": "kind"}
    >>> _with_options(CoalfaceError("Pass label or ignore.", remedy=remedy), {"label": "--label", "reader": "--reader"})
    'Pass label or ignore. On the command line: --label kind or --reader ignore=kind.'
    """
    message = " ".join(str(problem).split())
    for title, name in [*TITLES.items(), *((name, name) for name in options)]:
        if name in options and message.startswith(f"{title} "):
            message = message.replace(title, options[name], 1)
            break
    hints = [hint for parameter, value in problem.remedy.items() if (hint := _hint(parameter, value, options))]
    return f"{message} On the command line: {' or '.join(hints)}." if hints else message


def _hint(parameter: str, value: object, options: Mapping[str, str]) -> str | None:
    if parameter == "add_label":  # only the verbs that teach a trained model suggest it
        return f"coalface labels MODEL --add {quote(str(value))}" if {"more", "fill_gaps"} & options.keys() else None
    if parameter.endswith("_column") and "columns" in options:
        return f"{options['columns']} {parameter.removesuffix('_column')}=NAME"
    if parameter in options:
        return options[parameter] if value is None or value is True else f"{options[parameter]} {quote(str(value))}"
    if "reader" in options and parameter in READER_OPTIONS:
        return f"--reader {parameter}=..." if value is None else f"--reader {quote(f'{parameter}={value}')}"
    return None
