"""Oracles from what users pass: a scikit-learn regressor, a finite list of functions, or a description in a file."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone, is_regressor
from sklearn.utils.validation import has_fit_parameter

from coalface.errors import InputError, in_one_line
from coalface.paper.oracles import (
    BallOracle,
    BoundedLinearOracle,
    Floats,
    Linear,
    Oracle,
    Regressor,
    RidgeOracle,
)


@dataclass(frozen=True)
class _Fitted:
    """A fitted scikit-learn regressor, clipped to [0, 1]; features added after the fit are ignored."""

    estimator: Any
    width: int

    def predict(self, X: Floats) -> Floats:
        """The predicted cost of each row."""
        return np.clip(np.asarray(self.estimator.predict(X[:, : self.width]), np.float64), 0.0, 1.0)


class SklearnOracle(Oracle):
    """Any scikit-learn regressor that takes ``sample_weight``.

    Its fit is assumed to be the least-squares solution over its class. The class is not assumed to be convex, so use
    the engines ``bisection`` and ``ensemble``. A ``random_state`` of None becomes 0, so that runs are reproducible.

    >>> from sklearn.tree import DecisionTreeRegressor
    >>> oracle = SklearnOracle(DecisionTreeRegressor(max_depth=1))
    >>> oracle.solve(np.array([[0.0], [1.0]]), np.array([0.2, 2.0]), np.ones(2)).predict(np.array([[0.0], [1.0]]))
    array([0.2, 1. ])
    """

    def __init__(self, estimator: Any) -> None:
        if isinstance(estimator, type):
            name = estimator.__name__
            raise InputError(f"oracle must be a scikit-learn regressor, got the class {name}. Pass {name}().")
        name = type(estimator).__name__
        if not (hasattr(estimator, "get_params") and hasattr(estimator, "fit") and is_regressor(estimator)):
            raise InputError(f"oracle must be a scikit-learn regressor, got {name}.")
        if not has_fit_parameter(estimator, "sample_weight"):
            raise InputError(f"oracle must accept sample_weight in fit, but {name} does not. Choose another regressor.")
        self.estimator = clone(estimator)
        if "random_state" in self.estimator.get_params() and self.estimator.get_params()["random_state"] is None:
            self.estimator.set_params(random_state=0)

    def solve(self, X: Floats, targets: Floats, weights: Floats) -> Regressor:
        """A new copy of the regressor, fitted to the rows with a positive weight."""
        used = weights > 0
        if not used.any():
            return Linear(np.zeros(X.shape[1]))
        try:
            fitted = clone(self.estimator).fit(X[used], targets[used], sample_weight=weights[used])
        except ValueError as problem:
            raise InputError(f"oracle {self.estimator!r} could not be fitted: {in_one_line(problem)}.") from problem
        return _Fitted(fitted, X.shape[1])

    def plain(self) -> dict[str, Any]:
        """An InputError: without pickle, a file cannot hold a scikit-learn object."""
        raise InputError(
            f"oracle {type(self.estimator).__name__} cannot be saved to a file or ledger: they hold no pickles. "
            "Use an oracle of coalface, or store the answers yourself."
        )


@dataclass(frozen=True)
class _ClassMember:
    """One function of a finite class, clipped to [0, 1]."""

    function: Callable[[Floats], Any]

    def predict(self, X: Floats) -> Floats:
        """The predicted cost of each row."""
        costs = np.asarray(self.function(X), np.float64)
        if costs.shape != (len(X),):
            raise InputError(f"oracle's functions must return a cost for all {len(X)} rows, got shape {costs.shape}.")
        if not np.isfinite(costs).all():
            raise InputError(f"oracle's functions must return finite costs, got {costs[~np.isfinite(costs)][0]}.")
        return np.clip(costs, 0.0, 1.0)


@dataclass(frozen=True)
class _LookUp:
    """A function given as a table: the last feature of a row is its point in the table."""

    costs: Floats

    def __call__(self, X: Floats) -> Floats:
        """The cost of each row."""
        points = X[:, -1]
        known = (points >= 0) & (points < len(self.costs)) & (points == np.floor(points))
        if not known.all():
            raise InputError(
                f"the last feature must be a point between 0 and {len(self.costs) - 1}, got {points[~known][0]:g}."
            )
        return self.costs[points.astype(np.int64)]


class FiniteOracle(Oracle):
    """A finite class of functions from rows (n, d) to costs (n,) in [0, 1]; ties go to the first function.

    >>> oracle = FiniteOracle([lambda X: X[:, 0], lambda X: 1 - X[:, 0]])
    >>> oracle.solve(np.array([[1.0]]), np.array([0.1]), np.ones(1)).predict(np.array([[1.0]]))
    array([0.])
    """

    finite = True

    def __init__(self, functions: Iterable[Callable[[Floats], Any]]) -> None:
        if not isinstance(functions, Iterable) or not all(map(callable, functions := list(functions))):
            raise InputError(f"oracle must be a list of functions, got {functions!r}.")
        self.members = [_ClassMember(function) for function in functions]
        self.table: Floats | None = None
        if not self.members:
            raise InputError("oracle must have at least one function, got an empty list.")

    @classmethod
    def of_table(cls, predictions: Any) -> "FiniteOracle":
        """A class given as a table: function f predicts ``predictions[f, point]``; a row's last feature is its point.

        >>> FiniteOracle.of_table([[0.0, 1.0], [0.5, 0.5]]).predictions(np.array([[1.0]]))
        array([[1. ],
               [0.5]])
        """
        try:
            table = np.asarray(predictions, np.float64)
        except (TypeError, ValueError):
            table = np.zeros(0)
        if table.ndim != 2 or not table.size or not ((table >= 0) & (table <= 1)).all():
            raise InputError(f"predictions must be costs in [0, 1], functions x points, got {predictions!r}.")
        oracle = cls([_LookUp(row) for row in table])
        oracle.table = table
        return oracle

    def predictions(self, X: Floats) -> Floats:
        """The predictions of each function, (functions, n)."""
        return np.stack([member.predict(X) for member in self.members])

    def solve(self, X: Floats, targets: Floats, weights: Floats) -> _ClassMember:
        """The first of the best functions."""
        return self.members[int(np.argmin((self.predictions(X) - targets) ** 2 @ weights))]

    def plain(self) -> dict[str, Any]:
        """The table as JSON values; functions cannot be written to a file."""
        if self.table is None:
            raise InputError(
                "oracle has functions, which a file or ledger cannot hold. Create it with FiniteOracle.of_table."
            )
        return {"kind": "finite", "table": self.table.tolist()}


_KINDS: dict[str, Callable[..., Oracle]] = {
    "ball": BallOracle,
    "ridge": RidgeOracle,
    "bounded-linear": BoundedLinearOracle,
    "finite": lambda table: FiniteOracle.of_table(table),
}


def oracle_of(value: Any) -> Oracle:
    """The oracle itself, the oracle of a description as ``plain`` returns it, or one around a regressor.

    >>> oracle_of({"kind": "ridge", "penalty": 0.5})
    RidgeOracle(penalty=0.5)
    """
    if all(hasattr(value, name) for name in ("solve", "convex", "finite", "linear", "prior", "plain")):
        oracle: Oracle = value
        return oracle
    if not isinstance(value, Mapping):
        return SklearnOracle(value)
    given = dict(value)
    kind = given.pop("kind", None)
    if not isinstance(kind, str) or kind not in _KINDS:
        raise InputError(f"oracle must have one of the kinds {', '.join(map(repr, _KINDS))}, got {kind!r}.")
    try:
        return _KINDS[kind](**given)
    except TypeError:
        raise InputError(
            f"oracle of kind {kind!r} cannot have exactly these parameters: {', '.join(given) or 'none'}."
        ) from None
