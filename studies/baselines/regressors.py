"""Baselines that fit scikit-learn's regressors, one per label, to costs drawn at random from the whole pool.

They are fitted again at each checkpoint, to all costs bought so far, and choose the label of least predicted cost.
``drawn`` says what is bought at random:

- ``drawn="costs"``: single costs; every pair of an example and a label comes once, in random order;
- ``drawn="examples"``: all costs of an example, in the order of the run.

The last checkpoint has all costs. A label without any known cost is predicted to cost the mean of all known costs.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from coalface.data import CostScale, whole_number
from coalface.errors import InputError

from .baseline import Baseline, BaselineRun, Problem, dense_rows
from .plan import CheckpointPlan

_DRAWN = ("costs", "examples")
_PARAMETERS = {"drawn": "costs", "cost_bounds": (0.0, 1.0)}
_STREAM = 1  # of random numbers, so that the draw is independent of the order of the rows
NewRegressor = Callable[[int, int], Any]  # of its size, the number of trees or neighbours, and a seed


def drawn_costs(allowed: NDArray[np.bool_], random_state: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The row and the label of every allowed cost (n, K), each once, in random order.

    >>> rows, labels = drawn_costs(np.array([[True, False], [True, True]]), random_state=0)
    >>> sorted(zip(rows.tolist(), labels.tolist()))
    [(0, 0), (1, 0), (1, 1)]
    """
    rows, labels = np.nonzero(allowed)
    order = np.random.default_rng([random_state, _STREAM]).permutation(len(rows))
    return rows[order], labels[order]


def predicted_costs(
    new_regressor: Callable[[], Any],
    X: NDArray[np.float64],
    cost: NDArray[np.float64],
    X_test: NDArray[np.float64],
    fitted: Callable[[], None],
) -> NDArray[np.float64]:
    """The costs (n_test, K) that regressors predict, one per label, fitted where ``cost`` (n, K) is not NaN.

    ``fitted`` is called after each of them.
    """
    known = ~np.isnan(cost)
    predicted = np.full((len(X_test), cost.shape[1]), cost[known].mean() if known.any() else 0.0)
    for label, rows in enumerate(known.T):
        if rows.any():
            predicted[:, label] = new_regressor().fit(X[rows], cost[rows, label]).predict(X_test)
        fitted()
    return predicted


@dataclass(frozen=True, eq=False)
class _Purchase:
    """Which costs are bought when: each at the step of its number in ``step_of`` (n, K), counted from 0."""

    plan: CheckpointPlan
    step_of: NDArray[np.int64]

    @classmethod
    def of(cls, problem: Problem, drawn: str) -> "_Purchase":
        """All costs of a problem in the order in which they are bought; none that is not a candidate."""
        n_examples, n_labels = problem.examples.cost.shape
        candidates = problem.examples.candidates
        allowed = np.ones((n_examples, n_labels), np.bool_) if candidates is None else candidates
        step_of = np.full(allowed.shape, allowed.size)  # never
        if drawn == "examples":
            step_of[allowed] = np.nonzero(allowed)[0]
            return cls(problem.plan(allowed, pool_rows=np.arange(n_examples)), step_of)
        rows, labels = drawn_costs(allowed, problem.random_state)
        step_of[rows, labels] = np.arange(len(rows))
        return cls(problem.plan_of_costs(rows, labels), step_of)


def _run_on(problem: Problem, parameters: dict[str, Any], new_regressor: NewRegressor, size: str) -> BaselineRun:
    X, X_test, cost = dense_rows(problem.examples), dense_rows(problem.test), problem.examples.cost.astype(np.float64)
    purchase = _Purchase.of(problem, parameters["drawn"])
    steps = purchase.plan.steps.tolist()
    fits = count(1)
    test_costs = []
    with threadpool_limits(limits=1, user_api="openmp"):  # a sweep runs one cell per core
        for step in steps:
            predicted = predicted_costs(
                lambda: new_regressor(int(parameters[size]), problem.random_state),
                X,
                np.where(purchase.step_of < step, cost, np.nan),
                X_test,
                lambda: problem.progress(next(fits), len(steps) * problem.n_labels),
            )
            test_costs.append(problem.test_cost(predicted.argmin(axis=1)))
    return BaselineRun(purchase.plan, test_costs)


def _random_forest(n_trees: int, random_state: int) -> Any:
    from sklearn.ensemble import RandomForestRegressor

    return RandomForestRegressor(n_trees, random_state=random_state, n_jobs=1)


def _gradient_boosting(n_trees: int, random_state: int) -> Any:
    from sklearn.ensemble import HistGradientBoostingRegressor

    return HistGradientBoostingRegressor(max_iter=n_trees, random_state=random_state)


class _Neighbours:
    """The mean cost of the nearest neighbours, of all of them if there are fewer."""

    def __init__(self, n_neighbours: int) -> None:
        self._n_neighbours = n_neighbours

    def fit(self, X: NDArray[np.float64], cost: NDArray[np.float64]) -> Any:
        from sklearn.neighbors import KNeighborsRegressor

        return KNeighborsRegressor(min(self._n_neighbours, len(X))).fit(X, cost)


def _knn(n_neighbours: int, _random_state: int) -> Any:
    return _Neighbours(n_neighbours)


def _check(parameters: dict[str, Any], size: str) -> None:
    if parameters["drawn"] not in _DRAWN:
        raise InputError(f"drawn must be one of {', '.join(map(repr, _DRAWN))}, got {parameters['drawn']!r}.")
    whole_number(size, parameters[size], least=1)
    CostScale.of(parameters["cost_bounds"])


def _regressor_baseline(name: str, new_regressor: NewRegressor, size: str = "n_trees", default: int = 100) -> Baseline:
    return Baseline(
        name=name,
        asks="costs",
        parameters={**_PARAMETERS, size: default},
        check_values=lambda parameters, _: _check(parameters, size),
        run_on=lambda problem, given: _run_on(problem, given, new_regressor, size),
        package="scikit-learn",
        module="sklearn",
    )


RANDOM_FOREST = _regressor_baseline("random-forest", _random_forest)
GRADIENT_BOOSTING = _regressor_baseline("gradient-boosting", _gradient_boosting)
KNN = _regressor_baseline("knn", _knn, "n_neighbours", 20)
