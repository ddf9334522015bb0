"""The learners that a line can name: ours with any of their rules, and those of plug-ins."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from coalface.data import CostDataset, CostScale, TrainTest, whole_number
from coalface.errors import InputError
from coalface.evaluate import Checkpoints, Curve, Progress, simulate
from coalface.learner import Coal, CoalClassifier, by_path, nested, unit_saving
from coalface.studies.plugins import Plugin

Settings: TypeAlias = Mapping[str, Any]
Watch: TypeAlias = Progress | None


class StudyLearner(Protocol):
    """What runs the lines of a study that name it: a classifier of ours, or a learner of a plug-in.

    ``parameters`` are the settings that a line may have, with their defaults. ``asks`` is "costs", or "labels" where a
    question is for a true label. ``sources`` are the folders of more code that determines the results, and ``package``
    is the distribution whose version does, if any. ``is_linear`` says that the time of a run grows with its rows.
    """

    name: str
    asks: str
    parameters: Mapping[str, Any]
    sources: tuple[Path, ...]
    package: str
    is_linear: bool

    def check(self, settings: Settings, n_labels: int) -> object:
        """Raise an InputError if the learner rejects these settings."""

    def run(
        self, settings: Settings, problem: TrainTest, permutation: int, checkpoints: Checkpoints, progress: Watch = None
    ) -> Curve:
        """One pass over the training data in the order of the permutation, which also seeds everything random."""
        ...


AUTO = "auto"
TUNED = "learning_rate"  # a setting of every learner that has one: reports show the best of several
_RATE = f"model.{TUNED}"  # where it is in a learner of ours
CLASSIFIERS: dict[str, Callable[..., CoalClassifier]] = {
    "coal": partial(CoalClassifier, model="online"),  # a line names any other model, so that its results stay its own
    "ridge": partial(CoalClassifier, model="ridge", rule=Coal(miss_rate=None)),
}
_DEFAULTS: dict[str, dict[str, dict[str, Any]]] = {
    "coal": {"model": {"kind": "online"}},
    "ridge": {"model": {"kind": "ridge"}, "rule": {"miss_rate": None}},
}
_FROM_THE_DATA = ("classes", "cost_matrix", "random_state")  # set by the data and the permutation
_RUN_SETTINGS = {"batch": 1, "stop_saving": None}  # settings of a line that are not the classifier's


class _Classifier:
    """A classifier of ours as a learner of studies."""

    asks, package, is_linear = "costs", "", True
    sources: tuple[Path, ...] = ()

    def __init__(self, name: str, new: Callable[..., CoalClassifier]) -> None:
        self.name, self.new = name, new
        own = {TUNED if path == _RATE else path: value for path, value in by_path(new().get_params(deep=False)).items()}
        self.parameters: Mapping[str, Any] = {
            **{path: own[path] for path in sorted(own) if path not in _FROM_THE_DATA},
            **_RUN_SETTINGS,
        }

    def check(self, settings: Settings, n_labels: int) -> None:
        """Raise an InputError if the classifier rejects these settings."""
        CostScale.of(settings.get("cost_bounds", (0.0, 1.0)))
        whole_number("batch", settings.get("batch", 1), least=1)
        ours = self.new(**_own(self.name, settings, n_rows=1, n_labels=n_labels))
        ours.begin(range(n_labels))
        if settings.get("stop_saving") is not None:
            unit_saving(ours, "stop_saving", settings["stop_saving"])

    def run(
        self, settings: Settings, problem: TrainTest, permutation: int, checkpoints: Checkpoints, progress: Watch = None
    ) -> Curve:
        """One simulated pass over the training rows."""
        train, test = problem
        return simulate(
            new_classifier(self.name, settings, train, permutation),
            train.X,
            train.cost,
            X_test=test.X,
            cost_test=test.cost,
            order=order_of(permutation, len(train)),
            checkpoints=checkpoints,
            candidates=train.candidates,
            price=train.price,
            batch=settings.get("batch", 1),
            stop_saving=settings.get("stop_saving"),
            progress=progress,
        )


LEARNERS: dict[str, StudyLearner] = {name: _Classifier(name, new) for name, new in CLASSIFIERS.items()}


def order_of(permutation: int, n_rows: int) -> NDArray[np.int64]:
    """The order of the training rows in a permutation.

    >>> order_of(0, 4).tolist() == order_of(0, 4).tolist() != order_of(1, 4).tolist()
    True
    """
    return np.random.default_rng(permutation).permutation(n_rows)


def find_learner(name: Any, plugins: Sequence[Plugin] = ()) -> StudyLearner:
    """The learner of this name: a plug-in's, or ours.

    >>> "learning_rate" in find_learner("coal").parameters, "learning_rate" in find_learner("ridge").parameters
    (True, False)
    """
    if not isinstance(name, str):
        raise InputError(f"learner must be one name, got {name!r}")
    for known in (*(plugin.learners for plugin in plugins), LEARNERS):
        if name in known:
            return known[name]
    raise InputError(f"learner must be one of {', '.join(LEARNERS)}, or of a plug-in that plugins names, got {name!r}")


def new_classifier(learner: str, settings: Mapping[str, Any], train: CostDataset, permutation: int) -> CoalClassifier:
    """One of our classifiers for a run over this data, in which the permutation seeds everything random."""
    own = _own(learner, settings, len(train), len(train.classes))
    if own.get("price_of_truth") is not None:
        own["cost_matrix"] = train.matrix_of_truths()
    return CLASSIFIERS[learner](classes=train.classes, random_state=permutation, **own)


def _own(learner: str, settings: Mapping[str, Any], n_rows: int, n_labels: int) -> dict[str, Any]:
    """The arguments of the learner; a budget without ``over`` is for all ``n_rows`` examples.

    ``share`` is a share of all their costs.

    >>> _own("coal", {"budget": {"share": 0.25}}, n_rows=100, n_labels=3)["budget"]
    {'over': 100, 'costs': 75}
    """
    own = {name: value for name, value in settings.items() if name not in (*_RUN_SETTINGS, TUNED)}
    if settings.get(TUNED, AUTO) != AUTO:  # which every other model would refuse
        own[_RATE] = settings[TUNED]
    own = nested(own, _DEFAULTS[learner])
    bounds = settings.get("cost_bounds", (0.0, 1.0))
    own["cost_bounds"] = bounds if isinstance(bounds, str) else tuple(bounds)
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
