"""What all learners are: regressors, ranges, rules and ledger joined into a scikit-learn classifier.

``ask`` looks, ``tell`` acts. Costs are checked and mapped to [0, 1] here, and back on the way out.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from threading import RLock
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError as SklearnNotFittedError

from coalface.data.columns import check_feature_names, check_width
from coalface.data.costs import CostScale, check_cost, check_mask
from coalface.data.labels import label_array, with_abstaining
from coalface.data.numbers import whole_number
from coalface.data.rows import Rows, check_rows
from coalface.data.targets import first_labels, given_costs, labels_of, require_target
from coalface.errors import CoalfaceError, InputError
from coalface.kernels.state import Settings
from coalface.learner import batches, rounds
from coalface.learner.collapse import warn_if_collapsed
from coalface.learner.interview import interview
from coalface.learner.persistence import Kept
from coalface.learner.rowwise import RowByRow
from coalface.learner.settings import AS_PUBLISHED, settings_for
from coalface.models.contract import CostRegressors
from coalface.models.online import OnlineRegressors
from coalface.rounds.arrays import answered_in, rows_in
from coalface.rounds.asked import Asked
from coalface.rounds.cost_ranges import CostRanges
from coalface.rounds.queries import Queries
from coalface.rounds.recorder import one_at_a_time
from coalface.rounds.replay import entries_for
from coalface.rounds.round import Round

_BEGINNING = RLock()
_UNLESS_SAID = {**AS_PUBLISHED, "learning_rate": 0.5}  # parameters that a learner does not have


class NotFittedError(CoalfaceError, SklearnNotFittedError):  # type: ignore[misc]
    """The learner does not know its labels yet."""


class CostClassifier(RowByRow, Kept, ABC, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A cost-sensitive classifier that asks; a learner adds its parameters and makes its regressors.

    Parameters that a learner does not have are as published.
    """

    classes: Any
    cost_matrix: Any
    mellowness: float
    warm_up: int | str
    abstain_cost: float | None = None
    abstain_label: Any = None
    budget: Any = None

    @abstractmethod
    def _new_regressors(self, n_labels: int) -> CostRegressors:
        """Regressors that have learned nothing yet."""

    @abstractmethod
    def _saved_regressors(self, n_labels: int, arrays: Mapping[str, NDArray[Any]]) -> CostRegressors:
        """The regressors whose arrays were saved."""

    # -- learning all that is given ------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, *, cost: Any = None, candidates: Any = None) -> Self:
        """Forget everything, then learn all the given costs in one pass; class labels or ``cost``.

        >>> from coalface import CoalClassifier
        >>> CoalClassifier().fit([[0.0], [1.0]] * 10, ["no", "yes"] * 10).predict([[0.0], [1.0]]).tolist()
        ['no', 'yes']
        """
        if hasattr(self, "_recorder"):
            raise InputError("fit forgets what the ledger remembers; use partial_fit, or fit a clone of this learner.")
        fresh = type(self)(**self.get_params(deep=False))
        fresh.partial_fit(
            X, y, cost=cost, classes=labels_of(y, cost, self.classes, self.cost_matrix), candidates=candidates
        )
        for name in [name for name in vars(self) if name.endswith("_") or name in ("_warned", "_code_of")]:
            delattr(self, name)  # only once nothing can go wrong any more
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
        known = self._resolve_classes(classes, cost)
        return self._tell(X, rows, known, self._costs_given(rows, known, y, cost), None, candidates, late=False)

    # -- asking and telling --------------------------------------------------------------------

    def ask(
        self,
        X: Any,
        max_costs: int | None = None,
        *,
        candidates: Any = None,
        known: Any = None,
        asked: Any = None,
        first_round: int | None = None,
    ) -> Queries:
        """The costs worth asking for, with reasons; nothing changes.

        ``max_costs`` keeps the widest ranges only. ``candidates`` (n, K) restricts the labels of each example.
        ``known`` (n, K) holds the costs answered so far, NaN elsewhere: what they settle is left out, and what was
        ``asked`` (by default the known ones) is not asked again. ``interview`` does that for you. What is asked for on
        one example is not asked for on an equal one: see ``alike``. The examples are decided at the rounds from
        ``first_round`` on, by default the next ones; a caller that has told less than it asked gives each its own.

        >>> from coalface import CoalClassifier
        >>> queries = CoalClassifier(["walk", "fly"]).ask([[1.0, 0.0]])
        >>> print(queries.reason(0))
        round 1: asks for 2 of 2 costs
          ask walk  predicted   0.000  range 0.000 to 1.000  warm-up
          ask fly   predicted   0.000  range 0.000 to 1.000  warm-up
        """
        limit = None if max_costs is None else whole_number("max_costs", max_costs)
        rows = self._rows(X)
        answered = self._answered(rows, known, asked)
        start = None if first_round is None else whole_number("first_round", first_round, least=1)
        queries = self._decide(rows, self._candidates(candidates, rows), answered, first_round=start)
        return queries if limit is None else queries.limited_to(limit)

    def interview(self, X: Any, answer: Callable[[int, Any], float], *, candidates: Any = None) -> Self:
        """Ask about each example, one question after the other, until nothing is left to ask; then learn it.

        ``answer(i, label)`` gives the cost of a label on example ``i``, NaN if nobody can tell.

        >>> from coalface import CoalClassifier
        >>> costs = {"walk": 0.2, "fly": 0.9}
        >>> learner = CoalClassifier(["walk", "fly"]).interview([[1.0]] * 99, lambda i, label: costs[label])
        >>> learner.round_, learner.costs_queried_ < 150
        (100, True)
        """
        interview(self, X, answer, candidates)
        return self

    def _decide(
        self,
        rows: Rows,
        candidates: NDArray[np.bool_] | None,
        answered: rounds.Answered = rounds.NOTHING_ANSWERED,
        settings: Settings | None = None,
        first_round: int | None = None,
    ) -> Queries:
        scale, settings = CostScale.of(self.cost_bounds), settings or self._settings()
        found = batches.ask(self.regressors_, settings, rows, candidates, answered, first_round)
        return Queries(
            mask=found.mask,
            next=found.first,
            ranges=CostRanges(*(scale.within(scale.from_unit(end)) for end in (found.lowest, found.highest))),
            predicted=scale.from_unit(found.predicted),
            reason_codes=found.reasons,
            propensity=found.propensity,
            classes=self.classes_,
            first_round=found.first_round,
            abstain_cost=None if self.abstain_cost is None else float(self.abstain_cost),
            outlook=rounds.outlook(settings, found),
        )

    def tell(self, X: Any, cost: Any, asked: Any = None, late: bool = False, *, candidates: Any = None) -> Self:
        """Learn the known costs and close one round per row, also where nothing was asked.

        ``asked`` says which costs were asked for: what ``ask`` gave back, or a boolean array, or by default
        the known ones. Asked and NaN means that nobody could tell. ``late`` answers belong to examples
        already decided: they are learned and counted as costs, but close no round.

        >>> from coalface import CoalClassifier
        >>> learner = CoalClassifier(["walk", "fly"]).tell([[1.0, 0.0]], [[0.2, np.nan]])
        >>> _ = learner.tell([[1.0, 0.0]], [[np.nan, 0.9]], late=True)
        >>> learner.round_, learner.costs_queried_, learner.examples_queried_
        (2, 2, 1)
        """
        self._ready()
        rows = check_rows(X)
        return self._tell(X, rows, self.classes_, cost, asked, candidates, late=bool(late))

    def tell_rounds(self, rounds: Sequence[Round], X: Any = None) -> Self:
        """Learn what rounds say, in order, as a ledger, a file or a service has recorded them.

        ``X`` has the examples where the rounds do not. Rounds that are all late close no round.

        >>> from coalface import CoalClassifier
        >>> asked = CoalClassifier(["walk", "fly"]).ask([[1.0, 0.0]]).round(0)
        >>> told = CoalClassifier(["walk", "fly"]).tell_rounds([asked.with_answers({"walk": 0.2})], [[1.0, 0.0]])
        >>> told.round_, told.costs_queried_
        (2, 1)
        """
        self._ready()
        rows = rows_in(rounds) if X is None else check_rows(X)
        said = answered_in(rounds, self.classes_)
        late = bool(rounds) and all(one.late for one in rounds)
        asked = Asked(said.asked, outlook=said.outlook)
        return self._tell(X, rows, self.classes_, said.cost, asked, said.candidates, late=late)

    # -- using what was learned ----------------------------------------------------------------

    def predict(self, X: Any, *, candidates: Any = None) -> NDArray[Any]:
        """The label with the least predicted cost, per example, or ``abstain_label`` where ``abstain_cost`` is less.

        >>> from coalface import CoalClassifier
        >>> learner = CoalClassifier(["walk", "fly"]).tell([[1.0]], [[0.2, 0.9]])
        >>> learner.predict([[1.0]]).tolist(), learner.predict([[1.0]], candidates=[[False, True]]).tolist()
        (['walk'], ['fly'])
        """
        rows = self._rows(X)
        allowed = self._candidates(candidates, rows)
        best, _ = rounds.predict(self.regressors_, self._settings(), rows, allowed, with_costs=False)
        if (best < 0).any():
            raise InputError(f"candidates must leave at least one label, row {np.argmax(best < 0)} has none.")
        return np.asarray(self._answers(self.classes_)[best])

    def predict_cost(self, X: Any) -> NDArray[np.float64]:
        """The predicted cost of every label, (n, K); it may lie outside ``cost_bounds``.

        >>> from coalface import CoalClassifier
        >>> CoalClassifier(["walk", "fly"]).tell([[1.0]] * 50, [[0.2, 0.9]] * 50).predict_cost([[1.0]]).round(1)
        array([[0.2, 0.9]])
        """
        rows = self._rows(X)
        _, predicted = rounds.predict(self.regressors_, self._settings(), rows, None, with_costs=True)
        return CostScale.of(self.cost_bounds).from_unit(predicted)

    def cost_range(self, X: Any) -> CostRanges:
        """What each cost may still be, were the example decided now, budget aside; never outside ``cost_bounds``.

        >>> from coalface import CoalClassifier
        >>> CoalClassifier(["walk", "fly"]).cost_range([[1.0]]).width
        array([[1., 1.]])
        """
        rows = self._rows(X)
        return self._decide(rows, None, settings=self._settings()._replace(budget=np.inf, alike=np.inf)).ranges

    def score(self, X: Any, y: Any = None, cost: Any = None) -> float:
        """Minus the mean cost of the predictions, from class labels or from known costs.

        >>> from coalface import CoalClassifier
        >>> learner = CoalClassifier(["walk", "fly"]).tell([[1.0]], [[0.2, 0.9]])
        >>> learner.score([[1.0]], cost=[[0.25, 0.5]]), learner.score([[1.0]], ["fly"])
        (-0.25, -1.0)
        """
        rows = self._rows(X, allow_empty=False)
        given = self._costs_given(rows, self.classes_, y, cost)
        scale = CostScale.of(self.cost_bounds)
        unit = check_cost(given, len(rows), self.classes_, scale)
        settings = self._settings()
        best, _ = rounds.predict(self.regressors_, settings, rows, None, with_costs=False)
        paid = rounds.paid(best, unit, settings)
        if np.isnan(paid).any():
            raise InputError(f"cost must be known for the predicted labels, row {np.argmax(np.isnan(paid))} is not.")
        return -float(scale.from_unit(paid.mean()))

    # -- inside --------------------------------------------------------------------------------

    def _tell(
        self,
        X: Any,
        rows: Rows,
        classes: NDArray[Any],
        cost: Any,
        asked: Any,
        candidates: Any,
        *,
        late: bool,
    ) -> Self:
        """Check everything, write it to the ledger, learn it: an error before that leaves no trace."""
        settings = self._settings(len(classes))
        unit = check_cost(cost, len(rows), classes, CostScale.of(self.cost_bounds))
        allowed = None if candidates is None else check_mask(candidates, unit.shape, "candidates")
        said = Asked.of(asked.asked if isinstance(asked, Queries) else asked, ~np.isnan(unit))
        check_width(rows, self)
        names = check_feature_names(self, X)
        self._check_learnable(rows, len(classes))
        self._begin(classes)
        recorder = self._recorder_in_use()
        with one_at_a_time(self.regressors_.lock, recorder):
            if recorder is not None:
                given = CostScale.of(self.cost_bounds).within(cost)
                recorder.write(entries_for(self.round_, classes, rows, given, said, allowed, names, late=late))
            self._note_columns(rows, names)
            rounds.tell(self.regressors_, settings, rows, allowed, unit, said.mask, said.outlook, late=late)
        self._warn_if_collapsed()
        return self

    def _start_run(
        self,
        rows: Rows,
        classes: NDArray[Any],
        unit: NDArray[np.float32],
        order: NDArray[np.int64],
        candidates: NDArray[np.bool_] | None,
        *,
        record: bool,
        batch: int,
        stop_saving: float,
    ) -> rounds.Run:
        """A simulated run over checked rows, ready to be played."""
        settings = self._settings(len(classes))
        check_width(rows, self)
        self._check_learnable(rows, len(classes))
        self._begin(classes)
        compiled = batch == 1 and isinstance(self.regressors_, OnlineRegressors)
        kind = rounds.CompiledRun if compiled else partial(batches.Run, batch=batch)
        return kind(self.regressors_, settings, rows, candidates, unit, order, record=record, stop_saving=stop_saving)

    def _check_learnable(self, rows: Rows, n_labels: int) -> None:
        """Raise an InputError if the learner cannot take such rows; most can take all."""

    def _note_columns(self, rows: Rows, names: NDArray[np.object_] | None) -> None:
        self.n_features_in_ = max(rows.width, getattr(self, "n_features_in_", 0))
        if names is not None:
            self.feature_names_in_ = names

    def _begin(self, classes: NDArray[Any]) -> None:
        """Start with these labels, unless the learner has begun."""
        with _BEGINNING:  # two threads must not begin it twice
            if not hasattr(self, "regressors_"):
                self._answers(classes)  # the time to say that this label cannot stand for abstaining
                regressors = self._new_regressors(len(classes))  # may refuse the parameters
                self.classes_, self.regressors_ = classes, regressors

    def _answers(self, classes: NDArray[Any]) -> NDArray[Any]:
        return classes if self.abstain_cost is None else with_abstaining(classes, self.abstain_label)

    def _ready(self) -> None:
        """Begin from ``classes`` if nothing was seen yet."""
        if hasattr(self, "regressors_"):
            return
        if self.classes is None:
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet and does not know its labels: "
                "call 'fit' or 'partial_fit', or pass classes=[...]."
            )
        self._begin(label_array(self.classes))

    def _rows(self, X: Any, *, allow_empty: bool = True) -> Rows:
        self._ready()
        rows = check_rows(X, allow_empty=allow_empty)
        check_width(rows, self)
        check_feature_names(self, X)
        return rows

    def _answered(self, rows: Rows, known: Any, asked: Any) -> rounds.Answered:
        if known is None:
            return rounds.NOTHING_ANSWERED
        unit = check_cost(known, len(rows), self.classes_, CostScale.of(self.cost_bounds))
        mask = ~np.isnan(unit) if asked is None else check_mask(asked, unit.shape, "asked")
        return rounds.Answered(unit, mask)

    def _candidates(self, candidates: Any, rows: Rows) -> NDArray[np.bool_] | None:
        return None if candidates is None else check_mask(candidates, (len(rows), len(self.classes_)), "candidates")

    def _settings(self, n_labels: int | None = None) -> Settings:
        params = {**_UNLESS_SAID, **vars(self)}
        return settings_for(len(self.classes_) if n_labels is None else n_labels, params)

    def _costs_given(self, rows: Rows, classes: NDArray[Any], y: Any, cost: Any) -> NDArray[Any]:
        return given_costs(y, cost, len(rows), classes, self.cost_matrix, CostScale.of(self.cost_bounds))

    def _resolve_classes(self, classes: Any, cost: Any) -> NDArray[Any]:
        if hasattr(self, "classes_"):
            if classes is not None and not np.array_equal(label_array(classes), self.classes_):
                raise InputError(
                    f"classes={classes!r} is not the same as on the first call: {self.classes_.tolist()}. "
                    "Labels cannot change; start a new learner."
                )
            return np.asarray(self.classes_)
        return first_labels(self.classes if classes is None else classes, cost, self.cost_matrix)

    def _warn_if_collapsed(self) -> None:
        """Say once that the learner has gone silent although its last answers show that it errs."""
        if self.budget is not None or hasattr(self, "_warned"):
            return
        if warn_if_collapsed(self.regressors_.model, self.mellowness, self.warm_up):
            self._warned = True

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn may expect of this estimator."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
