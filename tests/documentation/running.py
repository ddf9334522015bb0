"""Runs a page of the documentation as a reader would: its Python blocks in one session, its commands in one folder."""

import ast
import doctest
import io
import os
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

from coalface.cli import main
from tests.documentation.blocks import Item, command_of, words_of

# The beginnings of the shell scripts that may run. Nothing else does: a page may install packages or start servers.
SCRIPTS = (
    "printf 'billing",
    'printf \'{"message"',
    "export COALFACE_WEBHOOK_SECRET=$(python -c ",
)
_NEVER = re.compile(r"^\s*(pip|make|dask|python -m|sudo|curl|wget)\b", re.MULTILINE)


def run_python(item: Item, names: dict[str, object], comments: bool) -> str:
    """What a block prints. If its comments say the output, each print at the top level prints its comment."""
    tree = ast.increment_lineno(ast.parse(item.text), item.line - 1)
    said = dict(_comments(item)) if comments else {}
    printed = ""
    for statement in tree.body:
        with redirect_stdout(io.StringIO()) as out:
            exec(compile(ast.Module([statement], []), item.page, "exec"), names)
        if _is_print(statement) and statement.end_lineno in said:
            where = f"{item.page}, line {statement.end_lineno}"
            assert out.getvalue() == said[statement.end_lineno] + "\n", f"{where}: {out.getvalue()}"
        printed += out.getvalue()
    return printed


def _comments(item: Item) -> Iterator[tuple[int, str]]:
    for token in tokenize.generate_tokens(io.StringIO(item.text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0] + item.line - 1, token.string.removeprefix("# ")


def _is_print(statement: ast.stmt) -> bool:
    call = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "print"


def run_session(item: Item) -> None:
    """Run the commands after ``$``; what each prints is in the lines after it."""
    for command, shown in re.findall(r"^\$ coalface (.*)\n((?:(?!\$ ).*\n)*)", item.text, re.MULTILINE):
        printed = run_command(command)
        assert same(shown, printed), f"{item}:\n{printed}"


def run_commands(lines: list[str]) -> list[str]:
    """What each command of a block prints; lines that do not start with ``coalface`` go to a shell."""
    printed, shell = [], ""
    for line in lines:
        if (command := command_of(line)) is None:
            shell += line + "\n"
        else:
            printed += [_run_shell(shell), run_command(command)]
            shell = ""
    return [*printed, _run_shell(shell)]


def run_command(command: str) -> str:
    """What ``coalface`` prints on both streams, less what goes to a file."""
    words, file = words_of(command)
    with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO() if file else out) as err:
        code = main(words)
    assert code == 0, f"coalface {command}: {err.getvalue()}"
    if file:
        Path(file).write_text(out.getvalue(), encoding="utf-8")
        return err.getvalue()
    return out.getvalue()


def _run_shell(script: str) -> str:
    script = script.lstrip()
    if not script:
        return ""
    assert script.startswith(SCRIPTS), f"Add this to NOT_RUN, or to SCRIPTS if it is safe to run:\n{script}"
    assert not _NEVER.search(script), f"Add to NOT_RUN what must not run in tests:\n{script}"
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    ran = subprocess.run(
        ["bash", "-euc", script], env=os.environ | {"PATH": path}, capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stderr) == (0, ""), f"{script}\n{ran.stderr}"
    return ran.stdout


def same(shown: str, printed: str, numbers: bool = True) -> bool:
    """Whether a page shows what was printed; three dots stand for any text, and without ``numbers`` any will do."""
    if not numbers:
        shown, printed = (re.sub(r"[0-9][0-9,]*", "0", text) for text in (shown, printed))
    return doctest.OutputChecker().check_output(shown, printed, doctest.ELLIPSIS)
