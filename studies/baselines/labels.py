"""Baselines that ask for true labels: pool-based active learning with a known cost matrix.

The learner sees the whole pool and asks for labels, a batch at a time; each answer counts as all K costs of its
example. The strategy alone decides which labels are asked for. ``predictor`` decides how they are used:

- ``predictor="coal"``: our own regressors learn the labels' costs in one pass, in the order in which they were
  asked for, so that only the choice of questions differs from the passive rule;
- ``predictor="own"``: a classifier fitted to all labels so far, and the label of least expected cost, as users of
  these strategies would do.

``classifier`` is "logistic-regression" or "random-forest". The strategies by uncertainty also choose
with it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.data.costs import CostScale, check_cost_matrix
from coalface.data.numbers import whole_number
from coalface.errors import InputError
from coalface.evaluate.simulation import Progress

from . import passive
from .baseline import Baseline, BaselineRun, Problem, dense_rows
from .reduced import REDUCED, check_reduced, reduced
from .strategies import (
    CLASSIFIERS,
    UNKNOWN,
    Badge,
    CostEmbedding,
    CostMargin,
    ExpectedCost,
    Margin,
    Strategy,
)

_PREDICTORS = ("coal", "own")
_SCORES = {"margin": CostMargin, "expected-cost": ExpectedCost}
_PARAMETERS = {
    "predictor": "coal",
    "classifier": "logistic-regression",
    "warm_up": 10,
    "batch_size": 10,
    "max_labels": None,
    **REDUCED,
    **passive.PARAMETERS,
}


@dataclass(frozen=True, eq=False)
class Pool:
    """The problem in the form these strategies need: standardised features, true labels, a cost matrix from 0 to 1."""

    features: NDArray[np.float64]
    test_features: NDArray[np.float64]
    truth: NDArray[np.int64]
    cost_matrix: NDArray[np.float64]

    @classmethod
    def of(cls, problem: Problem, scale: CostScale) -> "Pool":
        """The pool of a problem with one true label per example."""
        from sklearn.preprocessing import StandardScaler

        examples = problem.examples
        if examples.truth is None or examples.cost_matrix is None:
            raise InputError(
                "A learner that asks for labels needs data with true labels and a cost matrix, got a table of costs. "
                "Make it with CostDataset.from_labels, or choose a learner that asks for costs."
            )
        if examples.candidates is not None:
            raise InputError("A learner that asks for labels cannot have candidates per example. Drop the candidates.")
        scaler = StandardScaler().fit(dense_rows(examples))
        return cls(
            features=scaler.transform(dense_rows(examples)),
            test_features=scaler.transform(dense_rows(problem.test)),
            truth=examples.truth.astype(np.int64),
            cost_matrix=np.asarray(scale.to_unit(check_cost_matrix(examples.cost_matrix)), np.float64),
        )


def asked_in_order(
    strategy: Strategy,
    truth: NDArray[np.int64],
    warm_up: int,
    batch_size: int,
    max_labels: int,
    progress: Callable[[int, int], None],
) -> NDArray[np.int64]:
    """The rows in the order in which their labels are asked for: the warm-up, then the strategy's choice."""
    labels = np.full(len(truth), UNKNOWN, np.int64)
    rows = np.arange(min(warm_up, max_labels))
    while True:
        labels[rows] = truth[rows]
        progress(len(rows), max_labels)
        n_more = min(batch_size, max_labels - len(rows))
        if not n_more:
            return rows
        rows = np.concatenate([rows, strategy.choose(labels, n_more)])


def _run_on(problem: Problem, parameters: dict[str, Any], strategy_type: type[Strategy]) -> BaselineRun:
    problem = reduced(problem, parameters)
    pool = Pool.of(problem, CostScale.of(parameters["cost_bounds"]))
    rows = asked_in_order(
        strategy_type(pool.features, pool.cost_matrix, problem.random_state, parameters["classifier"]),
        pool.truth,
        int(parameters["warm_up"]),
        int(parameters["batch_size"]),
        min(int(parameters["max_labels"] or len(pool.truth)), len(pool.truth)),
        problem.progress,
    )
    everything = np.ones((len(rows), problem.n_labels), np.bool_)
    plan = problem.plan(everything, pool_rows=rows)
    if parameters["predictor"] == "own":
        return BaselineRun(
            plan, [_own_cost(problem, pool, rows[:step], parameters["classifier"]) for step in plan.steps]
        )
    learned = problem.examples.subset(rows)
    test_costs = passive.costs_along(problem, parameters, learned, everything, plan.steps, _all_chosen(problem))
    return BaselineRun(plan, test_costs)


def _all_chosen(problem: Problem) -> Progress:
    """Progress after the choice of rows, which takes nearly all the time."""
    return lambda _done, total: problem.progress(total, total)


def _own_cost(problem: Problem, pool: Pool, rows: NDArray[np.int64], classifier: str) -> float:
    """The test cost of predicting with a classifier fitted to these rows, by least expected cost."""
    truth = pool.truth[rows]
    seen = np.unique(truth)
    chances = np.zeros((len(pool.test_features), problem.n_labels))
    if len(seen) == 1:
        chances[:, seen] = 1.0  # logistic regression needs two labels
    else:
        fitted = CLASSIFIERS[classifier](problem.random_state).fit(pool.features[rows], truth)
        chances[:, seen] = fitted.predict_proba(pool.test_features)
    return problem.test_cost((chances @ pool.cost_matrix).argmin(axis=1))


def _check(parameters: dict[str, Any], n_labels: int) -> None:
    for name, choices in (("predictor", _PREDICTORS), ("classifier", tuple(CLASSIFIERS)), ("score", tuple(_SCORES))):
        if name in parameters and parameters[name] not in choices:
            raise InputError(f"{name} must be one of {', '.join(map(repr, choices))}, got {parameters[name]!r}.")
    for name in ("warm_up", "batch_size", "max_labels"):
        if name != "max_labels" or parameters[name] is not None:
            whole_number(name, parameters[name], least=1)
    check_reduced(parameters)
    passive.check_parameters(parameters, n_labels)


def _label_baseline(name: str, run_on: Callable[[Problem, dict[str, Any]], BaselineRun], **parameters: Any) -> Baseline:
    return Baseline(
        name=name,
        asks="labels",
        parameters={**_PARAMETERS, **parameters},
        check_values=_check,
        run_on=run_on,
        package="scikit-activeml",
        module="skactiveml",
    )


MARGIN = _label_baseline("margin", lambda problem, given: _run_on(problem, given, Margin))
COST_WEIGHTED = _label_baseline(
    "cost-weighted-uncertainty",
    lambda problem, given: _run_on(problem, given, _SCORES[given["score"]]),
    score="margin",
)
COST_EMBEDDING = _label_baseline("cost-embedding", lambda problem, given: _run_on(problem, given, CostEmbedding))
BADGE = _label_baseline("badge", lambda problem, given: _run_on(problem, given, Badge))
