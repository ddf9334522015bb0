"""Brings files outside docs/ that a page links to into the site, such as studies and the changelog.

The pages are read in the repository too, so their links are those of the repository. On the site, docs/ is the top
folder; every other file keeps its path. A link is followed only if its file exists: MkDocs reports the others.
"""

import posixpath
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files, InclusionLevel

ROOT = Path(__file__).parents[2]
_LINK = re.compile(r"(?<=\]\()(?!\w+:|#)(?P<path>[^)#\s]+)(?P<rest>#[^)]*)?(?=\))")


def target(source: str, link: str) -> str | None:
    """The path in the repository that a link of a file leads to; None if it leads outside or to nothing.

    >>> target("docs/paper.md", "../studies/"), target("docs/paper.md", "theory.md"), target("README.md", "nothing.md")
    ('studies/README.md', 'docs/theory.md', None)
    """
    path = posixpath.normpath(posixpath.join(posixpath.dirname(source), link))
    if (ROOT / path / "README.md").is_file():
        path += "/README.md"
    return path if not path.startswith("..") and (ROOT / path).is_file() else None


def site_path(path: str) -> str:
    """Where a file of the repository is on the site.

    >>> site_path("docs/theory.md"), site_path("studies/README.md")
    ('theory.md', 'studies/README.md')
    """
    return path.removeprefix("docs/")


def in_repository(page: str) -> str:
    """The path in the repository of a page of the site."""
    inside = f"docs/{page}"
    return inside if (ROOT / inside).is_file() else page


def links(source: str) -> list[str]:
    """The files of the repository that a page links to."""
    text = (ROOT / source).read_text(encoding="utf-8")
    return [found for match in _LINK.finditer(text) if (found := target(source, match["path"]))]


def outside(pages: list[str]) -> list[str]:
    """All files outside docs/ that these pages, or pages outside docs/ that they lead to, link to."""
    found: dict[str, None] = {}
    waiting = list(pages)
    while waiting:
        source = waiting.pop()
        new = [path for path in links(source) if not path.startswith("docs/") and path not in found]
        found.update(dict.fromkeys(new))
        waiting += [path for path in new if path.endswith(".md")]
    return sorted(found)


def relinked(source: str) -> Callable[[re.Match[str]], str]:
    """What replaces a link of a page: the way to the same file on the site."""

    def replace(match: re.Match[str]) -> str:
        path = target(source, match["path"])
        if path is None:
            return match[0]
        return posixpath.relpath(site_path(path), posixpath.dirname(site_path(source)) or ".") + (match["rest"] or "")

    return replace


def on_files(files: Files, config: Any) -> Files:
    """Add what the pages link to."""
    pages = [f"docs/{file.src_uri}" for file in files.documentation_pages() if file.src_uri.endswith(".md")]
    listed = ["CHANGELOG.md", "CONTRIBUTING.md", "examples/README.md", "studies/README.md"]
    present = [path for path in listed if (ROOT / path).is_file()]
    for path in sorted({*present, *outside([*pages, *present])}):
        file = File.generated(config, path, abs_src_path=str(ROOT / path))
        file.inclusion = InclusionLevel.INCLUDED
        files.append(file)
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Rewrite the links of a page."""
    return _LINK.sub(relinked(in_repository(page.file.src_uri)), markdown)
