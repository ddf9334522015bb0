"""What is written down: a learner in a file or a ledger, from which it is rebuilt bit for bit."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from coalface.data.costs import CostScale
from coalface.data.encoding.choice import embedder_of, features_of, plain_features
from coalface.data.encoding.encoder import Encoder
from coalface.data.frames import by_label
from coalface.data.input_ranges import InputRanges
from coalface.data.labels import label_array
from coalface.data.numbers import AUTO, whole_number
from coalface.errors import FileFormatError, InputError, in_one_line, shortened
from coalface.files.bundle import read_bundle, rebuilding, write_bundle
from coalface.kernels.state import COSTS_QUERIED, ROUND
from coalface.learner.account import plain_budget
from coalface.learner.budget import Budget
from coalface.learner.labels import change_labels
from coalface.learner.parameters import GROUPS, group_of, plain_group, seed_of
from coalface.learner.state import LearnerState, begin, ready
from coalface.learner.teaching import new_recorder, replay_rounds
from coalface.models.choice import check_kind, described_model, model_of
from coalface.models.contract import CostModel
from coalface.rounds.arrays import check_recordable
from coalface.rounds.label_change import LabelChange
from coalface.rounds.ledger import Ledger
from coalface.rounds.round import Round

L = TypeVar("L", bound=LearnerState)
FilePath = str | os.PathLike[str]
Bundle = tuple[dict[str, Any], dict[str, NDArray[Any]]]
_BATCH = 512  # rounds replayed per call


# -- files ----------------------------------------------------------------------------------------


def save(learner: LearnerState, path: FilePath) -> None:
    """Write the whole state to one file, atomically."""
    begin(learner)
    with learner.model_.lock:  # a row learned in another thread would change the arrays
        write_bundle(path, "model", *bundled(learner))


def load(kind: type[L], path: FilePath, model: CostModel | None = None, features: Any = None) -> L:
    """The learner that ``save`` wrote."""
    meta, arrays = read_bundle(path, "model")
    return from_bundle(kind, meta, arrays, model, features, path)


def bundled(learner: LearnerState) -> Bundle:
    """What ``save`` writes: JSON values and arrays, for files that hold more than the learner.

    >>> from coalface import CoalClassifier
    >>> meta, arrays = bundled(CoalClassifier(["walk", "fly"]))
    >>> from_bundle(CoalClassifier, meta, arrays).classes_.tolist()
    ['walk', 'fly']
    """
    ready(learner)
    check_recordable(learner.classes_)
    meta: dict[str, Any] = {"params": plain_params(learner), "width": getattr(learner, "n_features_in_", None)}
    if hasattr(learner, "feature_names_in_"):
        meta["feature_names"] = learner.feature_names_in_.tolist()
    if hasattr(learner, "encoder_"):
        meta["encoder"] = learner.encoder_.plain()
    if hasattr(learner, "reading_"):
        meta["reading"] = learner.reading_
    if learner._carried is not None:
        meta["carried"] = learner._carried
    if learner._inputs is not None:
        meta["inputs"] = learner._inputs.plain()
    if learner._bounds is not None:
        meta["bounds"] = learner._bounds
    if retired := _retired(learner):
        meta["retired"] = retired
    return meta, {"classes_": learner.classes_, **learner.model_.saved()}


def from_bundle(
    kind: type[L],
    meta: dict[str, Any],
    arrays: dict[str, NDArray[Any]],
    model: CostModel | None = None,
    features: Any = None,
    path: FilePath = "This bundle",
) -> L:
    """The learner of what ``bundled`` gave; errors name ``path``."""
    try:
        learner = _from_plain(kind, _with_features(_with_model(meta["params"], model), features))
        _restore_encoder(learner, meta.get("encoder"))
        begin(learner, label_array(arrays.pop("classes_")))
        width = meta["width"]
    except (KeyError, TypeError, InputError, FileFormatError) as problem:
        raise FileFormatError(f"{path} was not saved by {kind.__name__}.save: {in_one_line(problem)}.") from None
    with rebuilding(path, "model"):
        learner.model_.restore_saved(arrays)
        if "retired" in meta:
            learner.model_.set_active(~np.isin(learner.classes_, meta["retired"]))
        if width is not None:
            learner.n_features_in_ = whole_number("width", width, least=1)
        if "bounds" in meta:
            learner._bounds = CostScale.of(meta["bounds"]).ends
        if learner.model_.state.counters[ROUND] > 1:
            learner._told = None  # files do not keep it
        if "feature_names" in meta:
            learner.feature_names_in_ = np.array(meta["feature_names"], dtype=object)
        if "carried" in meta:
            learner._carried = whole_number("carried", meta["carried"])
        if "inputs" in meta:
            learner._inputs = InputRanges.of(meta["inputs"])
        if "reading" in meta:
            learner.reading_ = meta["reading"]
        plain_params(learner)  # or a parameter of no use would be found when the learner is saved again
    return learner


# -- ledgers --------------------------------------------------------------------------------------


def record_to(learner: LearnerState, ledger: Ledger) -> None:
    """From now on, write every round to this empty ledger before it is learned."""
    begin(learner)
    state = learner.model_.state
    number, asked = int(state.counters[ROUND]), int(state.counters[COSTS_QUERIED])
    if number != 1 or state.answered.any() or asked:
        raise InputError(
            f"A ledger must record a learner from its first round, but this one is at round {number} "
            f"(costs asked for: {asked}). Start a new learner."
        )
    check_recordable(learner.classes_)
    if retired := _retired(learner):
        raise InputError(f"A ledger must record a learner before a label is retired, {retired[0]!r} is. Record first.")
    encoder = {"encoder": learner.encoder_.plain()} if hasattr(learner, "encoder_") else {}
    ledger.begin({"params": plain_params(learner), "classes": learner.classes_.tolist(), **encoder})
    learner._recorder = new_recorder(learner, ledger)


def refuse_recorded(learner: LearnerState) -> None:
    """Raise an InputError if the learner records to a ledger, which cannot forget."""
    if learner._recorder is not None:
        raise InputError("fit would reset a learner that records to a ledger. Use partial_fit, or fit a clone.")


def from_ledger(
    kind: type[L],
    ledger: Ledger,
    model: CostModel | None = None,
    features: Any = None,
) -> L:
    """Rebuild the learner from the ledger's rounds, bit for bit; it continues to record there."""
    if isinstance(ledger, str | os.PathLike):
        raise InputError(f"ledger must be a ledger such as JsonLinesLedger(path), got {shortened(ledger)}. Open it.")
    if ledger.header is None:
        path = getattr(ledger, "path", None)
        facts = "This ledger is empty" if path is None or Path(path).exists() else f"There is no ledger {path}"
        raise InputError(f"{facts}. Check it, or record a new learner with learner.record_to(ledger).")
    try:
        params = _with_features(_with_model(ledger.header["params"], model), features)
        learner = _from_plain(kind, params | {"classes": ledger.header["classes"]})
        begin(learner)
        _restore_encoder(learner, ledger.header.get("encoder"))
    except (KeyError, TypeError, InputError) as problem:
        raise FileFormatError(
            f"The header of this ledger was not written by record_to: {in_one_line(problem)}."
        ) from None
    scale = None
    for rounds in _batches(ledger):
        if isinstance(rounds, LabelChange):
            _begin_recorded(learner, rounds.budget)
            change_labels(learner, rounds)
            continue
        _begin_recorded(learner, rounds[0].budget)
        _restore_encoder(learner, next((one.encoder for one in rounds if one.encoder is not None), None))
        scale = scale if rounds[0].bounds is None else CostScale.of(AUTO, rounds[0].bounds)
        replay_rounds(learner, rounds, scale=scale)
        if rounds[0].columns is not None:
            learner.feature_names_in_ = np.array(rounds[0].columns, dtype=object)
    learner._recorder = new_recorder(learner, ledger, has_encoder=hasattr(learner, "encoder_"))
    return learner


