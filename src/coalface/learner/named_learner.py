"""``NamedLearner``: a learner together with the names of its features, saved in one file."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from coalface.data.alignment import read_aligned
from coalface.data.dataset import CostDataset
from coalface.data.embedding.folder import MINILM
from coalface.data.encoding.encoder import Encoder
from coalface.data.formats.cost_matrix import read_cost_matrix
from coalface.data.formats.readers import TABLES, format_of
from coalface.data.labels import label_array, label_like
from coalface.data.rows import check_rows
from coalface.data.streams.line_source import Position
from coalface.errors import FileFormatError, InputError
from coalface.learner.estimator import CoalClassifier
from coalface.learner.inputs import warn_of_inputs
from coalface.learner.labels import label_set
from coalface.learner.monitor import warn_if_collapsed
from coalface.learner.teaching import check_rounds, tell_rounds
from coalface.rounds.label_change import ADD, RENAME, LabelChange
from coalface.rounds.round import Round

_LARGEST_GAP = 1_000_000  # rounds; a larger gap is probably a mistyped number


def require_model(path: Path) -> None:
    """Raise a FileFormatError if a model file does not exist."""
    if not path.is_file():
        raise FileFormatError(f"There is no model {path}. Train one with: coalface train DATA --model {path}")


@dataclass
class NamedLearner:
    """The learner and, if its data had any, the names of its features in the order of their columns.

    The names are kept here because a learner with feature names would expect a data frame.

    >>> named = NamedLearner(CoalClassifier(["walk", "fly"]))
    >>> named.tell([Round(1, features={"length": 3.5}, ask=("walk",), costs={"walk": 0.2})])
    >>> named.feature_names, named.width, named.learner.round_
    (('length',), 1, 2)
    """

    learner: CoalClassifier
    feature_names: tuple[str, ...] | None = None
    position: Position | None = None  # in the stream that the learner has not finished

    @property
    def width(self) -> int:
        """The number of features that the learner has seen so far."""
        return int(getattr(self.learner, "n_features_in_", 0))

    @property
    def classes(self) -> NDArray[Any]:
        """The labels, even if the learner has not learned anything yet."""
        found = getattr(self.learner, "classes_", None)
        return label_array(self.learner.classes) if found is None else np.asarray(found)

    @classmethod
    def load(cls, path: Path) -> "NamedLearner":
        """The learner that ``save``, or ``CoalClassifier.save``, wrote."""
        require_model(path)
        learner = CoalClassifier.load(path)
        names: Any = learner.__dict__.pop("feature_names_in_", None)
        reading: Any = learner.__dict__.pop("reading_", None)
        return cls(
            learner,
            None if names is None else tuple(str(name) for name in names),
            None if reading is None else Position.from_plain(reading),
        )

    def save(self, path: Path) -> None:
        """Write the learner and its position; the old file is replaced only when the new one is complete."""
        if self.feature_names is not None:
            self.learner.feature_names_in_ = np.array(self.feature_names, dtype=object)
        if self.position is not None:
            self.learner.reading_ = self.position.plain()
        try:
            self.learner.save(path)
        finally:
            for name in ("feature_names_in_", "reading_"):
                self.learner.__dict__.pop(name, None)

    def with_own_features(self, format: str, options: dict[str, Any]) -> dict[str, Any]:
        """The options of a reader, with the learner's sentence embeddings if its encoder does not exist yet."""
        if self.encoder is None and self.learner.features == MINILM and format in TABLES:
            return {"embed": MINILM, **options}
        return options

    def read(self, path: Path, format: str, options: dict[str, Any]) -> CostDataset:
        """Read a whole dataset, aligned to the learner's features and labels."""
        options = self.with_own_features(format_of(path, format), options)
        return read_aligned(
            path,
            format,
            options,
            classes=self.classes,
            feature_names=self.feature_names,
            width=self.width,
            encoder=self.encoder,
        )

    @property
    def encoder(self) -> Encoder | None:
        """The encoder of raw examples; None if the learner has seen only numbers."""
        found: Encoder | None = getattr(self.learner, "encoder_", None)
        return found

    def keep_encoder(self, dataset: CostDataset) -> bool:
        """Keep the encoder of a dataset from now on; whether it is new to the learner."""
        if dataset.encoder is None or dataset.encoder is self.encoder:
            return False
        self.learner.encoder_ = dataset.encoder
        return True

    def with_own_costs(self, format: str, options: dict[str, Any]) -> dict[str, Any]:
        """The options of a reader with the learner's cost matrix; an InputError if they have another one."""
        own, other = self.learner.cost_matrix, options.get("cost_matrix")
        if other is not None and self.learner.round_ > 1 and not self._has_costs(other):
            kept = "without one" if own is None else "with another one"
            raise InputError(f"cost_matrix cannot change: the model was trained {kept}. Train a new model.")
        if own is None or other is not None:
            return options
        if format == "vw":
            return {"targets": "costs", **options}  # class labels would silently cost 0 and 1
        return {**options, "cost_matrix": own} if format == "svmlight" or "label" in options else options

    def _has_costs(self, matrix: Any) -> bool:
        own = self.learner.cost_matrix
        return own is not None and np.array_equal(own, read_cost_matrix(matrix, self.classes))

    def warn_of_inputs(self, dataset: CostDataset) -> CostDataset:
        """The dataset; a warning names its columns that have left what was learned."""
        warn_of_inputs(self.learner, check_rows(dataset.X), self.feature_names)
        return dataset

    def tell(self, rounds: Sequence[Round], *, late: bool = False, fill_gaps: bool = False) -> None:
        """Learn rounds, sorted by number, or raise an error and change nothing.

        The rounds must continue from the learner's last one, so that no answer counts twice. ``late`` answers belong
        to closed rounds and close no others. ``fill_gaps`` closes missing rounds as if nothing had been asked.
        """
        if not rounds:
            return
        next_round = self.learner.round_
        if late:
            _check_late(rounds, next_round)
            learned = [replace(one, late=True, unasked=()) for one in rounds if one.costs or one.truth is not None]
        else:
            _check_continue(rounds, next_round, fill_gaps=fill_gaps)
            learned = [replace(one, late=False) for one in _with_gaps_filled(rounds, next_round)]
        X, names = self.examples_of(learned)
        check_rounds(self.learner, learned)
        for places in _runs(learned):
            tell_rounds(self.learner, [learned[place] for place in places], X[places])
            warn_if_collapsed(self.learner)
        self.feature_names = names

    def change_labels(self, change: LabelChange, cost_matrix: Path | None = None) -> None:
        """Add, rename or retire a label; ``cost_matrix`` is a file with the costs of all labels after it.

        >>> named = NamedLearner(CoalClassifier(["walk", "fly"]).begin())
        >>> named.change_labels(LabelChange("rename", "fly", 0, new_name="soar"))
        >>> named.classes.tolist()
        ['walk', 'soar']
        """
        learner = self.learner
        label = label_like(change.label, learner.classes_)
        if change.kind == ADD:
            after = label_set(learner).after(LabelChange(ADD, label, learner.round_)).classes
            learner.add_label(label, cost_matrix=None if cost_matrix is None else read_cost_matrix(cost_matrix, after))
        elif change.kind == RENAME:
            learner.rename_label(label, label_like(change.new_name, learner.classes_))
        else:
            learner.retire_label(label)

    def examples_of(self, rounds: Sequence[Round]) -> tuple[Any, tuple[str, ...] | None]:
        """The examples of rounds as a matrix, and the feature names, new ones last; None for raw examples."""
        raw = any(one.example is not None for one in rounds)
        return (self._encoded(rounds), None) if raw else self._examples(rounds)

    def _encoded(self, rounds: Sequence[Round]) -> Any:
        """The raw examples of all rounds as a matrix; a round without one was not answered, and has a row of zeros."""
        if self.encoder is None:
            number = next(one.number for one in rounds if one.example is not None)
            raise InputError(
                f"Round {number} has a raw example, but the model has seen numbers only. Use features, or the model "
                "that asked."
            )
        numbered = next((one.number for one in rounds if one.indices or one.features), None)
        if numbered is not None:
            raise InputError(f"Round {numbered} must have its raw example, as others have. Add example.")
        places = [place for place, one in enumerate(rounds) if one.example is not None]
        found = self.encoder.transform([rounds[place].example for place in places])
        ends = np.zeros(len(rounds) + 1, np.int64)
        ends[np.array(places) + 1] = np.diff(found.indptr)
        X: Any = csr_array((found.data, found.indices, np.cumsum(ends)), shape=(len(rounds), self.encoder.width))
        return X

    def _examples(self, rounds: Sequence[Round]) -> tuple[Any, tuple[str, ...] | None]:
        """The examples of all rounds as a matrix, and the feature names, new ones last."""
        column = {name: place for place, name in enumerate(self.feature_names or ())}
        indices: list[int] = []
        values: list[float] = []
        ends = [0]
        for one in rounds:
            self._check_naming(one)
            if one.features is None:
                indices += one.indices
                values += one.values
            else:
                indices += [column.setdefault(name, len(column)) for name in one.features]
                values += one.features.values()
            ends.append(len(indices))
        flat = np.array(indices, np.int64)
        width = max(self.width, len(column), int(flat.max(initial=0)) + 1)
        X: Any = csr_array((np.array(values, np.float64), flat, np.array(ends)), shape=(len(rounds), width))
        X.sort_indices()
        return X, tuple(column) if column else self.feature_names

    def _check_naming(self, one: Round) -> None:
        """Raise an InputError if the round names its features and the learner numbers them, or the reverse."""
        if one.features and self.feature_names is None and self.width:
            raise InputError(
                f"Round {one.number} names its features, but the model numbers them. Use indices and values."
            )
        if one.indices and self.feature_names is not None:
            raise InputError(f"Round {one.number} numbers its features, but the model names them. Use features.")


