"""``LearnerState``: the parameters of a learner and what it has learned; the modules of this folder work on it."""

from collections.abc import Mapping
from threading import RLock
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.data.costs import Bounds, CostScale
from coalface.data.encoding.choice import check_features
from coalface.data.encoding.encoder import Encoder
from coalface.data.input_ranges import InputRanges
from coalface.data.label_runs import LabelRuns
from coalface.data.labels import label_array, with_abstaining
from coalface.data.targets import first_labels
from coalface.errors import CoalfaceError, InputError, shortened
from coalface.kernels.state import Settings
from coalface.learner.parameters import Seed, abstain_of, draws_seed, seed_of, settings_for
from coalface.models.choice import model_of
from coalface.models.contract import CostModel
from coalface.rounds.ledger import Recorder
from coalface.sklearn_base import BaseEstimator, check_random_state
from coalface.sklearn_base import NotFittedError as SklearnNotFittedError

_BEGIN_LOCK = RLock()
_PRIVATE = (  # attributes that fit forgets
    *("_recorder", "_begun_with", "_said", "_learned_costs", "_carried", "_inputs", "_bounds", "_told", "_labels"),
)
LEARNED_WITH = ("cost_bounds", "model")  # parameters that affect replay, whatever the model


class NotFittedError(CoalfaceError, SklearnNotFittedError):
    """The learner does not know its labels yet."""


class LearnerState(BaseEstimator):
    """The attributes of a learner. What works on them are functions, a module for each purpose."""

    classes: Any
    cost_matrix: Any
    cost_bounds: Any
    model: Any
    rule: Any
    mellowness: float
    budget: Any
    audits: Any
    abstain: Any
    price_of_truth: float | None
    features: Any
    shuffle: bool
    random_state: Seed

    classes_: NDArray[Any]
    model_: CostModel
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    random_state_: int  # only if it was drawn
    encoder_: Encoder  # only if the first examples were raw
    reading_: dict[str, Any]  # how far the file was read that the learner is learning; see ``NamedLearner``
    _recorder: Recorder | None = None
    _begun_with: Mapping[str, Any] = MappingProxyType({})  # parameters that must stay as they were then
    _said: frozenset[str] = frozenset()  # warnings that are given once
    _carried: int | None = None  # of the weights of rows: see ``rows_by_weight``
    _labels: LabelRuns | None = None  # the runs of labels that were told
    _inputs: InputRanges | None = None
    _learned_costs: bool = False  # whether ``fit`` or ``partial_fit`` learned costs, not class labels
    _bounds: Bounds | None = None  # of "auto", as far as they are known
    _told: list[Any] | None = None  # with "auto", all that was told, to be learned again; None if it was not kept


def scale_of(learner: LearnerState) -> CostScale:
    """The scale of costs in use.

    >>> from coalface import CoalClassifier
    >>> scale_of(CoalClassifier(cost_bounds=(0, 100))).span
    100.0
    """
    return CostScale.of(learner.cost_bounds, learner._bounds)


def is_begun(learner: LearnerState) -> bool:
    """Whether the learner knows its labels and has a model."""
    return "model_" in vars(learner)


def begin(learner: LearnerState, classes: Any = None) -> None:
    """Check the parameters and start with these labels, by default ``classes``; has no effect on a started learner.

    >>> from coalface import CoalClassifier
    >>> learner = CoalClassifier(["walk", "fly"])
    >>> begin(learner)
    >>> learner.classes_.tolist()
    ['walk', 'fly']
    """
    own_seed(learner)
    if is_begun(learner):
        return
    names = learner.classes if classes is None else classes
    if names is None:
        raise NotFittedError(
            f"This {type(learner).__name__} instance is not fitted yet and does not know its labels: "
            "call 'fit' or 'partial_fit', or pass classes=[...]."
        )
    labels = label_array(names)
    begin_with(learner, labels, new_model(learner, labels))


def new_model(learner: LearnerState, labels: NDArray[Any]) -> CostModel:
    """A model for these labels; an InputError if a parameter is invalid."""
    answers_of(learner, labels)
    check_features(learner.features)
    return model_of(learner.model).begin(len(labels), first_settings(learner, labels))


def first_settings(learner: LearnerState, labels: NDArray[Any]) -> Settings:
    """The checked parameters of a learner that has not begun."""
    own_seed(learner)
    return settings_for(len(labels), vars(learner))


