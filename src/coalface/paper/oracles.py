"""Oracles: weighted least squares over a class of functions.

The exact engine knows its class of functions only through an oracle. Given examples, targets and weights, the oracle
returns the function with the least weighted squared error. ``convex`` says whether the average of two functions belongs
to the class, ``finite`` whether its functions can be listed; range engines need one or the other.

``prior`` returns examples that count in every loss, before the first answer; a ridge penalty is such a prior.
"""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from coalface.data import finite_number

Floats = NDArray[np.float64]
_ROUNDING = 1e-13  # directions with less variation than this, relative to the largest, count as unseen
_FINE = 1e-8  # below this ratio of curvatures, the data are not squared
_MOST_STEPS = 100
_TOUCHING = 1e-9  # how far outside the scale a prediction may lie
_FLAT = 1e-11  # the least curvature relative to the largest, which makes the solution unique
_EMPTY = 1e-10  # a residual below this (the largest is 1) means that the inequalities contradict each other


class Regressor(Protocol):
    """A function of the class."""

    def predict(self, X: Floats) -> Floats:
        """The predicted cost of each row, (n,)."""
        ...


class Oracle(Protocol):
    """Least squares over a class of functions; by default neither convex nor finite nor linear, and without a prior."""

    convex: bool = False
    finite: bool = False
    linear: bool = False  # whether a constant feature matters

    def solve(self, X: Floats, targets: Floats, weights: Floats) -> Regressor:
        """The function with the least weighted squared error; weights are non-negative."""
        ...

    def prior(self, width: int) -> tuple[Floats, Floats]:
        """Prior examples of this width and their targets, which count in every loss."""
        return np.zeros((0, width)), np.zeros(0)

    def plain(self) -> dict[str, Any]:
        """The oracle as JSON values, for a file."""
        ...


@dataclass(frozen=True)
class Linear:
    """x -> coefficients . x; features beyond the coefficients are ignored.

    >>> Linear(np.array([1.0, 2.0])).predict(np.array([[1.0, 1.0, 9.0]]))
    array([3.])
    """

    coefficients: Floats

    def predict(self, X: Floats) -> Floats:
        """The predicted cost of each row."""
        return np.asarray(X[:, : len(self.coefficients)] @ self.coefficients)


class _LinearOracle(Oracle):
    """The common part of the classes of linear functions."""

    convex = linear = True
    radius = math.inf  # of the ball that holds the coefficients

    def solve(self, X: Floats, targets: Floats, weights: Floats) -> Linear:
        """The function with the least weighted squared error; of several, the one with the smallest norm."""
        return Linear(_least_squares(X, targets, weights, self.radius))


@dataclass(frozen=True)
class BallOracle(_LinearOracle):
    """Linear functions whose coefficients have at most this norm, solved exactly.

    Values are not restricted to [0, 1]: losses use the raw predictions, and the ends of a range are clipped afterwards.
    If no row is longer than ``1 / radius``, values lie in [-1, 1].

    >>> steep = BallOracle(radius=0.5).solve(np.array([[1.0]]), np.array([1.0]), np.array([1.0]))
    >>> steep.coefficients.round(6)
    array([0.5])
    """

    radius: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", finite_number("radius", self.radius, 0.0, above=True))

    def too_small(self, X: Floats, targets: Floats, weights: Floats) -> bool:
        """Whether linear functions outside the ball fit so much better that the truth must be one of them.

        That is, whether the best function lies on the boundary and the others save more than twice the squared error
        that fitting noise with as many coefficients would save.

        >>> X, steep = np.linspace(0, 0.1, 50)[:, None], np.linspace(0, 1, 50)
        >>> [BallOracle(radius).too_small(X, steep, np.ones(50)) for radius in (1.0, 11.0)]
        [True, False]
        """
        inside = self.solve(X, targets, weights).coefficients
        if float(inside @ inside) < (1.0 - 1e-9) * self.radius**2:
            return False
        loss, least = (
            float(weights @ (X @ coefficients - targets) ** 2)
            for coefficients in (inside, _least_squares(X, targets, weights, math.inf))
        )
        return bool(loss - least > 2.0 * X.shape[1] * loss / float(weights.sum()))

    def plain(self) -> dict[str, Any]:
        """The oracle as JSON values."""
        return {"kind": "ball", "radius": self.radius}


