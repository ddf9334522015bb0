"""A cell: one full pass of one learner over one permutation of one dataset, and its name for ever.

The key of a cell is a hash of everything that decides its result: the settings, the fingerprints of the data and
the code. Two cells with one key have one result, so a finished one never runs again.
"""

import ast
import hashlib
import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, TypeAlias

import coalface
from coalface.data.dataset import CostDataset, TrainTest
from coalface.errors import CoalfaceError
from coalface.studies import learners
from coalface.studies.baselines import RIVALS
from coalface.studies.rates import as_rate
from coalface.studies.study import TUNED, Study

# What decides the numbers of a run; the readers do not, for the data they give has a fingerprint of its own.
_DECISIVE = ("errors.py", "data", "files", "kernels", "models", "rounds", "learner", "studies")  # whole packages
_DECISIVE_FOR_TAGGERS = ("search",)
_NOT_DECISIVE = ("studies/report", "studies/demo")  # these read results and make none

Stop = Callable[[], bool]
Shared: TypeAlias = TrainTest | str  # the data itself, or the folder it is mapped from
Record: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class Cell:
    """One run to be made; ``settings`` are pairs so that cells can be compared and sent around."""

    key: str
    data: str
    line: str
    learner: str
    settings: tuple[tuple[str, Any], ...]
    permutation: int
    budgets: Any


class Stopped(Exception):  # noqa: N818 - nothing went wrong
    """The sweep was asked to stop, and this cell with it."""


def cells_of(study: Study, fingerprints: Mapping[str, str], code: Mapping[str, str]) -> Iterator[Cell]:
    """All cells, one permutation after the other, so that a cut sweep has whole permutations.

    ``fingerprints`` are those of the data by name, ``code`` the versions of the code by learner.
    """
    for permutation in study.permutations:
        for source in study.sources:
            for line in study.lines:
                for rate in line.rates:
                    settings = dict(line.settings)
                    if TUNED in learners.parameters_of(line.learner):
                        settings[TUNED] = as_rate(rate)
                    pairs = tuple(sorted((name, _frozen(value)) for name, value in settings.items()))
                    deciding = [line.learner, pairs, permutation, study.budgets, fingerprints[source.name]]
                    key = _hash([*deciding, code[line.learner]])
                    yield Cell(key, source.name, line.name, line.learner, pairs, permutation, study.budgets)


def code_of(study: Study) -> dict[str, str]:
    """The versions of the code that decides what the study's learners give."""
    return {line.learner: _code_version(line.learner) for line in study.lines}


@cache
def _code_version(learner: str) -> str:
    root = Path(coalface.__file__).parent
    digest = hashlib.sha256()
    rival = None if learner in learners.OURS else RIVALS[learner]
    more = _DECISIVE_FOR_TAGGERS if learner == learners.TAGGER else ()
    for source in _sources(root, (*_DECISIVE, *more)):
        digest.update(f"{source.relative_to(root).as_posix()}\0{_meaning(source.read_text('utf-8'))}".encode())
    if rival is not None and rival.package:
        digest.update(f"{_version_of(rival.package)} {_version_of('scikit-learn')}".encode())
    return digest.hexdigest()[:16]


def _sources(root: Path, packages: Iterable[str]) -> list[Path]:
    """All source files of these packages and modules, but for those that cannot change a result."""
    found = [source for name in packages for source in sorted([root / name, *(root / name).rglob("*.py")])]
    idle = [root / name for name in _NOT_DECISIVE]
    return [path for path in found if path.is_file() and not any(folder in path.parents for folder in idle)]


def _meaning(source: str) -> str:
    r"""The code without comments, docstrings and line breaks: editing those changes no result.

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
    """Run the cell and describe what came out, as plain values; an error comes back as a text.

    Raises ``Stopped`` if ``stop()`` becomes true on the way.
    """

    def watch(done: int, total: int) -> None:  # noqa: ARG001
        if stop is not None and stop():
            raise Stopped

    record: Record = {
        "key": cell.key,
        "data": cell.data,
        "line": cell.line,
        "settings": dict(cell.settings),
        "permutation": cell.permutation,
    }
    began = time.perf_counter()
    try:
        watch(0, 1)
        settings = dict(cell.settings)
        curve = learners.run(cell.learner, settings, opened(shared), cell.permutation, cell.budgets, watch)
        if curve.interrupted:  # a run that was cut short must not enter a median
            raise Stopped
        record["curve"] = curve.to_values()
    except Stopped:
        raise
    except Exception as problem_found:  # whatever it is, the other cells go on
        kind = "" if isinstance(problem_found, CoalfaceError) else f"{type(problem_found).__name__}: "
        record["error"] = kind + " ".join(str(problem_found).split())
    record["seconds"] = time.perf_counter() - began
    return record


def opened(shared: Shared) -> TrainTest:
    """The data of a task: what was passed, or a map of the files, opened once per process."""
    return _opened_folder(shared) if isinstance(shared, str) else shared


@lru_cache(maxsize=8)
def _opened_folder(folder: str) -> TrainTest:
    return TrainTest(*(CostDataset.open(Path(folder, part)) for part in ("train", "test")))


def save_problem(problem: TrainTest, folder: Path) -> str:
    """Write the data for other processes to map, unless it lies there already; the folder to open."""
    place = folder / fingerprint_of(problem)[:16]
    if not (place / "test").is_dir():
        problem.train.save(place / "train")
        problem.test.save(place / "test")
    return str(place.resolve())


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _hash(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:32]


def _version_of(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "missing"
