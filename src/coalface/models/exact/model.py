"""The exact model: it keeps every answer and a version space for every label (Algorithm 1 of the paper)."""

import math
import warnings
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from coalface.data.rows import Rows
from coalface.errors import EmptyVersionSpaceWarning, FileFormatError, InputError
from coalface.kernels.state import FIXED_SLACK, NOISE_SCALED, Settings
from coalface.models.contract import NO_WEIGHTS, CostModel, Costs, Ranged, restored_counts
from coalface.models.exact.bisection import Bisection
from coalface.models.exact.dual import Dual
from coalface.models.exact.ellipsoid import Ellipsoid
from coalface.models.exact.engine import CertifiedRange, RangeEngine, certified_range
from coalface.models.exact.ensemble import Ensemble
from coalface.models.exact.enumeration import Enumeration
from coalface.models.exact.multiplicative_weights import MultiplicativeWeights
from coalface.models.exact.oracles import BallOracle, Floats, Oracle
from coalface.models.exact.schedule import TheorySchedule
from coalface.models.exact.user_oracles import oracle_of
from coalface.models.exact.version_space import Answers, Constraints, VersionSpace, widened

_TOLERANCE = 0.25  # share of the width threshold: the error that the theorems allow in an end of a range
_LEAST_TOLERANCE = 1e-6  # a smaller one takes many oracle calls and does not change decisions

SCHEDULES = ("practical", "theory")
_CONSTRAINT_ARRAYS = ("counts", "bounds", "slacks", "divisors")


