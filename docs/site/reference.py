"""Writes the reference: the command line from its own help, and the Python interface from the list of public names."""

import sys
import tomllib
from pathlib import Path
from typing import Any

import typer
from mkdocs.structure.files import File, Files

sys.path.insert(0, str(Path(__file__).parents[2] / "src"))
PUBLIC = Path(__file__).parents[1] / "reference" / "public.toml"


def command_line() -> str:
    """A page with the help of every verb."""
    from coalface.cli.app import app

    page = "# The command line\n\nThis is what `coalface VERB --help` prints, for every verb.\n"
    for name, command, parent in _verbs(typer.main.get_command(app), "coalface", None):
        with command.make_context(name, ["--help"], parent=parent, resilient_parsing=True) as context:
            page += f"\n## {name}\n\n```text\n{context.get_help()}\n```\n"
    return page


def _verbs(command: Any, name: str, parent: Any) -> list[tuple[str, Any, Any]]:
    """A command and those below it, in the order of the help."""
    found = [(name, command, parent)]
    for word, below in getattr(command, "commands", {}).items():
        found += _verbs(below, f"{name} {word}", None)
    return found


def python() -> str:
    """A page with every public name; its docstring follows in the build."""
    page = (
        "# The Python interface\n\nEvery public name of coalface. [Stability](../stability.md) says what that means.\n"
    )
    for module, names in tomllib.loads(PUBLIC.read_text(encoding="utf-8")).items():
        page += f"\n## `{module}`\n"
        for name in names:
            if name != "__version__":
                page += f"\n::: {module}.{name}\n"
    return page


def on_files(files: Files, config: Any) -> Files:
    """Add both pages."""
    for name, write in (("command-line.md", command_line), ("python.md", python)):
        files.append(File.generated(config, f"reference/{name}", content=write()))
    return files
