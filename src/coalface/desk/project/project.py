"""A labelling project: a folder with its settings, its labels, the costs of errors, and the pool of examples.

``project.toml`` may be edited by hand. ``labels.txt`` has the first labels, one per line. ``cost_matrix.csv``, which is
optional, has the cost of each label by the true label.
"""

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.data import MINILM, Examples, SentenceEmbedder, checked_examples, is_number, read_cost_matrix
from coalface.desk.log.ownership import new_id, opening
from coalface.desk.log.store import Store
from coalface.desk.project.features import read_features
from coalface.desk.project.guidelines import Guidelines
from coalface.desk.project.labels import error_costs, read_labels, write_error_costs
from coalface.desk.project.pool import Pool
from coalface.desk.project.pool_files import write_pool
from coalface.desk.project.scale import Scale
from coalface.desk.project.settings_file import (
    SETTINGS,
    read_plain,
    read_settings,
    settings_text,
    write_settings,
    written_plain,
)
from coalface.desk.project.sources import ColumnRoles, Source, read_examples, read_records
from coalface.desk.project.spending import Limits
from coalface.errors import CoalfaceError, FileFormatError, InputError
from coalface.files import new_folder, refuse_used
from coalface.learner import CoalClassifier

import sqlalchemy as sa  # isort: skip  (after the module that says how to install it)

LABELS, MATRIX, POOL = "labels.txt", "cost_matrix.csv", "pool"

DATABASE = "sqlite:///project.db"
_OVERLAP = 0x0E  # of random numbers: whether an example is shared


