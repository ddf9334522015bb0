"""Interactions by the book: a table in which every product is a column."""

import itertools

import numpy as np


def pairs_of(ranges, width):
    """The pairs of columns to multiply, in order; ``ranges`` is 2 for all, or pairs of ranges of columns.

    >>> pairs_of(2, 2), pairs_of([((0, 1), (1, 3))], 3)
    ([(0, 0), (0, 1), (1, 1)], [(0, 1), (0, 2)])
    """
    if ranges == 2:
        return list(itertools.combinations_with_replacement(range(width), 2))
    found = []
    for one, other in ranges:
        first, second = (range(start, min(end, width)) for start, end in sorted([one, other]))
        both = (
            itertools.combinations_with_replacement(first, 2) if first == second else itertools.product(first, second)
        )
        found += both
    return found


def expanded(X, ranges, *, constant=True):
    """The columns of X, a constant, and a column for every product.

    >>> expanded(np.array([[2.0, 3.0]], np.float32), 2).tolist()
    [[2.0, 3.0, 1.0, 4.0, 6.0, 9.0]]
    """
    products = [X[:, [i]] * X[:, [j]] for i, j in pairs_of(ranges, X.shape[1])]
    return np.hstack([X, *([np.ones((len(X), 1), X.dtype)] if constant else []), *products])
