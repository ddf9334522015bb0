"""The curve of a run: costs queried and test cost at each checkpoint."""

import json
import operator
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.errors import FileFormatError


@dataclass(frozen=True)
class Curve:
    """One run: an entry per checkpoint reached, and the end of the run as the last entry.

    ``checkpoints`` are the numbers of costs at which the run was to be measured. ``at_doublings`` holds the test cost
    when 10 K 2^(q-1) costs were first reached, q = 1, 2, ...: the common axis on which runs are compared. A number
    never reached has the run's final test cost. ``spent`` is the price of all questions, None where asking has no
    price. ``stopped`` says that the run ended early because more questions would have saved too little,
    ``interrupted`` that Ctrl-C ended it.

    >>> from coalface import CoalClassifier, simulate
    >>> X, cost = [[0.0, 1.0], [1.0, 0.0]] * 20, [[0.0, 1.0], [1.0, 0.0]] * 20
    >>> curve = simulate(CoalClassifier.as_published(warm_up=10), X, cost, X_test=X, cost_test=cost)
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

    @property
    def auc(self) -> float:
        """The area under the test cost on a log2 axis of queried costs: smaller is better."""
        return 0.5 * float((self.at_doublings[:-1] + self.at_doublings[1:]).sum())

    @property
    def auc_published(self) -> float:
        """The same area for the performance 1 - cost: larger is better."""
        return float(len(self.at_doublings) - 1) - self.auc

    def to_json(self) -> str:
        """The curve as JSON; NaN (no test data) becomes null."""
        return json.dumps(self.to_values(), allow_nan=False)

    def to_values(self) -> dict[str, Any]:
        """The curve as values that JSON can hold."""
        values = {name: _plain(value) for name, value in asdict(self).items()}
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
        """The curve that ``to_values`` gave; older ones call their checkpoints budgets."""
        try:
            if "budgets" in values:
                values = {**values, "checkpoints": values["budgets"]}
            names = [field.name for field in fields(cls) if field.name not in ("spent", "stopped")]
            kept: dict[str, Any] = {name: values[name] for name in names}
            kept["spent"], kept["stopped"] = values.get("spent"), bool(values.get("stopped", False))
            for name in ("test_cost", "at_doublings", "spent"):
                if kept[name] is not None or name != "spent":
                    kept[name] = np.array([np.nan if value is None else value for value in kept[name]], np.float64)
            for name in ("checkpoints", "costs_queried", "examples_queried", "rounds"):
                kept[name] = np.array([operator.index(value) for value in kept[name]], np.int64)
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as problem:
            raise _not_a_curve(problem) from None
        return cls(**kept)

    def __str__(self) -> str:
        return (
            f"{self.costs_queried[-1]} costs on {self.examples_queried[-1]} of {self.rounds[-1]} examples, "
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
