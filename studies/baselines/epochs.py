"""RegCB's epochs as a learner that asks for costs (Foster, Agarwal, Dudik, Luo and Schapire, 2018).

RegCB bounds the cost of each label as COAL does, but updates its regressors only at the ends of epochs of growing
length. Here the rule, ranges and regressors are COAL's as published; within an epoch, all questions are chosen with the
regressors of its beginning. The next epoch begins when the rounds have grown by ``growth``. With ``growth=1``, every
example is an epoch, and the run is COAL's.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.data.numbers import finite_number
from coalface.learner.estimator import CoalClassifier
from coalface.models.online import OnlineModel

from . import passive
from .baseline import Baseline, BaselineRun, Problem


def epoch_ends(n_rounds: int, growth: float) -> list[int]:
    """The last round of each epoch.

    >>> epoch_ends(20, growth=2.0), epoch_ends(3, growth=1.0)
    ([1, 2, 4, 8, 16, 20], [1, 2, 3])
    """
    ends = [1]
    while ends[-1] < n_rounds:
        ends.append(min(max(ends[-1] + 1, int(growth * ends[-1])), n_rounds))
    return ends


def _asked(problem: Problem, parameters: dict[str, Any]) -> NDArray[np.bool_]:
    """Which costs are asked for, (n, K)."""
    examples = problem.examples
    model = OnlineModel(**{name: parameters[name] for name in passive.OF_THE_MODEL})
    own = {"mellowness": parameters["mellowness"], "cost_bounds": parameters["cost_bounds"], "model": model}
    learner = CoalClassifier.as_published(classes=np.arange(problem.n_labels), **own)
    mask, start = np.zeros(examples.cost.shape, np.bool_), 0
    for end in epoch_ends(len(examples), float(parameters["growth"])):
        epoch = examples.subset(slice(start, end))
        queries = learner.ask(epoch.X, candidates=epoch.candidates)
        mask[start:end] = queries.mask
        cost = np.where(queries.mask, epoch.cost, np.nan)
        learner.tell(epoch.X, cost, asked=queries, candidates=epoch.candidates)
        problem.progress(end, 2 * len(examples))
        start = end
    return mask


def _run_on(problem: Problem, parameters: dict[str, Any]) -> BaselineRun:
    mask, n = _asked(problem, parameters), len(problem.examples)
    plan = problem.plan(mask)

    def second_pass(done: int, _total: int) -> None:
        problem.progress(n + done, 2 * n)

    test_costs = passive.costs_along(problem, parameters, problem.examples, mask, plan.steps, second_pass)
    return BaselineRun(plan, test_costs)


def _check(parameters: dict[str, Any], n_labels: int) -> None:
    finite_number("growth", parameters["growth"], 1.0)
    passive.check_parameters(parameters, n_labels)


REGCB_EPOCHS = Baseline(
    name="regcb-epochs",
    asks="costs",
    parameters={"mellowness": 0.01, "growth": 2.0, **passive.PARAMETERS},
    check_values=_check,
    run_on=_run_on,
)