def own_seed(learner: LearnerState) -> int:
    """The seed of a learner, drawn once if ``random_state`` is not a number: as in scikit-learn, None is NumPy's own.

    >>> from coalface import CoalClassifier
    >>> learner = CoalClassifier(random_state=np.random.default_rng(0))
    >>> own_seed(learner) == own_seed(learner) == learner.random_state_
    True
    """
    given = learner.random_state
    if type(given) is int:  # the common case
        return given
    with _BEGIN_LOCK:
        if draws_seed(given) and "random_state_" not in vars(learner):
            draw = given.integers if isinstance(given, np.random.Generator) else check_random_state(given).randint
            learner.random_state_ = int(draw(2**31 - 1))
    seed: int = seed_of(vars(learner))  # checked with the other parameters
    return seed


def begin_with(learner: LearnerState, labels: NDArray[Any], model: CostModel) -> None:
    """Start with these labels and this model, unless another thread has started the learner meanwhile."""
    with _BEGIN_LOCK:
        if not is_begun(learner):
            learner.classes_, learner.model_ = labels, model
            learner._told = [] if scale_of(learner).open else None
            learner._begun_with = {name: getattr(learner, name) for name in ("classes", *LEARNED_WITH)}


def ready(learner: LearnerState) -> LearnerState:
    """The learner, begun; an InputError if a parameter was changed on which what it has learned depends."""
    begin(learner)
    for name, began in learner._begun_with.items():
        now = getattr(learner, name)
        if (now is not began or isinstance(now, CostModel)) and not _is_as_begun(learner, name, now, began):
            settings_for(len(learner.classes_), vars(learner))  # an invalid value is the greater mistake
            shown = learner.model_ if isinstance(began, CostModel) else began
            raise InputError(
                f"{name} must stay as it was when the learner began, {shortened(shown)}, got {shortened(now)}. "
                "Call fit, or start a new learner."
            )
    return learner


def _is_as_begun(learner: LearnerState, name: str, now: Any, began: Any) -> bool:
    if isinstance(now, CostModel):
        return type(now) is type(learner.model_) and _alike(learner.model_, now)
    if name == "cost_bounds":
        return CostScale.of(now) == CostScale.of(began)
    if name == "classes":
        return now is None or np.array_equal(label_array(now), learner.classes_)
    return bool(np.all(now == began))


def _alike(began: CostModel, now: CostModel) -> bool:
    """Whether two models have the same parameters, the machine aside that they compute on."""
    ours, theirs = began.get_params(deep=False), now.get_params(deep=False)
    return all(np.array_equal(ours[name], theirs[name]) for name in ours if name not in ("device", "precision"))


def settings_of(learner: LearnerState) -> Settings:
    """The checked parameters of a learner that has begun, as the settings of compiled code."""
    model, key = learner.model_, _settings_key(learner)
    if model.checked is None or model.checked[0] != key:
        model.checked = key, settings_for(len(learner.classes_), vars(learner), model)
    return model.checked[1]


def _settings_key(learner: LearnerState) -> tuple[Any, ...]:
    """What the settings depend on, compared by value: parts such as a rule may be changed in place."""
    parts = (learner.rule, learner.audits, learner.abstain, learner.budget)
    return (
        *(dict(part if isinstance(part, Mapping) else getattr(part, "__dict__", {"": part})) for part in parts),
        *(learner.mellowness, learner.price_of_truth, learner.shuffle, learner.random_state),
        *(learner.cost_bounds, learner._bounds),
        *(learner.model if isinstance(learner.model, str) else id(learner.model_), len(learner.classes_)),
    )


def answers_of(learner: LearnerState, labels: NDArray[Any]) -> NDArray[Any]:
    """All possible results of ``predict``: the labels and, if the learner can abstain, its answer then."""
    abstain = abstain_of(learner.abstain)
    return labels if abstain is None else with_abstaining(labels, abstain.label)


def resolve_classes(learner: LearnerState, classes: Any, cost: Any) -> NDArray[Any]:
    """The labels of the learner or, before it begins, those of ``classes`` or of the columns of ``cost``."""
    if is_begun(learner):
        if classes is not None and not np.array_equal(label_array(classes), learner.classes_):
            raise InputError(
                f"classes={shortened(classes)} is not the same as on the first call: "
                f"{shortened(learner.classes_.tolist())}. Add labels with add_label, or start a new learner."
            )
        return learner.classes_
    return first_labels(learner.classes if classes is None else classes, cost, learner.cost_matrix)


def become(learner: LearnerState, fresh: LearnerState) -> None:
    """Forget all that was learned, and take what another learner with the same parameters has learned."""
    for name in [name for name in vars(learner) if name.endswith("_") or name in _PRIVATE]:
        delattr(learner, name)
    vars(learner).update(vars(fresh))
