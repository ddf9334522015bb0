"""Likely wrong answers: those that the model, trained without them, finds most surprising.

The examples with known costs are split at random into ``FOLDS`` parts. For each part a model is trained on all others,
and its predictions are compared with the costs given. A difference counts in units of the usual one of its label, so
that labels whose costs are hard to predict do not fill the list.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coalface.data.costs import CostScale
from coalface.desk.project.project import Project
from coalface.learner.classifiers import CoalClassifier
from coalface.rounds.round import Round

FOLDS = 5
_FEWEST = 20  # examples with known costs, below which a model says too little
_SPLIT = 0x5B17  # of random numbers: which part an example is in
Trained = Callable[[Collection[int]], CoalClassifier]


@dataclass(frozen=True)
class Surprise:
    """A cost that the model, trained without it, did not expect; ``surprise`` 1 is a usual difference."""

    example_id: str
    label: str
    cost: float
    predicted: float
    who: str | None
    surprise: float


def surprises(
    project: Project, known: Sequence[tuple[int, Round]], trained_without: Trained, limit: int = 50
) -> list[Surprise]:
    """The most surprising costs among the known ones, at most one per example; none if few are known."""
    if len(known) < _FEWEST:
        return []
    part = np.random.default_rng([project.seed, _SPLIT]).permutation(len(known)) % FOLDS
    predicted = np.full((len(known), len(project.labels)), np.nan)
    places = np.array([example for example, _ in known], np.int64)
    for fold in range(FOLDS):
        inside = np.flatnonzero(part == fold)
        learner = trained_without(frozenset(places[inside].tolist()))
        predicted[inside] = _predicted(project, learner, places[inside])
    return _ranked(project, known, predicted)[:limit]


def _predicted(project: Project, learner: CoalClassifier, places: NDArray[np.int64]) -> NDArray[np.float64]:
    """The predicted costs in the order of the project's labels."""
    costs = CostScale.of(project.cost_bounds).within(learner.predict_cost(project.pool.rows(places)))
    column = {label: k for k, label in enumerate(learner.classes_.tolist())}
    found: NDArray[np.float64] = costs[:, [column[label] for label in project.labels]]
    return found


def _ranked(project: Project, known: Sequence[tuple[int, Round]], predicted: NDArray[np.float64]) -> list[Surprise]:
    given = np.full(predicted.shape, np.nan)
    for row, (_, one) in enumerate(known):
        for label, cost in one.costs.items():
            given[row, project.labels.index(label)] = np.nan if cost is None else cost
    apart = np.abs(given - predicted)
    usual = np.sqrt(np.nanmean(np.where(np.isnan(apart), np.nan, apart**2), axis=0, where=~np.isnan(apart)))
    span = project.cost_bounds[1] - project.cost_bounds[0]
    scores = np.nan_to_num(apart / np.maximum(usual, 0.01 * span), nan=-1.0)
    best = scores.argmax(axis=1)
    order = np.argsort(-scores[np.arange(len(known)), best], kind="stable")
    return [
        Surprise(
            example_id=project.pool.example_id(known[row][0]),
            label=project.labels[best[row]],
            cost=float(given[row, best[row]]),
            predicted=float(predicted[row, best[row]]),
            who=known[row][1].by.get(project.labels[best[row]]),
            surprise=float(scores[row, best[row]]),
        )
        for row in order.tolist()
        if scores[row, best[row]] > 0.0
    ]
