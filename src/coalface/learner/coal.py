"""``CoalClassifier``: COAL with any cost model, by default the online one."""

from typing import Any, Self

from coalface.learner.estimator import CostClassifier
from coalface.learner.settings import AS_PUBLISHED
from coalface.models.choice import model_of
from coalface.models.contract import CostModel


class CoalClassifier(CostClassifier):
    """A cost-sensitive classifier that asks only for costs that can still matter (COAL).

    ``model`` predicts the costs: "online", "ridge", "exact", or a ``CostModel``. All parameters are explained in
    ``docs/parameters.md``.

    >>> learner = CoalClassifier(classes=["refund", "billing"], warm_up=0)
    >>> queries = learner.ask([[1.0, 0.0]])
    >>> print(queries)
    2 of 2 costs asked for, on 1 of 1 examples
    >>> learner.tell([[1.0, 0.0]], cost=[[0.0, 0.8]], asked=queries).predict([[1.0, 0.0]])
    array(['refund'], dtype='<U7')
    """

    _learned_with = ("cost_bounds", "model")

    def __init__(
        self,
        classes: Any = None,
        cost_matrix: Any = None,
        rule: str = "coal",
        mellowness: float = 0.12,
        width_scale: float = 0.5,
        learning_rate: float | str = "auto",
        cost_bounds: tuple[float, float] = (0.0, 1.0),
        warm_up: int | str = "auto",
        slack: str = "noise-scaled",
        in_turn: bool = True,
        audit_rate: float = 0.1,
        accumulator: str = "adax",
        sensitivity: str = "shadow",
        fit_intercept: bool = True,
        random_state: int = 0,
        abstain_cost: float | None = None,
        abstain_label: Any = None,
        budget: Any = None,
        alike: float | None = 1.0,
        model: Any = "online",
    ) -> None:
        self.classes = classes
        self.cost_matrix = cost_matrix
        self.rule = rule
        self.mellowness = mellowness
        self.width_scale = width_scale
        self.learning_rate = learning_rate
        self.cost_bounds = cost_bounds
        self.warm_up = warm_up
        self.slack = slack
        self.in_turn = in_turn
        self.audit_rate = audit_rate
        self.accumulator = accumulator
        self.sensitivity = sensitivity
        self.fit_intercept = fit_intercept
        self.random_state = random_state
        self.abstain_cost = abstain_cost
        self.abstain_label = abstain_label
        self.budget = budget
        self.alike = alike
        self.model = model

    @classmethod
    def as_published(cls, mellowness: float = 0.01, learning_rate: float = 0.5, **others: Any) -> Self:
        """The paper's learner, as its authors run it in Vowpal Wabbit; ``others`` override.

        >>> learner = CoalClassifier.as_published(classes=["walk", "fly"], warm_up=10)
        >>> learner.slack, learner.audit_rate, learner.learning_rate, learner.warm_up
        ('published', 0.0, 0.5, 10)
        """
        return cls(**{**AS_PUBLISHED, "mellowness": mellowness, "learning_rate": learning_rate, **others})

    def _cost_model(self) -> CostModel:
        return model_of(self.model)
