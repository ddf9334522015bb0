"""A baseline: its name, what it asks for, its parameters, the problem that it gets, and how it runs."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.data import CostDataset, CostScale, TrainTest, check_cost, whole_number
from coalface.errors import InputError
from coalface.evaluate import Checkpoints, Curve, Order, Progress, checkpoint_costs
from coalface.studies.learners import order_of

from .plan import CheckpointPlan

_MOST_NUMBERS = 20_000_000  # of a dense table: 160 MB


@dataclass(frozen=True, eq=False)
class Problem:
    """A checked task; ``examples`` are the training examples in the order of the run.

    ``axis_examples`` is the number of examples of the whole task: the axis of areas ends there for every learner, even
    for one that takes only a part of the examples.
    """

    examples: CostDataset
    test: CostDataset
    axis_examples: int
    checkpoints: NDArray[np.int64]
    random_state: int
    progress: Progress

    @classmethod
    def checked(
        cls,
        train: CostDataset,
        test: CostDataset,
        order: Order,
        checkpoints: Checkpoints,
        random_state: int,
        progress: Progress | None,
    ) -> "Problem":
        """The problem; an InputError if its parts do not fit together."""
        if not np.array_equal(train.classes, test.classes) or train.X.shape[1] != test.X.shape[1]:
            raise InputError(
                f"test must have the labels and features of train, {train!r}, got {test!r}. Read both with one reader."
            )
        if not len(test) or np.isnan(test.cost).any():
            raise InputError(
                "test must have at least one example, and every cost must be known. Drop rows with unknown costs."
            )
        rows = np.asarray(order)
        inside = (
            rows.ndim == 1 and len(rows) and rows.dtype.kind in "iu" and rows.min() >= 0 and rows.max() < len(train)
        )
        if not inside:
            raise InputError(f"order must have at least one row number, each below {len(train)}, got {order!r}.")
        return cls(
            examples=train.subset(rows),
            test=test,
            axis_examples=len(rows),
            checkpoints=checkpoint_costs(checkpoints, len(train.classes), len(rows)),
            random_state=whole_number("random_state", random_state),
            progress=progress if progress is not None else _no_progress,
        )

    @property
    def n_labels(self) -> int:
        """The number of labels."""
        return len(self.examples.classes)

    def within(self, scale: CostScale) -> "Problem":
        """The same problem; an InputError if a cost is outside the scale."""
        for part in (self.examples, self.test):
            check_cost(part.cost, len(part), part.classes, scale)
        return self

    def plan(self, asked: NDArray[np.bool_], pool_rows: NDArray[np.int64] | None = None) -> CheckpointPlan:
        """The checkpoints of a run that asks for these costs (steps, K), one example per step.

        A learner that sees all examples at once passes ``pool_rows``: the example of each step.
        """
        n_examples, price = len(self.examples), self.examples.price
        if price is not None and pool_rows is not None:
            price = price[pool_rows]
        return CheckpointPlan(
            asked=asked.sum(axis=1),
            checkpoints=self.checkpoints,
            n_labels=self.n_labels,
            n_examples=self.axis_examples,
            pool=None if pool_rows is None else n_examples,
            paid=None if price is None else price.sum(axis=1, where=asked, dtype=np.float64),
        )

    def plan_of_costs(self, rows: NDArray[np.int64], labels: NDArray[np.int64]) -> CheckpointPlan:
        """The checkpoints of a learner that sees all examples at once and asks for one cost per step."""
        n_examples, price = len(self.examples), self.examples.price
        is_new = np.zeros(len(rows), np.bool_)
        is_new[np.unique(rows, return_index=True)[1]] = True
        return CheckpointPlan(
            asked=np.ones(len(rows), np.int64),
            checkpoints=self.checkpoints,
            n_labels=self.n_labels,
            n_examples=self.axis_examples,
            pool=n_examples,
            paid=None if price is None else price[rows, labels].astype(np.float64),
            is_new=is_new,
        )

    def test_cost(self, chosen: NDArray[np.int64]) -> float:
        """The mean cost of the chosen labels (column numbers) on the test examples."""
        return float(self.test.cost[np.arange(len(chosen)), chosen].astype(np.float64).mean())


def dense_rows(examples: CostDataset) -> NDArray[np.float64]:
    """The features as a dense table; an InputError if it would be too large."""
    n, n_features = examples.X.shape
    if n * n_features > _MOST_NUMBERS:
        raise InputError(
            f"{examples!r} is too large for this learner: it needs a dense table of at most {_MOST_NUMBERS:,} numbers, "
            f"but this one would have {n * n_features:,}. Use fewer rows or features."
        )
    return examples.X.toarray().astype(np.float64)


def _no_progress(_done: int, _total: int) -> None:
    """Ignore progress."""


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
        checkpoints: Checkpoints,
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
        order: Order,
        checkpoints: Checkpoints = "doubling",
        random_state: int = 0,
        progress: Progress | None = None,
    ) -> Curve:
        """The curve of one run over the rows ``order`` of ``train``.

        The run calls ``progress(done, total)`` from time to time; an exception from it ends the run.

        >>> from baselines.passive import RANDOM_COSTS
        >>> data = CostDataset.from_labels([[0.0, 1.0], [1.0, 0.0]] * 20, ["a", "b"] * 20)
        >>> curve = RANDOM_COSTS.curve({"share": 0.5}, data, data, order=range(40))
        >>> int(curve.rounds[-1]), float(curve.test_cost[-1])
        (40, 0.0)
        """
        started = time.perf_counter()
        filled = self.check(parameters, len(train.classes))
        self.require()
        problem = Problem.checked(train, test, order, checkpoints, random_state, progress)
        finished = self.run_on(problem.within(CostScale.of(filled["cost_bounds"])), filled)
        return finished.plan.curve(finished.test_costs, time.perf_counter() - started)
