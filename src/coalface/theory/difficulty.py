"""Disagreement coefficients of finite classes, exactly, by enumeration.

They say how much of the examples good classifiers can still disagree about, per unit of what makes them good: small
coefficients mean that few questions are left once the learner is good. Notation of the paper: ``by_labels`` theta_0
(Hanneke's), ``by_examples`` theta_1, ``by_costs`` theta_2.

A class is the predictions of its members, (members, examples, labels); member 0 gives the true expected costs unless
``truth`` says otherwise. Ties go to the first label. A member that is never worse than the truth although it chooses
other labels, because costs tie, makes the coefficients infinite: nothing it is asked can tell them apart.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coalface.errors import InputError
from coalface.theory.inputs import Numbers, as_table, as_weights

_MOST_NUMBERS = 50_000_000  # in a class made of all combinations: 400 MB


@dataclass(frozen=True)
class Difficulty:
    """The three disagreement coefficients; the costs' is never above the examples' times the number of labels."""

    by_labels: float
    by_examples: float
    by_costs: float


class _Ball(NamedTuple):
    """What the members within a radius of the truth still disagree about, (examples, labels)."""

    radius: float
    disputed: NDArray[np.bool_]
    width: Numbers


def difficulty(predictions: Any, *, truth: int = 0, weights: Any = None) -> Difficulty:
    """The disagreement coefficients of a finite class; ``weights`` are the chances of the examples.

    >>> good, odd = [[0.2, 0.6]] * 4, [[0.2, 0.0]] + [[0.2, 0.6]] * 3  # wrong on one example of four
    >>> found = difficulty([good, odd])
    >>> round(found.by_labels, 6), round(found.by_examples, 6), round(found.by_costs, 6)
    (1.0, 1.5, 1.5)
    """
    table = as_table("predictions", predictions, ("members", "examples", "labels"))
    if not -len(table) <= truth < len(table):
        raise InputError(f"truth must be the place of a member, 0 to {len(table) - 1}, got {truth!r}.")
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
    """The class that picks a regressor for each label independently, as the learner does; small classes only.

    ``per_label`` is (members, examples, labels); member 0 of the result combines the members 0.

    >>> every_combination(np.zeros((3, 5, 2))).shape
    (9, 5, 2)
    """
    table = as_table("per_label", per_label, ("members", "examples", "labels"))
    n_members, n_examples, n_labels = table.shape
    if n_members**n_labels * n_examples * n_labels > _MOST_NUMBERS:
        raise InputError(
            f"per_label must have at most {_MOST_NUMBERS:,} numbers in all combinations, got {n_members}**{n_labels} "
            f"members of {n_examples} x {n_labels}. Use fewer members, examples or labels."
        )
    picks = np.array(list(product(range(n_members), repeat=n_labels)))
    return np.stack([table[picks[:, label], :, label] for label in range(n_labels)], axis=2)


def _balls(table: Numbers, chosen: NDArray[np.intp], distances: Numbers) -> Iterator[_Ball]:
    """The growing sets of members, one per distinct distance from the truth."""
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
    """The largest threshold * P(doubt > threshold) over all thresholds, reached just below one of the doubts."""
    order = np.argsort(-doubt, kind="stable")
    return float((doubt[order] * np.cumsum(chances[order])).max())


def _per(amount: float, radius: float) -> float:
    return 0.0 if amount == 0 else np.inf if radius == 0 else amount / radius
