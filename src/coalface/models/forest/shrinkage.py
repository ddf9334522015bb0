"""Shrinks leaves towards their parents; the strength is chosen by out-of-bag error.

A leaf with few answers is uncertain, so its estimate is drawn towards the node above, as so many answers would draw it.
Where answers are exact, that only blurs the leaf; where they are noisy, a leaf alone would learn the noise. So some
trees get estimates for several strengths at once, and the answers of rows that they were grown without choose the best.
Where rows share their errors, the first strength is kept: there the choice closed no more of the gap on solver
scenarios.
"""

import numpy as np

from coalface.kernels.forest import KnownCosts
from coalface.kernels.state import F64
from coalface.models.forest.row_effects import rows_of

STRENGTHS = (1.0, 0.1, 0.3, 3.0, 10.0)  # in answers; the first is taken as long as nothing was left out


def best_strength(answers: KnownCosts, left_out: F64, doubt: F64) -> int:
    """The place of the strength with the least squared error, given estimates (n, strengths, K) made without each row.

    ``doubt`` is the variance of these estimates, which are means of few trees. It is taken off the squared errors,
    because a forest of many trees does not have it.

    >>> answers = KnownCosts(np.array([0, 1, 2]), np.array([0, 0]), np.array([0.0, 1.0]), np.ones(2))
    >>> best_strength(answers, np.array([[[0.3], [0.1]], [[0.7], [0.9]]]), np.zeros((2, 2, 1)))
    1
    """
    rows, errors = rows_of(answers), []
    for i in range(left_out.shape[1]):
        squares = (answers.costs - left_out[rows, i, answers.labels]) ** 2
        errors.append(np.nansum(answers.weights * (squares - doubt[rows, i, answers.labels])))
    return int(np.argmin(errors))
