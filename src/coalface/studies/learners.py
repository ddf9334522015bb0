"""The learners that a line of a study can name: ours, with any of their rules, and the baselines."""

from collections.abc import Callable, Mapping
from functools import partial
from inspect import signature
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from coalface.data.costs import CostScale
from coalface.data.dataset import CostDataset, TrainTest
from coalface.data.numbers import whole_number
from coalface.errors import InputError
from coalface.evaluate.curve import Curve
from coalface.evaluate.simulation import simulate
from coalface.learner.classifiers import CoalClassifier, RidgeCoalClassifier
from coalface.learner.estimator import CostClassifier
from coalface.learner.stopping import checked_saving
from coalface.structured.tagging.tagger import SequenceTagger
from coalface.studies.baselines import BASELINES
from coalface.studies.tagging_run import n_sequences, tagging_curve

_CLASSIFIERS: dict[str, Callable[..., CostClassifier]] = {
    "coal": partial(CoalClassifier, model="online"),  # a line names any other model, so that its results stay its own
    "ridge": partial(RidgeCoalClassifier, miss_rate=None),
}
TAGGER = "tagger"
OURS: dict[str, Callable[..., Any]] = {**_CLASSIFIERS, TAGGER: SequenceTagger}
_DEFAULTS = {  # read from the signatures: a report of a finished sweep must not construct a learner
    name: {parameter.name: parameter.default for parameter in signature(kind).parameters.values()}
    for name, kind in OURS.items()
}
_FROM_THE_DATA = ("classes", "cost_matrix", "random_state")  # set by the data and the permutation
_RUN_SETTINGS = {"batch": 1, "stop_saving": None}  # settings of a line that are not the classifier's
_TAGGER_ONLY = ("window", "passes", "roll_out")  # the data has the features of words, and a run is one pass
Progress = Callable[[int, int], None]


def parameters_of(learner: str) -> tuple[str, ...]:
    """The settings that a line with this learner may have.

    >>> "mellowness" in parameters_of("coal"), "mellowness" in parameters_of("random-costs")
    (True, False)
    """
    if not isinstance(learner, str):
        raise InputError(f"learner must be one name, got {learner!r}")
    if learner in OURS:
        own = tuple(name for name in sorted(_DEFAULTS[learner]) if name not in (*_FROM_THE_DATA, *_TAGGER_ONLY))
        return own if learner == TAGGER else own + tuple(_RUN_SETTINGS)
    if learner not in BASELINES:
        raise InputError(f"learner must be one of {', '.join([*OURS, *BASELINES])}, got {learner!r}")
    return tuple(BASELINES[learner].parameters)


def every_parameter() -> tuple[str, ...]:
    """The settings that at least one learner has."""
    names = [name for learner in (*OURS, *BASELINES) for name in parameters_of(learner)]
    return tuple(dict.fromkeys(names))


def is_pair(name: str) -> bool:
    """Whether the value of a setting is a list, so that a list does not mean several values to try."""
    return name == "cost_bounds"


def default_of(learner: str, name: str) -> Any:
    """The default value of a setting; 0 for a learner without it."""
    if learner in OURS:
        return {**_DEFAULTS[learner], **_RUN_SETTINGS}.get(name, 0.0)
    return BASELINES[learner].parameters.get(name, 0.0)


def check(learner: str, settings: Mapping[str, Any], n_labels: int = 2) -> None:
    """Raise an InputError if the learner rejects these settings."""
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
        BASELINES[learner].check(settings, n_labels)


def rule_of(learner: str, settings: Mapping[str, Any]) -> str:
    """The rule of one of our learners, or the name of a baseline.

    >>> rule_of("coal", {"rule": "passive"}), rule_of("vw", {})
    ('passive', 'vw')
    """
    return str(settings.get("rule", default_of(learner, "rule"))) if learner in OURS else learner


def asks_of(learner: str) -> str:
    """What the learner asks for: single "costs", or "labels"."""
    return "costs" if learner in OURS else BASELINES[learner].asks


def order_of(permutation: int, n_rows: int) -> NDArray[np.int64]:
    """The order of the training rows in a permutation.

    >>> order_of(0, 4).tolist() == order_of(0, 4).tolist() != order_of(1, 4).tolist()
    True
    """
    return np.random.default_rng(permutation).permutation(n_rows)


def run(
    learner: str,
    settings: Mapping[str, Any],
    problem: TrainTest,
    permutation: int,
    checkpoints: Any,
    progress: Progress | None = None,
) -> Curve:
    """One pass over the training rows in the order of the permutation, which also seeds everything random.

    The tagger takes whole sentences in that order.
    """
    train, test = problem
    if learner == TAGGER:
        tagger = SequenceTagger(random_state=permutation, **settings)
        order = order_of(permutation, n_sequences(train))
        return tagging_curve(tagger, train, test, order=order, checkpoints=checkpoints, progress=progress)
    order = order_of(permutation, len(train))
    if learner not in _CLASSIFIERS:
        return BASELINES[learner].run(settings, train, test, order, checkpoints, permutation, progress)
    return simulate(
        new_classifier(learner, settings, train, permutation),
        train.X,
        train.cost,
        X_test=test.X,
        cost_test=test.cost,
        order=order,
        checkpoints=checkpoints,
        candidates=train.candidates,
        price=train.price,
        batch=settings.get("batch", 1),
        stop_saving=settings.get("stop_saving"),
        progress=progress,
    )


def new_classifier(learner: str, settings: Mapping[str, Any], train: CostDataset, permutation: int) -> CostClassifier:
    """One of our classifiers for a run over this data, in which the permutation seeds everything random."""
    own = _own(settings, len(train), len(train.classes))
    if own.get("price_of_truth") is not None:
        own["cost_matrix"] = train.matrix_of_truths()
    return _CLASSIFIERS[learner](classes=train.classes, random_state=permutation, **own)


def _own(settings: Mapping[str, Any], n_rows: int, n_labels: int) -> dict[str, Any]:
    """The learner's own settings; a budget without ``over`` is for all ``n_rows`` examples.

    ``share`` is a share of all their costs.

    >>> _own({"budget": {"share": 0.25}}, n_rows=100, n_labels=3)["budget"]
    {'over': 100, 'costs': 75}
    """
    own = {name: value for name, value in settings.items() if name not in _RUN_SETTINGS}
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
        raise InputError(
            f"budget must have a share above 0 and at most 1, and no costs beside it, got {dict(budget)!r}."
        )
    return float(share)


AUTO = "auto"
Rate: TypeAlias = float | str


def as_rate(value: Any) -> Rate:
    """A rate from a study, a record or a table in one form; a ValueError if it is not a rate.

    >>> as_rate(1), as_rate("0.5"), as_rate("auto")
    (1.0, 0.5, 'auto')
    """
    return AUTO if value == AUTO else float(value)


def by_size(rate: Rate) -> tuple[bool, float]:
    """The sort key of rates: numbers by size, then "auto".

    >>> sorted([0.5, "auto", 0.1], key=by_size)
    [0.1, 0.5, 'auto']
    """
    return (True, 0.0) if isinstance(rate, str) else (False, rate)
