"""The parameters of a learner: what asks, what audits and when it abstains, and the settings that they become."""

import math
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any, ClassVar, Literal, TypeVar

import numpy as np

from coalface.data.costs import CostScale
from coalface.data.numbers import finite_number, flag
from coalface.errors import InputError, shortened
from coalface.kernels.codes import PASSIVE, PRINTED
from coalface.kernels.state import Settings
from coalface.learner.budget import Budget
from coalface.learner.parameter_table import AUDITS, PARAMETERS, RULES
from coalface.models.choice import model_of
from coalface.models.contract import CostModel
from coalface.models.linear import LINEAR_PARAMETERS
from coalface.models.online import OnlineModel
from coalface.sklearn_base import BaseEstimator, clone

Variant = Literal["coal", "passive", "all-or-none", "no-domination"]
Seed = int | np.random.Generator | np.random.RandomState | None
Slack = Literal["noise-scaled", "published", "printed"]


class ParameterGroup(BaseEstimator):
    """Parameters that one object owns, such as those of a rule; equal if all are equal.

    A subclass has a constructor that stores its parameters. ``_first`` is the one that a text alone stands for.
    """

    _group: ClassVar[str]  # the learner's parameter that holds the object
    _first: ClassVar[str]
    _names: ClassVar[tuple[str, ...]] = ()  # that ``_first`` may have

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((type(self), *vars(self).values()))


G = TypeVar("G", bound=ParameterGroup)


def group_of(kind: type[G], value: Any) -> G:
    """The object itself, or the one that a name or a mapping from a file describes.

    >>> group_of(Coal, "passive"), group_of(Coal, {"warm_up": 3})
    (Coal(variant='passive'), Coal(warm_up=3))
    """
    if isinstance(value, kind):
        return value
    if isinstance(value, str) and value in kind._names:
        return kind(**{kind._first: value})
    if not isinstance(value, Mapping):
        named = f"one of {', '.join(map(repr, kind._names))}, " if kind._names else ""
        raise InputError(f"{kind._group} must be {named}None or {kind.__name__}(...), got {shortened(value)}.")
    known = kind._get_param_names()
    for name in value:
        if name not in known:
            raise InputError(f"{kind._group} has no parameter {shortened(name)}. It has {', '.join(known)}.")
    if kind._first not in value and not kind._names:
        raise InputError(f"{kind._group} must have {kind._first}, got {shortened(dict(value))}. Add it.")
    return kind(**value)


def plain_group(group: ParameterGroup) -> dict[str, Any]:
    """The parameters as JSON values."""
    return {name: value.item() if isinstance(value, np.generic) else value for name, value in vars(group).items()}


class Coal(ParameterGroup):
    """The rule of COAL and its variants: which costs are worth asking for.

    ``variant`` is "coal", or a rule that COAL is compared with: "passive" asks for every cost, "all-or-none" for all
    costs of an example or none, and "no-domination" also for those of labels that cannot be best.

    >>> from coalface import CoalClassifier
    >>> CoalClassifier(["walk", "fly"], rule=Coal(warm_up=0, slack="published")).ask([[1.0]]).costs_asked
    2
    """

    _group, _first, _names = "rule", "variant", tuple(RULES)

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

    _group, _first, _names = "audits", "by", tuple(AUDITS)

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

    _group, _first = "abstain", "cost"

    def __init__(self, cost: float, label: Any = None) -> None:
        self.cost = cost
        self.label = label


NO_AUDITS = Audits(rate=0.0)
_NAMED_BY = {"rule": "variant", "audits": "by", "abstain": "cost", "model": "kind"}  # what a text alone stands for
GROUPS: Mapping[str, type[ParameterGroup]] = MappingProxyType({"rule": Coal, "audits": Audits, "abstain": Abstain})

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
    rule, audits = rule_of(params["rule"]), audits_of(params["audits"])
    found = {**_OF_MODELS, **(model_of(params["model"]) if model is None else model).linear_parameters()}
    found.update((f"rule.{name}", value) for name, value in vars(rule).items())
    found.update((f"audits.{name}", value) for name, value in vars(audits).items())
    found.update((path, params[path]) for path in _TABLE if path in params)
    return found | {"random_state": seed_of(params)}


def draws_seed(random_state: Any) -> bool:
    """Whether a learner draws its seed, because it is given None or a source of random numbers."""
    return random_state is None or isinstance(random_state, np.random.Generator | np.random.RandomState)


