"""Checks the learner's parameters and converts them to the ``Settings`` of the kernels."""

import math
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any

import numpy as np

from coalface.data.costs import CostScale
from coalface.data.numbers import auto_or, choice, finite_number, flag, whole_number
from coalface.errors import InputError
from coalface.kernels.state import (
    ADAGRAD,
    ADAX,
    ALL_OR_NONE,
    AUTO_MISSES,
    AUTO_RATE,
    AUTO_WARM_UP,
    COAL,
    DERIVATIVE,
    FIXED_SLACK,
    NO_DOMINATION,
    NOISE_SCALED,
    PASSIVE,
    PRINTED,
    PUBLISHED,
    SEEN_ONLY,
    SHADOW,
    Settings,
)
from coalface.learner.budget import Budget
from coalface.models.choice import model_of
from coalface.models.online import OnlineModel

RULES = {"coal": COAL, "all-or-none": ALL_OR_NONE, "no-domination": NO_DOMINATION, "passive": PASSIVE}
ACCUMULATORS = {"adax": ADAX, "adagrad": ADAGRAD}
SENSITIVITIES = {"shadow": SHADOW, "seen-only": SEEN_ONLY, "derivative": DERIVATIVE}
AUDITS = {"even": False, "loss": True}
SLACKS = {"published": PUBLISHED, "noise-scaled": NOISE_SCALED, "printed": PRINTED}
AS_PUBLISHED: Mapping[str, Any] = MappingProxyType(  # what the paper's authors run in Vowpal Wabbit
    {
        "rule": "coal",
        "width_scale": 0.5,
        "warm_up": 1,
        "in_turn": False,
        "slack": "published",
        "audit_rate": 0.0,
        "audits": "even",
        "accumulator": "adax",
        "sensitivity": "shadow",
        "fit_intercept": True,
        "abstain_cost": None,
        "abstain_label": None,
        "budget": None,
        "alike": None,
        "model": "online",
        "miss_rate": None,
        "price_of_truth": None,
    }
)
AS_PRINTED: Mapping[str, Any] = MappingProxyType(  # the same learner where the paper's text differs
    {**AS_PUBLISHED, "width_scale": 1.0, "slack": "printed", "accumulator": "adagrad", "sensitivity": "derivative"}
)


def settings_for(n_labels: int, params: Mapping[str, Any]) -> Settings:
    """The settings of a learner with these parameters.

    >>> settings_for(3, dict(rule="coal", accumulator="adax", sensitivity="shadow", slack="published",
    ...     mellowness=0.01, width_scale=0.5, learning_rate=0.5, warm_up=10, in_turn=False, audit_rate=0.0,
    ... audits="even",     random_state=0, fit_intercept=True, alike=1.0, model="online", miss_rate=None,
    ...     abstain_cost=None, cost_bounds=(0.0, 1.0), price_of_truth=None)).warm_up
    10
    """
    abstain_cost = _abstain_cost(params)
    try:
        settings = _checked(n_labels, abstain_cost, *[params[name] for name in _NAMES])
    except TypeError:  # an unhashable value: check again without the cache, for an error that names it
        settings = _checked.__wrapped__(n_labels, abstain_cost, *[params[name] for name in _NAMES])
    if params.get("budget") is None:
        return settings
    budget = Budget.of(params["budget"])
    if budget.over is None:
        _check_unpaced(budget, params)
        return settings
    if not model_of(params["model"]).paces_budgets:
        raise InputError(
            f"budget needs model='auto' or 'online' to be spread over examples, got model={params['model']!r}. Leave "
            "out over: the learner then stops at the limit."
        )
    return _with_budget(settings, budget, budget.over)


_NAMES = (
    "rule",
    "accumulator",
    "sensitivity",
    "slack",
    "mellowness",
    "width_scale",
    "learning_rate",
    "warm_up",
    "in_turn",
    "audit_rate",
    "audits",
    "random_state",
    "fit_intercept",
    "alike",
    "model",
    "miss_rate",
    "price_of_truth",
)


@lru_cache(maxsize=256, typed=True)  # services check the same parameters for every row
def _checked(n_labels: int, abstain_cost: float, *values: Any) -> Settings:
    params = dict(zip(_NAMES, values, strict=True))
    _check_printed(params)
    return Settings(
        n_labels=n_labels,
        rule=choice("rule", params["rule"], RULES),
        accumulator=choice("accumulator", params["accumulator"], ACCUMULATORS),
        sensitivity=choice("sensitivity", params["sensitivity"], SENSITIVITIES),
        slack=choice("slack", params["slack"], SLACKS),
        mellowness=finite_number("mellowness", params["mellowness"], 0.0),
        width_scale=finite_number("width_scale", params["width_scale"], 0.0),
        learning_rate=auto_or("learning_rate", params["learning_rate"], AUTO_RATE, _learning_rate),
        warm_up=auto_or("warm_up", params["warm_up"], AUTO_WARM_UP, whole_number),
        in_turn=flag("in_turn", params["in_turn"]),
        audit_rate=finite_number("audit_rate", params["audit_rate"], 0.0, 1.0),
        audits_by_loss=bool(choice("audits", params["audits"], AUDITS)),
        seed=whole_number("random_state", params["random_state"]),
        intercept=flag("fit_intercept", params["fit_intercept"]),
        abstain_cost=abstain_cost,
        miss_rate=_miss_rate(params),
        alike=math.inf if params["alike"] is None else finite_number("alike", params["alike"], 0.0, 1.0, above=True),
        price_of_truth=math.inf
        if params["price_of_truth"] is None
        else finite_number("price_of_truth", params["price_of_truth"], 0.0, above=True),
    )


def _check_printed(params: Mapping[str, Any]) -> None:
    if not isinstance(model_of(params["model"]), OnlineModel) and params["slack"] == "printed":
        raise InputError(
            f"slack='printed' needs model='online', whose slack the paper prints, got model={params['model']!r}. "
            "Use slack='published', or schedule='theory' with OracleCoalClassifier."
        )


def _abstain_cost(params: Mapping[str, Any]) -> float:
    """The cost of abstaining, scaled to [0, 1]; infinite if the learner cannot abstain."""
    if params["abstain_cost"] is None:
        return math.inf
    scale = CostScale.of(params["cost_bounds"])
    cost = finite_number("abstain_cost", params["abstain_cost"], scale.floor, scale.ceiling)
    return float(scale.to_unit(np.array(cost)))


def _check_unpaced(budget: Budget, params: Mapping[str, Any]) -> None:
    if budget.by_label and params["price_of_truth"] is not None:
        raise InputError(
            f"budget has a price per label, and price_of_truth={params['price_of_truth']!r} counts in costs of equal "
            "price. Leave out one of them."
        )


def _with_budget(settings: Settings, budget: Budget, over: int) -> Settings:
    if settings.mellowness == 0.0 and settings.rule != PASSIVE:
        raise InputError("mellowness must be above 0 with a budget, because pacing multiplies it, got 0.")
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


def _miss_rate(params: Mapping[str, Any]) -> float:
    if params["miss_rate"] is None:
        return FIXED_SLACK
    return auto_or("miss_rate", params["miss_rate"], AUTO_MISSES, _share)


def _share(name: str, value: Any) -> float:
    return finite_number(name, value, 0.0, 1.0)


def _learning_rate(name: str, value: Any) -> float:
    return finite_number(name, value, 0.0, 1e6, above=True)
