"""A fresh process that trains on a file, streamed or in memory, and prints the seconds and the memory that took."""

import json
import sys
from pathlib import Path
from typing import Any

from benchmarks.machine import peak_bytes, timed
from coalface import CoalClassifier, read_dataset
from coalface.learner.named_learner import NamedLearner
from coalface.learner.streaming import Stream, Training


def streamed(path: Path, options: dict[str, Any], rows: int) -> NamedLearner:
    named = NamedLearner(CoalClassifier.as_published())
    Training(named, Stream(path, "auto", options, rows), shuffle=False).run()  # as in memory, and as Vowpal Wabbit
    return named


def in_memory(path: Path, options: dict[str, Any], rows: int) -> NamedLearner:  # noqa: ARG001
    dataset = read_dataset(path, **options)
    learner = CoalClassifier.as_published(classes=dataset.classes)
    learner.partial_fit(dataset.X, cost=dataset.cost, candidates=dataset.candidates)
    return NamedLearner(learner, dataset.feature_names)


WAYS = {"streamed": streamed, "in memory": in_memory}


def answer(way: str, path: Path, first_rows: Path, options: dict[str, Any], rows: int) -> dict[str, Any]:
    """Train on the first rows, untimed, so that compiled code is loaded; then on the whole file."""
    WAYS[way](first_rows, options, rows)
    peak_bytes(reset=True)
    seconds, named = timed(lambda: WAYS[way](path, options, rows))
    return {
        "wall": seconds.wall,
        "cpu": seconds.cpu,
        "peak_bytes": peak_bytes(),
        "rows": named.learner.round_ - 1,
        "residuals": named.learner.model_.state.squared_residuals.tolist(),
    }


if __name__ == "__main__":
    way, path, first_rows, options, rows = json.loads(sys.argv[1])
    print(json.dumps(answer(way, Path(path), Path(first_rows), options, rows)), flush=True)
