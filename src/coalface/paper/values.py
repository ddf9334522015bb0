"""How much the values of regressors can disagree: two measures of the work that followed the paper.

The paper's coefficients (``difficulty``) ask how much good *classifiers* dispute labels. Here a class of regressors for
one label is compared by the costs it predicts: ``eluder_dimension`` counts how often a regressor can still surprise
(Russo and Van Roy, 2013), ``value_disagreement`` compares the largest deviation at an example with the mean squared one
(Foster, Rakhlin, Simchi-Levi and Xu, 2020). Both are computed exactly for small finite classes, given by predictions
(members, examples).
"""

from itertools import combinations
from typing import Any

import numpy as np

from coalface.data.numbers import finite_number
from coalface.errors import InputError
from coalface.paper.inputs import Numbers, as_table, as_weights

_MOST_EXAMPLES = 16  # the search visits sets of examples, at most 2^16 for each scale


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
    chances, floor = as_weights(weights, table.shape[1]), finite_number("least_norm", least_norm, 0.0)
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
