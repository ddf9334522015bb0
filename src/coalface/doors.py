"""Doors: packages whose names are loaded when they are first used, so that importing a package is quick.

The ``__init__`` of such a package imports its names below ``if TYPE_CHECKING``, where type checkers and editors read
them. At run time, the same lines say in which module a name is defined, and are the package's ``__all__``.
"""

import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any


def door_of(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The functions ``__getattr__`` and ``__dir__`` of a package.

    >>> load, names = door_of("coalface")
    >>> load("CostRanges").__module__, "CostRanges" in names()
    ('coalface.rounds.queries', True)
    """

    def load(name: str) -> Any:
        homes = _homes_in(package)
        if name == "__all__":
            return sorted(homes)
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(homes[name]), name)

    return load, lambda: sorted(_homes_in(package))


@cache
def _homes_in(package: str) -> dict[str, str]:
    """The module of each name that a package gives."""
    import ast
    from pathlib import Path

    lines = ast.walk(ast.parse(Path(str(sys.modules[package].__file__)).read_text(encoding="utf-8")))
    imports = [line for line in lines if isinstance(line, ast.ImportFrom) and str(line.module).startswith("coalface.")]
    return {one.name: str(line.module) for line in imports for one in line.names if line.module != __name__}
