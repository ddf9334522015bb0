"""Baselines that choose with a selector of the package ``asf``, made for algorithm selection.

All costs of an example are bought, in the order of the run, because these selectors cannot learn from an example with
unknown costs. The selector is fitted again at each checkpoint. ``selector`` names it:

- "pairwise-classifier": for every two labels a forest that says which one costs less; the most votes win;
- "pairwise-regressor": for every two labels a forest that predicts the difference of their costs;
- "multi-class": one forest that names the best label.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from coalface.data.costs import CostScale
from coalface.data.numbers import whole_number
from coalface.errors import InputError

from .baseline import Baseline, BaselineRun, Problem, dense_rows

_PARAMETERS = {"selector": "pairwise-classifier", "n_trees": 100, "cost_bounds": (0.0, 1.0)}


def _pairwise_classifier(n_trees: int, random_state: int) -> Any:
    from asf.selectors import PairwiseClassifier
    from sklearn.ensemble import RandomForestClassifier

    return PairwiseClassifier(estimator=RandomForestClassifier(n_trees, random_state=random_state, n_jobs=1))


def _pairwise_regressor(n_trees: int, random_state: int) -> Any:
    from asf.selectors import PairwiseRegressor
    from sklearn.ensemble import RandomForestRegressor

    return PairwiseRegressor(estimator=RandomForestRegressor(n_trees, random_state=random_state, n_jobs=1))


def _multi_class(n_trees: int, random_state: int) -> Any:
    from asf.selectors import MultiClassClassifier
    from sklearn.ensemble import RandomForestClassifier

    return MultiClassClassifier(estimator=RandomForestClassifier(n_trees, random_state=random_state, n_jobs=1))


SELECTORS: dict[str, Callable[[int, int], Any]] = {
    "pairwise-classifier": _pairwise_classifier,
    "pairwise-regressor": _pairwise_regressor,
    "multi-class": _multi_class,
}


def _chosen(
    selector: Any, X: NDArray[np.float64], cost: NDArray[np.float64], X_test: NDArray[np.float64]
) -> NDArray[np.int64]:
    """The label (column number) that a new selector chooses for each test example, fitted to these examples."""
    import pandas as pd

    names = [f"feature {j}" for j in range(X.shape[1])]
    selector.fit(pd.DataFrame(X, columns=names), pd.DataFrame(cost, columns=[str(k) for k in range(cost.shape[1])]))
    schedules = selector.predict(pd.DataFrame(X_test, columns=names))
    return np.array([int(schedule[0][0]) for schedule in schedules.values()])


def _run_on(problem: Problem, parameters: dict[str, Any]) -> BaselineRun:
    X, X_test, cost = dense_rows(problem.examples), dense_rows(problem.test), problem.examples.cost.astype(np.float64)
    if problem.examples.candidates is not None or np.isnan(cost).any():
        raise InputError(
            "The learner 'asf' needs all costs of every example, but some are unknown or not candidates. "
            "Choose the learner random-forest."
        )
    plan = problem.plan(np.ones(cost.shape, np.bool_), pool_rows=np.arange(len(cost)))
    steps, test_costs = plan.steps.tolist(), []
    with threadpool_limits(limits=1, user_api="openmp"):  # a sweep runs one cell per core
        for done, step in enumerate(steps, start=1):
            selector = SELECTORS[parameters["selector"]](int(parameters["n_trees"]), problem.random_state)
            test_costs.append(problem.test_cost(_chosen(selector, X[:step], cost[:step], X_test)))
            problem.progress(done, len(steps))
    return BaselineRun(plan, test_costs)


def _check(parameters: dict[str, Any], n_labels: int) -> None:
    if parameters["selector"] not in SELECTORS:
        names = ", ".join(map(repr, SELECTORS))
        raise InputError(f"selector must be one of {names}, got {parameters['selector']!r}.")
    if n_labels < 2:
        raise InputError(f"The learner 'asf' chooses among at least 2 labels, got {n_labels}.")
    whole_number("n_trees", parameters["n_trees"], least=1)
    CostScale.of(parameters["cost_bounds"])


ASF = Baseline(
    name="asf",
    asks="costs",
    parameters=_PARAMETERS,
    check_values=_check,
    run_on=_run_on,
    package="asf",
    module="asf",
)
