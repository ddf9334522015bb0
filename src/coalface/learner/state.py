"""The state of a learner: its parameters, labels, model, and the counts of its questions."""

from abc import abstractmethod
from collections.abc import Mapping
from threading import RLock
from types import MappingProxyType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from coalface.data.costs import CostScale, check_mask
from coalface.data.encoding.choice import check_features, encoded_rows, encoder_for
from coalface.data.encoding.encoder import Encoder
from coalface.data.encoding.table import has_no_rows, is_raw
from coalface.data.frames import by_row, in_seen_order
from coalface.data.label_features import are_features, joined, require_joined
from coalface.data.labels import label_array, with_abstaining
from coalface.data.rows import Rows, check_feature_names, check_rows, check_width
from coalface.errors import CoalfaceError, InputError, shortened
from coalface.kernels.state import COSTS_QUERIED, EXAMPLES_QUERIED, ROUND, TRUTHS_QUERIED, Settings
from coalface.kernels.stopping import saving_is_below
from coalface.learner.calibration import Calibration, calibration_of
from coalface.learner.parameters import abstain_of, audits_of, flat, settings_for
from coalface.learner.stopping import Saving, checked_saving, rare_labels, saving_of
from coalface.models.contract import CostModel
from coalface.rounds.ledger import Recorder
from coalface.sklearn_base import BaseEstimator
from coalface.sklearn_base import NotFittedError as SklearnNotFittedError

_BEGIN_LOCK = RLock()
LEARNED_WITH = ("cost_bounds", "model")  # parameters that affect replay, whatever the model


class NotFittedError(CoalfaceError, SklearnNotFittedError):
    """The learner does not know its labels yet."""


