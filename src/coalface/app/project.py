"""A labelling project: a folder with its settings, its labels, what errors cost, and the pool of examples.

``project.toml`` may be edited by hand; ``labels.txt`` has a label per line, and ``cost_matrix.csv``, where there is
one, says what each label costs by the true one.
"""

import csv
import json
import os
import shutil
import tomllib
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.app.features import read_features
from coalface.app.limits import Limits
from coalface.app.pool import Pool, write_pool
from coalface.app.scale import Scale
from coalface.app.settings_file import settings_text
from coalface.app.sources import read_examples
from coalface.app.store import Store
from coalface.data.fields import Examples, checked_examples
from coalface.data.labels import label_array
from coalface.data.matrices import read_cost_matrix
from coalface.data.trees import tree_cost_matrix
from coalface.errors import CoalfaceError, FileFormatError, InputError
from coalface.learner import CoalClassifier

SETTINGS, LABELS, MATRIX, POOL = "project.toml", "labels.txt", "cost_matrix.csv", "pool"


@dataclass(frozen=True, eq=False)
class Project:
    """What a desk needs to know; made by ``create``, opened by ``open``.

    >>> from tempfile import TemporaryDirectory
    >>> examples = [{"id": "1", "text": "Where is my parcel?"}, {"id": "2", "text": "I want my money back"}]
    >>> with TemporaryDirectory() as folder:
    ...     project = Project.create(f"{folder}/mail", examples, labels=["delivery", "refund"])
    ...     project.name, project.labels, len(project.pool), project.true_label
    ('mail', ['delivery', 'refund'], 2, False)
    """

    folder: Path
    name: str
    title: str
    question: str
    guidelines: str
    labels: list[str]
    scale: Scale
    true_label: bool
    matrix: NDArray[np.float64] | None  # (K, K), row = truth
    limits: Limits
    overlap: int
    seed: int
    database: str
    pool: Pool
    learner: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def create(
        cls,
        folder: str | os.PathLike[str],
        examples: str | os.PathLike[str] | Iterable[Mapping[str, Any]],
        labels: str | os.PathLike[str] | Sequence[str],
        *,
        tree: Any = None,
        cost_matrix: Any = None,
        features: Any = None,
        true_label: bool | None = None,
        levels: Sequence[Mapping[str, Any]] = (),
        cost_bounds: tuple[float, float] | None = None,
        budget: Mapping[str, float] | None = None,
        overlap: int = 1,
        seed: int = 0,
        title: str | None = None,
        question: str | None = None,
        guidelines: str = "",
        database: str = "sqlite:///project.db",
        learner: Mapping[str, Any] | None = None,
    ) -> "Project":
        """Make a project in a new folder; after an error there is none.

        ``tree`` (child -> parent, or a .json file of that) or ``cost_matrix`` (row = truth, or a file) say what errors
        cost; then, unless told otherwise, annotators give the true label only.
        """
        target = Path(folder)
        if target.exists() and (not target.is_dir() or any(target.iterdir())):
            raise InputError(f"{target} must be a new or empty folder. Choose another name.")
        names = read_labels(labels)
        matrix = _matrix(names, tree, cost_matrix)
        scale = Scale.of(levels, cost_bounds or (None if matrix is None else (0.0, max(float(matrix.max()), 1e-9))))
        if matrix is not None and not scale.bounds[0] <= matrix.min() <= matrix.max() <= scale.bounds[1]:
            raise InputError(
                f"The costs of errors must lie within the scale, {scale.bounds[0]:g} to {scale.bounds[1]:g}, got "
                f"{matrix.min():g} to {matrix.max():g}. Pass wider cost_bounds."
            )
        one_label = matrix is not None if true_label is None else bool(true_label)
        usual = "Which label is right?" if one_label else "How bad would each of these be?"
        settings = {
            "title": title or target.name,
            "question": usual if question is None else question,
            "guidelines": guidelines,
            "true_label": one_label,
            "overlap": overlap,
            "seed": seed,
            "database": database,
            "scale": scale.plain(),
            "budget": Limits.of(budget or {}).plain(),
            "learner": dict(learner or {}),
        }
        target.parent.mkdir(parents=True, exist_ok=True)
        part = target.parent / f".{target.name}.{uuid.uuid4().hex}.part"
        try:
            part.mkdir()
            (part / SETTINGS).write_text(settings_text(settings), encoding="utf-8")
            (part / LABELS).write_text("".join(f"{name}\n" for name in names), encoding="utf-8")
            if matrix is not None:
                _write_matrix(part / MATRIX, names, matrix)
            vectors = None if features is None else _vectors(features)
            write_pool(part / POOL, read_examples(examples), vectors, seed)
            cls.open(part).new_learner()  # what cannot be opened is not made
            if target.exists():
                target.rmdir()
            part.replace(target)
        except BaseException:
            shutil.rmtree(part, ignore_errors=True)
            raise
        return cls.open(target)

    @classmethod
    def open(cls, folder: str | os.PathLike[str]) -> "Project":
        """The project in a folder."""
        source = Path(folder)
        try:
            settings = tomllib.loads((source / SETTINGS).read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise FileFormatError(f"{source} is not a project: it has no {SETTINGS}. Make one with init.") from None
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
            raise FileFormatError(f"{source / SETTINGS} must be TOML ({problem}). Correct it.") from None
        labels = read_labels(source / LABELS)
        known = {"title", "question", "guidelines", "true_label", "overlap", "seed", "database"}
        _refuse_unknown(source, settings, known | {"scale", "budget", "learner"})
        matrix = source / MATRIX
        try:
            return cls(
                folder=source,
                name=source.resolve().name,
                title=str(settings.get("title", source.name)),
                question=str(settings.get("question", "")),
                guidelines=str(settings.get("guidelines", "")),
                labels=labels,
                scale=Scale.from_plain(settings.get("scale", {})),
                true_label=bool(settings.get("true_label", False)),
                matrix=read_cost_matrix(matrix, np.array(labels)) if matrix.exists() else None,
                limits=Limits.of(settings.get("budget", {})),
                overlap=_overlap(settings.get("overlap", 1)),
                seed=int(settings.get("seed", 0)),
                database=str(settings.get("database", "sqlite:///project.db")),
                pool=Pool(source / POOL),
                learner=dict(settings.get("learner", {})),
            )
        except (TypeError, ValueError) as problem:
            if isinstance(problem, CoalfaceError):
                raise
            raise FileFormatError(f"{source / SETTINGS} holds a wrong value ({problem}). Correct it.") from None

    @property
    def cost_bounds(self) -> tuple[float, float]:
        """The least and the largest cost."""
        return self.scale.bounds

    @property
    def levels(self) -> list[Any]:
        """The named levels of the scale; none where costs are free numbers."""
        return list(self.scale.levels)

    def new_learner(self) -> CoalClassifier:
        """A learner that has seen nothing."""
        given = {"cost_bounds": self.cost_bounds, "random_state": self.seed, **self.learner}
        try:
            learner = CoalClassifier(classes=np.array(self.labels), **given)
        except TypeError as problem:
            raise InputError(f"[learner] must hold parameters of CoalClassifier ({problem}). Remove it.") from None
        learner._ready()
        learner._settings()  # a wrong parameter is found here, not at the first question
        return learner

    def costs_of_truth(self, label: str) -> NDArray[np.float64]:
        """What each label costs where this one is true."""
        code = self.labels.index(label)
        low, high = self.cost_bounds
        if self.matrix is None:
            return np.where(np.arange(len(self.labels)) == code, low, high)
        return np.asarray(self.matrix[code])

    def file_of(self, example_id: str) -> Path:
        """The file of an image."""
        content = self.pool.content(self.pool.place(example_id))
        if content["kind"] != "image":
            raise InputError(f"Only images have files, {example_id!r} is of kind {content['kind']}.")
        return self.folder / POOL / "images" / Path(content["file"]).name

    def open_store(self) -> Store:
        """The database of the project; one of SQLite lies in the folder."""
        local = "sqlite:///"
        if self.database.startswith(local) and not self.database.startswith(f"{local}/"):
            return Store(f"{local}{self.folder.resolve() / self.database.removeprefix(local)}")
        return Store(self.database)


def read_labels(labels: str | os.PathLike[str] | Sequence[str]) -> list[str]:
    """At least two distinct labels, from a list or a file with one per line.

    >>> read_labels(["refund", "delivery"])
    ['refund', 'delivery']
    """
    if isinstance(labels, str | os.PathLike):
        path = Path(labels)
        if not path.is_file():
            raise FileFormatError(f"There is no file {path}. Write a label per line there.")
        names = [line.strip() for line in path.read_text(encoding="utf-8-sig").splitlines() if line.strip()]
    else:
        names = [str(label) for label in labels]
    if len(names) < 2:
        raise InputError(f"There must be at least two labels, got {names!r}.")
    label_array(np.array(names), "labels")
    return names


def _vectors(features: Any) -> Examples:
    return read_features(Path(features)) if isinstance(features, str | os.PathLike) else checked_examples(features)


def _matrix(labels: list[str], tree: Any, cost_matrix: Any) -> NDArray[np.float64] | None:
    if tree is not None and cost_matrix is not None:
        raise InputError("Costs come from a tree or from a cost matrix, got both. Leave one out.")
    if cost_matrix is not None:
        matrix = read_cost_matrix(cost_matrix, np.array(labels))
        if (matrix < 0).any():
            raise InputError(f"A cost matrix must hold costs from 0 on, got {matrix.min():g}. Add a constant to it.")
        return matrix
    if tree is None:
        return None
    if isinstance(tree, str | os.PathLike):
        try:
            tree = json.loads(Path(tree).read_text(encoding="utf-8"))
        except (OSError, ValueError) as problem:
            raise FileFormatError(f"{tree} must be a JSON object of child: parent ({problem}). Correct it.") from None
    parents = tree.get("parent") if isinstance(tree, dict) and isinstance(tree.get("parent"), dict) else tree
    if not isinstance(parents, Mapping):
        raise InputError(f"A tree must be a mapping of child: parent, got {tree!r:.60}.")
    return tree_cost_matrix(parents, labels)


def _write_matrix(path: Path, labels: list[str], matrix: NDArray[np.float64]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["", *labels])
        writer.writerows([label, *map(repr, row)] for label, row in zip(labels, matrix.tolist(), strict=True))


def _refuse_unknown(source: Path, settings: Mapping[str, Any], known: set[str]) -> None:
    for name in settings:
        if name not in known:
            raise FileFormatError(
                f"{source / SETTINGS} has no setting {name!r}; possible are {', '.join(sorted(known))}."
            )


def _overlap(value: Any) -> int:
    if not isinstance(value, int) or not 1 <= value <= 100:
        raise InputError(f"overlap must be a whole number from 1 to 100, got {value!r}.")
    return value
