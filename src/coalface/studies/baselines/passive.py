"""Our regressors without our questions: they learn, in one pass, the costs that a baseline asked for."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.data.costs import CostScale
from coalface.data.dataset import CostDataset
from coalface.learner.classifiers import CoalClassifier
from coalface.learner.settings import settings_for
from coalface.studies.baselines.problem import Problem, Progress

PARAMETERS = {"learning_rate": 0.5, "accumulator": "adax", "fit_intercept": True, "cost_bounds": (0.0, 1.0)}
_BLOCK = 4096  # rows per call of tell


def check_parameters(parameters: dict[str, Any], n_labels: int) -> None:
    """Raise an InputError if our learner rejects these parameters; those it does not have are ignored."""
    defaults = CoalClassifier.as_published().get_params()
    settings_for(n_labels, {**defaults, **{name: parameters[name] for name in parameters if name in defaults}})
    CostScale.of(parameters["cost_bounds"])


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
        test_costs.append(problem.test_cost(learner.predict(problem.test.X)))
    return test_costs


def _tell(learner: CoalClassifier, examples: CostDataset, asked: NDArray[np.bool_]) -> None:
    """Tell the learner the asked costs; rows without a question are left out."""
    rows = np.flatnonzero(asked.any(axis=1))
    some, mask = examples.subset(rows), asked[rows]
    learner.tell(some.X, np.where(mask, some.cost, np.nan), asked=mask)


def _learner(parameters: dict[str, Any], n_labels: int) -> CoalClassifier:
    """A new learner whose labels are column numbers; with published settings, so that our defaults do not affect it."""
    own = {name: parameters[name] for name in PARAMETERS}
    return CoalClassifier.as_published(classes=np.arange(n_labels), rule="passive", **own)
