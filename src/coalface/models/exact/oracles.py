"""Oracles: weighted least squares over a class of functions.

An oracle is all that the exact engine knows of its class. Given examples, targets and weights it returns the function
of the class with the least weighted squared error. ``convex`` says whether the average of two functions of the class
belongs to it, ``finite`` whether its functions can be listed; the range engines ask for one or the other.

``prior`` gives examples that come before the first and count in every loss: a penalty is nothing but such examples.
"""

import math
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from coalface.errors import InputError

Floats = NDArray[np.float64]
_ROUNDING = 1e-13  # a direction in which the data vary less than this, relative to the most, is not seen at all
_FINE = 1e-8  # curvatures that differ by more than this, relatively, are found without squaring the data first
_MOST_STEPS = 100


class Regressor(Protocol):
    """A function of the class."""

    def predict(self, X: Floats) -> Floats:
        """The predicted cost of each row, (n,)."""
        ...


class Oracle(Protocol):
    """Least squares over a class of functions."""

    convex: bool
    finite: bool
    linear: bool  # a constant feature makes a difference

    def solve(self, X: Floats, targets: Floats, weights: Floats) -> Regressor:
        """The function with the least weighted squared error; weights are not negative."""
        ...

    def prior(self, width: int) -> tuple[Floats, Floats]:
        """Examples of this width, and their targets, that every loss contains."""
        ...

    def plain(self) -> dict[str, Any]:
        """The oracle as JSON values, for a file."""
        ...


def no_prior(width: int) -> tuple[Floats, Floats]:
    """What most classes have for a prior."""
    return np.zeros((0, width)), np.zeros(0)


@dataclass(frozen=True)
class Linear:
    """x -> coefficients . x; features beyond the coefficients count as unseen.

    >>> Linear(np.array([1.0, 2.0])).predict(np.array([[1.0, 1.0, 9.0]]))
    array([3.])
    """

    coefficients: Floats

    def predict(self, X: Floats) -> Floats:
        """The predicted cost of each row."""
        return np.asarray(X[:, : len(self.coefficients)] @ self.coefficients)


@dataclass(frozen=True)
class BallOracle:
    """Linear functions whose coefficients have at most this norm, solved exactly.

    Values are not held in [0, 1]: the losses are those of the raw predictions, and the ends of a range are cut to the
    scale afterwards. Where no row is longer than ``1 / radius``, values lie in [-1, 1].

    >>> steep = BallOracle(radius=0.5).solve(np.array([[1.0]]), np.array([1.0]), np.array([1.0]))
    >>> steep.coefficients.round(6)
    array([0.5])
    """

    radius: float = 1.0
    convex = True
    finite = False
    linear = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", _positive("radius", self.radius))

    def solve(self, X: Floats, targets: Floats, weights: Floats) -> Linear:
        """The function with the least weighted squared error; the smallest one if there are several."""
        return Linear(least_squares(X, targets, weights, self.radius))

    def prior(self, width: int) -> tuple[Floats, Floats]:
        """None."""
        return no_prior(width)

    def plain(self) -> dict[str, Any]:
        """The oracle as JSON values."""
        return {"kind": "ball", "radius": self.radius}


@dataclass(frozen=True)
class RidgeOracle:
    """All linear functions, with ``penalty`` times the squared norm counted as loss.

    The only class for which ``ellipsoid`` has a closed form. Values are not held in [0, 1], as with ``BallOracle``.

    >>> RidgeOracle(penalty=4.0).prior(width=2)
    (array([[2., 0.],
           [0., 2.]]), array([0., 0.]))
    """

    penalty: float = 1.0
    convex = True
    finite = False
    linear = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "penalty", _positive("penalty", self.penalty))

    def solve(self, X: Floats, targets: Floats, weights: Floats) -> Linear:
        """The function with the least weighted squared error; the smallest one if there are several."""
        return Linear(least_squares(X, targets, weights, math.inf))

    def prior(self, width: int) -> tuple[Floats, Floats]:
        """One example per feature, with target 0, that together have the penalty for their loss."""
        return math.sqrt(self.penalty) * np.eye(width), np.zeros(width)

    def plain(self) -> dict[str, Any]:
        """The oracle as JSON values."""
        return {"kind": "ridge", "penalty": self.penalty}


def least_squares(X: Floats, targets: Floats, weights: Floats, radius: float) -> Floats:
    """The coefficients of least weighted squared error within a ball, the smallest if there are several.

    On the boundary of the ball they solve (A + shift) w = b for the shift that gives them the norm ``radius``: with A
    diagonal, one equation in one unknown, and Newton's method on the inverse of the norm climbs to its root.

    >>> least_squares(np.eye(2), np.array([3.0, 4.0]), np.ones(2), radius=1.0).round(6)
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
    """The axes along which the error is a sum of squares, with its curvature and its pull along each; only seen ones.

    Squaring the data would lose what is ten million times smaller than the rest: the constant 1 beside large features.
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


def _positive(name: str, value: Any) -> float:
    try:
        number = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not (math.isfinite(number) and number > 0):
        raise InputError(f"{name} must be a finite number greater than 0, got {value!r}.")
    return number
