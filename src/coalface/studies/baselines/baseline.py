"""A baseline: its name, what it asks for, its parameters, and how it runs."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from coalface.data.costs import CostScale
from coalface.data.dataset import CostDataset, TrainTest
from coalface.errors import InputError
from coalface.evaluate.checkpoints import CheckpointPlan
from coalface.evaluate.curve import Curve
from coalface.studies.baselines.problem import Problem, Progress, order_of

Parameters = dict[str, Any]


@dataclass(frozen=True)
class BaselineRun:
    """A finished run: its plan, and the test cost at each of the plan's steps."""

    plan: CheckpointPlan
    test_costs: Sequence[float]


@dataclass(eq=False)
class Baseline:
    """A learner that runs under the protocol of ``simulate``.

    ``asks`` is "costs", or "labels" where a question is for an example's true label; its answer counts as K costs.
    ``parameters`` are the defaults. ``package`` must be installed, unless it is empty, and is imported as ``module``.
    """

    name: str
    asks: str
    parameters: Mapping[str, Any]
    check_values: Callable[[Parameters, int], None]
    run_on: Callable[[Problem, Parameters], BaselineRun]
    package: str = ""
    module: str = ""
    sources: tuple[Path, ...] = ()
    is_linear: bool = False

    def check(self, settings: Mapping[str, Any], n_labels: int) -> Parameters:
        """The given parameters and the defaults of the others; an InputError if one is unknown or invalid."""
        for name in settings:
            if name not in self.parameters:
                raise InputError(
                    f"{name} is not a parameter of {self.name!r}; possible are {', '.join(self.parameters)}."
                )
        filled = {**self.parameters, **settings}
        self.check_values(filled, n_labels)
        return filled

    def require(self) -> None:
        """Raise an InputError with the install command if the package is missing."""
        if self.module and find_spec(self.module) is None:
            raise InputError(
                f"The learner {self.name!r} needs {self.package}, which is not installed: "
                "pip install 'coalface[compare]'."
            )

    def run(
        self,
        settings: Mapping[str, Any],
        problem: TrainTest,
        permutation: int,
        checkpoints: Any,
        progress: Progress | None = None,
    ) -> Curve:
        """The curve of a run in the order of the permutation, which also seeds everything random."""
        train, test = problem
        order = order_of(permutation, len(train))
        return self.curve(settings, train, test, order, checkpoints, permutation, progress)

    def curve(
        self,
        parameters: Mapping[str, Any],
        train: CostDataset,
        test: CostDataset,
        order: Any,
        checkpoints: Any = "doubling",
        random_state: int = 0,
        progress: Progress | None = None,
    ) -> Curve:
        """The curve of one run over the rows ``order`` of ``train``.

        The run calls ``progress(done, total)`` from time to time; an exception from it ends the run.

        >>> from coalface.studies.baselines import BASELINES
        >>> data = CostDataset.from_labels([[0.0, 1.0], [1.0, 0.0]] * 20, ["a", "b"] * 20)
        >>> curve = BASELINES["random-costs"].curve({"share": 0.5}, data, data, order=range(40))
        >>> int(curve.rounds[-1]), float(curve.test_cost[-1])
        (40, 0.0)
        """
        started = time.perf_counter()
        filled = self.check(parameters, len(train.classes))
        self.require()
        problem = Problem.checked(train, test, order, checkpoints, random_state, progress)
        finished = self.run_on(problem.within(CostScale.of(filled["cost_bounds"])), filled)
        return finished.plan.curve(finished.test_costs, time.perf_counter() - started)
