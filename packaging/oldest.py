"""Print the oldest versions of the dependencies that pyproject.toml allows, as constraints for pip.

    python packaging/oldest.py > constraints.txt

Dependencies of the library and of its optional parts count; tools for development do not.
"""

import re
import tomllib
from pathlib import Path

PROJECT = Path(__file__).parents[1] / "pyproject.toml"
OF_USERS = ("app", "dask", "embeddings", "parquet", "postgres", "report", "zstd")
_AT_LEAST = re.compile(r"^(?P<name>[A-Za-z0-9._-]+)(\[[^]]*\])?>=(?P<version>[0-9.]+)$")


def oldest(project: dict[str, object]) -> list[str]:
    """One constraint per dependency with a lower bound.

    >>> extras = {"app": ["uvicorn>=0.30"], "dev": ["ruff>=0.8"]}
    >>> oldest({"dependencies": ["numpy>=2.0"], "optional-dependencies": extras})
    ['numpy==2.0', 'uvicorn==0.30']
    """
    extras = project["optional-dependencies"]
    named = [*project["dependencies"], *(one for extra in OF_USERS for one in extras.get(extra, []))]
    found = [match for one in named if (match := _AT_LEAST.match(one))]
    return sorted({f"{match['name']}=={match['version']}" for match in found})


if __name__ == "__main__":
    print("\n".join(oldest(tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"])))
