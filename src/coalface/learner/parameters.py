"""The parameters of a learner: what asks, what audits and when it abstains, and the table that checks all of them.

``PARAMETERS`` feeds the checks, the options of the command line, TOML files and the page ``docs/parameters.md``.
"""

import math
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from coalface.data.costs import CostScale
from coalface.data.numbers import finite_number
from coalface.data.parameters import Parameter, ParameterGroup
from coalface.errors import InputError
from coalface.kernels.state import (
    ALL_OR_NONE,
    AUTO_MISSES,
    AUTO_WARM_UP,
    COAL,
    FIXED_SLACK,
    NO_DOMINATION,
    NOISE_SCALED,
    PASSIVE,
    PRINTED,
    PUBLISHED,
    Settings,
)
from coalface.learner.budget import Budget
from coalface.models.choice import model_of
from coalface.models.contract import CostModel
from coalface.models.linear import LINEAR_PARAMETERS
from coalface.models.online import OnlineModel

Variant = Literal["coal", "passive", "all-or-none", "no-domination"]
Slack = Literal["noise-scaled", "published", "printed"]
RULES = {"coal": COAL, "all-or-none": ALL_OR_NONE, "no-domination": NO_DOMINATION, "passive": PASSIVE}
SLACKS = {"published": PUBLISHED, "noise-scaled": NOISE_SCALED, "printed": PRINTED}
AUDITS = {"even": False, "loss": True}


class Coal(ParameterGroup):
    """The rule of COAL and its variants: which costs are worth asking for.

    ``variant`` is "coal", or a rule that COAL is compared with: "passive" asks for every cost, "all-or-none" for all
    costs of an example or none, and "no-domination" also for those of labels that cannot be best.

    >>> from coalface import CoalClassifier
    >>> CoalClassifier(["walk", "fly"], rule=Coal(warm_up=0, slack="published")).ask([[1.0]]).costs_asked
    2
    """

    group, first, names = "rule", "variant", tuple(RULES)

    def __init__(
        self,
        variant: Variant = "coal",
        *,
        width_scale: float = 0.5,
        slack: Slack = "noise-scaled",
        warm_up: int | Literal["auto"] = "auto",
        in_turn: bool = True,
        miss_rate: float | Literal["auto"] | None = "auto",
        alike: float | None = 1.0,
    ) -> None:
        self.variant = variant
        self.width_scale = width_scale
        self.slack = slack
        self.warm_up = warm_up
        self.in_turn = in_turn
        self.miss_rate = miss_rate
        self.alike = alike


class Audits(ParameterGroup):
    """Questions that the rule would not ask, drawn at random with a known probability: they measure what is missed.

    >>> from coalface import CoalClassifier
    >>> CoalClassifier(["walk", "fly"], audits=Audits(0.2)).saving_ is None  # needs 100 rounds
    True
    """

    group, first, names = "audits", "by", tuple(AUDITS)

    def __init__(self, rate: float = 0.1, by: Literal["even", "loss"] = "even") -> None:
        self.rate = rate
        self.by = by


class Abstain(ParameterGroup):
    """Giving no label, at a cost of its own; ``label`` is what ``predict`` then returns.

    >>> from coalface import CoalClassifier
    >>> learner = CoalClassifier(["walk", "fly"], abstain=Abstain(0.1)).tell([[1.0]] * 20, [[0.7, 0.8]] * 20)
    >>> learner.predict([[1.0]]).tolist()
    ['abstain']
    """

    group, first = "abstain", "cost"

    def __init__(self, cost: float, label: Any = None) -> None:
        self.cost = cost
        self.label = label


NO_AUDITS = Audits(rate=0.0)
GROUPS: Mapping[str, type[ParameterGroup]] = MappingProxyType({"rule": Coal, "audits": Audits, "abstain": Abstain})

