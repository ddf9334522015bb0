"""What every rival is given: training examples in the order of the run, test examples, budgets, a seed."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.data.costs import CostScale, check_cost
from coalface.data.dataset import CostDataset
from coalface.data.numbers import whole_number
from coalface.errors import InputError
from coalface.studies.baselines.checkpoint_plan import Looks
from coalface.studies.checkpoint_costs import budgets_for

Progress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class Problem:
    """A checked task; ``examples`` are the training examples in the order of the run."""

    examples: CostDataset
    test: CostDataset
    budgets: NDArray[np.int64]
    random_state: int
    progress: Progress

    @classmethod
    def checked(
        cls, train: CostDataset, test: CostDataset, order: Any, budgets: Any, random_state: Any, progress: Any
    ) -> "Problem":
        """The problem, if its parts fit together."""
        if not np.array_equal(train.classes, test.classes) or train.X.shape[1] != test.X.shape[1]:
            raise InputError(
                f"test must have the labels and features of train, {train!r}, got {test!r}. Read both with one reader."
            )
        if not len(test) or np.isnan(test.cost).any():
            raise InputError("test must have examples, and all their costs must be known; drop the other rows.")
        rows = np.asarray(order)
        inside = (
            rows.ndim == 1 and len(rows) and rows.dtype.kind in "iu" and rows.min() >= 0 and rows.max() < len(train)
        )
        if not inside:
            raise InputError(f"order must be row numbers below {len(train)}, at least one, got {order!r}.")
        return cls(
            examples=train.subset(rows),
            test=test,
            budgets=budgets_for(budgets, len(train.classes), len(rows)),
            random_state=whole_number("random_state", random_state),
            progress=progress if progress is not None else _nobody_looks,
        )

    @property
    def n_labels(self) -> int:
        """The number of labels."""
        return len(self.examples.classes)

    def within(self, scale: CostScale) -> "Problem":
        """The same problem, if all its costs lie on the scale."""
        for part in (self.examples, self.test):
            check_cost(part.cost, len(part), part.classes, scale)
        return self

    def looks(self, asked: NDArray[np.bool_], pool_rows: NDArray[np.int64] | None = None) -> Looks:
        """The plan for a run that asks for these costs (steps, K), of one example after the other.

        A learner that sees all examples at once says with ``pool_rows`` which one it asks about at each step.
        """
        n_examples, price = len(self.examples), self.examples.price
        if price is not None and pool_rows is not None:
            price = price[pool_rows]
        return Looks(
            asked=asked.sum(axis=1),
            budgets=self.budgets,
            n_labels=self.n_labels,
            n_examples=n_examples,
            pool=None if pool_rows is None else n_examples,
            paid=None if price is None else price.sum(axis=1, where=asked, dtype=np.float64),
        )

    def test_cost(self, chosen: NDArray[np.int64]) -> float:
        """The mean cost of the chosen labels, given as columns, on the test examples."""
        return float(self.test.cost[np.arange(len(chosen)), chosen].astype(np.float64).mean())


def _nobody_looks(_done: int, _total: int) -> None:
    """Progress that nobody asked for."""
