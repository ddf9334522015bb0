"""The scikit-learn classifier: ``fit``, ``partial_fit``, ``predict`` and ``score``."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin

from coalface.data.costs import CostScale, check_cost
from coalface.data.labels import label_array
from coalface.data.rows import Rows, check_rows
from coalface.data.targets import first_labels, given_costs, labels_of, require_target
from coalface.errors import InputError
from coalface.kernels.state import NO_ROUNDS, Settings
from coalface.learner.simulating import SimulatingLearner
from coalface.rounds.queries import CostRanges


class CostClassifier(ClassifierMixin, SimulatingLearner):  # type: ignore[misc]
    """The base of the public learners, which add their parameters and choose a cost model."""

    # -- learning ----------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, *, cost: Any = None, candidates: Any = None) -> Self:
        """Reset the learner, then learn all given class labels or costs in one pass.

        >>> from coalface import CoalClassifier
        >>> CoalClassifier().fit([[0.0], [1.0]] * 10, ["no", "yes"] * 10).predict([[0.0], [1.0]]).tolist()
        ['no', 'yes']
        """
        if self._recorder is not None:
            raise InputError("fit would reset a learner that records to a ledger. Use partial_fit, or fit a clone.")
        fresh = type(self)(**self.get_params(deep=False))
        fresh.partial_fit(
            X, y, cost=cost, classes=labels_of(y, cost, self.classes, self.cost_matrix), candidates=candidates
        )
        for name in [name for name in vars(self) if name.endswith("_") or name in ("_warned", "_code_of")]:
            delattr(self, name)  # only now, because learning may fail
        self.__dict__.update(vars(fresh))
        return self

    def partial_fit(
        self, X: Any, y: Any = None, *, cost: Any = None, classes: Any = None, candidates: Any = None
    ) -> Self:
        """Learn all the given costs: class labels (0/1 costs, or those of ``cost_matrix``) or ``cost``.

        ``classes`` names the labels on the first call, in the order of the columns of ``cost``.

        >>> from coalface import CoalClassifier
        >>> learner = CoalClassifier().partial_fit([[1.0, 0.0]], cost=[[0.2, 0.9]], classes=["walk", "fly"])
        >>> learner.partial_fit([[0.0, 1.0]], ["fly"]).costs_queried_
        4
        """
        require_target(y, cost)
        rows = check_rows(X, allow_empty=False)
        labels = self.resolve_classes(classes, cost)
        self._tell(X, rows, labels, self._costs_given(rows, labels, y, cost), None, candidates)
        self.warn_if_collapsed()
        return self

    # -- predicting --------------------------------------------------------------------------------

    def predict(self, X: Any, *, candidates: Any = None) -> NDArray[Any]:
        """The label with the least predicted cost, per example, or ``abstain_label`` if ``abstain_cost`` is less.

        >>> from coalface import CoalClassifier
        >>> learner = CoalClassifier(["walk", "fly"]).tell([[1.0]], [[0.2, 0.9]])
        >>> learner.predict([[1.0]]).tolist(), learner.predict([[1.0]], candidates=[[False, True]]).tolist()
        (['walk'], ['fly'])
        """
        rows = self._rows(X)
        allowed = self._candidates(candidates, rows)
        best = self.model_.answer(rows, self.settings_for(), NO_ROUNDS.candidates if allowed is None else allowed)
        if (best < 0).any():
            raise InputError(f"candidates must leave at least one label, row {np.argmax(best < 0)} has none.")
        return np.asarray(self._predictions(self.classes_)[best])

    def predict_cost(self, X: Any) -> NDArray[np.float64]:
        """The predicted cost of every label, (n, K); it may lie outside ``cost_bounds``.

        >>> from coalface import CoalClassifier
        >>> CoalClassifier(["walk", "fly"]).tell([[1.0]] * 50, [[0.2, 0.9]] * 50).predict_cost([[1.0]]).round(1)
        array([[0.2, 0.9]])
        """
        rows = self._rows(X)
        with self.model_.lock:
            predicted = self.model_.predictions(rows)
        return CostScale.of(self.cost_bounds).from_unit(predicted)

    def cost_range(self, X: Any) -> CostRanges:
        """The range of every cost if the example were decided now, ignoring the budget; always within ``cost_bounds``.

        >>> from coalface import CoalClassifier
        >>> CoalClassifier(["walk", "fly"]).cost_range([[1.0]]).width
        array([[1., 1.]])
        """
        rows = self._rows(X)
        return self._decide(rows, None, settings=self.settings_for()._replace(budget=np.inf, alike=np.inf)).ranges

    def score(self, X: Any, y: Any = None, cost: Any = None) -> float:
        """The negative mean cost of the predictions, given class labels or known costs.

        >>> from coalface import CoalClassifier
        >>> learner = CoalClassifier(["walk", "fly"]).tell([[1.0]], [[0.2, 0.9]])
        >>> learner.score([[1.0]], cost=[[0.25, 0.5]]), learner.score([[1.0]], ["fly"])
        (-0.25, -1.0)
        """
        rows = self._rows(X, allow_empty=False)
        scale = CostScale.of(self.cost_bounds)
        unit = check_cost(self._costs_given(rows, self.classes_, y, cost), len(rows), self.classes_, scale)
        paid = self.costs_of_answers(rows, unit)
        if np.isnan(paid).any():
            raise InputError(
                f"cost must be known for the predicted labels, got NaN in row {np.argmax(np.isnan(paid))}."
            )
        return -float(scale.from_unit(paid.mean()))

    def costs_of_answers(self, rows: Rows, unit: NDArray[np.float32]) -> NDArray[np.float64]:
        """The costs of the predictions for checked rows; ``unit`` (n, K) are the true costs, scaled to [0, 1]."""
        settings: Settings = self.settings_for()
        best = self.model_.answer(rows, settings)
        of_labels = unit[np.arange(len(best)), np.minimum(best, settings.n_labels - 1)].astype(np.float64)
        return np.where(best < settings.n_labels, of_labels, settings.abstain_cost)

    # -- labels ------------------------------------------------------------------------------------

    def resolve_classes(self, classes: Any, cost: Any) -> NDArray[Any]:
        """The labels of the learner or, before it begins, those of ``classes`` or of the columns of ``cost``."""
        if hasattr(self, "classes_"):
            if classes is not None and not np.array_equal(label_array(classes), self.classes_):
                raise InputError(
                    f"classes={classes!r} is not the same as on the first call: {self.classes_.tolist()}. "
                    "Labels cannot change; start a new learner."
                )
            return np.asarray(self.classes_)
        return first_labels(self.classes if classes is None else classes, cost, self.cost_matrix)

    def _costs_given(self, rows: Rows, labels: NDArray[Any], y: Any, cost: Any) -> NDArray[Any]:
        return given_costs(y, cost, len(rows), labels, self.cost_matrix, CostScale.of(self.cost_bounds))

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that sparse input is supported."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