PARAMETERS: tuple[Parameter, ...] = (
    Parameter(
        path="rule.variant",
        meaning="which costs are asked for",
        default="coal",
        kind=str,
        field="rule",
        choices=RULES,
    ),
    Parameter(
        path="mellowness",
        meaning="how much more loss than the best regressor a plausible one may have: more asks more",
        default=0.12,
        field="mellowness",
        least=0.0,
    ),
    Parameter(
        path="rule.width_scale",
        meaning="a range narrower than this / sqrt(round), as a share of the cost scale, counts as known",
        default=0.5,
        field="width_scale",
        least=0.0,
    ),
    Parameter(
        path="rule.slack",
        meaning="whether the slack follows the noise of each label, or is that of the paper's code or text",
        default="noise-scaled",
        kind=str,
        field="slack",
        choices=SLACKS,
    ),
    Parameter(
        path="rule.warm_up",
        meaning="examples at the start that are asked about in full",
        default="auto",
        kind=int,
        field="warm_up",
        least=0,
        auto=AUTO_WARM_UP,
    ),
    Parameter(
        path="rule.in_turn",
        meaning="ask about an example one question at a time, so that an answer can settle the rest",
        default=True,
        kind=bool,
        field="in_turn",
    ),
    Parameter(
        path="rule.miss_rate",
        meaning="how often the best label may be missed; audits measure it, and the slack follows",
        default="auto",
        field="miss_rate",
        least=0.0,
        most=1.0,
        auto=AUTO_MISSES,
        none=FIXED_SLACK,
    ),
    Parameter(
        path="rule.alike",
        meaning="the similarity at which two examples of one batch count as one",
        default=1.0,
        field="alike",
        least=0.0,
        most=1.0,
        above=True,
        none=math.inf,
    ),
    Parameter(
        path="audits.rate",
        meaning="probability of one more question about an example, which measures what the rule misses",
        default=0.1,
        field="audit_rate",
        least=0.0,
        most=1.0,
    ),
    Parameter(
        path="audits.by",
        meaning="where audits look: everywhere alike, or where the predicted label may be wrong",
        default="even",
        kind=str,
        field="audits_by_loss",
        choices=AUDITS,
    ),
    Parameter(
        path="price_of_truth",
        meaning="the price of one true label, in costs; without it, true labels are never asked for",
        default=None,
        field="price_of_truth",
        least=0.0,
        above=True,
        none=math.inf,
    ),
    Parameter(
        path="random_state",
        meaning="seed of the audits and of forests",
        default=0,
        kind=int,
        field="seed",
        least=0,
    ),
    *LINEAR_PARAMETERS,
)
_FIELDS = {parameter.path: parameter.field for parameter in PARAMETERS}
_TABLE = {parameter.path: parameter for parameter in PARAMETERS}
_OF_MODELS = {parameter.path: parameter.default for parameter in LINEAR_PARAMETERS}

AS_PUBLISHED: Mapping[str, Any] = MappingProxyType(  # the rule of the paper's authors in Vowpal Wabbit
    {"width_scale": 0.5, "slack": "published", "warm_up": 1, "in_turn": False, "miss_rate": None, "alike": None}
)
AS_PRINTED: Mapping[str, Any] = MappingProxyType({**AS_PUBLISHED, "width_scale": 1.0, "slack": "printed"})


def flat(params: Mapping[str, Any], model: CostModel | None = None) -> dict[str, Any]:
    """The values of all parameters that compiled code reads, by path; ``model`` predicts, by default as described.

    >>> found = flat({"rule": Coal(warm_up=3), "audits": None, "model": "online", "random_state": 7})
    >>> found["rule.warm_up"], found["audits.rate"], found["model.accumulator"], found["random_state"]
    (3, 0.0, 'adax', 7)
    """
    rule, audits = Coal.of(params["rule"]), audits_of(params["audits"])
    found = {**_OF_MODELS, **(model_of(params["model"]) if model is None else model).linear_parameters()}
    found.update((f"rule.{name}", value) for name, value in vars(rule).items())
    found.update((f"audits.{name}", value) for name, value in vars(audits).items())
    found.update((path, params[path]) for path in _TABLE if path in params)
    return found


