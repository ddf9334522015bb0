"""The scikit-learn classifier: ``fit``, ``partial_fit``, ``predict`` and ``score``."""

import warnings
from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from coalface.data.costs import Costs, CostScale, check_cost, check_mask
from coalface.data.encoding.names import EncodedNames
from coalface.data.frames import by_row, in_seen_order, named_by_text
from coalface.data.labels import label_array, label_codes
from coalface.data.numbers import flag
from coalface.data.rows import Rows
from coalface.data.targets import first_labels, given_costs, labels_of, require_target
from coalface.errors import InputError, UnknownLabelError, shortened
from coalface.kernels.state import NO_ROUNDS, Settings, new_rounds
from coalface.learner.deciding import Mask
from coalface.learner.parameters import Coal, audits_of
from coalface.learner.possible_savings import unit_savings
from coalface.learner.simulating import SimulatingLearner
from coalface.learner.top_features import TopFeature, top_features
from coalface.learner.unlearned import warn_of_unlearned
from coalface.rounds.queries import CostRanges
from coalface.sklearn_base import ClassifierMixin

_PIECE = 4096  # rows that fit plays before it checks for Ctrl-C
_MIDDLE = np.float32(0.5)  # of costs scaled to [0, 1]
_OF_A_RUN = ("_warned", "_warned_unanswered", "_code_of", "_of_costs")  # forgotten by fit
_ROUTING = "in searches and cross-validation, it needs sklearn.set_config(enable_metadata_routing=True)"


