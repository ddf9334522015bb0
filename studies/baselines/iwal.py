"""Importance-weighted active learning with a bootstrapped committee (IWAL; Beygelzimer, Dasgupta and Langford, 2009).

The first ``first_share`` of the examples is labelled. A committee of logistic regressions, each fitted to a bootstrap
sample of these, then decides with which probability the label of an example is asked for: ``least_chance``, or more the
more the losses of two members can differ on it, whatever its true label. The loss is the cost of the predicted label.

The label is learned with the weight 1 / probability, so that weighted sums over the labels asked for are unbiased
estimates of the sums over all examples. The predictions are those of a weighted logistic regression, by least expected
cost.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.data.costs import CostScale
from coalface.data.numbers import finite_number, whole_number

from .baseline import Baseline, BaselineRun, Problem
from .labels import Pool
from .reduced import REDUCED, check_reduced, reduced
from .strategies import CLASSIFIERS

_BOOTSTRAP, _DRAW = 2, 3  # streams of random numbers
F64 = NDArray[np.float64]


def chances(predictions: NDArray[np.int64], cost_matrix: F64, least_chance: float) -> F64:
    """The probability (n,) of asking for each label, given the members' predictions (members, n).

    >>> matrix = 1.0 - np.eye(2)
    >>> chances(np.array([[0, 0], [0, 1]]), matrix, least_chance=0.1).tolist()
    [0.1, 1.0]
    """
    losses = cost_matrix.T[predictions]  # (members, n, truths)
    spread = (losses.max(axis=0) - losses.min(axis=0)).max(axis=1)
    return np.asarray(least_chance + (1.0 - least_chance) * spread)


def _committee(pool: Pool, n_first: int, parameters: dict[str, Any], random_state: int) -> NDArray[np.int64]:
    """The predictions (members, n) of the members, by least expected cost."""
    random, found = np.random.default_rng([random_state, _BOOTSTRAP]), []
    for _ in range(int(parameters["members"])):
        drawn = random.integers(n_first, size=n_first)
        found.append(_predictions(pool, drawn, np.ones(n_first), pool.features, random_state))
    return np.array(found)


def _predictions(
    pool: Pool, rows: NDArray[np.int64], weights: F64, features: F64, random_state: int
) -> NDArray[np.int64]:
    truth, n_labels = pool.truth[rows], len(pool.cost_matrix)
    seen = np.unique(truth)
    likely = np.zeros((len(features), n_labels))
    if len(seen) == 1:
        likely[:, seen] = 1.0  # logistic regression needs two labels
    else:
        fitted = CLASSIFIERS["logistic-regression"](random_state).fit(pool.features[rows], truth, weights)
        likely[:, seen] = fitted.predict_proba(features)
    return np.asarray((likely @ pool.cost_matrix).argmin(axis=1))


def _run_on(problem: Problem, parameters: dict[str, Any]) -> BaselineRun:
    problem = reduced(problem, parameters)
    pool = Pool.of(problem, CostScale.of(parameters["cost_bounds"]))
    n, seed = len(pool.truth), problem.random_state
    n_first = max(1, round(float(parameters["first_share"]) * n))
    chance = chances(_committee(pool, n_first, parameters, seed), pool.cost_matrix, float(parameters["least_chance"]))
    chance[:n_first] = 1.0
    drawn = np.random.default_rng([seed, _DRAW]).random(n) < chance
    plan = problem.plan(np.repeat(drawn[:, None], problem.n_labels, axis=1))
    test_costs = []
    for step in plan.steps.tolist():
        rows = np.flatnonzero(drawn[:step])
        test_costs.append(problem.test_cost(_predictions(pool, rows, 1 / chance[rows], pool.test_features, seed)))
        problem.progress(step, n)
    return BaselineRun(plan, test_costs)


def _check(parameters: dict[str, Any], n_labels: int) -> None:  # noqa: ARG001
    finite_number("first_share", parameters["first_share"], 0.0, 1.0, above=True)
    finite_number("least_chance", parameters["least_chance"], 0.0, 1.0, above=True)
    whole_number("members", parameters["members"], least=2)
    CostScale.of(parameters["cost_bounds"])
    check_reduced(parameters)


IWAL = Baseline(
    name="iwal",
    asks="labels",
    parameters={"first_share": 0.1, "least_chance": 0.1, "members": 10, "cost_bounds": (0.0, 1.0), **REDUCED},
    check_values=_check,
    run_on=_run_on,
)
