"""Selective sampling by online regression (Sekhari, Sridharan, Sun and Wu, 2023).

A regression oracle predicts the costs of an example. The regressors that agree with it on the examples asked about so
far, up to a squared distance of beta, can differ from it by at most delta on the new one. If the two least predicted
costs are further apart than 2 delta, all of these regressors agree about the best label, and nothing is asked;
otherwise all costs of the example are asked for.

The oracle is ridge regression, for which delta^2 = beta x' (X'X + regularization)^-1 x is exact. beta is
``mellowness`` ln(labels x rounds), as in COAL's slack. Features are standardised, and there is a constant one.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.data.costs import CostScale
from coalface.data.numbers import finite_number
from coalface.errors import InputError

from .baseline import Baseline, BaselineRun, Problem, dense_rows
from .reduced import REDUCED, check_reduced, reduced

_MOST_COLUMNS = 2000
F64 = NDArray[np.float64]


class RidgeOracle:
    """Ridge regression of the costs of all labels on a row, one example at a time.

    >>> oracle = RidgeOracle(n_features=1, n_labels=2, regularization=1.0)
    >>> oracle.learn(np.array([1.0]), np.array([0.0, 1.0]))
    >>> oracle.predict(np.array([1.0])).tolist(), oracle.squared_norm(np.array([1.0]))
    ([0.0, 0.5], 0.5)
    """

    def __init__(self, n_features: int, n_labels: int, regularization: float) -> None:
        self.inverse = np.eye(n_features) / regularization  # of X'X + regularization
        self.moments = np.zeros((n_features, n_labels))  # X'C

    def predict(self, row: F64) -> F64:
        """The predicted costs, (K,)."""
        return np.asarray(row @ self.inverse @ self.moments)

    def squared_norm(self, row: F64) -> float:
        """How far the regressors at a squared distance of 1 can differ at this row, squared."""
        return float(row @ self.inverse @ row)

    def learn(self, row: F64, cost: F64) -> None:
        """Learn all costs of an example."""
        step = self.inverse @ row
        self.inverse -= np.outer(step, step) / (1.0 + row @ step)
        self.moments += np.outer(row, cost)


def standardised(problem: Problem) -> tuple[F64, F64]:
    """The training and test rows with standardised features and a constant; an InputError if there are too many."""
    from sklearn.preprocessing import StandardScaler

    n_features = problem.examples.X.shape[1]
    if n_features > _MOST_COLUMNS:
        raise InputError(
            f"online-regression takes at most {_MOST_COLUMNS:,} features, because it inverts a matrix of their "
            f"squares, got {n_features:,}. Use fewer features, or set directions."
        )
    scaler = StandardScaler().fit(dense_rows(problem.examples))
    tables = (scaler.transform(dense_rows(part)) for part in (problem.examples, problem.test))
    examples, test = (np.hstack([table, np.ones((len(table), 1))]) for table in tables)
    return examples, test


def _run_on(problem: Problem, parameters: dict[str, Any]) -> BaselineRun:
    problem = reduced(problem, parameters)
    rows, test_rows = standardised(problem)
    examples, n_labels = problem.examples, problem.n_labels
    allowed = np.ones(examples.cost.shape, np.bool_) if examples.candidates is None else examples.candidates
    scale = CostScale.of(parameters["cost_bounds"])
    costs = np.asarray(scale.to_unit(examples.cost), np.float64)
    known = np.where(np.isnan(costs), 0.5, costs)  # an unknown cost teaches the middle
    regularization, mellowness = float(parameters["regularization"]), float(parameters["mellowness"])
    oracle = RidgeOracle(rows.shape[1], n_labels, regularization)
    asked = np.zeros(allowed.shape, np.bool_)
    for i, row in enumerate(rows):
        predicted = np.sort(oracle.predict(row)[allowed[i]])
        delta = np.sqrt(mellowness * np.log(n_labels * (i + 2.0)) * oracle.squared_norm(row))
        if len(predicted) > 1 and predicted[1] - predicted[0] <= 2.0 * delta:
            asked[i] = allowed[i]
            oracle.learn(row, known[i])
        problem.progress(i + 1, len(rows))
    plan = problem.plan(asked)
    return BaselineRun(
        plan, [_test_cost(problem, rows, known, asked, test_rows, n, regularization) for n in plan.steps]
    )


def _test_cost(
    problem: Problem,
    rows: F64,
    known: F64,
    asked: NDArray[np.bool_],
    test_rows: F64,
    n_rounds: int,
    regularization: float,
) -> float:
    """The test cost of the regressors after this many rounds."""
    taught = np.flatnonzero(asked[:n_rounds].any(axis=1))
    squares = rows[taught].T @ rows[taught] + regularization * np.eye(rows.shape[1])
    weights = np.linalg.solve(squares, rows[taught].T @ known[taught])
    return problem.test_cost((test_rows @ weights).argmin(axis=1))


def _check(parameters: dict[str, Any], n_labels: int) -> None:  # noqa: ARG001
    finite_number("mellowness", parameters["mellowness"], 0.0)
    finite_number("regularization", parameters["regularization"], 0.0, above=True)
    CostScale.of(parameters["cost_bounds"])
    check_reduced(parameters)


ONLINE_REGRESSION = Baseline(
    name="online-regression",
    asks="costs",
    parameters={"mellowness": 0.01, "regularization": 1.0, "cost_bounds": (0.0, 1.0), **REDUCED},
    check_values=_check,
    run_on=_run_on,
)
