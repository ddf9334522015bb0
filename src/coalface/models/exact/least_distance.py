"""The point of a polyhedron nearest to the origin, by non-negative least squares (Lawson and Hanson, chapter 23)."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

Floats = NDArray[np.float64]
_EMPTY = 1e-10  # a residual below this (the largest is 1) means that the inequalities contradict each other


class Nearest(NamedTuple):
    """The nearest point, or None if there is no point, and the share of each inequality in the proof."""

    point: Floats | None
    shares: Floats


def least_distance(normals: Floats, offsets: Floats) -> Nearest:
    """The shortest ``y`` with ``normals @ y >= offsets``.

    If there is no such ``y``, the shares combine the inequalities into a contradiction: ``0 >= a positive number``.

    >>> least_distance(np.array([[1.0, 1.0], [1.0, 0.0]]), np.array([2.0, 0.5])).point.round(6)
    array([1., 1.])
    >>> least_distance(np.array([[1.0], [-1.0]]), np.array([2.0, -1.0])).point is None
    True
    """
    lengths = np.sqrt((normals**2).sum(axis=1) + offsets**2)
    lengths[lengths == 0.0] = 1.0  # 0 >= 0 is always true and has no length
    table = np.vstack([normals.T, offsets]) / lengths
    goal = np.zeros(len(table))
    goal[-1] = 1.0
    shares, distance = nnls(table, goal)
    residual = table @ shares - goal
    shares = shares / lengths
    if distance < _EMPTY or -residual[-1] < _EMPTY**2:
        return Nearest(None, shares)
    return Nearest(-residual[:-1] / residual[-1], shares)
