"""Writes the reference: the command line from its own help, and the Python interface from the list of public names."""

import importlib
import inspect
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


def python() -> dict[str, str]:
    """A page per public module, whose docstrings follow in the build, and a page that lists all names."""
    index = (
        "# The Python interface\n\nEvery public name of coalface. [Stability](../stability.md) says what that means.\n"
    )
    public = documented_names()
    modules = {module: importlib.import_module(module) for module in public}
    known = {id(getattr(modules[module], name)) for module, names in public.items() for name in names}
    pages, where = {}, {}
    for module, names in public.items():
        loaded = modules[module]
        about = inspect.cleandoc(loaded.__doc__ or "")
        page = f"# {module}\n\n{about.partition(chr(10) * 2)[0]}\n"
        index += f"\n## [{module}]({module}.md)\n\n| name | |\n|---|---|\n"
        for name in sorted(set(names) - {"__version__"}, key=str.lower):
            found = getattr(loaded, name)
            first = where.setdefault(id(found), f"{module}.{name}")  # a name of two modules is described once
            index += f"| [`{name}`][{first}] | {_summary(found)} |\n"
            if first == f"{module}.{name}":
                page += f"\n::: {module}.{name}\n"
                if any(id(base) in known for base in getattr(found, "__bases__", ())):
                    page += "    options: {inherited_members: false}\n"  # they are those of another public class
            else:
                page += f"\n## {name} {{ data-search-exclude }}\n\nThe same as [`{first}`][].\n"
        pages[f"{module}.md"] = page
    return {"python.md": index} | pages


def documented_names() -> dict[str, list[str]]:
    """The names that have an entry in the reference, by module: the promised ones first."""
    lists = tomllib.loads(PUBLIC.read_text(encoding="utf-8"))
    modules = dict.fromkeys([*lists["promised"], *lists["documented"]])
    return {name: [*lists["promised"].get(name, ()), *lists["documented"].get(name, ())] for name in modules}


def _summary(found: Any) -> str:
    """The first sentence of a docstring, as the cell of a table."""
    text = inspect.getdoc(found) if callable(found) else ""
    return (text or "").partition("\n")[0].replace("``", "`").replace("|", "\\|")


def on_files(files: Files, config: Any) -> Files:
    """Add all pages."""
    for name, content in ({"command-line.md": command_line()} | python()).items():
        files.append(File.generated(config, f"reference/{name}", content=content))
    return files
