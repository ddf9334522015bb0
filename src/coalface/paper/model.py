"""The exact model: it keeps every answer and a version space for every label (Algorithm 1 of the paper)."""

import math
import warnings
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from coalface.data import Rows, flag, one_of
from coalface.errors import EmptyVersionSpaceWarning, FileFormatError, InputError, MisspecifiedWarning
from coalface.kernels import FIXED_SLACK, NOISE_SCALED, ROUND, Settings
from coalface.models import FIT_INTERCEPT, NO_WEIGHTS, CostModel, Costs, Ranged, counting, restored_counts
from coalface.paper.dual import Dual
from coalface.paper.engine import CertifiedRange, RangeEngine, certified_range
from coalface.paper.engines import Bisection, Ellipsoid, Ensemble, Enumeration, MultiplicativeWeights
from coalface.paper.oracles import BallOracle, Floats, Oracle
from coalface.paper.schedule import PUBLISHED, TheorySchedule
from coalface.paper.user_oracles import oracle_of
from coalface.paper.version_space import Constraints, LabelAnswers, VersionSpace, widened

_TOLERANCE = 0.25  # share of the width threshold: the error that the theorems allow in an end of a range
_LEAST_TOLERANCE = 1e-6  # a smaller one takes many oracle calls and does not change decisions

AUTO = "auto"  # in place of an oracle: a ball that fits the unit of the data
SCHEDULES = ("practical", "theory")
_CONSTRAINT_ARRAYS = ("counts", "bounds", "slacks", "divisors")


