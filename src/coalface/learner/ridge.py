"""``RidgeCoalClassifier``: COAL with exact ridge regression, for streams of dense embeddings."""

from typing import Any

from coalface.learner.estimator import CostClassifier
from coalface.models.ridge import RidgeModel


class RidgeCoalClassifier(CostClassifier):
    """A cost-sensitive classifier for embeddings of up to some 2,000 numbers (COAL with ridge regression).

    It tracks the correlation of every pair of features. So it learns more from each cost than ``CoalClassifier``, but
    is slower by a factor of about the number of features, and takes 2 x labels x features^2 bytes of memory. Parameters
    are explained in ``docs/parameters.md``.

    >>> learner = RidgeCoalClassifier(classes=["refund", "billing"])
    >>> queries = learner.ask([[1.0, 0.0]])
    >>> learner.tell([[1.0, 0.0]], cost=[[0.0, 0.8]], asked=queries).predict([[1.0, 0.0]])
    array(['refund'], dtype='<U7')
    """

    model_: RidgeModel
    _learned_with = ("cost_bounds", "regularization")

    def __init__(
        self,
        classes: Any = None,
        cost_matrix: Any = None,
        rule: str = "coal",
        mellowness: float = 0.3,
        width_scale: float = 0.5,
        regularization: float | str = "auto",
        cost_bounds: tuple[float, float] = (0.0, 1.0),
        warm_up: int | str = "auto",
        slack: str = "noise-scaled",
        in_turn: bool = True,
        audit_rate: float = 0.1,
        fit_intercept: bool = True,
        random_state: int = 0,
        abstain_cost: float | None = None,
        abstain_label: Any = None,
        alike: float | None = 1.0,
    ) -> None:
        self.classes = classes
        self.cost_matrix = cost_matrix
        self.rule = rule
        self.mellowness = mellowness
        self.width_scale = width_scale
        self.regularization = regularization
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

    @property
    def nbytes_(self) -> int:
        """The memory of the model in bytes.

        >>> RidgeCoalClassifier(classes=range(100)).tell([[0.1] * 384], [[0.5] * 100]).nbytes_ // 1_000_000
        33
        """
        self.begin()
        return self.model_.nbytes

    def _cost_model(self) -> RidgeModel:
        return RidgeModel(self.regularization)
