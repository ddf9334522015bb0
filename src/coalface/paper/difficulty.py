"""Disagreement coefficients of finite classes, computed exactly by enumeration.

They measure how much good classifiers can still disagree, relative to how good they are. Small coefficients mean that
few questions are left once the learner is good. Notation of the paper: ``by_labels`` theta_0 (Hanneke's),
``by_examples`` theta_1, ``by_costs`` theta_2.

A class is given by the predictions of its members, (members, examples, labels). Member 0 gives the true expected costs
unless ``truth`` names another one. Ties go to the first label. The coefficients are infinite if a member chooses other
labels than the truth but is never worse, because costs tie: no answer can tell the two apart.

Two measures of the work that followed the paper compare a class of regressors for one label by the costs it predicts:
``eluder_dimension`` counts how often a regressor can still surprise (Russo and Van Roy, 2013), ``value_disagreement``
compares the largest deviation at an example with the mean squared one (Foster, Rakhlin, Simchi-Levi and Xu, 2020). Both
are computed exactly for small finite classes, given by predictions (members, examples).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coalface.data import finite_number
from coalface.errors import InputError
from coalface.paper.inputs import Numbers, as_table

_MOST_NUMBERS = 50_000_000  # in a class of all combinations: 400 MB
_MOST_EXAMPLES = 16  # the search visits sets of examples, at most 2^16 for each scale


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
    chances, expected = _as_weights(weights, table.shape[1]), table[truth]
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


def eluder_dimension(predictions: Any, scale: float) -> int:
    """The length of the longest sequence of examples each of which can still surprise by more than ``scale``.

    An example can surprise if two members agree on the examples before it, up to a root of summed squared differences
    of some e >= ``scale``, and differ by more than the same e on it. At most 16 examples.

    >>> steps = np.tril(np.ones((4, 4)))[:, ::-1]  # thresholds on a line: each shows itself at one example only
    >>> eluder_dimension(steps, 0.5), eluder_dimension(np.eye(4), 0.5), eluder_dimension(np.zeros((3, 4)), 0.5)
    (3, 3, 0)
    """
    table = as_table("predictions", predictions, ("members", "examples"))
    least = finite_number("scale", scale, 0.0)
    if table.shape[1] > _MOST_EXAMPLES:
        raise InputError(f"predictions must have at most {_MOST_EXAMPLES} examples, got {table.shape[1]}.")
    pairs = [table[a] - table[b] for a, b in combinations(range(len(table)), 2)]
    differences = np.abs(np.array(pairs).reshape(-1, table.shape[1]))
    # e just below one of the differences is the best choice: any other fulfils the same conditions or fewer
    return max((_longest(differences, e) for e in np.unique(differences[differences > least])), default=0)


def value_disagreement(predictions: Any, *, truth: int = 0, weights: Any = None, least_norm: float = 0.0) -> float:
    """The largest deviation^2 P(some member deviates by more) / norm^2, over deviations and norms above ``least_norm``.

    Members count up to the norm: the root of their mean squared deviation from the ``truth``. ``weights`` are the
    probabilities of the examples. It is 0 if no member deviates.

    >>> everywhere, once = [0.5, 0.5, 0.5, 0.5], [0.5, 0.0, 0.0, 0.0]
    >>> value_disagreement([[0.0] * 4, everywhere]), value_disagreement([[0.0] * 4, once, np.roll(once, 1)])
    (1.0, 2.0)
    """
    table = as_table("predictions", predictions, ("members", "examples"))
    if not -len(table) <= truth < len(table):
        raise InputError(f"truth must be the index of a member, at most {len(table) - 1}, got {truth!r}.")
    chances, floor = _as_weights(weights, table.shape[1]), finite_number("least_norm", least_norm, 0.0)
    deviations = np.abs(table - table[truth])
    norms = np.sqrt(deviations**2 @ chances)
    largest = 0.0
    for norm in np.unique(np.maximum(norms, floor)):
        if norm > 0.0:
            doubt = deviations[norms <= norm].max(axis=0)
            order = np.argsort(-doubt, kind="stable")
            area = float((doubt[order] ** 2 * np.cumsum(chances[order])).max())
            largest = max(largest, area / float(norm) ** 2)
    return largest


def _longest(differences: Numbers, just_above: float) -> int:
    """The longest sequence for an e just below ``just_above``; what counts of the examples before is their set."""
    surprising = differences >= just_above
    sets: dict[frozenset[int], Numbers] = {frozenset(): np.zeros(len(differences))}
    length = 0
    while True:
        longer: dict[frozenset[int], Numbers] = {}
        for taken, squares in sets.items():
            agreeing = np.sqrt(squares) < just_above
            for example in np.flatnonzero(surprising[agreeing].any(axis=0)).tolist():
                if (more := taken | {example}) not in longer:
                    longer[more] = squares + differences[:, example] ** 2
        if not longer:
            return length
        sets, length = longer, length + 1


def _as_weights(weights: Any, n: int) -> Numbers:
    """The probability of each of n examples, by default equal for all; they add up to 1.

    >>> _as_weights([1, 3], 2).tolist()
    [0.25, 0.75]
    """
    if weights is None:
        return np.full(n, 1.0 / n)
    array = as_table("weights", weights, ("examples",))
    if len(array) != n or (array < 0).any() or array.sum() == 0:
        raise InputError(f"weights must be {n} non-negative numbers, not all 0, got {array.tolist()[:10]}.")
    return np.asarray(array / array.sum())