@dataclass(frozen=True, eq=False)
class Project:
    """The settings, labels and pool of a project; ``create`` makes one, ``open`` opens it.

    >>> from tempfile import TemporaryDirectory
    >>> examples = [{"id": "1", "text": "Where is my parcel?"}, {"id": "2", "text": "I want my money back"}]
    >>> with TemporaryDirectory() as folder:
    ...     project = Project.create(f"{folder}/mail", examples, labels=["delivery", "refund"])
    ...     project.name, project.labels, len(project.pool), project.true_label
    ('mail', ['delivery', 'refund'], 2, False)
    """

    id: str
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
    overlap: float  # how many annotators see an example, on average
    seed: int
    database: str = field(repr=False)  # the address may contain a password
    pool: Pool = field(repr=False)
    learner: Mapping[str, Any] = field(default_factory=dict)
    gold: float = 0.0  # the share of questions about examples with known costs, to check annotators
    retired: tuple[str, ...] = ()  # labels that are not offered any more; ``labels`` has them too
    first_labels: list[str] = field(default_factory=list, repr=False)  # in labels.txt: the log has what changed since
    first_matrix: NDArray[np.float64] | None = field(default=None, repr=False)

    @classmethod
    def create(
        cls,
        folder: str | os.PathLike[str],
        examples: Source,
        labels: str | os.PathLike[str] | Sequence[str] | None = None,
        *,
        text: Sequence[str] = (),
        id: str | None = None,
        ignore: Sequence[str] = (),
        label: str | None = None,
        tree: Any = None,
        cost_matrix: Any = None,
        features: Any = None,
        true_label: bool | None = None,
        levels: Sequence[Mapping[str, Any]] = (),
        cost_bounds: tuple[float, float] | None = None,
        budget: Mapping[str, Any] | None = None,
        overlap: float = 1,
        gold: float = 0.0,
        seed: int = 0,
        title: str | None = None,
        question: str | None = None,
        guidelines: str = "",
        database: str = DATABASE,
        learner: Mapping[str, Any] | None = None,
        in_order: bool = False,
    ) -> "Project":
        """Create a project in a new folder; after an error there is none.

        ``tree`` (child -> parent, or a .json file of that) or ``cost_matrix`` (row = truth, or a file) gives the costs
        of errors. By default, annotators then give the true label only. ``features`` is a row per example, a file of
        that, or "minilm" for sentence embeddings. Examples are asked about in random order or, if ``in_order``, in the
        order given, which suits a ranking.

        ``text``, ``id``, ``ignore`` and ``label`` name columns of the examples: texts, of which annotators read the
        first; the ids; those to leave out; and the true labels, which annotators never see. Without ``labels``, the
        project has those of the column ``label``. In ``guidelines``, a heading that names a label begins its section.
        """
        target = Path(folder)
        refuse_used(target)
        embed = _embedder(features)
        columns = ColumnRoles.of(text, id, ignore, label)
        if labels is None:
            if label is None:
                raise InputError("labels must be given, or label, a column of the examples that has them. Pass one.")
            examples = examples if isinstance(examples, str | os.PathLike) else list(examples)  # read twice
            labels = columns.labels_of(read_records(examples, columns))
        names = read_labels(labels)
        matrix = error_costs(names, tree, cost_matrix)
        scale = Scale.of(levels, cost_bounds or (None if matrix is None else (0.0, max(float(matrix.max()), 1e-9))))
        if matrix is not None and not scale.bounds[0] <= matrix.min() <= matrix.max() <= scale.bounds[1]:
            raise InputError(
                f"The costs of errors must lie within the scale, {scale.bounds[0]:g} to {scale.bounds[1]:g}, got "
                f"{matrix.min():g} to {matrix.max():g}. Pass wider cost_bounds."
            )
        one_label = matrix is not None if true_label is None else bool(true_label)
        limits = Limits.of(budget or {})
        limits.check_labels(names)
        usual = "Which label is right?" if one_label else "How bad would each of these be?"
        settings = {
            "id": new_id(),
            "title": title or target.name,
            "question": usual if question is None else question,
            "guidelines": guidelines,
            "true_label": one_label,
            "overlap": _overlap(overlap),
            **({"gold": _gold(gold)} if gold else {}),
            "seed": seed,
            "database": database,
            "scale": scale.plain(),
            "budget": limits.plain(),
            "learner": written_plain(learner or {}),
        }
        with new_folder(target) as part:
            write_settings(part, settings_text(settings))
            (part / LABELS).write_text("".join(f"{name}\n" for name in names), encoding="utf-8")
            if matrix is not None:
                write_error_costs(part / MATRIX, names, matrix)
            vectors = None if features is None or embed is not None else _vectors(features)
            given = read_examples(examples, columns)
            write_pool(part / POOL, given, vectors, seed, embed, columns=columns, in_order=in_order)
            made = cls.open(part)
            made.new_learner()  # a project that cannot be opened is not created
            with made.new_store():
                pass
        return cls.open(target)

    @classmethod
    def open(cls, folder: str | os.PathLike[str]) -> "Project":
        """The project in a folder."""
        source = Path(folder)
        settings = read_settings(source)
        labels = read_labels(source / LABELS)
        known = {"id", "title", "question", "guidelines", "true_label", "overlap", "seed", "database"}
        _refuse_unknown(source, settings, known | {"scale", "budget", "learner", "gold"})
        path = source / MATRIX
        matrix = read_cost_matrix(path, np.array(labels)) if path.exists() else None
        try:
            return cls(
                id=str(settings["id"]),
                folder=source,
                name=source.resolve().name,
                title=str(settings.get("title", source.name)),
                question=str(settings.get("question", "")),
                guidelines=str(settings.get("guidelines", "")),
                labels=labels,
                scale=Scale.from_plain(settings.get("scale", {})),
                true_label=bool(settings.get("true_label", False)),
                matrix=matrix,
                limits=_limits(settings),
                overlap=_overlap(settings.get("overlap", 1)),
                seed=int(settings.get("seed", 0)),
                gold=_gold(settings.get("gold", 0.0)),
                database=str(settings.get("database", DATABASE)),
                pool=Pool(source / POOL),
                learner=dict(settings.get("learner", {})),
                first_labels=labels,
                first_matrix=matrix,
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
    def asking_price(self) -> list[float] | None:
        """The price of a question about each label; None if it does not differ."""
        return self.limits.asking_price(self.labels)

    @property
    def levels(self) -> list[Any]:
        """The named levels of the scale; none where costs are free numbers."""
        return list(self.scale.levels)

    @property
    def offered(self) -> list[str]:
        """The labels that annotators may choose and that are asked about: all but the retired ones."""
        return [label for label in self.labels if label not in self.retired]

    @cached_property
    def guides(self) -> Guidelines:
        """The guidelines for the whole project and by label; a heading may use the first or the present name."""
        names = dict(zip(self.first_labels, self.labels, strict=False)) | {label: label for label in self.labels}
        return Guidelines.of(self.guidelines, names)

    @property
    def asks_for_truth(self) -> bool:
        """Whether annotators give the true label of some or all examples."""
        return self.true_label or self.learner.get("price_of_truth") is not None

    def new_learner(self) -> CoalClassifier:
        """A learner that has learned nothing yet, with the first labels of the project."""
        given = {
            "cost_bounds": self.cost_bounds,
            "random_state": self.seed,
            "model": "online",
            **read_plain(self.learner),
        }
        if given.get("price_of_truth") is not None:
            given.setdefault("cost_matrix", self.first_matrix)
        try:
            learner = CoalClassifier(classes=np.array(self.first_labels), **given)
        except TypeError as problem:
            raise InputError(f"[learner] must hold parameters of CoalClassifier ({problem}). Remove it.") from None
        learner.begin()  # a wrong parameter is found here, not at the first question
        if learner.model_.reads_label_features:
            raise InputError(
                f"[learner] model={given['model']!r} needs features of labels, which a project does not have. Choose "
                'another model, such as "online".'
            )
        return learner

    def costs_of_truth(self, label: str) -> NDArray[np.float64]:
        """The cost of each label if this one is true."""
        code = self.labels.index(label)
        low, high = self.cost_bounds
        if self.matrix is None:
            return np.where(np.arange(len(self.labels)) == code, low, high)
        return np.asarray(self.matrix[code])

    def copies_of(self, round_number: int) -> int:
        """How many annotators see the example of a round: of an overlap of 1.2, two see a fifth, drawn at random."""
        whole = math.floor(self.overlap)
        more = np.random.default_rng([self.seed, _OVERLAP, round_number]).random() if self.overlap > whole else 1.0
        return whole + int(more < self.overlap - whole)

    def file_of(self, example_id: str) -> Path:
        """The file of an image."""
        place = self.pool.place(example_id)
        if self.pool.kind != "image":
            raise InputError(f"Only images have files, {example_id!r} is of kind {self.pool.kind}.")
        return self.pool.image(place)

    def open_store(self, *, alone: bool = False) -> Store:
        """The database of the project; with ``alone``, other processes may not write it."""
        with opening(self.address):
            store = Store.existing(self.address, alone=alone)
            try:
                with store.database.writing() as connection:
                    store.claim(connection, self.id, self._foundations())
            except BaseException:
                store.close()
                raise
        return store

    @contextmanager
    def new_store(self) -> Iterator[tuple[Store, sa.Connection]]:
        """An empty database, in the transaction that claims it for the project."""
        with closing(Store(self.address)) as store, store.database.writing() as connection:
            store.claim(connection, self.id, self._foundations(), empty=True)
            yield store, connection

    def _foundations(self) -> dict[str, Any]:
        """The settings that the answers depend on."""
        return {"bounds of the scale": self.cost_bounds, "list of labels": self.first_labels, "seed": self.seed}

    @property
    def address(self) -> str:
        """The address of the database; a SQLite file lies in the folder."""
        url, local = self.database, "sqlite:///"
        if url.startswith(local) and not url.startswith(f"{local}/"):
            return f"{local}{self.folder.resolve() / url.removeprefix(local)}"
        return url


def _embedder(features: Any) -> SentenceEmbedder | None:
    """The sentence encoder that is asked for, whose weights must be on this machine."""
    if not isinstance(features, str | os.PathLike) or str(features) != MINILM:
        return None
    embed = SentenceEmbedder()
    embed.check()
    return embed


def _vectors(features: Any) -> Examples:
    return read_features(Path(features)) if isinstance(features, str | os.PathLike) else checked_examples(features)


def _refuse_unknown(source: Path, settings: Mapping[str, Any], known: set[str]) -> None:
    for name in settings:
        if name not in known:
            raise FileFormatError(
                f"{source / SETTINGS} has no setting {name!r}; possible are {', '.join(sorted(known))}. Remove it."
            )


def _limits(settings: Mapping[str, Any]) -> Limits:
    """The limits of the settings; a true label has no price by label, because one answer tells about all of them."""
    limits = Limits.of(settings.get("budget", {}))
    asks_truth = settings.get("true_label") or settings.get("learner", {}).get("price_of_truth") is not None
    if limits.by_label and asks_truth:
        raise InputError(
            "budget must have one price_per_cost for all labels where annotators give true labels, got a price per "
            "label. Give one number, or ask for costs only."
        )
    return limits


def _gold(value: Any) -> float:
    """The share of gold questions."""
    if not is_number(value) or not 0 <= value <= 0.5:
        raise InputError(f"gold must be a share of questions from 0 to 0.5, got {value!r}. Correct it in project.toml.")
    return float(value)


def _overlap(value: Any) -> float:
    """An overlap, as an integer where it is whole: then every example has as many annotators."""
    if not is_number(value) or not 1 <= value <= 100:
        raise InputError(f"overlap must be a number from 1 to 100, got {value!r}. Correct it in project.toml.")
    return int(value) if value == int(value) else float(value)