class LearnerState(BaseEstimator):
    """The base of all learners."""

    classes: Any
    cost_matrix: Any
    cost_bounds: tuple[float, float]
    mellowness: float
    rule: Any
    audits: Any
    abstain: Any
    budget: Any
    price_of_truth: float | None
    features: Any

    classes_: NDArray[Any]
    model_: CostModel
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    encoder_: Encoder  # only if the first examples were raw
    reading_: dict[str, Any]  # how far the file was read that the learner is learning; see ``NamedLearner``
    _recorder: Recorder | None = None
    _begun_with: Mapping[str, Any] = MappingProxyType({})  # parameters that must stay as they were then

    @abstractmethod
    def _cost_model(self) -> CostModel:
        """The untrained model that the parameters describe; its ``begin`` was not called yet."""

    # -- beginning --------------------------------------------------------------------------------

    def begin(self, classes: Any = None) -> Self:
        """Check the parameters and start with these labels, by default ``classes``; has no effect on a started learner.

        >>> from coalface import CoalClassifier
        >>> CoalClassifier(["walk", "fly"]).begin().classes_.tolist()
        ['walk', 'fly']
        """
        if hasattr(self, "model_"):
            return self
        names = self.classes if classes is None else classes
        if names is None:
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet and does not know its labels: "
                "call 'fit' or 'partial_fit', or pass classes=[...]."
            )
        labels = label_array(names)
        self._begin_with(labels, self._new_model(labels))
        return self

    def settings_for(self, n_labels: int | None = None) -> Settings:
        """The checked parameters as the settings of compiled code."""
        n_labels = len(self.classes_) if n_labels is None else n_labels
        return settings_for(n_labels, vars(self), getattr(self, "model_", None))

    def _all_params(self) -> dict[str, Any]:
        """The parameters, and those of their parts by path."""
        return {**vars(self), **flat(vars(self), getattr(self, "model_", None))}

    def _new_model(self, labels: NDArray[Any]) -> CostModel:
        """A model for these labels; an InputError if a parameter is invalid."""
        self._predictions(labels)
        return self._cost_model().begin(len(labels), self.settings_for(len(labels)))

    def _begin_with(self, labels: NDArray[Any], model: CostModel) -> None:
        with _BEGIN_LOCK:  # two threads must not start the same learner twice
            if not hasattr(self, "model_"):
                self.classes_, self.model_ = labels, model
                fixed = ("classes", *LEARNED_WITH)
                self._begun_with = {name: getattr(self, name) for name in fixed}

    def _refuse_changed(self) -> None:
        """Refuse a parameter that was changed since the learner began, if what was learned depends on it."""
        for name, began in self._begun_with.items():
            now = getattr(self, name)
            if now is began and not isinstance(now, CostModel):
                continue
            settings_for(len(self.classes_), vars(self))  # an invalid value is the greater mistake
            if not self._is_as_begun(name, now, began):
                shown = self.model_ if isinstance(began, CostModel) else began
                raise InputError(
                    f"{name} must stay as it was when the learner began, {shortened(shown)}, got {shortened(now)}. "
                    "Call fit, or start a new learner."
                )

    def _is_as_begun(self, name: str, now: Any, began: Any) -> bool:
        if isinstance(now, CostModel):
            ours, theirs = (model.get_params(deep=False) for model in (self.model_, now))
            kept = now.plain()  # a file has no parameters of a machine, such as the device: these may change
            return type(now) is type(self.model_) and all(np.array_equal(ours[part], theirs[part]) for part in kept)
        if name == "cost_bounds":
            return CostScale.of(now) == CostScale.of(began)
        if name == "classes":
            return now is None or np.array_equal(label_array(now), self.classes_)
        return bool(np.all(now == began))

    def _predictions(self, labels: NDArray[Any]) -> NDArray[Any]:
        """All possible results of ``predict``: the labels and, if the learner can abstain, its answer then."""
        abstain = abstain_of(self.abstain)
        return labels if abstain is None else with_abstaining(labels, abstain.label)

    def encoded(self, X: Any, *, allow_empty: bool = True) -> tuple[Rows, Encoder | None]:
        """The checked rows, and the encoder that made them, which is new if X is the first; None for numbers.

        >>> from coalface import CoalClassifier
        >>> rows, encoder = CoalClassifier(["walk", "fly"]).encoded([{"legs": 2}, {"legs": 4}])
        >>> rows.row(0)
        (array([0], dtype=int32), array([-1.], dtype=float32))
        >>> encoder.describe()
        'legs  number, standardised (mean 3, deviation 1)'
        """
        if has_no_rows(X) and not allow_empty:
            raise InputError("X must have at least one row, got 0 sample(s). Pass some examples.")
        if has_no_rows(X) and hasattr(self, "n_features_in_"):
            return check_rows(np.zeros((0, self.n_features_in_), np.float32)), getattr(self, "encoder_", None)
        kept = getattr(self, "encoder_", None)
        if kept is None and hasattr(self, "n_features_in_"):
            return self._numbers(X, allow_empty=allow_empty), None
        encoder = encoder_for(X, self.features, kept)
        return check_rows(encoded_rows(X, encoder), allow_empty=allow_empty), encoder

    def _numbers(self, X: Any, *, allow_empty: bool) -> Rows:
        """The checked rows of a learner that began with numbers."""
        check_features(self.features)
        try:
            return check_rows(X, allow_empty=allow_empty)
        except InputError as problem:
            if not is_raw(X):
                raise
            raise InputError(
                f"{problem} The first rows were numbers without gaps, so the learner takes no others. Start with "
                "features=Encoder() if later rows may have texts or missing values."
            ) from None

    def _keep_encoder(self, encoder: Encoder | None) -> None:
        if encoder is not None:
            self.encoder_ = encoder

    def _names_of(self, X: Any, encoder: Encoder | None = None) -> NDArray[np.object_] | None:
        """The column names of numbers; those of raw examples belong to the encoder."""
        return None if encoder is not None or hasattr(self, "encoder_") else check_feature_names(self, X)

    def _rows(self, X: Any, *, allow_empty: bool = True) -> Rows:
        """The checked rows of examples; their encoder is kept, so that all later rows are encoded alike."""
        self.begin()._refuse_changed()
        X = in_seen_order(X, self)
        rows, encoder = self.encoded(X, allow_empty=allow_empty)
        check_width(rows, self)
        self._names_of(X, encoder)
        self._keep_encoder(encoder)
        return rows

    def with_label_features(self, X: Any, candidates: Any, classes: Any = None) -> tuple[Any, Any]:
        """The examples and the mask of candidates; features of labels, given as ``candidates``, join the examples.

        >>> from coalface import CoalClassifier
        >>> learner = CoalClassifier(["walk", "fly"], model="shared")
        >>> X, candidates = learner.with_label_features([[1.0]], [{"fly": [3.0]}])
        >>> X.nnz, candidates
        (2, array([[False,  True]]))
        """
        model = self.model_ if hasattr(self, "model_") else self._cost_model()
        is_empty = isinstance(candidates, list | tuple) and not candidates
        if not are_features(candidates) and not (is_empty and model.reads_label_features):
            if model.reads_label_features:
                require_joined(X.shape[1] if isinstance(X, sparse.csr_array) else 0, candidates)
            return X, candidates
        if not model.reads_label_features:
            raise InputError(
                f"candidates with features of labels need a learner with model='shared', got {type(model).__name__}."
            )
        known = self.classes if classes is None else classes
        return joined(X, candidates, getattr(self, "classes_", known))

    def _candidates(self, candidates: Any, rows: Rows, X: Any = None) -> NDArray[np.bool_] | None:
        """The labels (n, K) that may be predicted and asked about, without retired ones; None: all."""
        allowed = None
        if candidates is not None:
            allowed = check_mask(by_row(candidates, X, "candidates"), len(rows), self.classes_, "candidates")
        active = self.model_.active
        if active.all():
            return allowed
        return np.tile(active, (len(rows), 1)) if allowed is None else allowed & active

    # -- counts -----------------------------------------------------------------------------------

    @property
    def round_(self) -> int:
        """The number of the next round, at least 1."""
        return int(self.model_.state.counters[ROUND]) if hasattr(self, "model_") else 1

    @property
    def costs_queried_(self) -> int:
        """The number of costs asked for so far, one by one."""
        return int(self.model_.state.counters[COSTS_QUERIED]) if hasattr(self, "model_") else 0

    @property
    def costs_answered_(self) -> int:
        """The number of costs learned so far; one that was asked for and could not be told is not among them.

        >>> from coalface import CoalClassifier
        >>> learner = CoalClassifier(["walk", "fly"]).tell([[1.0]], [[0.2, np.nan]], asked=[[True, True]])
        >>> learner.costs_queried_, learner.costs_answered_
        (2, 1)
        """
        return int(self.model_.state.answered.sum()) if hasattr(self, "model_") else 0

    @property
    def examples_queried_(self) -> int:
        """The number of examples with at least one cost, or the true label, asked for so far."""
        return int(self.model_.state.counters[EXAMPLES_QUERIED]) if hasattr(self, "model_") else 0

    @property
    def truths_queried_(self) -> int:
        """The number of true labels asked for so far: see ``price_of_truth``."""
        return int(self.model_.state.counters[TRUTHS_QUERIED]) if hasattr(self, "model_") else 0

    @property
    def price_queried_(self) -> float:
        """The price of all questions so far, in costs: a true label counts as ``price_of_truth``.

        >>> from coalface import CoalClassifier
        >>> learner = CoalClassifier(["walk", "fly", "swim"], price_of_truth=2).tell([[1.0]], truth=["fly"])
        >>> learner.truths_queried_, learner.costs_queried_, learner.price_queried_
        (1, 0, 2.0)
        """
        return float(self._in_costs(self.costs_queried_, self.truths_queried_))

    @property
    def saving_(self) -> Saving | None:
        """The most that further questions could save per example; None if it cannot be estimated yet: see ``Saving``.

        The estimate needs audits and at least 100 rounds answered as they were asked.

        >>> from coalface import Audits, CoalClassifier, simulate
        >>> learner = CoalClassifier(classes=["walk", "fly"], audits=Audits(0.2))
        >>> learner.saving_ is None
        True
        >>> _ = simulate(learner, [[1.0, 0.0], [0.0, 1.0]] * 500, [[0.0, 1.0], [1.0, 0.0]] * 500)
        >>> learner.saving_.rounds, learner.saving_.high < 0.1
        (1000, True)
        """
        if not hasattr(self, "model_"):
            return None
        with self.model_.lock:
            return saving_of(self.model_.state, CostScale.of(self.cost_bounds))

    @property
    def rare_labels_(self) -> dict[Any, int]:
        """The labels that were best of fewer than 10 answered examples, with how often; the rarest come first.

        Predictions of such a label are guesses: tell some examples of it, or ask for more.

        >>> from coalface import CoalClassifier
        >>> learner = CoalClassifier(["walk", "fly"]).tell([[1.0]] * 20, [[0.2, 0.9]] * 20)
        >>> learner.rare_labels_
        {'fly': 0}
        """
        labels = self.classes_.tolist() if hasattr(self, "model_") else []
        found = rare_labels(self.model_.state, labels) if labels else {}
        return {label: often for label, often in found.items() if self.model_.active[labels.index(label)]}

    @property
    def calibration_(self) -> Calibration | None:
        """How often the best label was missed, as audits measure it; None if the slack does not follow them.

        >>> from coalface import Coal, CoalClassifier, simulate
        >>> learner = CoalClassifier(classes=["walk", "fly"], model="forest", rule=Coal(miss_rate=0.05))
        >>> _ = simulate(learner, [[1.0, 0.0], [0.0, 1.0]] * 200, [[0.0, 1.0], [1.0, 0.0]] * 200)
        >>> learner.calibration_.stated, learner.calibration_.measured
        (0.05, 0.0)
        """
        if not hasattr(self, "model_"):
            return None
        with self.model_.lock:
            stated = self.model_.resolved(self.settings_for()).miss_rate
            return calibration_of(stated, self.model_.state) if stated <= 1.0 else None

    def should_stop(self, saving: float) -> bool:
        """Whether further questions would save less than ``saving`` per example: the whole interval lies below it.

        >>> from coalface import CoalClassifier
        >>> CoalClassifier(classes=["walk", "fly"]).should_stop(saving=0.02)
        False
        """
        least = self._unit_saving("saving", saving)
        return hasattr(self, "model_") and saving_is_below(self.model_.state.saving, least)

    def _unit_saving(self, name: str, saving: Any) -> float:
        return checked_saving(name, saving, CostScale.of(self.cost_bounds), audits_of(self.audits).rate)

    def _in_costs(self, costs: Any, truths: Any) -> Any:
        """The price of questions, in costs, computed as in the kernels; numbers or arrays."""
        return 1.0 * costs if self.price_of_truth is None else 1.0 * costs + float(self.price_of_truth) * truths
