"""Plug-ins: Python code beside the TOML file of a study, with learners and data of its own.

A plug-in is a file, or a folder with ``__init__.py``. ``LEARNERS`` lists its learners. ``DATA`` has functions that load
a dataset, by its name or by a pattern of names such as "aslib/*"; they are given the name. A plug-in is run from its
text, which goes with every cell of its learners: a worker on another machine needs none of its files.
"""

import hashlib
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from importlib import import_module
from importlib.abc import InspectLoader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_loader
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from coalface.data import TrainTest
from coalface.errors import InputError, in_one_line

if TYPE_CHECKING:
    from coalface.studies.learners import StudyLearner

_MAIN = "__init__"


@dataclass(frozen=True)
class Plugin:
    r"""A plug-in by the text of its modules, of which ``__init__`` is the main one.

    >>> Plugin("double", (("__init__", "DATA = {'a/*': lambda name: name * 2}"),)).loader_of("a/b")("a/b")
    'a/ba/b'
    """

    name: str
    modules: tuple[tuple[str, str], ...]

    @classmethod
    def beside(cls, folder: Path, name: Any) -> "Plugin":
        """The plug-in of this name in a folder; nothing of it is run."""
        if not isinstance(name, str) or not name.isidentifier():
            raise InputError(f"plugins must be a list of names of Python modules beside the file, got {name!r}")
        package = folder / name
        files = {path.stem: path for path in sorted(package.glob("*.py"))}
        if _MAIN not in files:
            files = {_MAIN: folder / f"{name}.py"}
        try:
            return cls(name, tuple((module, path.read_text(encoding="utf-8")) for module, path in files.items()))
        except OSError as problem:
            raise InputError(f"plugins names {name}, but {files[_MAIN]} cannot be read: {problem.strerror}") from None

    @property
    def module(self) -> ModuleType:
        """The main module, which runs once in a process."""
        package = f"coalface_plugin_{hashlib.sha256(repr(self.modules).encode()).hexdigest()[:32]}"
        if package not in sys.modules:
            sys.meta_path.append(_TextImporter(package, dict(self.modules)))
        try:
            return import_module(package)
        except Exception as problem:
            error = f"{type(problem).__name__}: {in_one_line(problem)}"
            raise InputError(f"The plug-in {self.name} cannot be imported ({error}). Correct it.") from problem

    @property
    def learners(self) -> "Mapping[str, StudyLearner]":
        """Its learners by name."""
        return {learner.name: learner for learner in getattr(self.module, "LEARNERS", ())}

    def loader_of(self, data: str) -> Callable[[str], TrainTest] | None:
        """The function that loads this dataset; None if the plug-in does not have it."""
        loaders: Mapping[str, Callable[[str], TrainTest]] = getattr(self.module, "DATA", {})
        return next((load for pattern, load in loaders.items() if fnmatchcase(data, pattern)), None)


class _TextImporter(InspectLoader, MetaPathFinder):
    """Imports the modules of a package from their text."""

    def __init__(self, package: str, modules: Mapping[str, str]) -> None:
        self.package = package
        self.texts = {f"{package}.{name}".removesuffix(f".{_MAIN}"): text for name, text in modules.items()}

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:  # noqa: ARG002
        """The module, if it belongs to the package."""
        return spec_from_loader(fullname, self) if fullname in self.texts else None

    def is_package(self, fullname: str) -> bool:
        """Whether this is the main module."""
        return fullname == self.package

    def get_source(self, fullname: str) -> str:
        """The text of a module."""
        return self.texts[fullname]