def seed_of(params: Mapping[str, Any]) -> Any:
    """The seed of a learner, also if it was drawn; 0 before that.

    >>> seed_of({"random_state": 7}), seed_of({"random_state": None, "random_state_": 1234})
    (7, 1234)
    """
    return params.get("random_state_", 0) if draws_seed(params["random_state"]) else params["random_state"]


def rule_of(value: Any) -> Coal:
    """The rule of a learner, given by its name or as an object."""
    return group_of(Coal, value)


def audits_of(value: Any) -> Audits:
    """The audits of a learner; None stands for none."""
    return NO_AUDITS if value is None else group_of(Audits, value)


def abstain_of(value: Any) -> Abstain | None:
    """Whether and at which cost a learner abstains."""
    return None if value is None else group_of(Abstain, value)


def with_parts(own: Mapping[str, Any], params: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters that ``set_params`` sets, with an object for each part that a nested one names.

    >>> with_parts({"rule": "coal"}, {"rule__warm_up": 10})
    {'rule__warm_up': 10, 'rule': Coal()}
    """
    found = dict(params)
    for name in {path.partition("__")[0] for path in params if "__" in path} & GROUPS.keys():
        given = params.get(name, own[name])
        if given is None:
            given = Abstain(params["abstain__cost"]) if name == "abstain" and "abstain__cost" in params else NO_AUDITS
        found[name] = clone(group_of(GROUPS[name], given))
    if any(path.startswith("model__") for path in params):
        found["model"] = clone(model_of(params.get("model", own["model"])))
    return found


def by_path(params: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of a learner by path, with those of its parts; a part itself has the name of its kind.

    >>> from coalface import CoalClassifier
    >>> found = by_path(CoalClassifier(model="online").get_params(deep=False))
    >>> found["rule"], found["rule.warm_up"], found["audits.rate"], found["abstain.cost"], found["model.learning_rate"]
    ('coal', 'auto', 0.1, None, 'auto')
    """
    rule, audits, model = rule_of(params["rule"]), audits_of(params["audits"]), model_of(params["model"])
    found = {**params, "rule": rule.variant, "abstain.cost": None, "abstain.label": None}
    for group, part in (("rule", rule), ("audits", audits), ("model", model)):
        found.update((f"{group}.{name}", value) for name, value in part.get_params(deep=False).items())
    return found


def nested(values: Mapping[str, Any], defaults: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Values by path as the arguments of a learner; ``defaults`` complete its parts.

    >>> nested({"rule": "passive", "rule.warm_up": 10, "mellowness": 0.1, "model": "ridge"}, {"rule": {"alike": None}})
    {'mellowness': 0.1, 'model': 'ridge', 'rule': {'alike': None, 'variant': 'passive', 'warm_up': 10}}
    """
    found = {path: value for path, value in values.items() if "." not in path and path != "rule"}
    for group, first in _NAMED_BY.items():
        parts = {path.partition(".")[2]: value for path, value in values.items() if path.startswith(f"{group}.")}
        if group == "rule" or parts:
            named = {first: values[group]} if group in values else {}
            parts = {**defaults.get(group, {}), **named, **parts}
        if parts:
            found[group] = parts
    return found


def settings_for(n_labels: int, params: Mapping[str, Any], model: CostModel | None = None) -> Settings:
    """The settings of a learner with these parameters; an InputError if one is invalid.

    >>> from coalface import CoalClassifier
    >>> settings_for(3, CoalClassifier(rule=Coal(warm_up=10)).get_params(deep=False)).warm_up
    10
    """
    flag("shuffle", params["shuffle"])
    values, abstain = flat(params, model), abstain_of(params["abstain"])
    abstain_cost = math.inf if abstain is None else _unit_cost(abstain, params)
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


def scale_in(params: Mapping[str, Any]) -> CostScale:
    """The scale of costs of a learner with these attributes: its ``cost_bounds`` or, if "auto", those in use."""
    return CostScale.of(params["cost_bounds"], params.get("_bounds"))


def _unit_cost(abstain: Abstain, params: Mapping[str, Any]) -> float:
    """The cost of abstaining, scaled to [0, 1]; without known bounds as much as any label may cost."""
    scale = scale_in(params)
    cost = finite_number("abstain cost", abstain.cost, *scale.allowed)
    if scale.open:
        return (cost - scale.floor) / scale.span if scale.known else 1.0
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
