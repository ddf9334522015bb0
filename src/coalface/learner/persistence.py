"""Saves a learner to a file, records it in a ledger, and rebuilds it from either, bit for bit."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from coalface.data.encoding.choice import embedder_of, features_of, plain_features
from coalface.data.encoding.encoder import Encoder
from coalface.data.frames import by_label
from coalface.data.labels import label_array, label_texts
from coalface.data.numbers import whole_number
from coalface.errors import FileFormatError, InputError, in_one_line, shortened
from coalface.files.bundle import read_bundle, rebuilding, write_bundle
from coalface.learner.budget import Budget
from coalface.learner.parameters import GROUPS
from coalface.learner.serving import ServingLearner
from coalface.learner.state import LEARNED_WITH
from coalface.models.choice import check_kind, described_model, model_of
from coalface.models.contract import CostModel
from coalface.rounds.arrays import check_recordable
from coalface.rounds.label_change import LabelChange
from coalface.rounds.ledger import Ledger, Recorder
from coalface.rounds.round import Round

_BATCH = 512  # rounds replayed per call


class PersistentLearner(ServingLearner):
    """A learner that can be saved, recorded and replayed."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the whole state to one file, atomically; ``load`` restores it exactly.

        >>> from coalface import CoalClassifier
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     CoalClassifier(["walk", "fly"]).tell([[1.0]], [[0.2, 0.9]]).save(f"{folder}/model.coalface")
        ...     CoalClassifier.load(f"{folder}/model.coalface").round_
        2
        """
        with self.begin().model_.lock:  # a row learned in another thread would change the arrays
            write_bundle(path, "model", *self.bundled())

    def bundled(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """What ``save`` writes: JSON values and arrays, for files that hold more than the learner.

        >>> from coalface import CoalClassifier
        >>> meta, arrays = CoalClassifier(["walk", "fly"]).begin().bundled()
        >>> CoalClassifier.from_bundle(meta, arrays).classes_.tolist()
        ['walk', 'fly']
        """
        self.begin()._refuse_changed()
        check_recordable(self.classes_)
        meta: dict[str, Any] = {"params": self.plain_params(), "width": getattr(self, "n_features_in_", None)}
        if hasattr(self, "feature_names_in_"):
            meta["feature_names"] = self.feature_names_in_.tolist()
        if hasattr(self, "encoder_"):
            meta["encoder"] = self.encoder_.plain()
        if hasattr(self, "reading_"):
            meta["reading"] = self.reading_
        if self.retired_:
            meta["retired"] = self.retired_
        return meta, {"classes_": self.classes_, **self.model_.saved()}

    @classmethod
    def load(cls, path: str | os.PathLike[str], model: CostModel | None = None, features: Any = None) -> Self:
        """The learner that ``save`` wrote; a ``CostModel`` of your own is passed as ``model``, with its parameters.

        ``features`` is the function that turned texts into vectors, if there was one: it is not saved.
        """
        meta, arrays = read_bundle(path, "model")
        return cls.from_bundle(meta, arrays, model, features, path)

    @classmethod
    def from_bundle(
        cls,
        meta: dict[str, Any],
        arrays: dict[str, NDArray[Any]],
        model: CostModel | None = None,
        features: Any = None,
        path: str | os.PathLike[str] = "This bundle",
    ) -> Self:
        """The learner of what ``bundled`` gave; errors name ``path``."""
        try:
            learner = cls._from_plain(cls._with_features(cls._with_model(meta["params"], model), features))
            learner._restore_encoder(meta.get("encoder"))
            learner.begin(label_array(arrays.pop("classes_")))
            width = meta["width"]
        except (KeyError, TypeError, InputError, FileFormatError) as problem:
            raise FileFormatError(f"{path} was not saved by {cls.__name__}.save: {in_one_line(problem)}.") from None
        with rebuilding(path, "model"):
            learner.model_.restore_saved(arrays)
            if "retired" in meta:
                learner.model_.set_active(~np.isin(learner.classes_, meta["retired"]))
            if width is not None:
                learner.n_features_in_ = whole_number("width", width, least=1)
            if "feature_names" in meta:
                learner.feature_names_in_ = np.array(meta["feature_names"], dtype=object)
            if "reading" in meta:
                learner.reading_ = meta["reading"]
            learner.plain_params()  # or a parameter of no use would be found when the learner is saved again
        return learner

    def record_to(self, ledger: Ledger) -> Self:
        """From now on, write every round to this empty ledger before it is learned."""
        self.begin()
        if self.round_ != 1 or self.model_.state.answered.any() or self.costs_queried_:
            raise InputError(
                f"A ledger must record a learner from its first round, but this one is at round {self.round_} "
                f"(costs asked for: {self.costs_queried_}). Start a new learner."
            )
        check_recordable(self.classes_)
        if self.retired_:
            raise InputError(
                f"A ledger must record a learner before a label is retired, {self.retired_[0]!r} is. Record first."
            )
        encoder = {"encoder": self.encoder_.plain()} if hasattr(self, "encoder_") else {}
        ledger.begin({"params": self.plain_params(), "classes": self.classes_.tolist(), **encoder})
        self._recorder = self._new_recorder(ledger)
        return self

    @classmethod
    def from_ledger(cls, ledger: Ledger, model: CostModel | None = None, features: Any = None) -> Self:
        """Rebuild the learner from the ledger's rounds, bit for bit; it continues to record there.

        A ``CostModel`` of your own is passed as ``model``, with its parameters, and a function that turns texts into
        vectors as ``features``.

        >>> from coalface import CoalClassifier, MemoryLedger
        >>> ledger = MemoryLedger()
        >>> learner = CoalClassifier(["walk", "fly"]).record_to(ledger).tell([[1.0]], [[0.2, 0.9]])
        >>> (CoalClassifier.from_ledger(ledger).predict_cost([[1.0]]) == learner.predict_cost([[1.0]])).all()
        np.True_
        """
        if isinstance(ledger, str | os.PathLike):
            raise InputError(f"ledger must be a ledger such as JsonLinesLedger(path), got {shortened(ledger)}.")
        if ledger.header is None:
            path = getattr(ledger, "path", None)
            facts = "This ledger is empty" if path is None or Path(path).exists() else f"There is no ledger {path}"
            raise InputError(f"{facts}. Check it, or record a new learner with learner.record_to(ledger).")
        try:
            params = cls._with_features(cls._with_model(ledger.header["params"], model), features)
            learner = cls._from_plain(params | {"classes": ledger.header["classes"]}).begin()
            learner._restore_encoder(ledger.header.get("encoder"))
        except (KeyError, TypeError, InputError) as problem:
            raise FileFormatError(
                f"The header of this ledger was not written by record_to: {in_one_line(problem)}."
            ) from None
        for rounds in _batches(ledger):
            if isinstance(rounds, LabelChange):
                learner._begin_recorded(rounds.budget)
                learner.change_labels(rounds)
                continue
            learner._begin_recorded(rounds[0].budget)
            learner.replay_rounds(rounds)
            if rounds[0].columns is not None:
                learner.feature_names_in_ = np.array(rounds[0].columns, dtype=object)
            learner._restore_encoder(next((one.encoder for one in rounds if one.encoder is not None), None))
        learner._recorder = learner._new_recorder(ledger, has_encoder=hasattr(learner, "encoder_"))
        return learner

    @property
    def learned_with(self) -> tuple[str, ...]:
        """The names of the parameters that decide how an answer is learned; the others decide what is asked."""
        return tuple(dict.fromkeys([*LEARNED_WITH, *self._cost_model().learned_with]))

    def plain_params(self) -> dict[str, Any]:
        """The parameters as JSON values."""
        params = self.get_params(deep=False)
        if hasattr(self, "classes_"):  # the names of a data frame are not saved
            params["cost_matrix"] = by_label(params["cost_matrix"], self.classes_, "cost_matrix", rows=True)
        if self.budget is not None:
            params["budget"] = self.plain_budget
        described = {"model": plain_model(self.model), "features": plain_features(self.features)}
        described |= {name: params[name].plain() for name in GROUPS if isinstance(params[name], GROUPS[name])}
        return _plain(params | dict.fromkeys(described)) | described

    def _new_recorder(self, ledger: Ledger, *, has_encoder: bool | None = None) -> Recorder:
        """A recorder for the labels and the budget as they are; ``has_encoder`` is whether the ledger has it."""
        texts = label_texts(self.classes_)
        recorder = Recorder(ledger, texts, self.learned_with, self._all_params(), self.plain_budget)
        recorder.has_encoder = recorder.has_encoder if has_encoder is None else has_encoder
        return recorder

    def _begin_recorded(self, budget: Mapping[str, Any] | None) -> None:
        """Begin the budget of a ledger's entry: None if it stays as it was, empty if there is none."""
        if budget is not None:
            self.budget = Budget.of(budget) if budget else None

    def _restore_encoder(self, plain: Any) -> None:
        """Keep the encoder of a file or a ledger, if it has one."""
        if plain is not None:
            self._keep_encoder(Encoder.from_plain(plain, embedder_of(self.features)))

    @classmethod
    def _with_features(cls, params: dict[str, Any], features: Any) -> dict[str, Any]:
        """The parameters of a file with the user's own function, which cannot be saved."""
        return params | ({"features": features_of(params["features"], features)} if "features" in params else {})

    @classmethod
    def _from_plain(cls, params: dict[str, Any]) -> Self:
        """A learner with the parameters of a file; an InputError if they are those of another class."""
        unknown = [name for name in params if name not in cls._get_param_names()]
        if unknown:
            raise InputError(f"{cls.__name__} has no parameter {unknown[0]!r}, load it with the class that saved it")
        if isinstance(params.get("cost_bounds"), list):
            params = {**params, "cost_bounds": tuple(params["cost_bounds"])}
        parts = {name: GROUPS[name].of(params[name]) for name in GROUPS if isinstance(params.get(name), Mapping)}
        return cls(**{**params, **parts})

    @classmethod
    def _with_model(cls, params: dict[str, Any], model: CostModel | None) -> dict[str, Any]:
        """The parameters of a file with the user's own model in place of its description, which it must match."""
        described = dict(params).get("model")
        if not (model is None or isinstance(model, CostModel)):
            raise InputError(f"model must be a CostModel of your own or left out, got {shortened(model)}")
        if model is None:
            kind = described.get("kind") if isinstance(described, dict) else None
            if kind is None:
                return params
            check_kind(kind)
            return {**params, "model": model_of(described)}
        if described != described_model(model):
            raise InputError(f"model must be as described in the file, {described!r}, got {described_model(model)!r}")
        return {**params, "model": model}

    def __getstate__(self) -> dict[str, Any]:
        """Copies do not write to the ledger of the original."""
        state: dict[str, Any] = dict(super().__getstate__())
        state.pop("_recorder", None)
        return state


def plain_model(model: Any) -> Any:
    """A model as a JSON value: its name, or its kind and its parameters."""
    return described_model(model_of(model)) if isinstance(model, CostModel | Mapping) else model


def _plain(params: dict[str, Any]) -> dict[str, Any]:
    return {name: None if value is None else np.asarray(value).tolist() for name, value in params.items()}


def _batches(ledger: Ledger) -> Iterator[list[Round] | LabelChange]:
    """The label changes, and the rounds between them in batches.

    The rounds of a batch have one width and are all late or none, all served or none. Only the first may name columns
    or change the budget.
    """
    batch: list[Round] = []
    number = 1
    shape: tuple[bool, bool, int | None] = (False, False, None)
    for one in ledger:
        if isinstance(one, LabelChange):
            if batch:
                yield batch
            batch = []
            yield one
            continue
        if not one.late and one.number != number:
            raise FileFormatError(f"The ledger jumps from round {number - 1} to {one.number}; rounds are missing.")
        number += not one.late
        kind = (one.late, one.served is not None, one.width)
        is_first = one.columns is not None or one.budget is not None
        if batch and (len(batch) == _BATCH or kind != shape or is_first):
            yield batch
            batch = []
        batch.append(one)
        shape = kind
    if batch:
        yield batch