class ExactModel(CostModel):
    """A version space for every label, over one class of regressors and with one range engine (Algorithm 1).

    ``oracle`` searches the class. "auto" is a ball of linear functions that depends on the data: features are divided
    by the length of the first row, and the radius, which begins at the root of its number of non-zeros, doubles
    whenever functions outside the ball fit clearly better. None is ``BallOracle(1.0)``. ``ranges`` names the engine
    that computes the ends of the ranges. The "theory" schedule is computed from ``dimension``, ``horizon``,
    ``failure_probability`` and ``constant``. The model keeps every answer and uses all of them in every round, so it is
    meant for thousands of examples, not millions.

    >>> from coalface import CoalClassifier
    >>> learner = CoalClassifier(["walk", "fly"], model=ExactModel(ranges="dual"))
    >>> learner.tell([[1.0, 0.0], [0.0, 1.0]] * 20, [[0.0, 1.0], [1.0, 0.0]] * 20).predict([[1.0, 0.0]]).tolist()
    ['walk']
    """

    default_miss_rate = FIXED_SLACK  # Algorithm 1 has its own slack
    learned_with = ("mellowness", "rule.slack")
    checked_oracle: Oracle
    engine: type[RangeEngine]
    theory: TheorySchedule | None
    spaces: list[VersionSpace]
    engines: list[RangeEngine | None]  # None: no answers yet
    unit: float  # features are divided by it; 0: not known yet
    _warned: set[type[Warning]]

    def __init__(
        self,
        oracle: Any = AUTO,
        ranges: str = "dual",
        schedule: str = "practical",
        dimension: int | None = None,
        horizon: int | None = None,
        failure_probability: float = 0.05,
        constant: float = PUBLISHED,
        fit_intercept: bool = True,
    ) -> None:
        self.oracle, self.range_engine, self.fit_intercept = oracle, ranges, fit_intercept
        self.schedule, self.dimension, self.horizon = schedule, dimension, horizon
        self.failure_probability, self.constant = failure_probability, constant

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters; ``ranges`` is kept under another name, because the model has a method of that name.

        >>> ExactModel(ranges="bisection").get_params()["ranges"]
        'bisection'
        """
        return {**super().get_params(deep), "ranges": self.range_engine}

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name."""
        self.range_engine = params.pop("ranges", self.range_engine)
        super().set_params(**params)
        return self

    def begin(self, n_labels: int, settings: Settings) -> Self:
        """An untrained model; an InputError if the parameters do not fit together."""
        begun = super().begin(n_labels, settings)
        flag("fit_intercept", self.fit_intercept)
        begun.checked_oracle = BallOracle() if self.oracle is None or self.chooses else oracle_of(self.oracle)
        begun.unit = 0.0 if self.chooses else 1.0
        begun.engine = _engine_for(self.range_engine, begun.checked_oracle)
        begun.theory = self._theory_schedule(n_labels, begun.checked_oracle)
        begun.spaces = [VersionSpace(LabelAnswers(begun.checked_oracle)) for _ in range(n_labels)]
        begun.engines = [None] * n_labels
        begun._warned = set()
        begun._tolerance(settings, 1)
        return begun

    @property
    def chooses(self) -> bool:
        """Whether the model chooses the unit of the features and the radius of the ball."""
        return isinstance(self.oracle, str) and self.oracle == AUTO

    def grow(self) -> None:
        """Make room for one more label, without answers; the theory's slack grows with the number of labels."""
        self.theory = self._theory_schedule(self.n_labels + 1, self.checked_oracle)
        self.spaces.append(VersionSpace(LabelAnswers(self.checked_oracle)))
        self.engines.append(None)

    def linear_parameters(self) -> dict[str, Any]:
        """Whether there is an intercept."""
        return {FIT_INTERCEPT: self.fit_intercept}

    def plain(self) -> dict[str, Any]:
        """The parameters as JSON values."""
        return {**super().plain(), "oracle": _plain_oracle(self.oracle)}

    def _theory_schedule(self, n_labels: int, oracle: Oracle) -> TheorySchedule | None:
        if one_of("schedule", self.schedule, SCHEDULES) == "practical":
            return None
        return TheorySchedule.of(
            n_labels, oracle, self.dimension, self.horizon, self.failure_probability, self.constant
        )

    def predict(self, rows: Rows) -> Costs:
        """The predictions of the best regressors; 0 for labels without answers."""
        return self._predict(self._dense(rows)).astype(np.float32)

    def ranges(self, rows: Rows, settings: Settings, first_round: int) -> Ranged:
        """Predictions and ranges, each at least as wide as the exact one."""
        if self.theory is not None:
            self.theory.check(first_round, 1, 0)
        X = self._dense(rows)
        lowest, highest = np.zeros((2, len(X), self.n_labels), np.float32)
        for r, row in enumerate(X):
            found = self.certified(row, settings, first_round + settings.round_step * r)
            lowest[r] = [0.0 if one is None else one.lowest for one in found]
            highest[r] = [1.0 if one is None else one.highest for one in found]
        return Ranged(self._predict(X).astype(np.float32), lowest, highest)

    def certified(self, row: Floats, settings: Settings, round_number: int) -> list[CertifiedRange | None]:
        """The range of each label at this round; None for labels without answers, whose cost may be anything."""
        tol = self._tolerance(settings, round_number)
        found: list[CertifiedRange | None] = []
        for label, engine in enumerate(self.engines):
            if engine is None:
                found.append(None)
            else:
                noise = (self.state.squared_residuals[label], self.state.answered[label])
                now = engine.at(round_number, self._slack(settings, noise, round_number))
                found.append(certified_range(now, row, tol))
        return found

    def _tolerance(self, settings: Settings, round_number: int) -> float:
        """How far beyond the true end a range may reach."""
        if settings.width_scale == 0.0 and self.engine is MultiplicativeWeights:
            raise InputError(
                "width_scale must be above 0 with ranges='multiplicative-weights', whose oracle calls grow with the "
                "4th power of 1 / width_scale, got 0. Use ranges='dual'."
            )
        return max(_TOLERANCE * settings.width_scale / math.sqrt(round_number), _LEAST_TOLERANCE)

    def check(self, rows: Rows) -> None:
        """Raise an InputError for rows that the theory does not cover or that a finite class cannot predict."""
        if self.theory is not None:
            width = rows.width + int(self.fit_intercept) if self.checked_oracle.linear else 0
            self.theory.check(int(self.state.counters[ROUND]), len(rows), width)
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
        known = counting(costs, weights)
        if self.unit == 0.0:
            self._choose_unit(rows, np.asarray(known.any(axis=1)))
        for r, row in enumerate(self._dense(rows)):
            for label in np.flatnonzero(known[r]).tolist():
                weight = float(weights[r, label]) if len(weights) else 1.0
                self._learn(label, row, float(costs[r, label]), weight, settings, first_round + r)

    def _learn(
        self, label: int, row: Floats, cost: float, weight: float, settings: Settings, round_number: int
    ) -> None:
        space = self.spaces[label]
        predicted = min(max(float(self._predict_label(label, row[None, :])[0]), 0.0), 1.0)
        residuals, answered = self.state.squared_residuals, self.state.answered
        noise = (residuals[label] + (predicted - cost) ** 2, answered[label] + 1)
        slack = self._slack(settings, noise, round_number + 1)
        space = self._in_class(label, space.with_answer(row, cost, weight))
        constrained = space.with_constraint if self.engine.monotone else space.alone
        space = constrained(round_number + 1, slack)
        engine = self.engine(space)
        if engine.empty:
            self._warn(
                f"No regressor of label {label} was within the slack of the best one at every round up to "
                f"{round_number + 1}, so earlier rounds are ignored. Choose a larger mellowness, or a larger class.",
                EmptyVersionSpaceWarning,
            )
            space = space.latest_alone()
            engine = self.engine(space)
        self.spaces[label], self.engines[label] = space, engine  # last, because the oracle may fail before
        residuals[label], answered[label] = noise

    def _in_class(self, label: int, space: VersionSpace) -> VersionSpace:
        """The version space in a ball that can hold the truth; if the model may not choose the ball, it warns."""
        answers = space.answers
        examples = (*answers.examples(answers.rows.shape[1]), answers.weights)
        while isinstance(ball := self.checked_oracle, BallOracle) and ball.too_small(*examples):
            if not self.chooses:
                self._warn(
                    f"Linear regressors outside {ball} fit the answers about label {label} clearly better than those "
                    "inside, so ranges may exclude the true costs. Pass oracle='auto', or a larger radius.",
                    MisspecifiedWarning,
                )
                break
            self._use(BallOracle(2.0 * ball.radius))
            space = space.with_oracle(self.checked_oracle)
        return space

    def _choose_unit(self, rows: Rows, known: NDArray[np.bool_]) -> None:
        """Measure features in lengths of the first row learned; a row of zeros has no length."""
        for r in np.flatnonzero(known).tolist():
            _, values = rows.row(r)
            if values.any():
                self.unit = float(np.linalg.norm(values.astype(np.float64)))
                self._use(BallOracle(math.sqrt(1.0 + np.count_nonzero(values))))
                return

    def _use(self, oracle: Oracle) -> None:
        """Change the class of all labels; the constraints so far stay valid in a larger one."""
        self.checked_oracle = oracle
        self.spaces = [space.with_oracle(oracle) for space in self.spaces]
        self.engines = [self.engine(space) if len(space.answers) else None for space in self.spaces]

    def _warn(self, text: str, kind: type[Warning]) -> None:
        if kind not in self._warned:
            self._warned.add(kind)
            warnings.warn(text, kind, stacklevel=2)

    def _slack(self, settings: Settings, noise: tuple[float, int], round_number: int) -> float:
        """How much more loss than the best regressor a plausible one may have, summed over the earlier rounds.

        ``noise`` is the sum of squared residuals and their number.
        """
        if self.theory is not None:
            return self.theory.summed_slack(round_number)
        slack = settings.mellowness * math.log(max(self.n_labels, 2) * max(round_number - 1, 1))
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
        constant = int(self.checked_oracle.linear and self.fit_intercept)
        width = max(rows.width + constant, *(space.answers.rows.shape[1] for space in self.spaces))
        X = np.zeros((len(rows), width))
        X[:, :constant] = 1.0
        X[:, constant:] = rows.dense(width - constant).astype(np.float64) / (self.unit or 1.0)
        return X

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Counts, answers and constraints as named arrays, in the order of the labels."""
        width = max(space.answers.rows.shape[1] for space in self.spaces)
        ball: Any = self.checked_oracle
        chosen = {"ball": np.array([self.unit, ball.radius])} if self.chooses else {}
        return (
            self.state._asdict()
            | chosen
            | {
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
        )

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Restore the state that ``arrays`` returned."""
        self.state = restored_counts(self.n_labels, arrays)
        try:
            if self.chooses:
                self.unit, radius = map(float, arrays["ball"])
                self.checked_oracle = BallOracle(radius)
            self.spaces = self._restored(arrays)
        except (KeyError, ValueError, IndexError) as problem:
            raise FileFormatError(
                f"The model has no usable answers: {problem}; it was not saved by coalface."
            ) from None
        self.engines = [self.engine(space) if len(space.answers) else None for space in self.spaces]

    def _restored(self, arrays: Mapping[str, NDArray[Any]]) -> list[VersionSpace]:
        answers_end, constraints_end = np.cumsum(arrays["n_answers"]), np.cumsum(arrays["n_constraints"])
        rows, costs, weights = (
            np.split(arrays[f"answer_{name}"], answers_end[:-1]) for name in ("rows", "costs", "weights")
        )
        parts = [np.split(arrays[f"constraint_{name}"], constraints_end[:-1]) for name in _CONSTRAINT_ARRAYS]
        return [
            VersionSpace(
                LabelAnswers(self.checked_oracle, rows[k][:, : arrays["answer_widths"][k]], costs[k], weights[k]),
                Constraints(*(part[k] for part in parts)),
            )
            for k in range(self.n_labels)
        ]


