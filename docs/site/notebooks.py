"""Makes a notebook of each tutorial: its text, its code as cells, its commands after an exclamation mark.

The tutorials are the only source, so a notebook runs what the test suite runs.
"""

import json
import re
from typing import Any

from mkdocs.structure.files import File, Files

_BLOCK = re.compile(r"^```(?P<kind>\w*)\n(?P<text>.*?)^```\n", re.DOTALL | re.MULTILINE)
_SHELL = re.compile(r"(coalface|pip|python) ")
_LINK = re.compile(r"\]\((?!\w+:)[^)]*\)")  # links to other pages lead nowhere in a notebook
_SAVED = re.compile(r"[Ss]ave (?:it|this) as `(?P<file>[\w.]+)`")


def notebook(page: str) -> dict[str, Any]:
    r"""The notebook of a page in Markdown, in version 4.5 of Jupyter's format; output is left to the reader.

    >>> page = "# Title\n\n```python\nprint(1)\n```\n\n```\n1\n```\n"
    >>> [cell["cell_type"] for cell in notebook(page)["cells"]]
    ['markdown', 'code']
    """
    cells, end, after_code = [], 0, False
    for match in _BLOCK.finditer(page):
        text = page[end : match.start()].strip()
        end = match.end()
        if text:
            cells.append(_markdown(text))
        code = _code(match["kind"], match["text"], text)
        if code:
            cells.append(_cell("code", code) | {"outputs": [], "execution_count": None})
        elif not after_code or text:  # what code prints stands below it
            cells.append(_markdown(match[0].strip()))
        after_code = bool(code)
    if page[end:].strip():
        cells.append(_markdown(page[end:].strip()))
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": {"kernelspec": kernel}, "cells": cells}


def _code(kind: str, text: str, before: str) -> str | None:
    """What a cell runs; None for a block that is only shown. A block that the reader saves becomes a file."""
    saved = _SAVED.search(before)
    if saved and kind in ("python", "toml"):
        return f"%%writefile {saved['file']}\n{text}"
    if kind == "python":
        return text
    if kind == "" and _SHELL.match(text):
        return "\n".join(map(_command, filter(None, text.splitlines())))
    return None


def _command(line: str) -> str:
    """A command as a line of a cell; a server would never let the cell end."""
    return f"# run in a terminal: {line}" if re.fullmatch(r"coalface serve \w+", line) else f"!{line}"


def _markdown(text: str) -> dict[str, Any]:
    return _cell("markdown", _LINK.sub("]", text))


def _cell(kind: str, text: str) -> dict[str, Any]:
    return {"cell_type": kind, "metadata": {}, "source": text.rstrip("\n").splitlines(keepends=True)}


def on_files(files: Files, config: Any) -> Files:
    """Add a notebook per tutorial."""
    for page in [file for file in files.documentation_pages() if file.src_uri.startswith("tutorials/")]:
        made = json.dumps(notebook(page.content_string), indent=1, ensure_ascii=False)
        files.append(File.generated(config, page.src_uri.removesuffix(".md") + ".ipynb", content=made + "\n"))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Offer the notebook under the title."""
    if not page.file.src_uri.startswith("tutorials/"):
        return markdown
    title, _, rest = markdown.partition("\n")
    name = page.file.src_uri.removeprefix("tutorials/").removesuffix(".md")
    return f"{title}\n\n[Download as a notebook]({name}.ipynb)\n{rest}"
