"""Disagreement coefficients of finite classes, computed exactly by enumeration.

They measure how much good classifiers can still disagree, relative to how good they are. Small coefficients mean that
few questions are left once the learner is good. Notation of the paper: ``by_labels`` theta_0 (Hanneke's),
``by_examples`` theta_1, ``by_costs`` theta_2.

A class is given by the predictions of its members, (members, examples, labels). Member 0 gives the true expected costs
unless ``truth`` names another one. Ties go to the first label. The coefficients are infinite if a member chooses other
labels than the truth but is never worse, because costs tie: no answer can tell the two apart.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coalface.errors import InputError
from coalface.paper.inputs import Numbers, as_table, as_weights

_MOST_NUMBERS = 50_000_000  # in a class of all combinations: 400 MB


@dataclass(frozen=True)
class Difficulty:
    """The three disagreement coefficients; ``by_costs`` is at most ``by_examples`` times the number of labels.

    >>> truth, other = [[0.2, 0.6]] * 4, [[0.2, 0.0]] * 2 + [[0.2, 0.6]] * 2  # wrong on two examples of four
    >>> found = difficulty([truth, other])
    >>> found.by_costs <= 2 * found.by_examples
    True
    """

    by_labels: float
    by_examples: float
    by_costs: float


class _Ball(NamedTuple):
    """The disagreement of the members within a radius of the truth, (examples, labels)."""

    radius: float
    disputed: NDArray[np.bool_]
    width: Numbers


def difficulty(predictions: Any, *, truth: int = 0, weights: Any = None) -> Difficulty:
    """The disagreement coefficients of a finite class; ``weights`` are the probabilities of the examples.

    >>> good, odd = [[0.2, 0.6]] * 4, [[0.2, 0.0]] + [[0.2, 0.6]] * 3  # wrong on one example of four
    >>> found = difficulty([good, odd])
    >>> round(found.by_labels, 6), round(found.by_examples, 6), round(found.by_costs, 6)
    (1.0, 1.5, 1.5)
    """
    table = as_table("predictions", predictions, ("members", "examples", "labels"))
    if not -len(table) <= truth < len(table):
        raise InputError(f"truth must be the index of a member, at most {len(table) - 1}, got {truth!r}.")
    chances, expected = as_weights(weights, table.shape[1]), table[truth]
    chosen = table.argmin(axis=2)
    rows = np.arange(table.shape[1])
    best = chosen[truth]
    regrets = np.array([chances @ (expected[rows, labels] - expected[rows, best]) for labels in chosen])
    elsewhere = np.array([chances @ (labels != best) for labels in chosen])
    by_labels = by_examples = by_costs = 0.0
    for ball in _balls(table, chosen, elsewhere):
        by_labels = max(by_labels, _per(float(chances @ ball.disputed.any(axis=1)), ball.radius))
    for ball in _balls(table, chosen, regrets):
        doubt = np.where(ball.disputed, ball.width, 0.0)
        every = np.broadcast_to(chances[:, None], doubt.shape)
        by_examples = max(by_examples, _per(_largest_area(doubt.max(axis=1), chances), ball.radius))
        by_costs = max(by_costs, _per(_largest_area(doubt.ravel(), every.ravel()), ball.radius))
    return Difficulty(by_labels, by_examples, by_costs)


def every_combination(per_label: Any) -> Numbers:
    """The class of all combinations of one regressor per label, as the learner combines them; for small classes.

    ``per_label`` is (members, examples, labels). Member 0 of the result uses member 0 for every label.

    >>> every_combination(np.zeros((3, 5, 2))).shape
    (9, 5, 2)
    """
    table = as_table("per_label", per_label, ("members", "examples", "labels"))
    n_members, n_examples, n_labels = table.shape
    if n_members**n_labels * n_examples * n_labels > _MOST_NUMBERS:
        raise InputError(
            f"all combinations of per_label must have at most {_MOST_NUMBERS:,} numbers, got {n_members}**{n_labels} "
            f"members of {n_examples} x {n_labels}. Use fewer members, examples or labels."
        )
    picks = np.array(list(product(range(n_members), repeat=n_labels)))
    return np.stack([table[picks[:, label], :, label] for label in range(n_labels)], axis=2)


def _balls(table: Numbers, chosen: NDArray[np.intp], distances: Numbers) -> Iterator[_Ball]:
    """The growing sets of members around the truth, one per distinct distance."""
    labels = np.arange(table.shape[2])
    order = np.argsort(distances, kind="stable")
    first = order[0]
    lowest, highest = table[first].copy(), table[first].copy()
    by_some = chosen[first][:, None] == labels
    by_all = by_some.copy()
    for place, member in enumerate(order):
        np.minimum(lowest, table[member], out=lowest)
        np.maximum(highest, table[member], out=highest)
        picked = chosen[member][:, None] == labels
        by_some |= picked
        by_all &= picked
        if place + 1 == len(order) or distances[order[place + 1]] > distances[member]:
            yield _Ball(float(distances[member]), by_some & ~by_all, highest - lowest)


def _largest_area(doubt: Numbers, chances: Numbers) -> float:
    """The largest threshold * P(doubt > threshold); it is reached just below one of the doubts."""
    order = np.argsort(-doubt, kind="stable")
    return float((doubt[order] * np.cumsum(chances[order])).max())


def _per(amount: float, radius: float) -> float:
    return 0.0 if amount == 0 else np.inf if radius == 0 else amount / radius
