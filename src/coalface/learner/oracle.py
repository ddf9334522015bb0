"""The learner of the paper's theory, over any class of regressors that a least-squares oracle can search."""

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from coalface.data.rows import Rows
from coalface.errors import InputError
from coalface.learner.estimator import CostClassifier
from coalface.models.exact.engines import engine_for
from coalface.models.exact.known_oracles import oracle_of
from coalface.models.exact.model import OracleRegressors
from coalface.models.exact.oracles import BallOracle
from coalface.models.exact.schedule import TheorySchedule

SCHEDULES = ("practical", "theory")


class OracleCoalClassifier(CostClassifier):
    """A cost-sensitive classifier that asks (COAL, Algorithm 1): exact ranges over all that is still plausible.

    Every answer is kept and looked at again, so it is meant for thousands of examples, not for millions. Parameters and
    engines are explained in ``docs/exact-engine.md``.

    >>> learner = OracleCoalClassifier(classes=["refund", "billing"], warm_up=0)
    >>> for row, cost in [([1.0, 0.0], [0.0, 0.8]), ([0.0, 1.0], [0.9, 0.1])] * 10:
    ...     learner = learner.tell([row], [cost], asked=learner.ask([row]))
    >>> learner.predict([[1.0, 0.0]]).tolist(), learner.costs_queried_ < 40
    (['refund'], True)
    """

    regressors_: OracleRegressors
    _learned_with = (
        "cost_bounds",
        "oracle",
        "ranges",
        "schedule",
        "mellowness",
        "slack",
        "dimension",
        "horizon",
        "failure_probability",
        "fit_intercept",
    )

    def __init__(
        self,
        classes: Any = None,
        cost_matrix: Any = None,
        oracle: Any = None,
        ranges: str = "dual",
        schedule: str = "practical",
        rule: str = "coal",
        mellowness: float = 1.0,
        width_scale: float = 1.0,
        dimension: int | None = None,
        horizon: int | None = None,
        failure_probability: float = 0.05,
        cost_bounds: tuple[float, float] = (0.0, 1.0),
        warm_up: int | str = "auto",
        slack: str = "noise-scaled",
        in_turn: bool = False,
        audit_rate: float = 0.0,
        fit_intercept: bool = True,
        random_state: int = 0,
        abstain_cost: float | None = None,
        abstain_label: Any = None,
        alike: float | None = 1.0,
    ) -> None:
        self.classes = classes
        self.cost_matrix = cost_matrix
        self.oracle = oracle
        self.ranges = ranges
        self.schedule = schedule
        self.rule = rule
        self.mellowness = mellowness
        self.width_scale = width_scale
        self.dimension = dimension
        self.horizon = horizon
        self.failure_probability = failure_probability
        self.cost_bounds = cost_bounds
        self.warm_up = warm_up
        self.slack = slack
        self.in_turn = in_turn
        self.audit_rate = audit_rate
        self.fit_intercept = fit_intercept
        self.random_state = random_state
        self.abstain_cost = abstain_cost
        self.abstain_label = abstain_label
        self.alike = alike

    def _new_regressors(self, n_labels: int) -> OracleRegressors:
        oracle = oracle_of(BallOracle() if self.oracle is None else self.oracle)
        engine = engine_for(self.ranges, oracle)
        return OracleRegressors(
            n_labels, oracle, engine, self._theory(n_labels, oracle), intercept=self._settings(n_labels).intercept
        )

    def _saved_regressors(self, n_labels: int, arrays: Mapping[str, NDArray[Any]]) -> OracleRegressors:
        return self._new_regressors(n_labels).restore(arrays)

    def _check_learnable(self, rows: Rows, n_labels: int) -> None:
        regressors = getattr(self, "regressors_", None) or self._new_regressors(n_labels)
        regressors.check(rows)

    def _theory(self, n_labels: int, oracle: Any) -> TheorySchedule | None:
        if self.schedule not in SCHEDULES:
            raise InputError(f"schedule must be one of {', '.join(map(repr, SCHEDULES))}, got {self.schedule!r}.")
        if self.schedule == "practical":
            return None
        return TheorySchedule.of(n_labels, oracle, self.dimension, self.horizon, self.failure_probability)

    def _plain_params(self) -> dict[str, Any]:
        params = super()._plain_params()
        return params if self.oracle is None else {**params, "oracle": oracle_of(self.oracle).plain()}
