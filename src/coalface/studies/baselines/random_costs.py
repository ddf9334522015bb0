"""Random costs: every single cost is asked for with the same probability.

Random sampling of whole examples needs no baseline of its own: it is the passive rule on a prefix of the order.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.errors import InputError
from coalface.studies.baselines import passive
from coalface.studies.baselines.baseline import Baseline, BaselineRun
from coalface.studies.baselines.problem import Problem


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
    test_costs = passive.costs_along(problem, parameters, examples, mask, plan.steps, problem.progress)
    return BaselineRun(plan, test_costs)


def _check(parameters: dict[str, Any], n_labels: int) -> None:
    share = parameters["share"]
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 < share <= 1:
        raise InputError(f"share must be a number above 0 and at most 1, got {share!r}.")
    passive.check_parameters(parameters, n_labels)


RANDOM_COSTS = Baseline(
    name="random-costs",
    asks="costs",
    parameters={"share": 0.1, **passive.PARAMETERS},
    check_values=_check,
    run_on=_run_on,
)
