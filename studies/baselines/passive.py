"""Baselines that do not choose their questions: costs drawn at random, or chosen by another learner."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.data import CostDataset, CostScale, is_number
from coalface.errors import InputError
from coalface.evaluate import Progress
from coalface.learner import CoalClassifier, best_labels
from coalface.models import OnlineModel

from .baseline import Baseline, BaselineRun, Problem

PARAMETERS = {"learning_rate": 0.5, "accumulator": "adax", "fit_intercept": True, "cost_bounds": (0.0, 1.0)}
OF_THE_MODEL = ("learning_rate", "accumulator", "fit_intercept")
_BLOCK = 4096  # rows per call of tell


def check_parameters(parameters: dict[str, Any], n_labels: int) -> None:
    """Raise an InputError if our learner rejects these parameters; those it does not have are ignored."""
    CostScale.of(parameters["cost_bounds"])
    learner = _learner({**PARAMETERS, **parameters}, n_labels)
    learner.set_params(mellowness=parameters.get("mellowness", 0.0)).begin()


def costs_along(
    problem: Problem,
    parameters: dict[str, Any],
    examples: CostDataset,
    asked: NDArray[np.bool_],
    steps: NDArray[np.int64],
    progress: Progress,
) -> list[float]:
    """The test cost after each of these numbers of rows, learning the ``asked`` costs of ``examples``."""
    learner = _learner(parameters, problem.n_labels)
    test_costs, done = [], 0
    for step in steps.tolist():
        while done < step:
            block = slice(done, min(done + _BLOCK, step))
            _tell(learner, examples.subset(block), asked[block])
            done = block.stop
            progress(done, len(examples))
        test_costs.append(problem.test_cost(best_labels(learner, problem.test.X, by_model=True)))
    return test_costs


def _tell(learner: CoalClassifier, examples: CostDataset, asked: NDArray[np.bool_]) -> None:
    """Tell the learner the asked costs; rows without a question are left out."""
    rows = np.flatnonzero(asked.any(axis=1))
    some, mask = examples.subset(rows), asked[rows]
    learner.tell(some.X, np.where(mask, some.cost, np.nan), asked=mask)


def _learner(parameters: dict[str, Any], n_labels: int) -> CoalClassifier:
    """A new learner whose labels are column numbers; with published settings, so that our defaults do not affect it."""
    model = OnlineModel(**{name: parameters[name] for name in OF_THE_MODEL})
    bounds = parameters["cost_bounds"]
    return CoalClassifier.as_published(classes=np.arange(n_labels), rule="passive", model=model, cost_bounds=bounds)


def random_mask(n_examples: int, n_labels: int, share: float, random_state: int) -> NDArray[np.bool_]:
    """Which costs are asked for, (n, K).

    >>> random_mask(1000, 3, share=0.1, random_state=0).mean().round(1)
    np.float64(0.1)
    """
    random = np.random.default_rng(random_state)
    mask = np.empty((n_examples, n_labels), np.bool_)
    for row in mask:  # row by row: all random numbers at once would take eight times the memory of the mask
        row[:] = random.random(n_labels) < share
    return mask


def _run_on(problem: Problem, parameters: dict[str, Any]) -> BaselineRun:
    examples = problem.examples
    mask = random_mask(len(examples), problem.n_labels, parameters["share"], problem.random_state)
    if examples.candidates is not None:
        mask &= examples.candidates
    plan = problem.plan(mask)
    test_costs = costs_along(problem, parameters, examples, mask, plan.steps, problem.progress)
    return BaselineRun(plan, test_costs)


def _check(parameters: dict[str, Any], n_labels: int) -> None:
    share = parameters["share"]
    if not is_number(share) or not 0 < share <= 1:
        raise InputError(f"share must be a number above 0 and at most 1, got {share!r}.")
    check_parameters(parameters, n_labels)


RANDOM_COSTS = Baseline(
    name="random-costs",
    asks="costs",
    parameters={"share": 0.1, **PARAMETERS},
    check_values=_check,
    run_on=_run_on,
)