@dataclass(frozen=True)
class RidgeOracle(_LinearOracle):
    """All linear functions, with ``penalty`` times the squared norm counted as loss.

    The engine ``ellipsoid`` has a closed form for this class only. Values are not restricted to [0, 1].

    >>> RidgeOracle(penalty=4.0).prior(width=2)
    (array([[2., 0.],
           [0., 2.]]), array([0., 0.]))
    """

    penalty: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "penalty", finite_number("penalty", self.penalty, 0.0, above=True))

    def prior(self, width: int) -> tuple[Floats, Floats]:
        """One example per feature with target 0; the sum of their losses is the penalty."""
        return math.sqrt(self.penalty) * np.eye(width), np.zeros(width)

    def plain(self) -> dict[str, Any]:
        """The oracle as JSON values."""
        return {"kind": "ridge", "penalty": self.penalty}


def _least_squares(X: Floats, targets: Floats, weights: Floats, radius: float) -> Floats:
    """The coefficients of least weighted squared error within a ball; of several, those with the smallest norm.

    On the boundary of the ball they solve (A + shift) w = b for the shift that gives them the norm ``radius``. With A
    diagonal this is one equation in one unknown; Newton's method on the inverse of the norm finds its root.

    >>> _least_squares(np.eye(2), np.array([3.0, 4.0]), np.ones(2), radius=1.0).round(6)
    array([0.6, 0.8])
    """
    curvatures, axes, pulls = _principal(X, targets, weights)
    shift = 0.0
    for _ in range(_MOST_STEPS):
        along = pulls / (curvatures + shift)
        norm = math.sqrt(float(along @ along))
        if norm <= radius * (1.0 + 1e-13):
            break
        slope = float(along @ (along / (curvatures + shift)))
        shift += norm * norm / slope * (norm / radius - 1.0)
    return np.asarray(axes @ along)


def _principal(X: Floats, targets: Floats, weights: Floats) -> tuple[Floats, Floats, Floats]:
    """Curvatures, axes and pulls: along these axes the error is a sum of squares; unseen directions are left out.

    Where needed, an SVD avoids squaring the data, which would lose values ten million times smaller than the rest, such
    as the constant 1 beside large features.
    """
    weighted = X * weights[:, None]
    curvatures, axes = np.linalg.eigh(weighted.T @ X)
    if len(curvatures) and curvatures[0] > _FINE * curvatures[-1]:
        return curvatures, axes, axes.T @ (weighted.T @ targets)
    roots = np.sqrt(weights)
    left, sizes, right = np.linalg.svd(roots[:, None] * X, full_matrices=False)
    seen = sizes > _ROUNDING * sizes.max(initial=0.0)
    pulls = sizes * (left.T @ (roots * targets))
    return sizes[seen] ** 2, right[seen].T, pulls[seen]


@dataclass(frozen=True)
class BoundedLinearOracle(_LinearOracle):
    """Linear functions with values in [0, 1] on every row passed to ``solve``, whatever its weight.

    The exact engine passes the rows asked about so far and the row in question; only there do values matter. The class
    shrinks as rows are added, which fits a version space that only shrinks.

    >>> X, targets = np.array([[1.0], [2.0]]), np.array([1.0, 1.0])
    >>> BoundedLinearOracle().solve(X, targets, np.array([1.0, 0.0])).coefficients.round(6)
    array([0.5])
    """

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

    def plain(self) -> dict[str, Any]:
        """The oracle as JSON values."""
        return {"kind": "bounded-linear"}


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
