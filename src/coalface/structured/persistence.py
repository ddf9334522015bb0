"""Saves a search learner to one file, which contains the file of its policy, and loads it."""

import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

from coalface.errors import FileFormatError, InputError
from coalface.files.bundle import read_bundle, write_bundle
from coalface.learner.classifiers import CoalClassifier, OracleCoalClassifier, RidgeCoalClassifier
from coalface.learner.estimator import CostClassifier
from coalface.structured.feature_columns import FeatureColumns

_KIND = "search learner"
_POLICIES: dict[str, type[CostClassifier]] = {
    kind.__name__: kind for kind in (CoalClassifier, RidgeCoalClassifier, OracleCoalClassifier)
}


class SavedLearner(NamedTuple):
    """The saved parts of a search learner: all but its task, which is code."""

    params: dict[str, Any]
    policy: CostClassifier
    columns: FeatureColumns
    episodes: int
    rollouts: int
    passes: int  # that are finished
    cached: list[list[Any]]  # losses of roll-outs, with their keys


def write_search_learner(path: str | os.PathLike[str], learner: SavedLearner) -> None:
    """Write a search learner to one file, atomically."""
    kind = type(learner.policy)
    if _POLICIES.get(kind.__name__) is not kind:
        raise InputError(f"policy must be one of coalface's own learners to be saved, got {kind.__name__}.")
    with TemporaryDirectory() as folder:
        inner = Path(folder, "policy")
        learner.policy.save(inner)
        policy = np.frombuffer(inner.read_bytes(), np.uint8)
    meta = {
        "params": {name: np.asarray(value).item() for name, value in learner.params.items()},
        "policy": type(learner.policy).__name__,
        "features": list(learner.columns.by_name),
        "width": learner.columns.width,
        "episodes": learner.episodes,
        "rollouts": learner.rollouts,
        "passes": learner.passes,
        "cached": learner.cached,
    }
    write_bundle(path, _KIND, meta, {"policy": policy})


def read_search_learner(path: str | os.PathLike[str]) -> SavedLearner:
    """The learner that ``write_search_learner`` wrote; a FileFormatError if the file is anything else."""
    meta, arrays = read_bundle(path, _KIND)
    try:
        kind = _POLICIES.get(meta["policy"])
        if kind is None:
            raise FileFormatError(f"{path} holds a policy {meta['policy']!r}, unknown to this version of coalface.")
        with TemporaryDirectory() as folder:
            inner = Path(folder, "policy")
            inner.write_bytes(arrays["policy"].tobytes())
            policy = kind.load(inner)
        columns = FeatureColumns(meta["features"], meta["width"])
        counts = (meta["episodes"], meta["rollouts"], meta["passes"])
        return SavedLearner(meta["params"], policy, columns, *counts, meta["cached"])
    except (KeyError, TypeError) as problem:
        raise FileFormatError(f"{path} was not saved by SearchLearner.save: {problem}.") from None
