"""The state of a learner: its parameters, labels, model, and the counts of its questions."""

from abc import abstractmethod
from dataclasses import replace
from threading import RLock
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError as SklearnNotFittedError

from coalface.data.costs import CostScale, check_mask
from coalface.data.labels import label_array, with_abstaining
from coalface.data.rows import Rows, check_feature_names, check_rows, check_width
from coalface.errors import CoalfaceError, InputError
from coalface.kernels.state import COSTS_QUERIED, EXAMPLES_QUERIED, ROUND, Settings
from coalface.kernels.stopping import saving_is_below
from coalface.learner.budget import Budget, Counts
from coalface.learner.settings import AS_PUBLISHED, settings_for
from coalface.learner.stopping import Saving, checked_saving, saving_of
from coalface.models.contract import CostModel
from coalface.rounds.ledger import Recorder

_BEGIN_LOCK = RLock()
DEFAULTS = {**AS_PUBLISHED, "learning_rate": 0.5}  # of parameters that a learner lacks


class NotFittedError(CoalfaceError, SklearnNotFittedError):  # type: ignore[misc]
    """The learner does not know its labels yet."""


class LearnerState(BaseEstimator):  # type: ignore[misc]
    """The base of all learners; a parameter that a learner lacks has its published value."""

    classes: Any
    cost_matrix: Any
    cost_bounds: tuple[float, float]
    mellowness: float
    warm_up: int | str
    audit_rate: float
    abstain_cost: float | None = None
    abstain_label: Any = None
    budget: Any = None

    classes_: NDArray[Any]
    model_: CostModel
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    _recorder: Recorder | None = None
    _begun_model: Any = None  # the parameter ``model`` when the learner began
    _learned_with: ClassVar[tuple[str, ...]] = ("cost_bounds",)  # parameters of this class that affect replay

    def _store(self, params: dict[str, Any]) -> None:
        """Set the parameters of a constructor, given as its ``locals()``, unchanged as scikit-learn requires."""
        self.__dict__.update({name: value for name, value in params.items() if name != "self"})

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
        return settings_for(len(self.classes_) if n_labels is None else n_labels, {**DEFAULTS, **vars(self)})

    def _new_model(self, labels: NDArray[Any]) -> CostModel:
        """A model for these labels; an InputError if a parameter is invalid."""
        self._predictions(labels)
        return self._cost_model().begin(len(labels), self.settings_for(len(labels)))

    def _begin_with(self, labels: NDArray[Any], model: CostModel) -> None:
        with _BEGIN_LOCK:  # two threads must not start the same learner twice
            if not hasattr(self, "model_"):
                self.classes_, self.model_, self._begun_model = labels, model, getattr(self, "model", None)

    def _predictions(self, labels: NDArray[Any]) -> NDArray[Any]:
        """All possible results of ``predict``: the labels and, if the learner can abstain, ``abstain_label``."""
        return labels if self.abstain_cost is None else with_abstaining(labels, self.abstain_label)

    def _rows(self, X: Any, *, allow_empty: bool = True) -> Rows:
        self.begin()
        rows = check_rows(X, allow_empty=allow_empty)
        check_width(rows, self)
        check_feature_names(self, X)
        return rows

    def _candidates(self, candidates: Any, rows: Rows) -> NDArray[np.bool_] | None:
        return None if candidates is None else check_mask(candidates, (len(rows), len(self.classes_)), "candidates")

    # -- counts -----------------------------------------------------------------------------------

    @property
    def round_(self) -> int:
        """The number of the next round, at least 1."""
        return int(self.model_.state.counters[ROUND]) if hasattr(self, "model_") else 1

    @property
    def costs_queried_(self) -> int:
        """The number of costs asked for so far."""
        return int(self.model_.state.counters[COSTS_QUERIED]) if hasattr(self, "model_") else 0

    @property
    def examples_queried_(self) -> int:
        """The number of examples with at least one cost asked for so far."""
        return int(self.model_.state.counters[EXAMPLES_QUERIED]) if hasattr(self, "model_") else 0

    @property
    def saving_(self) -> Saving | None:
        """The most that further questions could save per example; None if it cannot be estimated yet: see ``Saving``.

        The estimate needs audits (``audit_rate`` above 0) and at least 100 rounds answered as they were asked.

        >>> from coalface import CoalClassifier, simulate
        >>> learner = CoalClassifier(classes=["walk", "fly"], audit_rate=0.2)
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

    def should_stop(self, saving: float) -> bool:
        """Whether further questions would save less than ``saving`` per example: the whole interval lies below it.

        >>> from coalface import CoalClassifier
        >>> CoalClassifier(classes=["walk", "fly"], audit_rate=0.1).should_stop(saving=0.02)
        False
        """
        least = self._unit_saving("saving", saving)
        return hasattr(self, "model_") and saving_is_below(self.model_.state.saving, least)

    def _unit_saving(self, name: str, saving: Any) -> float:
        return checked_saving(name, saving, CostScale.of(self.cost_bounds), self.audit_rate)

    # -- spending ---------------------------------------------------------------------------------

    @property
    def spent_(self) -> float:
        """The amount spent since the budget began, in its unit; without a budget, the number of costs asked for.

        >>> from coalface import Budget, CoalClassifier
        >>> budget = Budget(price=100, over=50, price_per_example=3.0, price_per_cost=1.0)
        >>> CoalClassifier(["walk", "fly"], budget=budget).tell([[1.0]], [[0.2, 0.9]]).spent_
        5.0
        """
        if self.budget is None:
            return float(self.costs_queried_)
        budget = Budget.of(self.budget)
        examples, costs = self.examples_queried_ - budget.since.examples, self.costs_queried_ - budget.since.costs
        return budget.price_of(max(examples, 0), max(costs, 0))

    def start_budget(self, budget: Any) -> Self:
        """Start a new budget at the next example; earlier questions do not count against it.

        >>> from coalface import Budget, CoalClassifier
        >>> learner = CoalClassifier(["walk", "fly"]).partial_fit([[1.0]], ["walk"])
        >>> learner.start_budget(Budget(costs=100, over=1000)).spent_
        0.0
        """
        if "budget" not in self.get_params(deep=False):
            raise InputError(f"{type(self).__name__} has no budget. Pass max_costs to ask, or use CoalClassifier.")
        now = Counts(self.round_ - 1, self.examples_queried_, self.costs_queried_)
        self.budget = replace(Budget.of(budget), since=now)
        return self