def audits_of(value: Any) -> Audits:
    """The audits of a learner; None stands for none."""
    return NO_AUDITS if value is None else Audits.of(value)


def abstain_of(value: Any) -> Abstain | None:
    """Whether and at which cost a learner abstains."""
    return None if value is None else Abstain.of(value)


def part_of(name: str, value: Any, params: Mapping[str, Any]) -> ParameterGroup:
    """The object whose parameters ``set_params`` sets, such as ``rule__warm_up``; a name becomes an object."""
    nested = {path.partition("__")[2] for path in params if path.startswith(f"{name}__")}
    if value is None:
        return Abstain(params[f"{name}__cost"]) if name == "abstain" and "cost" in nested else Audits()
    return GROUPS[name].of(value)


def settings_for(n_labels: int, params: Mapping[str, Any], model: CostModel | None = None) -> Settings:
    """The settings of a learner with these parameters; an InputError if one is invalid.

    >>> from coalface import CoalClassifier
    >>> settings_for(3, CoalClassifier(rule=Coal(warm_up=10)).get_params(deep=False)).warm_up
    10
    """
    values, abstain = flat(params, model), abstain_of(params["abstain"])
    abstain_cost = math.inf if abstain is None else _unit_cost(abstain, CostScale.of(params["cost_bounds"]))
    paths = tuple(values)
    try:
        settings = _checked(n_labels, abstain_cost, paths, *values.values())
    except TypeError:  # an unhashable value: check again without the cache, for an error that names it
        settings = _checked.__wrapped__(n_labels, abstain_cost, paths, *values.values())
    if settings.slack == PRINTED and not isinstance(model or model_of(params["model"]), OnlineModel):
        raise InputError(
            f"slack='printed' needs model='online', whose slack the paper prints, got model={params['model']!r}. "
            "Use slack='published', or coalface.paper.ExactModel(schedule='theory')."
        )
    if params.get("budget") is None:
        return settings
    budget = Budget.of(params["budget"])
    if budget.over is None:
        _check_unpaced(budget, params)
        return settings
    if not (model or model_of(params["model"])).paces_budgets:
        raise InputError(
            f"budget needs model='auto' or 'online' to be spread over examples, got model={params['model']!r}. Leave "
            "out over: the learner then stops at the limit."
        )
    return _with_budget(settings, budget, budget.over)


@lru_cache(maxsize=256, typed=True)  # services check the same parameters for every row
def _checked(n_labels: int, abstain_cost: float, paths: tuple[str, ...], *values: Any) -> Settings:
    found = {_FIELDS[path]: _TABLE[path].checked(value) for path, value in zip(paths, values, strict=True)}
    return Settings(n_labels=n_labels, abstain_cost=abstain_cost, **found)


def _unit_cost(abstain: Abstain, scale: CostScale) -> float:
    """The cost of abstaining, scaled to [0, 1]."""
    cost = finite_number("abstain cost", abstain.cost, scale.floor, scale.ceiling)
    return float(scale.to_unit(np.array(cost)))


def _check_unpaced(budget: Budget, params: Mapping[str, Any]) -> None:
    if budget.by_label and params["price_of_truth"] is not None:
        raise InputError(
            f"budget has a price per label, and price_of_truth={params['price_of_truth']!r} counts in costs of equal "
            "price. Leave out one of them."
        )


def _with_budget(settings: Settings, budget: Budget, over: int) -> Settings:
    if settings.mellowness == 0.0 and settings.rule != PASSIVE:
        raise InputError("mellowness must be above 0 with a budget, because pacing multiplies it, got 0. Raise it.")
    per_example, per_cost = budget.prices
    return settings._replace(
        budget=budget.amount,
        over=over,
        price_per_example=per_example,
        price_per_cost=per_cost,
        rounds_before_budget=budget.since.rounds,
        examples_before_budget=budget.since.examples,
        costs_before_budget=budget.since.costs,
        truths_before_budget=budget.since.truths,
    )
