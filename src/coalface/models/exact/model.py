"""Regressors behind an oracle: every answer is kept, and every label has a version space.

They live among the ranges because what they learn, the constraints, is what ranges are made of.
"""

import math
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.data.rows import Rows
from coalface.errors import EmptyVersionSpaceWarning, FileFormatError, InputError
from coalface.kernels.state import NOISE_SCALED, Settings
from coalface.models.contract import Costs, Mask
from coalface.models.exact.engine import CertifiedRange, RangeEngine, certified_range
from coalface.models.exact.oracles import Floats, Oracle
from coalface.models.exact.schedule import TheorySchedule
from coalface.models.exact.version_space import Answers, Constraints, VersionSpace, widened
from coalface.models.online import OnlineRegressors
from coalface.models.ranged import RangedRegressors

_TOLERANCE = 0.25  # of the width threshold: the error that the theorems allow an end of a range
_FINEST = 1e-6  # of the scale: a smaller tolerance takes many oracle calls and changes nothing

_OF_CONSTRAINTS = ("counts", "bounds", "slacks", "divisors")


class OracleRegressors(RangedRegressors):
    """The version spaces of all labels, over one class of regressors and with one range engine."""

    def __init__(
        self,
        n_labels: int,
        oracle: Oracle,
        engine: type[RangeEngine],
        theory: TheorySchedule | None = None,
        *,
        intercept: bool = True,
    ) -> None:
        super().__init__(n_labels)
        self.oracle, self.engine, self.theory = oracle, engine, theory
        self.intercept = intercept
        self.spaces = [VersionSpace(Answers(oracle)) for _ in range(n_labels)]
        self.engines: list[RangeEngine | None] = [None] * n_labels  # None: nothing was answered yet
        self._warned = False

    def predict(self, rows: Rows) -> Costs:
        """The predictions of the best regressors; 0 where nothing is known."""
        return self._predict(self._dense(rows)).astype(np.float32)

    def bound(self, rows: Rows, settings: Settings, first_round: int) -> tuple[Costs, Costs, Costs]:
        """Predictions and ranges, on the safe side."""
        X = self._dense(rows)
        lowest, highest = np.zeros((2, len(X), self.n_labels), np.float32)
        for r, row in enumerate(X):
            found = self.certified(row, settings, first_round + r)
            lowest[r] = [0.0 if one is None else one.lowest for one in found]
            highest[r] = [1.0 if one is None else one.highest for one in found]
        return self._predict(X).astype(np.float32), lowest, highest

    def certified(self, row: Floats, settings: Settings, round_number: int) -> list[CertifiedRange | None]:
        """The range of each label at this round; None where nothing was answered yet, and any cost is possible."""
        tol = max(_TOLERANCE * settings.width_scale / math.sqrt(round_number), _FINEST)
        found: list[CertifiedRange | None] = []
        for label, engine in enumerate(self.engines):
            if engine is None:
                found.append(None)
            else:
                noise = (self.model.squared_residuals[label], self.model.answered[label])
                now = engine.at(round_number, self._slack(settings, noise, round_number))
                found.append(certified_range(now, row, tol))
        return found

    def check(self, rows: Rows) -> None:
        """Raise an InputError if the functions of a finite class have no cost for the rows."""
        if not self.oracle.finite:
            return
        oracle: Any = self.oracle  # one with ``predictions``
        width = max(space.answers.rows.shape[1] for space in self.spaces)
        if getattr(oracle, "table", None) is not None and 0 < width < rows.width:
            raise InputError(
                f"X must keep its {width} features with a table of costs, whose last is the point, got {rows.width}."
            )
        oracle.predictions(self._dense(rows))

    def learn(self, rows: Rows, costs: Costs, settings: Settings, first_round: int) -> None:
        """Keep the answers; each is a constraint from the next round on."""
        for r, row in enumerate(self._dense(rows)):
            for label in np.flatnonzero(~np.isnan(costs[r])):
                self._learn(int(label), row, float(costs[r, label]), settings, first_round + r)

    def tell_rows(
        self,
        settings: Settings,
        rows: Rows,
        candidates: Mask,
        costs: Costs,
        asked: Mask,
        outlook: NDArray[np.float64],
        late: bool,
    ) -> None:
        """Late answers one by one: all belong to the round that is next, however many come together."""
        if not late or len(rows) < 2:
            return super().tell_rows(settings, rows, candidates, costs, asked, outlook, late)
        for r in range(len(rows)):
            one = slice(r, r + 1)
            super().tell_rows(
                settings, rows.take(np.array([r])), candidates[one], costs[one], asked[one], outlook[one], late
            )
        return None

    def _learn(self, label: int, row: Floats, cost: float, settings: Settings, round_number: int) -> None:
        space = self.spaces[label]
        predicted = min(max(float(self._predict_label(label, row[None, :])[0]), 0.0), 1.0)
        residuals, answered = self.model.squared_residuals, self.model.answered
        noise = (residuals[label] + (predicted - cost) ** 2, answered[label] + 1)
        slack = self._slack(settings, noise, round_number + 1)
        space = space.with_answer(row, cost)
        constrained = space.with_constraint if self.engine.monotone else space.alone
        space = constrained(round_number + 1, slack)
        engine = self.engine(space)
        if engine.empty:
            self._warn(label, round_number + 1)
            space = space.latest_alone()
            engine = self.engine(space)
        self.spaces[label], self.engines[label] = space, engine  # now that the oracle has done its part
        residuals[label], answered[label] = noise

    def _warn(self, label: int, round_number: int) -> None:
        if not self._warned:
            self._warned = True
            warnings.warn(
                f"No regressor of label {label} was within the slack of the best one at every round up to "
                f"{round_number}; the rounds before no longer count. Choose a larger mellowness, or a larger class.",
                EmptyVersionSpaceWarning,
                stacklevel=2,
            )

    def _slack(self, settings: Settings, noise: tuple[float, int], round_number: int) -> float:
        """What a plausible regressor may lose in excess of the best one, summed over the rounds before.

        ``noise`` is the sum of squared residuals, and of how many.
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
        """The rows as a table, with a constant feature in front where the class is linear."""
        constant = int(self.oracle.linear and self.intercept)
        width = max(rows.width + constant, *(space.answers.rows.shape[1] for space in self.spaces))
        X = np.zeros((len(rows), width))
        X[:, :constant] = 1.0
        X[np.repeat(np.arange(len(rows)), np.diff(rows.indptr)), rows.columns + constant] = rows.values
        return X

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Counts, answers and constraints as named arrays, label after label."""
        tally = {name: array for name, array in self.model._asdict().items() if name != "table"}
        width = max(space.answers.rows.shape[1] for space in self.spaces)
        return tally | {
            "n_answers": np.array([len(space.answers) for space in self.spaces]),
            "answer_widths": np.array([space.answers.rows.shape[1] for space in self.spaces]),
            "answer_rows": np.vstack([widened(space.answers.rows, width) for space in self.spaces]),
            "answer_costs": np.concatenate([space.answers.costs for space in self.spaces]),
            "n_constraints": np.array([len(space.constraints) for space in self.spaces]),
            **{
                f"constraint_{name}": np.concatenate([getattr(space.constraints, name) for space in self.spaces])
                for name in _OF_CONSTRAINTS
            },
        }

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> "OracleRegressors":
        """Go on from saved ``arrays``."""
        self.model = OnlineRegressors.from_arrays(self.n_labels, arrays).model
        try:
            self.spaces = self._restored(arrays)
        except (KeyError, ValueError, IndexError) as problem:
            raise FileFormatError(
                f"The model has no usable answers: {problem}; it was not saved by coalface."
            ) from None
        self.engines = [self.engine(space) if len(space.answers) else None for space in self.spaces]
        return self

    def __getstate__(self) -> dict[str, Any]:
        with self.lock:  # copies, without the lock
            arrays = {name: array.copy() for name, array in self.arrays().items()}
        made_with = (self.n_labels, self.oracle, self.engine, self.theory)
        return {"made_with": made_with, "intercept": self.intercept, "arrays": arrays}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(*state["made_with"], intercept=state["intercept"])  # type: ignore[misc]
        self.restore(state["arrays"])

    def _restored(self, arrays: Mapping[str, NDArray[Any]]) -> list[VersionSpace]:
        answers_end, constraints_end = np.cumsum(arrays["n_answers"]), np.cumsum(arrays["n_constraints"])
        rows, costs = (
            np.split(arrays["answer_rows"], answers_end[:-1]),
            np.split(arrays["answer_costs"], answers_end[:-1]),
        )
        parts = [np.split(arrays[f"constraint_{name}"], constraints_end[:-1]) for name in _OF_CONSTRAINTS]
        return [
            VersionSpace(
                Answers(self.oracle, rows[k][:, : arrays["answer_widths"][k]], costs[k]),
                Constraints(*(part[k] for part in parts)),
            )
            for k in range(self.n_labels)
        ]