def _retired(learner: LearnerState) -> list[Any]:
    return list(learner.classes_[~learner.model_.active].tolist())


def _begin_recorded(learner: LearnerState, budget: Mapping[str, Any] | None) -> None:
    """Begin the budget of a ledger's entry: None if it stays as it was, empty if there is none."""
    if budget is not None:
        learner.budget = Budget.of(budget) if budget else None


def _batches(ledger: Ledger) -> Iterator[list[Round] | LabelChange]:
    """The label changes, and the rounds between them in batches.

    The rounds of a batch have one width and are all late or none, all served or none. Only the first may name columns
    or change the budget or the bounds of costs.
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
        is_first = one.columns is not None or one.budget is not None or one.bounds is not None
        if batch and (len(batch) == _BATCH or kind != shape or is_first):
            yield batch
            batch = []
        batch.append(one)
        shape = kind
    if batch:
        yield batch


# -- parameters as JSON values --------------------------------------------------------------------


def plain_params(learner: LearnerState) -> dict[str, Any]:
    """The parameters as JSON values."""
    params = learner.get_params(deep=False) | {"random_state": seed_of(vars(learner))}
    if hasattr(learner, "classes_"):  # the names of a data frame are not saved
        params["cost_matrix"] = by_label(params["cost_matrix"], learner.classes_, "cost_matrix", rows=True)
    if learner.budget is not None:
        params["budget"] = plain_budget(learner)
    described = {"model": _plain_model(learner.model), "features": plain_features(learner.features)}
    described |= {name: plain_group(params[name]) for name, group in GROUPS.items() if isinstance(params[name], group)}
    plain = {
        name: None if value is None else np.asarray(value).tolist()
        for name, value in params.items()
        if name not in described
    }
    return {name: described.get(name, plain.get(name)) for name in params}


def _plain_model(model: Any) -> Any:
    """A model as a JSON value: its name, or its kind and its parameters."""
    return described_model(model_of(model)) if isinstance(model, CostModel | Mapping) else model


def _restore_encoder(learner: LearnerState, plain: Any) -> None:
    """Keep the encoder of a file or a ledger, if it has one."""
    if plain is not None:
        learner.encoder_ = Encoder.from_plain(plain, embedder_of(learner.features))


def _with_features(params: dict[str, Any], features: Any) -> dict[str, Any]:
    """The parameters of a file with the user's own function, which cannot be saved."""
    return params | ({"features": features_of(params["features"], features)} if "features" in params else {})


def _from_plain(kind: type[L], params: dict[str, Any]) -> L:
    """A learner with the parameters of a file; an InputError if they are those of another class."""
    unknown = [name for name in params if name not in kind._get_param_names()]
    if unknown:
        raise InputError(f"{kind.__name__} has no parameter {unknown[0]!r}, load it with the class that saved it")
    if isinstance(params.get("cost_bounds"), list):
        params = {**params, "cost_bounds": tuple(params["cost_bounds"])}
    parts = {name: group_of(GROUPS[name], params[name]) for name in GROUPS if isinstance(params.get(name), Mapping)}
    return kind(**{**params, **parts})


def _with_model(params: dict[str, Any], model: CostModel | None) -> dict[str, Any]:
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
