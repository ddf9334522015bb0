"""``CoalClassifier``: COAL over any cost model, and its names for two of them, each with defaults of its own."""

from typing import Any, Self

from coalface.learner.estimator import CostClassifier
from coalface.learner.settings import AS_PRINTED, AS_PUBLISHED
from coalface.models.choice import model_of
from coalface.models.committee import CommitteeModel
from coalface.models.contract import CostModel
from coalface.models.joining import Member
from coalface.models.ridge.model import OF_A_MACHINE, RidgeModel
from coalface.paper.model import ExactModel, plain_oracle
from coalface.paper.schedule import PUBLISHED


class CoalClassifier(CostClassifier):
    """A cost-sensitive classifier that asks only for costs that can still matter (COAL).

    ``model`` predicts the costs: "auto", "online", "ridge", "forest", "classes", "exact", "shared", "joint", or a
    ``CostModel``.
    ``features`` turns texts and tables into numbers: "auto", "minilm" (sentence embeddings), an ``Encoder``, or a
    function from a list of texts to vectors. All parameters are explained in ``docs/parameters.md``.

    >>> learner = CoalClassifier(classes=["refund", "billing"], warm_up=0)
    >>> queries = learner.ask([[1.0, 0.0]])
    >>> print(queries)
    2 of 2 costs asked for, on 1 of 1 examples
    >>> learner.tell([[1.0, 0.0]], cost=[[0.0, 0.8]], asked=queries).predict([[1.0, 0.0]])
    array(['refund'], dtype='<U7')

    With ``price_of_truth``, the price of one true label in costs, the learner asks for the true label where it would
    otherwise ask for at least that many costs. ``cost_matrix`` gives the costs of the true label, 0/1 without one.

    >>> learner = CoalClassifier(classes=["refund", "billing", "legal"], price_of_truth=2)
    >>> print(learner.ask([[1.0, 0.0]]).reason(0).splitlines()[0])
    round 1: asks for the true label, which gives 3 of 3 costs
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
        model: Any = "auto",
        miss_rate: float | str | None = "auto",
        price_of_truth: float | None = None,
        features: Any = "auto",
        audits: str = "even",
    ) -> None:
        self._store(locals())

    @classmethod
    def as_published(cls, mellowness: float = 0.01, learning_rate: float = 0.5, **others: Any) -> Self:
        """The paper's learner, as its authors run it in Vowpal Wabbit; ``others`` override.

        Vowpal Wabbit differs from the paper's text in four settings, for which see ``as_printed``: its slack is
        mellowness * ln(K (i - 1)), its width threshold 0.5 / sqrt(i); it accumulates squared features instead of
        squared gradients ("adax"), and it computes sensitivities after an imaginary update ("shadow").

        >>> learner = CoalClassifier.as_published(classes=["walk", "fly"], warm_up=10)
        >>> learner.slack, learner.audit_rate, learner.learning_rate, learner.warm_up
        ('published', 0.0, 0.5, 10)
        """
        return cls(**{**AS_PUBLISHED, "mellowness": mellowness, "learning_rate": learning_rate, **others})

    @classmethod
    def as_printed(cls, mellowness: float = 0.01, learning_rate: float = 0.5, **others: Any) -> Self:
        """The paper's learner to the letter of its text; ``others`` override.

        The slack is mellowness * nu_(i-1) / (i - 1) with nu_n = 324 (d ln n + ln(8 K e (d + 1) n^2 / 0.05)) and d the
        number of features learned so far, the width threshold 1 / sqrt(i), the update AdaGrad's, and the sensitivity
        the derivative of the update. ``docs/paper.md`` says what comes of it.

        >>> learner = CoalClassifier.as_printed(classes=["walk", "fly"])
        >>> learner.slack, learner.width_scale, learner.accumulator, learner.sensitivity
        ('printed', 1.0, 'adagrad', 'derivative')
        """
        return cls(**{**AS_PRINTED, "mellowness": mellowness, "learning_rate": learning_rate, **others})

    @property
    def committee_(self) -> list[Member]:
        """The members of the model "auto", and what their answers have cost recently; no member with other models.

        >>> learner = CoalClassifier().fit([[0.0, 1.0], [1.0, 0.0]] * 20, ["no", "yes"] * 20)
        >>> [(member.name, member.leads) for member in learner.committee_]
        [('online', False), ('forest', True), ('rbf', False)]
        """
        model = getattr(self, "model_", None)
        return model.members if isinstance(model, CommitteeModel) else []

    def _cost_model(self) -> CostModel:
        return model_of(self.model)


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
    _learned_with = (
        *("cost_bounds", "oracle", "ranges", "schedule"),
        *("dimension", "horizon", "failure_probability", "constant"),
    )

    def __init__(
        self,
        classes: Any = None,
        cost_matrix: Any = None,
        oracle: Any = "auto",
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
        price_of_truth: float | None = None,
        constant: float = PUBLISHED,
    ) -> None:
        self._store(locals())

    def _cost_model(self) -> ExactModel:
        theory = (self.dimension, self.horizon, self.failure_probability, self.constant, self.fit_intercept)
        return ExactModel(self.oracle, self.ranges, self.schedule, *theory)

    def plain_params(self) -> dict[str, Any]:
        """The parameters as JSON values."""
        return {**super().plain_params(), "oracle": plain_oracle(self.oracle)}


class RidgeCoalClassifier(CostClassifier):
    """A cost-sensitive classifier for embeddings of up to some 2,000 numbers (COAL with ridge regression).

    It tracks the correlation of every pair of features. So it learns more from each cost than ``CoalClassifier``, but
    is slower by a factor of about the number of features, and takes 2 x labels x features^2 bytes of memory. Parameters
    are explained in ``docs/parameters.md``, and ``device="cuda"`` in ``docs/gpu.md``.

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
        mellowness: float = 0.12,
        width_scale: float = 0.5,
        regularization: float | str = "light",
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
        miss_rate: float | str | None = "auto",
        price_of_truth: float | None = None,
        device: str = "cpu",
        precision: str = "single",
    ) -> None:
        self._store(locals())

    def set_params(self, **params: Any) -> Self:
        """Set parameters; a new ``device`` or ``precision`` moves what was learned there.

        >>> learner = RidgeCoalClassifier(["refund", "billing"]).tell([[1.0, 0.0]], [[0.0, 0.8]])
        >>> learner.set_params(device="cpu").round_
        2
        """
        wanted = {name: params.get(name, getattr(self, name)) for name in OF_A_MACHINE}
        moves = hasattr(self, "model_") and any(getattr(self.model_, name) != wanted[name] for name in wanted)
        moved = self.model_.moved(**wanted) if moves else None  # before anything is set, because it may be refused
        super().set_params(**params)
        if moved is not None:
            self.model_ = moved
        return self

    def plain_params(self) -> dict[str, Any]:
        """The parameters as JSON values, without those of the machine: a file loads on any, with ``device="cpu"``."""
        return {name: value for name, value in super().plain_params().items() if name not in OF_A_MACHINE}

    @property
    def nbytes_(self) -> int:
        """The memory of the model in bytes.

        >>> RidgeCoalClassifier(classes=range(100)).tell([[0.1] * 384], [[0.5] * 100]).nbytes_ // 1_000_000
        33
        """
        self.begin()
        return self.model_.nbytes

    def _cost_model(self) -> RidgeModel:
        return RidgeModel(self.regularization, device=self.device, precision=self.precision)
