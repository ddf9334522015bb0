"""Oracles: weighted least squares over a class of functions.

The exact engine knows its class of functions only through an oracle. Given examples, targets and weights, the oracle
returns the function with the least weighted squared error. ``convex`` says whether the average of two functions belongs
to the class, ``finite`` whether its functions can be listed; range engines need one or the other.

``prior`` returns examples that count in every loss, before the first answer; a ridge penalty is such a prior.
"""

import math
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from coalface.errors import InputError

Floats = NDArray[np.float64]
_ROUNDING = 1e-13  # directions with less variation than this, relative to the largest, count as unseen
_FINE = 1e-8  # below this ratio of curvatures, the data are not squared
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
    linear: bool  # whether a constant feature matters

    def solve(self, X: Floats, targets: Floats, weights: Floats) -> Regressor:
        """The function with the least weighted squared error; weights are non-negative."""
        ...

    def prior(self, width: int) -> tuple[Floats, Floats]:
        """Prior examples of this width and their targets, which count in every loss."""
        ...

    def plain(self) -> dict[str, Any]:
        """The oracle as JSON values, for a file."""
        ...


def no_prior(width: int) -> tuple[Floats, Floats]:
    """The prior of most classes: no examples."""
    return np.zeros((0, width)), np.zeros(0)


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


@dataclass(frozen=True)
class BallOracle:
    """Linear functions whose coefficients have at most this norm, solved exactly.

    Values are not restricted to [0, 1]: losses use the raw predictions, and the ends of a range are clipped afterwards.
    If no row is longer than ``1 / radius``, values lie in [-1, 1].

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
        """The function with the least weighted squared error; of several, the one with the smallest norm."""
        return Linear(least_squares(X, targets, weights, self.radius))

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
            for coefficients in (inside, least_squares(X, targets, weights, math.inf))
        )
        return bool(loss - least > 2.0 * X.shape[1] * loss / float(weights.sum()))

    def prior(self, width: int) -> tuple[Floats, Floats]:
        """No prior examples."""
        return no_prior(width)

    def plain(self) -> dict[str, Any]:
        """The oracle as JSON values."""
        return {"kind": "ball", "radius": self.radius}


@dataclass(frozen=True)
class RidgeOracle:
    """All linear functions, with ``penalty`` times the squared norm counted as loss.

    The engine ``ellipsoid`` has a closed form for this class only. Values are not restricted to [0, 1].

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
        """The function with the least weighted squared error; of several, the one with the smallest norm."""
        return Linear(least_squares(X, targets, weights, math.inf))

    def prior(self, width: int) -> tuple[Floats, Floats]:
        """One example per feature with target 0; the sum of their losses is the penalty."""
        return math.sqrt(self.penalty) * np.eye(width), np.zeros(width)

    def plain(self) -> dict[str, Any]:
        """The oracle as JSON values."""
        return {"kind": "ridge", "penalty": self.penalty}


def least_squares(X: Floats, targets: Floats, weights: Floats, radius: float) -> Floats:
    """The coefficients of least weighted squared error within a ball; of several, those with the smallest norm.

    On the boundary of the ball they solve (A + shift) w = b for the shift that gives them the norm ``radius``. With A
    diagonal this is one equation in one unknown; Newton's method on the inverse of the norm finds its root.

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


def _positive(name: str, value: Any) -> float:
    try:
        number = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not (math.isfinite(number) and number > 0):
        raise InputError(f"{name} must be a finite number greater than 0, got {value!r}.")
    return number