class ExactModel(CostModel):
    """A version space for every label, over one class of regressors and with one range engine (Algorithm 1).

    ``oracle`` searches the class, by default a ball of linear functions; ``range_engine`` computes the ends of the
    ranges. The "theory" schedule is computed from ``dimension``, ``horizon`` and ``failure_probability``.
    """

    default_miss_rate = FIXED_SLACK  # Algorithm 1 has its own slack
    learned_with = ("mellowness", "slack", "fit_intercept")
    checked_oracle: Oracle
    engine: type[RangeEngine]
    theory: TheorySchedule | None
    spaces: list[VersionSpace]
    engines: list[RangeEngine | None]  # None: no answers yet
    _warned: bool

    def __init__(
        self,
        oracle: Any = None,
        range_engine: str = "dual",
        schedule: str = "practical",
        dimension: int | None = None,
        horizon: int | None = None,
        failure_probability: float = 0.05,
    ) -> None:
        self.oracle = oracle
        self.range_engine = range_engine
        self.schedule = schedule
        self.dimension = dimension
        self.horizon = horizon
        self.failure_probability = failure_probability

    def begin(self, n_labels: int, settings: Settings) -> Self:
        """An untrained model; an InputError if the parameters do not fit together."""
        begun = super().begin(n_labels, settings)
        begun.checked_oracle = oracle_of(BallOracle() if self.oracle is None else self.oracle)
        begun.engine = engine_for(self.range_engine, begun.checked_oracle)
        begun.theory = self._theory_schedule(n_labels, begun.checked_oracle)
        begun.spaces = [VersionSpace(Answers(begun.checked_oracle)) for _ in range(n_labels)]
        begun.engines = [None] * n_labels
        begun._warned = False
        return begun

    def grow(self) -> None:
        """Make room for one more label, without answers; the theory's slack grows with the number of labels."""
        self.theory = self._theory_schedule(self.n_labels + 1, self.checked_oracle)
        self.spaces.append(VersionSpace(Answers(self.checked_oracle)))
        self.engines.append(None)

    def plain(self) -> dict[str, Any]:
        """The parameters as JSON values."""
        return {**super().plain(), "oracle": None if self.oracle is None else oracle_of(self.oracle).plain()}

    def _theory_schedule(self, n_labels: int, oracle: Oracle) -> TheorySchedule | None:
        if self.schedule not in SCHEDULES:
            raise InputError(f"schedule must be one of {', '.join(map(repr, SCHEDULES))}, got {self.schedule!r}.")
        if self.schedule == "practical":
            return None
        return TheorySchedule.of(n_labels, oracle, self.dimension, self.horizon, self.failure_probability)

    def predict(self, rows: Rows) -> Costs:
        """The predictions of the best regressors; 0 for labels without answers."""
        return self._predict(self._dense(rows)).astype(np.float32)

    def ranges(self, rows: Rows, settings: Settings, first_round: int) -> Ranged:
        """Predictions and ranges, each at least as wide as the exact one."""
        X = self._dense(rows)
        lowest, highest = np.zeros((2, len(X), self.n_labels), np.float32)
        for r, row in enumerate(X):
            found = self.certified(row, settings, first_round + settings.round_step * r)
            lowest[r] = [0.0 if one is None else one.lowest for one in found]
            highest[r] = [1.0 if one is None else one.highest for one in found]
        return Ranged(self._predict(X).astype(np.float32), lowest, highest)

    def certified(self, row: Floats, settings: Settings, round_number: int) -> list[CertifiedRange | None]:
        """The range of each label at this round; None for labels without answers, whose cost may be anything."""
        tol = max(_TOLERANCE * settings.width_scale / math.sqrt(round_number), _LEAST_TOLERANCE)
        found: list[CertifiedRange | None] = []
        for label, engine in enumerate(self.engines):
            if engine is None:
                found.append(None)
            else:
                noise = (self.state.squared_residuals[label], self.state.answered[label])
                now = engine.at(round_number, self._slack(settings, noise, round_number))
                found.append(certified_range(now, row, tol))
        return found

    def check(self, rows: Rows) -> None:
        """Raise an InputError if the oracle has a finite class of functions that cannot predict these rows."""
        if not self.checked_oracle.finite:
            return
        oracle: Any = self.checked_oracle  # one with ``predictions``
        width = max(space.answers.rows.shape[1] for space in self.spaces)
        if getattr(oracle, "table", None) is not None and 0 < width < rows.width:
            raise InputError(
                f"X must stay {width} wide, because the oracle looks up its last feature in a table of costs, got "
                f"{rows.width}."
            )
        oracle.predictions(self._dense(rows))

    def learn(
        self, rows: Rows, costs: Costs, settings: Settings, first_round: int, weights: Costs = NO_WEIGHTS
    ) -> None:
        """Keep the answers; each one adds a constraint to the next round and all later ones."""
        for r, row in enumerate(self._dense(rows)):
            for label in np.flatnonzero(~np.isnan(costs[r])).tolist():
                weight = float(weights[r, label]) if len(weights) else 1.0
                if weight > 0.0:
                    self._learn(label, row, float(costs[r, label]), weight, settings, first_round + r)

    def _learn(
        self, label: int, row: Floats, cost: float, weight: float, settings: Settings, round_number: int
    ) -> None:
        space = self.spaces[label]
        predicted = min(max(float(self._predict_label(label, row[None, :])[0]), 0.0), 1.0)
        residuals, answered = self.state.squared_residuals, self.state.answered
        noise = (residuals[label] + (predicted - cost) ** 2, answered[label] + 1)
        slack = self._slack(settings, noise, round_number + 1)
        space = space.with_answer(row, cost, weight)
        constrained = space.with_constraint if self.engine.monotone else space.alone
        space = constrained(round_number + 1, slack)
        engine = self.engine(space)
        if engine.empty:
            self._warn(label, round_number + 1)
            space = space.latest_alone()
            engine = self.engine(space)
        self.spaces[label], self.engines[label] = space, engine  # last, because the oracle may fail before
        residuals[label], answered[label] = noise

    def _warn(self, label: int, round_number: int) -> None:
        if not self._warned:
            self._warned = True
            warnings.warn(
                f"No regressor of label {label} was within the slack of the best one at every round up to "
                f"{round_number}, so earlier rounds are ignored. Choose a larger mellowness, or a larger class.",
                EmptyVersionSpaceWarning,
                stacklevel=2,
            )

    def _slack(self, settings: Settings, noise: tuple[float, int], round_number: int) -> float:
        """How much more loss than the best regressor a plausible one may have, summed over the earlier rounds.

        ``noise`` is the sum of squared residuals and their number.
        """
        if self.theory is not None:
            return self.theory.summed_slack(round_number)
        slack = settings.mellowness * math.log(self.n_labels * max(round_number - 1, 1))
        if settings.slack != NOISE_SCALED:
            return slack
        squared, answered = noise
        return float(slack * (1.0 + squared) / (1.0 + answered))

    def _predict(self, X: Floats) -> Floats:
        return np.stack([self._predict_label(label, X) for label in range(self.n_labels)], axis=1)

    def _predict_label(self, label: int, X: Floats) -> Floats:
        answers = self.spaces[label].answers
        return answers.best.predict(X) if len(answers) else np.zeros(len(X))

    def _dense(self, rows: Rows) -> Floats:
        """The rows as a dense table; a linear class gets a constant first column."""
        constant = int(self.checked_oracle.linear and self.settings.intercept)
        width = max(rows.width + constant, *(space.answers.rows.shape[1] for space in self.spaces))
        X = np.zeros((len(rows), width))
        X[:, :constant] = 1.0
        X[np.repeat(np.arange(len(rows)), np.diff(rows.indptr)), rows.columns + constant] = rows.values
        return X

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Counts, answers and constraints as named arrays, in the order of the labels."""
        width = max(space.answers.rows.shape[1] for space in self.spaces)
        return self.state._asdict() | {
            "n_answers": np.array([len(space.answers) for space in self.spaces]),
            "answer_widths": np.array([space.answers.rows.shape[1] for space in self.spaces]),
            "answer_rows": np.vstack([widened(space.answers.rows, width) for space in self.spaces]),
            "answer_costs": np.concatenate([space.answers.costs for space in self.spaces]),
            "answer_weights": np.concatenate([space.answers.weights for space in self.spaces]),
            "n_constraints": np.array([len(space.constraints) for space in self.spaces]),
            **{
                f"constraint_{name}": np.concatenate([getattr(space.constraints, name) for space in self.spaces])
                for name in _CONSTRAINT_ARRAYS
            },
        }

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Restore the state that ``arrays`` returned."""
        self.state = restored_counts(self.n_labels, arrays)
        try:
            self.spaces = self._restored(arrays)
        except (KeyError, ValueError, IndexError) as problem:
            raise FileFormatError(
                f"The model has no usable answers: {problem}; it was not saved by coalface."
            ) from None
        self.engines = [self.engine(space) if len(space.answers) else None for space in self.spaces]

    def _restored(self, arrays: Mapping[str, NDArray[Any]]) -> list[VersionSpace]:
        answers_end, constraints_end = np.cumsum(arrays["n_answers"]), np.cumsum(arrays["n_constraints"])
        weights = arrays.get("answer_weights", np.ones(len(arrays["answer_costs"])))  # version 0.1 had none
        answers = (arrays["answer_rows"], arrays["answer_costs"], weights)
        rows, costs, weights_of = (np.split(array, answers_end[:-1]) for array in answers)
        parts = [np.split(arrays[f"constraint_{name}"], constraints_end[:-1]) for name in _CONSTRAINT_ARRAYS]
        return [
            VersionSpace(
                Answers(self.checked_oracle, rows[k][:, : arrays["answer_widths"][k]], costs[k], weights_of[k]),
                Constraints(*(part[k] for part in parts)),
            )
            for k in range(self.n_labels)
        ]


ENGINES: dict[str, type[RangeEngine]] = {
    "multiplicative-weights": MultiplicativeWeights,
    "dual": Dual,
    "bisection": Bisection,
    "ellipsoid": Ellipsoid,
    "enumeration": Enumeration,
    "ensemble": Ensemble,
}


def engine_for(name: str, oracle: Oracle) -> type[RangeEngine]:
    """The engine of this name; an InputError if it does not suit the oracle's class.

    >>> from coalface.models.exact.oracles import BallOracle
    >>> engine_for("dual", BallOracle()).__name__
    'Dual'
    """
    if not isinstance(name, str) or name not in ENGINES:
        raise InputError(f"ranges must be one of {', '.join(map(repr, ENGINES))}, got {name!r}.")
    engine = ENGINES[name]
    if not engine.suits(oracle):
        fitting = [other for other, kind in ENGINES.items() if kind.suits(oracle)]
        raise InputError(
            f"ranges={name!r} needs {engine.needs}, got {type(oracle).__name__}. Use one of "
            f"{', '.join(map(repr, fitting))}."
        )
    return engine
