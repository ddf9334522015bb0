"""A cell: one full pass of one learner over one permutation of one dataset.

The key of a cell is a hash of everything that determines its result: the settings, the fingerprint of the data and
the code. Two cells with the same key have the same result, so a finished cell never runs again.
"""

import ast
import hashlib
import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.metadata import PackageNotFoundError, version
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias

from coalface.data import CostDataset, TrainTest
from coalface.errors import CoalfaceError
from coalface.evaluate import Checkpoints
from coalface.studies.learners import TUNED, as_rate, find_learner
from coalface.studies.plugins import Plugin
from coalface.studies.study import Study

# The code that determines the numbers of a run.
_DECISIVE = (
    "errors.py",
    "data",
    "files",
    "kernels",
    "models",
    "rounds",
    "learner",
    "evaluate",
    "studies",
)
_CODE = (".py", ".cuh")
_NOT_DECISIVE = ("studies/report", "studies/demo.py")  # these only read results

Stop = Callable[[], bool]
Shared: TypeAlias = TrainTest | str  # the data itself, or a folder of files to map into memory
Record: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class Cell:
    """One run of a sweep; ``settings`` are pairs so that cells can be compared and sent to other processes."""

    key: str
    data: str
    line: str
    learner: str
    settings: tuple[tuple[str, Any], ...]
    permutation: int
    checkpoints: Checkpoints
    plugins: tuple[Plugin, ...] = ()  # that have the learner


class Stopped(Exception):  # noqa: N818 - nothing went wrong
    """The sweep was asked to stop, and this cell with it."""


def cells_of(study: Study, fingerprints: Mapping[str, str], code: Mapping[str, str]) -> Iterator[Cell]:
    """All cells, one permutation after the other, so that an interrupted sweep has whole permutations.

    ``fingerprints`` has the fingerprint of each dataset by name, ``code`` the version of the code by learner.
    """
    for permutation in study.permutations:
        for source in study.sources:
            for line in study.lines:
                for rate in line.rates:
                    settings = dict(line.settings)
                    if TUNED in line.learner.parameters:
                        settings[TUNED] = as_rate(rate)
                    frozen = {name: tuple(one) if isinstance(one, list) else one for name, one in settings.items()}
                    pairs = tuple(sorted(frozen.items()))
                    deciding = [line.learner.name, pairs, permutation, study.checkpoints, fingerprints[source.name]]
                    key = _hash([*deciding, code[line.learner.name]])
                    named = (source.name, line.name, line.learner.name)
                    yield Cell(key, *named, pairs, permutation, study.checkpoints, line.plugins)


def code_of(study: Study) -> dict[str, str]:
    """The version of the code that determines the results, for each of the study's learners."""
    learners = {line.learner.name: (line.learner, line.plugins) for line in study.lines}
    return {name: _code_version(found.sources, found.package, own) for name, (found, own) in learners.items()}


@cache
def _code_version(sources: tuple[Path, ...], package: str, plugins: tuple[Plugin, ...]) -> str:
    library = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for place in (*(library / name for name in _DECISIVE), *sources):
        for source in _sources(place, [library / name for name in _NOT_DECISIVE]):
            meaning = _hash_of_meaning(source.read_text("utf-8"), source.suffix)
            digest.update(f"{source.relative_to(place.parent).as_posix()}\0{meaning}".encode())
    for name, text in chain.from_iterable(plugin.modules for plugin in plugins):
        digest.update(f"{name}\0{_hash_of_meaning(text, '.py')}".encode())
    if package:
        digest.update(f"{_version_of(package)} {_version_of('scikit-learn')}".encode())
    return digest.hexdigest()[:16]


def _sources(place: Path, excluded: list[Path]) -> list[Path]:
    """All source files of a folder, or one file, except those that cannot change a result."""
    code = [path for path in sorted([place, *place.rglob("*")]) if path.is_file() and path.suffix in _CODE]
    return [path for path in code if not any(place in (path, *path.parents) for place in excluded)]


@cache  # most learners share their files
def _hash_of_meaning(source: str, kind: str) -> str:
    return hashlib.sha256((_meaning(source) if kind == ".py" else source).encode()).hexdigest()


def _meaning(source: str) -> str:
    r"""The code without comments, docstrings and line breaks, which cannot change a result.

    >>> _meaning("def f():\n    'says f'\n    return 1  # one") == _meaning("def f(): return 1")
    True
    """
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node, clean=False):
            del node.body[0]
    return ast.dump(tree)


def fingerprint_of(problem: TrainTest) -> str:
    """One fingerprint for training and test data."""
    return _hash([problem.train.fingerprint, problem.test.fingerprint])


def run_cell(shared: Shared, cell: Cell, stop: Stop | None = None) -> Record:
    """Run the cell and return its record as plain values; an error becomes a text in the record.

    Raises ``Stopped`` as soon as ``stop()`` is true.
    """

    def watch(done: int, total: int) -> None:  # noqa: ARG001
        if stop is not None and stop():
            raise Stopped

    record = new_record(cell)
    began = time.perf_counter()
    try:
        watch(0, 1)
        settings = dict(cell.settings)
        learner = find_learner(cell.learner, cell.plugins)
        curve = learner.run(settings, _opened(shared), cell.permutation, cell.checkpoints, watch)
        if curve.interrupted:  # an incomplete run must not enter a median
            raise Stopped
        record["curve"] = curve.to_values()
    except Stopped:
        raise
    except Exception as problem_found:  # the other cells continue after any error
        kind = "" if isinstance(problem_found, CoalfaceError) else f"{type(problem_found).__name__}: "
        record["error"] = kind + " ".join(str(problem_found).split())
    record["seconds"] = time.perf_counter() - began
    return record


def new_record(cell: Cell) -> Record:
    """The record of a cell without its result."""
    return {
        "key": cell.key,
        "data": cell.data,
        "line": cell.line,
        "settings": dict(cell.settings),
        "permutation": cell.permutation,
    }


def _opened(shared: Shared) -> TrainTest:
    """The data of a task: the data itself, or the files of the folder, mapped once per process."""
    return _opened_folder(shared) if isinstance(shared, str) else shared


@lru_cache(maxsize=8)
def _opened_folder(folder: str) -> TrainTest:
    return TrainTest(*(CostDataset.open(Path(folder, part)) for part in ("train", "test")))


def save_problem(problem: TrainTest, folder: Path) -> str:
    """Write the data for other processes to map, unless it was written before; return its folder."""
    place = folder / fingerprint_of(problem)[:16]
    if not (place / "test").is_dir():
        problem.train.save(place / "train")
        problem.test.save(place / "test")
    return str(place.resolve())


def _hash(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:32]


def _version_of(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "missing"
