"""The curve of a run: costs queried and test cost at each checkpoint."""

import json
import operator
from dataclasses import MISSING, asdict, dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from coalface.errors import FileFormatError, InputError
from coalface.extras import needed_for
from coalface.report.curve_picture import picture_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

_FRAME = ("costs_queried", "examples_queried", "rounds", "test_cost")
_RARE = ("truths_queried", "price_of_truth", "asked_at_doublings")  # fields that are not written where they are None
_COUNTS = ("checkpoints", "costs_queried", "examples_queried", "rounds", "truths_queried")
_NUMBERS = ("test_cost", "at_doublings", "spent", "asked_at_doublings")


@dataclass(frozen=True)
class Curve:
    """One run: an entry per checkpoint reached, and the end of the run as the last entry.

    ``checkpoints`` are the numbers of costs at which the run was to be measured. ``at_doublings`` holds the test cost
    when 10 K 2^(q-1) costs were first reached, q = 1, 2, ...: the common axis on which runs are compared. A number
    never reached has the run's final test cost. ``asked_at_doublings`` has the numbers of costs asked for by then.
    ``spent`` is the sum of the prices that were given for the questions, such as
    seconds; None where none were given. ``stopped`` says that the run ended early because more questions would have
    saved too little, ``interrupted`` that Ctrl-C ended it. ``truths_queried`` counts the true labels asked for, None
    where the learner never asks for one; ``price`` counts them and the costs together, not what was spent, and the
    checkpoints are on its scale.

    >>> from coalface import CoalClassifier, simulate
    >>> X, cost = [[0.0, 1.0], [1.0, 0.0]] * 20, [[0.0, 1.0], [1.0, 0.0]] * 20
    >>> curve = simulate(CoalClassifier.as_published(rule__warm_up=10), X, cost, X_test=X, cost_test=cost)
    >>> print(curve)
    20 costs on 10 of 40 examples, test cost 0.0000
    >>> curve.auc, Curve.from_json(curve.to_json()).auc
    (0.0, 0.0)
    """

    checkpoints: NDArray[np.int64]
    costs_queried: NDArray[np.int64]
    examples_queried: NDArray[np.int64]
    rounds: NDArray[np.int64]
    test_cost: NDArray[np.float64]
    at_doublings: NDArray[np.float64]
    seconds: float
    interrupted: bool = False
    spent: NDArray[np.float64] | None = None
    stopped: bool = False
    truths_queried: NDArray[np.int64] | None = None
    price_of_truth: float | None = None
    asked_at_doublings: NDArray[np.float64] | None = None

    @property
    def price(self) -> NDArray[np.float64]:
        """The number of costs asked for; a true label counts as ``price_of_truth`` of them.

        What they cost in another unit, such as seconds, is ``spent``.
        """
        costs = self.costs_queried.astype(np.float64)
        if self.truths_queried is None or self.price_of_truth is None:
            return costs
        return np.asarray(costs + self.price_of_truth * self.truths_queried)

    @property
    def auc(self) -> float:
        """The area under the test cost on a log2 axis of queried costs: smaller is better.

        Every run has the whole axis: a run that ends early keeps its final test cost.
        """
        return 0.5 * float((self.at_doublings[:-1] + self.at_doublings[1:]).sum())

    @property
    def auc_published(self) -> float:
        """The paper's formula, for the performance 1 - cost: larger is better; NaN without ``asked_at_doublings``.

        Each step counts as much as the questions asked in it, log2(query_(q+1) / query_q), so the area ends where the
        run ends: of two runs with the same test costs, the one that asks for more has the larger value.

        >>> counts, costs = np.array([10, 20, 30]), np.array([0.5, 0.3, 0.3])
        >>> curve = Curve(counts, counts, counts, counts, costs, costs, seconds=0.1, asked_at_doublings=counts)
        >>> round(curve.auc_published, 6)  # 0.6 * 1 + 0.7 * log2(1.5)
        1.009474
        """
        if self.asked_at_doublings is None:
            return float("nan")
        asked, performance = self.asked_at_doublings, 1.0 - self.at_doublings
        steps = np.log2(np.maximum(asked[1:], 1.0) / np.maximum(asked[:-1], 1.0))  # 0 for a run that never asks
        return 0.5 * float((performance[:-1] + performance[1:]) @ steps)

    def plot(self, ax: "Axes | None" = None, **style: Any) -> "Axes":
        """Draw the test cost against the costs asked for, on ``ax`` or in a new figure; returns the axes.

        ``style`` goes to matplotlib's ``plot``, such as ``label="coal"`` to compare several runs on the same axes.

        >>> from matplotlib.figure import Figure
        >>> counts, costs = np.array([10, 20, 40]), np.array([0.5, 0.3, 0.2])
        >>> axes = Curve(counts, counts, counts, counts, costs, costs, seconds=0.1).plot(Figure().subplots())
        >>> axes.get_xlabel(), axes.get_ylabel()
        ('costs asked for', 'test cost')
        """
        if np.isnan(self.test_cost).any():
            raise InputError("plot needs the test cost, which this run did not measure. Pass X_test to simulate.")
        if ax is None:
            with needed_for("plot"):
                from matplotlib import pyplot
            ax = pyplot.subplots()[1]
        ax.plot(self.costs_queried, self.test_cost, **{"marker": "o", **style})
        if self.costs_queried.min() > 0:
            ax.set_xscale("log", base=2)
        ax.set_xlabel("costs asked for")
        ax.set_ylabel("test cost")
        return ax

    def _repr_html_(self) -> str:
        """The curve as a small picture, for notebooks."""
        return picture_of(self.costs_queried, self.test_cost, str(self))

    def to_frame(self) -> "DataFrame":
        """The checkpoints as a pandas data frame, one row each; pandas must be installed.

        >>> counts, costs = np.array([10, 20]), np.array([0.5, 0.3])
        >>> Curve(counts, counts, counts, counts, costs, costs, seconds=0.1).to_frame().columns.tolist()
        ['costs_queried', 'examples_queried', 'rounds', 'test_cost']
        """
        with needed_for("to_frame"):
            from pandas import DataFrame
        columns = {name: getattr(self, name) for name in _FRAME}
        return DataFrame(columns if self.spent is None else {**columns, "spent": self.spent})

    def to_json(self) -> str:
        """The curve as JSON; NaN (no test data) becomes null."""
        return json.dumps(self.to_values(), allow_nan=False)

    def to_values(self) -> dict[str, Any]:
        """The curve as values that JSON can hold."""
        given = ((name, value) for name, value in asdict(self).items() if value is not None or name not in _RARE)
        values = {name: _plain(value) for name, value in given}
        return {**values, "auc": _plain(np.array(self.auc))}

    @classmethod
    def from_json(cls, text: str) -> "Curve":
        """The curve that ``to_json`` wrote."""
        try:
            return cls.from_values(json.loads(text))
        except ValueError as problem:
            if isinstance(problem, FileFormatError):
                raise
            raise _not_a_curve(problem) from None

    @classmethod
    def from_values(cls, values: Any) -> "Curve":
        """The curve that ``to_values`` gave."""
        try:
            given = {name: value for name, value in values.items() if value is not None}
            kept = {one.name: given[one.name] for one in fields(cls) if one.name in given or one.default is MISSING}
            for name in _COUNTS:
                if name in kept:
                    kept[name] = np.array([operator.index(value) for value in kept[name]], np.int64)
            for name in _NUMBERS:
                if name in kept:
                    kept[name] = np.array([np.nan if value is None else value for value in kept[name]], np.float64)
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as problem:
            raise _not_a_curve(problem) from None
        return cls(**kept)

    def __str__(self) -> str:
        truths = "" if self.truths_queried is None else f"{self.truths_queried[-1]} true labels and "
        return (
            f"{truths}{self.costs_queried[-1]} costs on {self.examples_queried[-1]} of {self.rounds[-1]} examples, "
            f"test cost {self.test_cost[-1]:.4f}{', stopped' if self.stopped else ''}"
        )


def _not_a_curve(problem: Exception) -> FileFormatError:
    return FileFormatError(f"This is not a curve written by Curve.to_json: {problem!r}.")


def _plain(value: Any) -> Any:
    if not isinstance(value, np.ndarray):
        return value
    if value.dtype.kind != "f":
        return value.tolist()
    plain: NDArray[Any] = value.astype(object)
    plain[np.isnan(value)] = None
    return plain.tolist()
