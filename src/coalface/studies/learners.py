"""Everything a line of a study can run: our learners with any of their rules, and what users would pick instead."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.data.costs import CostScale
from coalface.data.dataset import TrainTest
from coalface.data.numbers import whole_number
from coalface.errors import InputError
from coalface.learner.coal import CoalClassifier
from coalface.learner.estimator import CostClassifier
from coalface.learner.ridge import RidgeCoalClassifier
from coalface.learner.stopping import checked_saving
from coalface.search.tagging.tagger import SequenceTagger
from coalface.studies.baselines import RIVALS
from coalface.studies.curve import Curve
from coalface.studies.simulation import simulate
from coalface.studies.tagging_run import n_sequences, tagging_curve

_CLASSIFIERS: dict[str, type[CostClassifier]] = {"coal": CoalClassifier, "ridge": RidgeCoalClassifier}
TAGGER = "tagger"
OURS: dict[str, type[CostClassifier] | type[SequenceTagger]] = {**_CLASSIFIERS, TAGGER: SequenceTagger}
_GIVEN = ("classes", "cost_matrix", "random_state")  # by the data and the permutation
_OF_THE_RUN = {"batch": 1, "stop_saving": None}  # settings of a line that are not the classifier's
_OF_THE_WORDS = ("window", "passes", "roll_out")  # the data has the features, and a run is one pass
Progress = Callable[[int, int], None]


def parameters_of(learner: str) -> tuple[str, ...]:
    """The settings that a line with this learner may have.

    >>> "mellowness" in parameters_of("coal"), "mellowness" in parameters_of("random-costs")
    (True, False)
    """
    if not isinstance(learner, str):
        raise InputError(f"learner must be one name, got {learner!r}")
    if learner in OURS:
        own = tuple(name for name in OURS[learner]().get_params() if name not in (*_GIVEN, *_OF_THE_WORDS))
        return own if learner == TAGGER else own + tuple(_OF_THE_RUN)
    if learner not in RIVALS:
        raise InputError(f"learner must be one of {', '.join([*OURS, *RIVALS])}, got {learner!r}")
    return tuple(RIVALS[learner].parameters)


def every_parameter() -> tuple[str, ...]:
    """The settings that some learner has."""
    names = [name for learner in (*OURS, *RIVALS) for name in parameters_of(learner)]
    return tuple(dict.fromkeys(names))


def is_pair(name: str) -> bool:
    """Whether a setting is a list by nature."""
    return name == "cost_bounds"


def default_of(learner: str, name: str) -> Any:
    """What a setting is if nobody says; 0 for a learner without it."""
    if learner in OURS:
        return {**OURS[learner]().get_params(), **_OF_THE_RUN}.get(name, 0.0)
    return RIVALS[learner].parameters.get(name, 0.0)


def check(learner: str, settings: Mapping[str, Any], n_labels: int = 2) -> None:
    """Raise an InputError if the learner cannot have these settings."""
    if learner == TAGGER:
        SequenceTagger(**settings).check(n_labels)
    elif learner in _CLASSIFIERS:
        CostScale.of(settings.get("cost_bounds", (0.0, 1.0)))
        whole_number("batch", settings.get("batch", 1), least=1)
        ours = _CLASSIFIERS[learner](**_own(settings, n_rows=1, n_labels=n_labels))
        ours.begin(range(n_labels))
        if settings.get("stop_saving") is not None:
            bounds = CostScale.of(ours.cost_bounds)
            checked_saving("stop_saving", settings["stop_saving"], bounds, ours.audit_rate)
    else:
        RIVALS[learner].check(settings, n_labels)


def rule_of(learner: str, settings: Mapping[str, Any]) -> str:
    """The rule of our learners, the name of any other.

    >>> rule_of("coal", {"rule": "passive"}), rule_of("vw", {})
    ('passive', 'vw')
    """
    return str(settings.get("rule", default_of(learner, "rule"))) if learner in OURS else learner


def asks_of(learner: str) -> str:
    """What the learner asks for: "costs" one by one, or "labels"."""
    return "costs" if learner in OURS else RIVALS[learner].asks


def order_of(permutation: int, n_rows: int) -> NDArray[np.int64]:
    """The order in which a permutation takes the training rows.

    >>> order_of(0, 4).tolist() == order_of(0, 4).tolist() != order_of(1, 4).tolist()
    True
    """
    return np.random.default_rng(permutation).permutation(n_rows)


def run(
    learner: str,
    settings: Mapping[str, Any],
    problem: TrainTest,
    permutation: int,
    budgets: Any,
    progress: Progress | None = None,
) -> Curve:
    """One pass over the training rows in the order of the permutation, which also seeds what else is random.

    The tagger takes whole sentences in such an order.
    """
    train, test = problem
    if learner == TAGGER:
        tagger = SequenceTagger(random_state=permutation, **settings)
        order = order_of(permutation, n_sequences(train))
        return tagging_curve(tagger, train, test, order=order, budgets=budgets, progress=progress)
    order = order_of(permutation, len(train))
    if learner not in _CLASSIFIERS:
        return RIVALS[learner].run(settings, train, test, order, budgets, permutation, progress)
    own = _own(settings, len(train), len(train.classes))
    return simulate(
        _CLASSIFIERS[learner](classes=train.classes, random_state=permutation, **own),
        train.X,
        train.cost,
        X_test=test.X,
        cost_test=test.cost,
        order=order,
        budgets=budgets,
        candidates=train.candidates,
        price=train.price,
        batch=settings.get("batch", 1),
        stop_saving=settings.get("stop_saving"),
        progress=progress,
    )


def _own(settings: Mapping[str, Any], n_rows: int, n_labels: int) -> dict[str, Any]:
    """The learner's own settings; a budget that does not say over how many examples is for all of these.

    A ``share`` stands for so many of all their costs.

    >>> _own({"budget": {"share": 0.25}}, n_rows=100, n_labels=3)["budget"]
    {'over': 100, 'costs': 75}
    """
    own = {name: value for name, value in settings.items() if name not in _OF_THE_RUN}
    own["cost_bounds"] = tuple(settings.get("cost_bounds", (0.0, 1.0)))
    budget = settings.get("budget")
    if not isinstance(budget, Mapping):
        return own
    amount = {name: value for name, value in budget.items() if name != "share"}
    if "share" in budget:
        amount["costs"] = round(_checked_share(budget) * n_rows * n_labels)
    return {**own, "budget": {"over": n_rows, **amount}}


def _checked_share(budget: Mapping[str, Any]) -> float:
    share = budget["share"]
    if not isinstance(share, int | float) or not 0 < share <= 1 or "costs" in budget:
        raise InputError(f"share of a budget must be above 0, at most 1 and without costs, got {dict(budget)!r}.")
    return float(share)
