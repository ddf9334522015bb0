"""Predictions for the whole pool: the best label, costs and ranges of each example, and how uncertain they are."""

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.data.costs import CostScale
from coalface.desk.project.project import Project
from coalface.desk.project.spreadsheets import harmless
from coalface.learner.classifiers import CoalClassifier

_BLOCK = 1000  # examples predicted at a time
Known = Mapping[int, Mapping[str, float | None]]


def predicted_lines(
    project: Project, learner: CoalClassifier, known: Known, without: Callable[[int], bool], top: int | None = None
) -> Iterator[dict[str, Any]]:
    """A line per example of the pool, in its order or, with ``top``, the most uncertain ones first.

    ``known`` has the costs that were answered, by example. ``uncertainty`` is what further questions could save.
    """
    kept = np.array([place for place in range(len(project.pool)) if not without(place)], np.int64)
    places = kept if top is None else kept[_most_uncertain(project, learner, kept, top)]
    for start in range(0, len(places), _BLOCK):
        yield from _block(project, learner, places[start : start + _BLOCK], known)


def _most_uncertain(
    project: Project, learner: CoalClassifier, places: NDArray[np.int64], top: int
) -> NDArray[np.int64]:
    blocks = [places[start : start + _BLOCK] for start in range(0, len(places), _BLOCK)]
    scores = [learner.possible_savings(project.pool.rows(block)) for block in blocks]
    return np.argsort(-np.concatenate([*scores, np.zeros(0)]), kind="stable")[:top]


def _block(
    project: Project, learner: CoalClassifier, places: NDArray[np.int64], known: Known
) -> Iterator[dict[str, Any]]:
    X = project.pool.rows(places)
    costs = CostScale.of(project.cost_bounds).within(learner.predict_cost(X))
    ranges = learner.cost_range(X, same_round=True)  # the same in any order of the pool
    best, savings = learner.best_labels(X).tolist(), learner.possible_savings(X)
    offered = [(k, label) for k, label in enumerate(project.labels) if label not in project.retired]
    for i, place in enumerate(places.tolist()):
        yield {
            "id": project.pool.example_id(place),
            "label": best[i],
            "uncertainty": float(savings[i]),
            "costs": {label: float(costs[i, k]) for k, label in offered},
            "ranges": {label: [float(ranges.lowest[i, k]), float(ranges.highest[i, k])] for k, label in offered},
            "answered": dict(known.get(place, {})),
        }


def as_jsonl(lines: Iterator[dict[str, Any]]) -> Iterator[bytes]:
    """The lines as JSON."""
    return (json.dumps(line, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n" for line in lines)


def as_csv(project: Project, lines: Iterator[dict[str, Any]]) -> Iterator[bytes]:
    """A table with three columns per label: the predicted cost and the ends of its range."""
    labels = project.offered
    titles = [f"{part}:{label}" for label in labels for part in ("cost", "lowest", "highest")]
    yield _row(["id", "label", "uncertainty", *titles])
    for line in lines:
        numbers = [number for label in labels for number in (line["costs"][label], *line["ranges"][label])]
        yield _row([harmless(line["id"]), harmless(str(line["label"])), line["uncertainty"], *numbers])


def _row(cells: list[Any]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(cells)
    return text.getvalue().encode("utf-8", "surrogatepass")
