"""The page on PyPI: the README without relative links, which lead nowhere there, and the addresses of the project.

The environment variable COALFACE_REPOSITORY has the address of the repository; the release workflow sets it. Links to
files then lead there. Without it, they become plain text, and the picture is left out.
"""

import os
import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_LINK = re.compile(r"(?P<picture>!?)\[(?P<text>[^]]*)\]\((?!\w+:|#)(?P<path>[^)]*)\)")


def without_relative_links(markdown: str, repository: str) -> str:
    """The page with links to the repository, or without links to its files.

    >>> without_relative_links("[Data](docs/data.md) ![A curve](a.svg)", "https://host.example/us/it")
    '[Data](https://host.example/us/it/blob/HEAD/docs/data.md) ![A curve](https://host.example/us/it/raw/HEAD/a.svg)'
    >>> without_relative_links("[Data](docs/data.md) ![A curve](a.svg)", "")
    'Data '
    """

    def replaced(link: re.Match[str]) -> str:
        picture, text, path = link.group("picture", "text", "path")
        if not repository:
            return "" if picture else text
        return f"{picture}[{text}]({repository}/{'raw' if picture else 'blob'}/HEAD/{path})"

    return _LINK.sub(replaced, markdown)


class PypiPage(MetadataHookInterface):
    """Puts the page and the links into the metadata of a build."""

    PLUGIN_NAME = "custom"

    def update(self, metadata: dict[str, Any]) -> None:
        """Set what ``dynamic`` in pyproject.toml leaves open."""
        repository = os.environ.get("COALFACE_REPOSITORY", "").rstrip("/")
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        text = without_relative_links(text, repository)
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
        metadata["urls"] = {}
        if repository:
            pages = {"Documentation": "docs/index.md", "Changelog": "CHANGELOG.md", "Security": "SECURITY.md"}
            links = {name: f"{repository}/blob/HEAD/{path}" for name, path in pages.items()}
            metadata["urls"] = {"Source": repository, "Issues": f"{repository}/issues", **links}
