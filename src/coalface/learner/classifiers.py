"""``CoalClassifier``: COAL over any cost model."""

from typing import Any, Literal, Self, cast

from coalface.learner.estimator import CostClassifier
from coalface.learner.parameters import AS_PRINTED, AS_PUBLISHED, GROUPS, Abstain, Audits, Coal, Variant, part_of
from coalface.models.choice import model_of
from coalface.models.committee import CommitteeModel
from coalface.models.contract import CostModel
from coalface.models.joining import Member
from coalface.models.online import OnlineModel


class CoalClassifier(CostClassifier):
    """A cost-sensitive classifier that asks only for costs that can still matter (COAL).

    ``model`` predicts the costs: "auto", "online", "ridge", "forest", "classes", "shared", "joint", or a ``CostModel``
    such as ``OnlineModel(learning_rate=0.1)``. ``rule`` asks for them: a name, or ``Coal(...)`` with parameters of its
    own. ``audits`` check the rule at random, ``abstain`` allows no label, ``budget`` limits what is asked.
    ``features`` turns texts and tables into numbers: "auto", "minilm" (sentence embeddings), an ``Encoder``, or a
    function from a list of texts to vectors. All parameters are explained in ``docs/parameters.md``.

    >>> learner = CoalClassifier(classes=["refund", "billing"], rule=Coal(warm_up=0))
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

    def __init__(
        self,
        classes: Any = None,
        *,
        cost_matrix: Any = None,
        cost_bounds: tuple[float, float] = (0.0, 1.0),
        model: Any = "auto",
        rule: Variant | Coal = "coal",
        mellowness: float = 0.12,
        budget: Any = None,
        audits: Literal["even", "loss"] | Audits | None = "even",
        abstain: Abstain | None = None,
        price_of_truth: float | None = None,
        features: Any = "auto",
        random_state: int = 0,
    ) -> None:
        self.classes = classes
        self.cost_matrix = cost_matrix
        self.cost_bounds = cost_bounds
        self.model = model
        self.rule = rule
        self.mellowness = mellowness
        self.budget = budget
        self.audits = audits
        self.abstain = abstain
        self.price_of_truth = price_of_truth
        self.features = features
        self.random_state = random_state

    @classmethod
    def as_published(cls, mellowness: float = 0.01, learning_rate: float = 0.5, **others: Any) -> Self:
        """The paper's learner, as its authors run it in Vowpal Wabbit; ``others`` override.

        Vowpal Wabbit differs from the paper's text in four settings, for which see ``as_printed``: its slack is
        mellowness * ln(K (i - 1)), its width threshold 0.5 / sqrt(i); it accumulates squared features instead of
        squared gradients ("adax"), and it computes sensitivities after an imaginary update ("shadow"). A name given as
        ``rule`` changes the variant alone.

        >>> learner = CoalClassifier.as_published(classes=["walk", "fly"], rule__warm_up=10)
        >>> learner.rule
        Coal(alike=None, in_turn=False, miss_rate=None, slack='published', warm_up=10)
        >>> learner.audits, learner.model
        (None, OnlineModel(learning_rate=0.5))
        """
        model = OnlineModel(learning_rate=learning_rate)
        return cls._with_rule(Coal(**AS_PUBLISHED), {"mellowness": mellowness, "model": model, **others})

    @classmethod
    def as_printed(cls, mellowness: float = 0.01, learning_rate: float = 0.5, **others: Any) -> Self:
        """The paper's learner to the letter of its text; ``others`` override.

        The slack is mellowness * nu_(i-1) / (i - 1) with nu_n = 324 (d ln n + ln(8 K e (d + 1) n^2 / 0.05)) and d the
        number of features learned so far, the width threshold 1 / sqrt(i), the update AdaGrad's, and the sensitivity
        the derivative of the update. ``docs/paper.md`` says what comes of it.

        >>> learner = CoalClassifier.as_printed(classes=["walk", "fly"])
        >>> learner.rule.slack, learner.rule.width_scale, learner.model
        ('printed', 1.0, OnlineModel(accumulator='adagrad', learning_rate=0.5, sensitivity='derivative'))
        """
        model = OnlineModel(learning_rate=learning_rate, accumulator="adagrad", sensitivity="derivative")
        return cls._with_rule(Coal(**AS_PRINTED), {"mellowness": mellowness, "model": model, **others})

    @classmethod
    def _with_rule(cls, rule: Coal, params: dict[str, Any]) -> Self:
        if isinstance(params.get("rule"), str):
            params["rule__variant"] = params.pop("rule")
        return cls(audits=None, rule=rule).set_params(**params)

    def set_params(self, **params: Any) -> Self:
        """Set parameters; ``rule__warm_up=10`` or ``model__learning_rate=0.1`` sets one of a part.

        >>> learner = CoalClassifier(model="online").set_params(rule__warm_up=10, model__learning_rate=0.1)
        >>> learner.rule, learner.model
        (Coal(warm_up=10), OnlineModel(learning_rate=0.1))
        """
        for name in {path.partition("__")[0] for path in params if "__" in path} & GROUPS.keys():
            given = params.get(name, getattr(self, name))
            params[name] = part_of(name, given, params)
        if any(path.startswith("model__") for path in params):
            params["model"] = model_of(params.get("model", self.model))
        return cast(Self, super().set_params(**params))

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
