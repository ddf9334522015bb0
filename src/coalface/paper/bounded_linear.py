"""An oracle for linear functions whose values stay in [0, 1] on the rows given, by least distance programming."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import nnls

from coalface.paper.oracles import Floats, Linear, no_prior

_TOUCHING = 1e-9  # how far outside the scale a prediction may lie
_FLAT = 1e-11  # the least curvature relative to the largest, which makes the solution unique


@dataclass(frozen=True)
class BoundedLinearOracle:
    """Linear functions with values in [0, 1] on every row passed to ``solve``, whatever its weight.

    The exact engine passes the rows asked about so far and the row in question; only there do values matter. The class
    shrinks as rows are added, which fits a version space that only shrinks.

    >>> X, targets = np.array([[1.0], [2.0]]), np.array([1.0, 1.0])
    >>> BoundedLinearOracle().solve(X, targets, np.array([1.0, 0.0])).coefficients.round(6)
    array([0.5])
    """

    convex = True
    finite = False
    linear = True

    def solve(self, X: Floats, targets: Floats, weights: Floats) -> Linear:
        """The function with the least weighted squared error; violated bounds are added until none is left."""
        units = np.abs(X).max(axis=0, initial=0.0)
        units[units == 0.0] = 1.0  # the class does not depend on the units of the features, but rounding does
        X = X / units
        weighted = X * weights[:, None]
        curvatures, axes = np.linalg.eigh(weighted.T @ X)
        if not curvatures.any():
            return Linear(np.zeros(X.shape[1]))
        # in coordinates where the error is a squared distance from its minimum, bounds are half-spaces
        stretch = np.sqrt(np.maximum(curvatures, _FLAT * curvatures[-1]))
        to_coefficients = axes / stretch
        sides = X @ to_coefficients
        least = to_coefficients.T @ (weighted.T @ targets)
        position, chosen = least, np.zeros((2, len(X)), np.bool_)
        while True:
            values = sides @ position
            outside = np.stack([values < -_TOUCHING, values > 1.0 + _TOUCHING]) & ~chosen
            if not outside.any():
                return Linear(to_coefficients @ position / units)
            chosen |= outside
            start = sides @ least
            normals = np.vstack([sides[chosen[0]], -sides[chosen[1]]])
            nearest = least_distance(normals, np.concatenate([-start[chosen[0]], start[chosen[1]] - 1.0]))
            if nearest.point is None:  # only by rounding: the constant 0 meets every bound
                return Linear(np.zeros(X.shape[1]))
            position = least + nearest.point

    def prior(self, width: int) -> tuple[Floats, Floats]:
        """No prior examples."""
        return no_prior(width)

    def plain(self) -> dict[str, Any]:
        """The oracle as JSON values."""
        return {"kind": "bounded-linear"}


_EMPTY = 1e-10  # a residual below this (the largest is 1) means that the inequalities contradict each other


class _Nearest(NamedTuple):
    """The nearest point, or None if there is no point, and the share of each inequality in the proof."""

    point: Floats | None
    shares: Floats


def least_distance(normals: Floats, offsets: Floats) -> _Nearest:
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
        return _Nearest(None, shares)
    return _Nearest(-residual[:-1] / residual[-1], shares)