def _plain_oracle(oracle: Any) -> Any:
    """The parameter ``oracle`` as JSON values.

    >>> _plain_oracle("auto"), _plain_oracle(BallOracle(2.0))
    ('auto', {'kind': 'ball', 'radius': 2.0})
    """
    return oracle if oracle is None or (isinstance(oracle, str) and oracle == AUTO) else oracle_of(oracle).plain()


ENGINES: dict[str, type[RangeEngine]] = {
    "multiplicative-weights": MultiplicativeWeights,
    "dual": Dual,
    "bisection": Bisection,
    "ellipsoid": Ellipsoid,
    "enumeration": Enumeration,
    "ensemble": Ensemble,
}


def _engine_for(name: str, oracle: Oracle) -> type[RangeEngine]:
    """The engine of this name; an InputError if it does not suit the oracle's class.

    >>> from coalface.paper.oracles import BallOracle
    >>> _engine_for("dual", BallOracle()).__name__
    'Dual'
    """
    engine = ENGINES[one_of("ranges", name, ENGINES)]
    if not engine.suits(oracle):
        fitting = [other for other, kind in ENGINES.items() if kind.suits(oracle)]
        raise InputError(
            f"ranges={name!r} needs {engine.needs}, got {type(oracle).__name__}. Use one of "
            f"{', '.join(map(repr, fitting))}."
        )
    return engine
