"""``OracleCoalClassifier``: Algorithm 1 of the paper, with any class of regressors that an oracle can search."""

from typing import Any

from coalface.learner.estimator import CostClassifier
from coalface.models.exact.model import ExactModel
from coalface.models.exact.user_oracles import oracle_of


class OracleCoalClassifier(CostClassifier):
    """A cost-sensitive classifier with exact cost ranges over all plausible regressors (COAL, Algorithm 1).

    It keeps every answer and uses all of them in every round, so it is meant for thousands of examples, not millions.
    Parameters and engines are explained in ``docs/exact-engine.md``.

    >>> learner = OracleCoalClassifier(classes=["refund", "billing"], warm_up=0)
    >>> for row, cost in [([1.0, 0.0], [0.0, 0.8]), ([0.0, 1.0], [0.9, 0.1])] * 10:
    ...     learner = learner.tell([row], [cost], asked=learner.ask([row]))
    >>> learner.predict([[1.0, 0.0]]).tolist(), learner.costs_queried_ < 40
    (['refund'], True)
    """

    model_: ExactModel
    _learned_with = ("cost_bounds", "oracle", "ranges", "schedule", "dimension", "horizon", "failure_probability")

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

    def _cost_model(self) -> ExactModel:
        return ExactModel(
            self.oracle, self.ranges, self.schedule, self.dimension, self.horizon, self.failure_probability
        )

    def plain_params(self) -> dict[str, Any]:
        """The parameters as JSON values."""
        params = super().plain_params()
        return params if self.oracle is None else {**params, "oracle": oracle_of(self.oracle).plain()}