def _runs(rounds: Sequence[Round]) -> Iterator[list[int]]:
    """The places of consecutive rounds that were all served, or all not."""
    for _, places in groupby(range(len(rounds)), key=lambda place: rounds[place].served is None):
        yield list(places)


def _check_late(rounds: Sequence[Round], next_round: int) -> None:
    last = rounds[-1].number
    if last >= next_round:
        raise InputError(f"late answers must belong to rounds before {next_round}, got round {last}. Leave out late.")
    if not any(one.costs or one.truth is not None for one in rounds):
        raise InputError("late answers must have costs in some round, got none. Add costs.")


def _check_continue(rounds: Sequence[Round], next_round: int, *, fill_gaps: bool) -> None:
    if rounds[0].number < next_round:
        raise InputError(
            f"Round {rounds[0].number} was learned already: the model is at round {next_round}. If these are the same "
            "answers, do nothing. Pass late=True if they are second or late ones.",
            remedy={"late": True},
        )
    earlier = next_round - 1
    for one in rounds:
        if one.number > earlier + 1 and not fill_gaps:
            raise InputError(
                f"Round {earlier + 1} is missing: the rounds must continue from round {next_round} without a gap. Add "
                "it, or pass fill_gaps=True to close missing rounds as if nothing had been asked.",
                remedy={"fill_gaps": True},
            )
        if one.number - earlier > _LARGEST_GAP:
            raise InputError(
                f"fill_gaps closes at most {_LARGEST_GAP:,} rounds in a row, but after round {earlier} comes round "
                f"{one.number}. Correct its number."
            )
        earlier = one.number


def _with_gaps_filled(rounds: Sequence[Round], next_round: int) -> list[Round]:
    found = {one.number: one for one in rounds}
    return [found.get(number, Round(number)) for number in range(next_round, rounds[-1].number + 1)]