class CostClassifier(ClassifierMixin, SimulatingLearner):
    """The base of the public learners, which add their parameters and choose a cost model."""

    _of_costs = False  # whether fit or partial_fit learned costs, not class labels
    # where scikit-learn routes metadata, searches and pipelines pass these on without a request of the user
    __metadata_request__fit: ClassVar = {"cost": True, "candidates": True, "active": True}
    __metadata_request__partial_fit: ClassVar = {"cost": True, "candidates": True, "classes": True}
    __metadata_request__predict: ClassVar = {"candidates": True}
    __metadata_request__score: ClassVar = {"cost": True, "candidates": True}

    # -- learning ----------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, *, cost: Any = None, candidates: Any = None, active: bool = False) -> Self:
        """Reset the learner, then learn all given class labels or costs in one pass.

        If both ``y`` and ``cost`` are given, the costs are learned, and the labels of ``y`` name their columns, in
        ascending order unless ``classes`` names them. With ``active``, the learner asks for the costs that it wants,
        row by row, and learns only those, as in ``simulate``: so a search over ``rule``, ``mellowness`` or ``budget``
        compares what they ask. Otherwise it learns all costs, and these parameters make no difference.

        >>> from coalface import CoalClassifier
        >>> X, y = [[0.0, 1.0], [1.0, 0.0]] * 100, ["no", "yes"] * 100
        >>> CoalClassifier().fit(X, y).costs_queried_, CoalClassifier().fit(X, y, active=True).costs_queried_ < 100
        (400, True)
        >>> CoalClassifier().fit([[0.0], [1.0]] * 10, ["no", "yes"] * 10).predict([[0.0], [1.0]]).tolist()
        ['no', 'yes']
        """
        if self._recorder is not None:
            raise InputError("fit would reset a learner that records to a ledger. Use partial_fit, or fit a clone.")
        fresh = type(self)(**self.get_params(deep=False))
        require_target(y, cost)
        if y is not None and hasattr(y, "__len__") and len(y) == 0:
            fresh.encoded(X, allow_empty=False)  # an empty X is the mistake, not that y has no labels
        labels = labels_of(y, cost, self.classes, self.cost_matrix)
        learn = fresh._play_all if flag("active", active) else fresh.partial_fit
        learn(X, y, cost=cost, classes=labels, candidates=candidates)
        for name in [name for name in vars(self) if name.endswith("_") or name in _OF_A_RUN]:
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
        X, candidates = self.with_label_features(X, candidates, classes)
        X, cost = in_seen_order(X, self), by_row(cost, X, "cost")
        rows, encoder = self.encoded(X, allow_empty=False)
        labels = self.resolve_classes(classes, cost)
        costs = self._costs_to_learn(rows, labels, y, cost)
        self._tell(X, rows, labels, costs, None, candidates, encoder=encoder)
        self._of_costs = self._of_costs or cost is not None
        self.warn_if_collapsed()
        return self

    def _play_all(self, X: Any, y: Any, *, cost: Any, classes: Any, candidates: Any) -> None:
        """Learn the costs that the learner asks for, row by row; the given costs answer."""
        X, candidates = self.with_label_features(X, candidates, classes)
        X, cost, candidates = named_by_text(X), by_row(cost, X, "cost"), by_row(candidates, X, "candidates")
        rows, encoder = self.encoded(X, allow_empty=False)
        labels = self.resolve_classes(classes, cost)
        costs = self._costs_to_learn(rows, labels, y, cost)
        given = NO_ROUNDS._replace(costs=check_cost(costs, len(rows), labels, CostScale.of(self.cost_bounds)))
        if candidates is not None:
            given = given._replace(candidates=check_mask(candidates, len(rows), labels, "candidates"))
        run = self.start_run(X, rows, labels, costs, given, np.arange(len(rows)), encoder=encoder)
        while run.done < len(run) and not run.at_limit:
            self.play(run, _PIECE)
        self._of_costs = cost is not None
        self.warn_if_collapsed()
        may_miss = Coal.of(self.rule).variant != "passive"  # which asks for everything
        if may_miss and cost is None and self.cost_matrix is None:  # else a label may be right, yet not worth its risk
            truth, allowed = given.costs.argmin(axis=1), given.candidates

            def predicted(some: NDArray[np.int64]) -> NDArray[np.int64]:
                mine = allowed[some] if len(allowed) else allowed
                return self.model_.answer(rows.take(some), self.settings_for(), mine)

            limited = self.budget is not None
            warn_of_unlearned(self.classes_, truth, predicted, on_budget=limited, audits=audits_of(self.audits))

    # -- predicting --------------------------------------------------------------------------------

    def predict(self, X: Any, *, candidates: Any = None, offset: Any = None) -> NDArray[Any]:
        """The label with the least predicted cost, per example, or the label of ``abstain`` if its cost is less.

        A label without any answered cost counts as costing the middle of ``cost_bounds``; a warning says so once. One
        that was added later is not predicted before its first answer. A learner without any answer predicts the first
        label. ``offset`` (n, K) or (K,) is the known part of each cost, in the unit of ``cost_bounds``; the label with
        the least total is returned.

        >>> from coalface import CoalClassifier
        >>> learner = CoalClassifier(["walk", "fly"]).tell([[1.0]], [[0.2, 0.9]])
        >>> learner.predict([[1.0]]).tolist(), learner.predict([[1.0]], candidates=[[False, True]]).tolist()
        (['walk'], ['fly'])
        >>> learner.predict([[1.0]], offset=[0.9, 0.1]).tolist()
        ['fly']
        """
        best = self.best_labels(X, candidates=candidates, offset=offset)
        self.warn_if_unanswered()
        return best

    def best_labels(self, X: Any, *, candidates: Any = None, offset: Any = None) -> NDArray[Any]:
        """What ``predict`` returns, without its warning about labels that have no answered cost yet.

        >>> from coalface import CoalClassifier
        >>> CoalClassifier(["walk", "fly"]).best_labels([[1.0]]).tolist()
        ['walk']
        """
        return self._labels(X, candidates, self._best, offset)

    def _labels(
        self, X: Any, candidates: Any, best_of: Callable[[Rows, Mask, Costs], NDArray[np.int64]], offset: Any = None
    ) -> NDArray[Any]:
        X, candidates = self.with_label_features(X, candidates)
        rows = self._rows(X)
        allowed = self._candidates(candidates, rows, X)
        offsets = NO_ROUNDS.offsets if offset is None else self._offsets(X, rows, self.classes_, offset)
        best = best_of(rows, NO_ROUNDS.candidates if allowed is None else allowed, offsets)
        _refuse_no_candidate(best)
        return np.asarray(self._predictions(self.classes_)[best])

    def model_labels(self, X: Any, *, candidates: Any = None) -> NDArray[Any]:
        """The labels with the least numbers of the model, also where a label has no answered cost yet.

        The online model starts at the lower bound. Studies and learning to search compare these labels, as the paper
        and Vowpal Wabbit do.

        >>> from coalface import CoalClassifier
        >>> learner = CoalClassifier(["walk", "fly"], model="online").tell([[1.0]] * 9, [[0.2, np.nan]] * 9)
        >>> learner.model_labels([[1.0]]).tolist(), learner.best_labels([[1.0]]).tolist()
        (['fly'], ['walk'])
        """
        return self._labels(X, candidates, self._model_best)

    def predict_cost(self, X: Any, *, candidates: Any = None) -> NDArray[np.float64]:
        """The predicted cost of every label, (n, K); it may lie outside ``cost_bounds``. NaN if not a candidate.

        These are the numbers of the model, also for labels without an answered cost; the online model starts at the
        lower bound.

        >>> from coalface import CoalClassifier
        >>> CoalClassifier(["walk", "fly"]).tell([[1.0]] * 50, [[0.2, 0.9]] * 50).predict_cost([[1.0]]).round(1)
        array([[0.2, 0.9]])
        """
        X, candidates = self.with_label_features(X, candidates)
        rows = self._rows(X)
        with self.model_.lock:
            predicted = self.model_.predictions(rows)
        cost = CostScale.of(self.cost_bounds).from_unit(predicted)
        if candidates is None:
            return cost
        allowed = check_mask(by_row(candidates, X, "candidates"), len(rows), self.classes_, "candidates")
        return np.where(allowed, cost, np.nan)

    def cost_range(self, X: Any, *, candidates: Any = None, same_round: bool = False) -> CostRanges:
        """The range of every cost if the example were decided now, ignoring the budget; always within ``cost_bounds``.

        The range of a label that is not a candidate is NaN. Row r is decided r rounds after the next one, as in
        ``ask``; with ``same_round``, all rows are decided at the next, so an example has the same range in any batch.

        >>> from coalface import CoalClassifier
        >>> CoalClassifier(["walk", "fly"]).cost_range([[1.0]]).width
        array([[1., 1.]])
        """
        X, candidates = self.with_label_features(X, candidates)
        rows = self._rows(X)
        settings = self.settings_for()._replace(budget=np.inf, alike=np.inf)
        if flag("same_round", same_round):
            settings = settings._replace(round_step=0)
        found = self._decide(rows, None, settings=settings).ranges
        if candidates is None:
            return found
        allowed = check_mask(by_row(candidates, X, "candidates"), len(rows), self.classes_, "candidates")
        return CostRanges(np.where(allowed, found.lowest, np.nan), np.where(allowed, found.highest, np.nan))

    def possible_savings(self, X: Any, *, candidates: Any = None) -> NDArray[np.float64]:
        """What further questions could still save on each example, in the unit of ``cost_bounds``, (n,).

        It is the predicted cost of the answer less the least lowest cost of any candidate; 0 where the rule asks
        nothing. Budget, audits and near-duplicates do not count, and all examples are decided at the next round, so
        an example has the same saving in any batch. ``coalface rank`` sorts by it.

        >>> from coalface import CoalClassifier
        >>> learner = CoalClassifier().fit([[1.0, 0.0], [0.0, 1.0]] * 20, ["walk", "fly"] * 20)
        >>> plain, doubtful = learner.possible_savings([[1.0, 0.0], [0.5, 0.5]])
        >>> bool(plain < doubtful)
        True
        """
        X, candidates = self.with_label_features(X, candidates)
        rows = self._rows(X)
        allowed = self._candidates(candidates, rows, X)
        settings = self.settings_for()._replace(budget=np.inf, alike=np.inf, audit_rate=0.0, round_step=0)
        low, high = self.cost_bounds
        if allowed is None and not self.unanswered.any():
            savings = self.model_.quick_savings(rows, settings)
            if savings is not None:
                return savings * (float(high) - float(low))
        best = self._best(rows, NO_ROUNDS.candidates if allowed is None else allowed)
        with self.model_.lock:
            found = self.model_.ask(rows, settings, new_rounds(len(rows), settings.n_labels, allowed), outlook=False)
        return unit_savings(found, best, self.unanswered, settings) * (float(high) - float(low))

    def top_features(self, label: Any, n: int = 10, *, feature_names: Any = None) -> list[TopFeature]:
        """The features that move the predicted cost of a label most; with the online model or a forest.

        A negative effect speaks for the label: see ``TopFeature``. ``feature_names`` are by default those of the data
        frame that the learner learned from; without names, features have the numbers of their columns.

        >>> from coalface import CoalClassifier
        >>> learner = CoalClassifier(["walk", "fly"], model="online")
        >>> _ = learner.fit([[1.0, 0.0], [0.0, 1.0]] * 20, ["walk", "fly"] * 20)
        >>> [(one.name, one.effect < 0) for one in learner.top_features("fly", feature_names=["legs", "wings"])]
        [('legs', False), ('wings', True)]
        """
        self.begin()
        names = getattr(self, "feature_names_in_", None) if feature_names is None else feature_names
        if names is None and hasattr(self, "encoder_"):
            names = EncodedNames(self.encoder_)
        column = int(label_codes([label], self.classes_)[0])
        low, high = self.cost_bounds
        return top_features(self.model_, column, n, names, float(high) - float(low))

    def score(
        self, X: Any, y: Any = None, cost: Any = None, sample_weight: Any = None, *, candidates: Any = None
    ) -> float:
        """Minus the mean cost of the predictions, in the unit of ``cost_bounds``, given class labels or known costs.

        It is at most 0 with the default bounds, and the larger the better, as scikit-learn's searches expect. With
        class labels and neither ``cost_matrix`` nor abstaining, it is the accuracy minus 1. ``sample_weight`` (n,)
        weighs the examples.

        >>> from coalface import CoalClassifier
        >>> learner = CoalClassifier(["walk", "fly"]).tell([[1.0]], [[0.2, 0.9]])
        >>> learner.score([[1.0]], cost=[[0.25, 0.5]]), learner.score([[1.0]], ["fly"])
        (-0.25, -1.0)
        """
        if y is None and cost is None:
            raise InputError(
                f"score needs y or cost, got neither. It requires y to be passed, or cost=...; {_ROUTING}."
            )
        X, candidates = self.with_label_features(X, candidates)
        rows, cost = self._rows(X, allow_empty=False), by_row(cost, X, "cost")
        self._warn_of_labels_alone(cost)
        scale = CostScale.of(self.cost_bounds)
        unit = check_cost(self._costs_given(rows, self.classes_, y, cost), len(rows), self.classes_, scale)
        allowed = self._candidates(candidates, rows, X)
        best = self._best(rows, NO_ROUNDS.candidates if allowed is None else allowed)
        _refuse_no_candidate(best)
        paid = self._costs_of(best, unit)
        self.warn_if_unanswered()
        if np.isnan(paid).any():
            raise InputError(
                f"cost must be known for the predicted labels, got NaN in row {np.argmax(np.isnan(paid))}. "
                "Leave such rows out."
            )
        weights = None if sample_weight is None else _weights(sample_weight, len(rows))
        mean = paid.mean() if weights is None else np.average(paid, weights=weights)
        return -float(scale.from_unit(np.asarray(mean)))

    def _warn_of_labels_alone(self, cost: Any) -> None:
        """Warn once if ``fit`` learned costs and ``score`` gets labels without their costs."""
        if cost is None and self.cost_matrix is None and self._of_costs:
            self._of_costs = False
            warnings.warn(
                "score counts errors as 0 and 1 here, because it got labels without costs, but the learner learned "
                f"costs. Pass cost=...; {_ROUTING}.",
                UserWarning,
                stacklevel=3,
            )

    def costs_of_answers(self, rows: Rows, unit: NDArray[np.float32]) -> NDArray[np.float64]:
        """The costs of the model's labels for checked rows; ``unit`` (n, K) are the true costs, scaled to [0, 1]."""
        allowed = self._candidates(None, rows)
        mask = NO_ROUNDS.candidates if allowed is None else allowed
        return self._costs_of(self.model_.answer(rows, self.settings_for(), mask), unit)

    def _costs_of(self, best: NDArray[np.int64], unit: NDArray[np.float32]) -> NDArray[np.float64]:
        settings: Settings = self.settings_for()
        of_labels = unit[np.arange(len(best)), np.minimum(best, settings.n_labels - 1)].astype(np.float64)
        return np.where(best < settings.n_labels, of_labels, settings.abstain_cost)

    def _model_best(self, rows: Rows, candidates: Mask, offsets: Costs = NO_ROUNDS.offsets) -> NDArray[np.int64]:
        return self.model_.answer(rows, self.settings_for(), candidates, offsets)

    def _best(self, rows: Rows, candidates: Mask, offsets: Costs = NO_ROUNDS.offsets) -> NDArray[np.int64]:
        """The column of the best label of each row; labels without an answer must not win with their first number."""
        settings, silent = self.settings_for(), self.unanswered
        if silent.all() or not silent.any():
            return self._model_best(rows, candidates, offsets)
        with self.model_.lock:
            predicted = self.model_.predictions(rows).copy()  # the model may keep its array
            predicted[:, silent] = _MIDDLE
            predicted[:, silent & (self.model_.state.since[: len(silent)] > 0)] = np.inf  # a new label waits
            return self.model_.best_of(predicted, settings, candidates, offsets)

    # -- labels ------------------------------------------------------------------------------------

    def resolve_classes(self, classes: Any, cost: Any) -> NDArray[Any]:
        """The labels of the learner or, before it begins, those of ``classes`` or of the columns of ``cost``."""
        if hasattr(self, "classes_"):
            if classes is not None and not np.array_equal(label_array(classes), self.classes_):
                raise InputError(
                    f"classes={shortened(classes)} is not the same as on the first call: "
                    f"{shortened(self.classes_.tolist())}. Add labels with add_label, or start a new learner."
                )
            return np.asarray(self.classes_)
        return first_labels(self.classes if classes is None else classes, cost, self.cost_matrix)

    def _costs_to_learn(self, rows: Rows, labels: NDArray[Any], y: Any, cost: Any) -> NDArray[Any]:
        costs = self._costs_given(rows, labels, y, cost)
        if costs.size and np.isnan(costs).all():
            raise InputError("cost must have a known cost to learn from, got only NaN. Pass y or costs, or use ask.")
        return costs

    def _costs_given(self, rows: Rows, labels: NDArray[Any], y: Any, cost: Any) -> NDArray[Any]:
        try:
            return given_costs(y, cost, len(rows), labels, self.cost_matrix, CostScale.of(self.cost_bounds))
        except UnknownLabelError as problem:
            raise UnknownLabelError(problem.label, labels.tolist(), addable=True) from None

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that sparse input, texts, categories and missing values are supported."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


def _refuse_no_candidate(best: NDArray[np.int64]) -> None:
    if (best < 0).any():
        raise InputError(f"candidates must leave at least one label, row {np.argmax(best < 0)} has none.")


def _weights(sample_weight: Any, n_rows: int) -> NDArray[np.float64]:
    weights = np.asarray(sample_weight, np.float64)
    if weights.shape != (n_rows,) or not np.isfinite(weights).all() or weights.min() < 0 or weights.sum() == 0:
        raise InputError(
            f"sample_weight must be {n_rows} finite numbers of at least 0, one of them above 0, got shape "
            f"{weights.shape}."
        )
    return weights
