"""The active part of a learner: ``ask`` chooses questions without changing state, ``tell`` learns answers."""

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coalface.data.costs import CostScale, as_cost_array, check_cost, check_mask
from coalface.data.numbers import whole_number
from coalface.data.rows import Rows, check_feature_names, check_row, check_rows, check_width
from coalface.errors import InputError, UnknownLabelError
from coalface.files.interrupts import interrupts_put_off
from coalface.kernels.state import AUDIT, NO_ROUNDS, ROUND, SILENT_ROUNDS, UNCERTAIN, Settings, new_rounds
from coalface.learner.settings import settings_for
from coalface.learner.state import DEFAULTS, LearnerState
from coalface.learner.stopping import LEAST_SILENCE, warns_of_collapse
from coalface.models.contract import CostModel
from coalface.rounds.arrays import AnswerArrays, answer_arrays, rounds_from_arrays, rows_of_rounds
from coalface.rounds.queries import CostRanges, Queries
from coalface.rounds.round import Round

Mask = NDArray[np.bool_]


class AskingLearner(LearnerState):
    """A learner that asks for costs and learns from the answers."""

    # -- asking -----------------------------------------------------------------------------------

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
        """The costs worth asking for, with reasons; the learner does not change.

        ``max_costs`` limits the questions to those with the widest ranges. ``candidates`` (n, K) restricts the labels
        of each example. ``known`` (n, K) holds the costs answered so far, NaN elsewhere: labels that they rule out are
        not asked about, nor are those ``asked`` already (by default the known ones). ``interview`` does this for you.
        A question about one example is not repeated for near-duplicates: see ``alike``.

        Row r is decided at round ``first_round`` + r, by default the next rounds. Pass ``first_round`` if some earlier
        questions were not answered yet.

        >>> from coalface import CoalClassifier
        >>> queries = CoalClassifier(["walk", "fly"]).ask([[1.0, 0.0]])
        >>> print(queries.reason(0))
        round 1: asks for 2 of 2 costs
          ask walk  predicted   0.000  range 0.000 to 1.000  warm-up
          ask fly   predicted   0.000  range 0.000 to 1.000  warm-up
        """
        limit = None if max_costs is None else whole_number("max_costs", max_costs)
        start = None if first_round is None else whole_number("first_round", first_round, least=1)
        rows = self._rows(X)
        allowed, (costs, before) = self._candidates(candidates, rows), self._checked_answers(rows, known, asked)
        queries = self._decide(rows, allowed, costs, before, start)
        return queries if limit is None else queries.limited_to(limit)

    def interview(self, X: Any, answer: Callable[[int, Any], float], *, candidates: Any = None) -> Self:
        """Ask about each example, one question after another, then learn its answers.

        ``answer(i, label)`` returns the cost of a label on example ``i``, NaN for "can't tell".

        >>> from coalface import CoalClassifier
        >>> costs = {"walk": 0.2, "fly": 0.9}
        >>> learner = CoalClassifier(["walk", "fly"]).interview([[1.0]] * 99, lambda i, label: costs[label])
        >>> learner.round_, learner.costs_queried_ < 150
        (100, True)
        """
        rows = self._rows(X)
        allowed = self._candidates(candidates, rows)
        for i in range(len(rows)):
            row, mine = rows.take(np.array([i])), None if allowed is None else allowed[i : i + 1]
            cost = np.full((1, len(self.classes_)), np.nan)
            asked = np.zeros(cost.shape, np.bool_)
            queries = first = self._decide(row, mine)
            while queries.next.any():
                for k in np.flatnonzero(queries.next[0]):
                    cost[0, k] = answer(i, self.classes_[k])
                asked |= queries.next
                queries = self._decide(row, mine, *self._checked_answers(row, cost, asked))
            self._tell(X, row, self.classes_, cost, first.restricted_to(asked), mine)
            self.warn_if_collapsed()
        return self

    def ask_row(self, indices: ArrayLike, values: ArrayLike) -> NDArray[Any]:
        """The labels to ask about for one sparse example, the most promising first; a fast path for services.

        >>> from coalface import CoalClassifier
        >>> CoalClassifier(["walk", "fly"]).ask_row(indices=[3, 17], values=[1.0, 0.5]).tolist()
        ['walk', 'fly']
        """
        self.begin()
        row, settings = check_row(indices, values, getattr(self, "n_features_in_", 0)), self.settings_for()
        found = self.model_.ask(row, settings, new_rounds(1, settings.n_labels), outlook=False)
        asked = np.flatnonzero(found.mask[0])
        return np.asarray(self.classes_[asked[np.argsort(found.predicted[0, asked], kind="stable")]])

    # -- telling ----------------------------------------------------------------------------------

    def tell(self, X: Any, cost: Any, asked: Any = None, late: bool = False, *, candidates: Any = None) -> Self:
        """Learn the known costs and close one round per row, even if nothing was asked about it.

        ``asked`` are the costs that were asked for: the result of ``ask``, or a boolean array, or by default the known
        ones. A cost that was asked for and is NaN means "can't tell". ``late`` answers are about examples whose rounds
        are closed: they are learned and counted as costs, but do not close a round.

        >>> from coalface import CoalClassifier
        >>> learner = CoalClassifier(["walk", "fly"]).tell([[1.0, 0.0]], [[0.2, np.nan]])
        >>> _ = learner.tell([[1.0, 0.0]], [[np.nan, 0.9]], late=True)
        >>> learner.round_, learner.costs_queried_, learner.examples_queried_
        (2, 2, 1)
        """
        if not hasattr(self, "model_"):
            self.begin()
        self._tell(X, None, self.classes_, cost, asked, candidates, late=bool(late))
        self.warn_if_collapsed()
        return self

    def tell_row(self, indices: ArrayLike, values: ArrayLike, labels: Any, costs: ArrayLike) -> Self:
        """Learn the costs of some labels of one sparse example and close its round; a fast path for services.

        >>> from coalface import CoalClassifier
        >>> CoalClassifier(["walk", "fly"]).tell_row([3, 17], [1.0, 0.5], ["fly"], [0.9]).round_
        2
        """
        self.begin()
        row = check_row(indices, values, getattr(self, "n_features_in_", 0))
        codes, given = self._columns_of(labels), as_cost_array([costs])[0]
        if given.shape != (len(codes),):
            raise InputError(f"costs must have one number per label, {len(codes)}, got shape {given.shape}.")
        cost, asked = np.full((1, len(self.classes_)), np.nan), np.zeros((1, len(self.classes_)), np.bool_)
        cost[0, codes], asked[0, codes] = given, True
        if np.count_nonzero(asked) < len(codes):
            raise InputError(f"labels must name each label once, got {np.asarray(labels).tolist()!r}.")
        decided = self._decide(row, None).restricted_to(asked) if self.audit_rate > 0 else asked  # as ask_row decided
        self._tell(None, row, self.classes_, cost, decided, None)
        self.warn_if_collapsed()
        return self

    def tell_rounds(self, rounds: Sequence[Round], X: Any = None) -> Self:
        """Learn the answers of rounds, in order, as a ledger, a file or a service recorded them.

        ``X`` has the examples if the rounds do not. If all rounds are late, none is closed.

        >>> from coalface import CoalClassifier
        >>> asked = CoalClassifier(["walk", "fly"]).ask([[1.0, 0.0]]).round(0)
        >>> learner = CoalClassifier(["walk", "fly"])
        >>> learner.tell_rounds([asked.with_answers({"walk": 0.2})], [[1.0, 0.0]]).costs_queried_
        1
        """
        if not hasattr(self, "model_"):
            self.begin()
        if not rounds:
            return self
        late = rounds[0].late
        if any(one.late != late for one in rounds):
            raise InputError("rounds must be all late or all not late, got both. Tell them in two calls.")
        rows = rows_of_rounds(rounds) if X is None else None
        answers = answer_arrays(rounds, self.classes_.tolist())
        self._tell(X, rows, self.classes_, answers.cost, answers.asked, answers.candidates, answers, late=late)
        return self

    # -- internals --------------------------------------------------------------------------------

    def _decide(
        self,
        rows: Rows,
        candidates: Mask | None,
        known: NDArray[np.float32] | None = None,
        asked: Mask | None = None,
        first_round: int | None = None,
        settings: Settings | None = None,
    ) -> Queries:
        settings = settings or settings_for(len(self.classes_), {**DEFAULTS, **vars(self)})
        self._refuse_other_model()
        rounds = new_rounds(len(rows), settings.n_labels, candidates, known, asked)
        with self.model_.lock:
            start = int(self.model_.state.counters[ROUND]) if first_round is None else first_round
            found = self.model_.ask(rows, settings, rounds, start)
        scale = CostScale.of(self.cost_bounds)
        lowest, highest = scale.within(scale.from_unit(found.lowest)), scale.within(scale.from_unit(found.highest))
        return Queries(
            mask=found.mask,
            next=found.next,
            ranges=CostRanges(lowest, highest),
            predicted=scale.from_unit(found.predicted),
            reason_codes=found.reasons,
            propensity=found.propensity,
            classes=self.classes_,
            first_round=start,
            abstain_cost=None if self.abstain_cost is None else float(self.abstain_cost),
            outlook=found.outlook if len(found.outlook) or settings.audit_rate else None,
        )

    def _tell(
        self,
        X: Any,
        rows: Rows | None,
        labels: NDArray[Any],
        cost: Any,
        asked: Any = None,
        candidates: Any = None,
        recorded: AnswerArrays | None = None,
        *,
        late: bool = False,
    ) -> None:
        """Check the answers, write them to the ledger, then learn them; a failed check changes nothing."""
        rows = check_rows(X) if rows is None else rows
        n_rows, recorder = len(rows), self._recorder
        settings = settings_for(len(labels), {**DEFAULTS, **vars(self)})
        scale = CostScale.of(self.cost_bounds)
        unit = check_cost(cost, n_rows, labels, scale)
        given = unit if recorder is None else scale.within(cost)
        parts: dict[str, Any] = {"costs": unit}
        if isinstance(asked, Queries):
            parts |= {"reasons": asked.reason_codes, "propensity": asked.propensity}
            parts |= {} if asked.outlook is None else {"outlook": asked.outlook}
            asked = asked.mask
        elif recorded is not None:
            parts["outlook"], parts["propensity"] = recorded.outlook, recorded.audits
            parts["reasons"] = np.where(recorded.audits > 0, AUDIT, UNCERTAIN).astype(np.int8)
        parts["asked"] = ~np.isnan(unit) if asked is None else check_mask(asked, unit.shape, "asked")
        if candidates is not None:
            parts["candidates"] = check_mask(candidates, unit.shape, "candidates")
        rounds = NO_ROUNDS._replace(**parts)
        check_width(rows, self)
        names = check_feature_names(self, X)
        begun = hasattr(self, "model_")
        now = getattr(self, "model", None)
        if begun and (now is not self._begun_model or isinstance(now, CostModel)):  # a call only where it may differ
            self._refuse_other_model()
        model = self.model_ if begun else self._new_model(labels)
        model.check(rows)
        if not begun:
            self._begin_with(labels, model)
        with self.model_.lock if recorder is None else interrupts_put_off(), self.model_.lock:
            if recorder is not None:
                first_round = int(self.model_.state.counters[ROUND])
                recorder.write(
                    rounds_from_arrays(first_round, recorder.texts, rows, given, rounds, names, late), vars(self)
                )
            self.n_features_in_ = max(rows.width, getattr(self, "n_features_in_", 0))
            if names is not None:
                self.feature_names_in_ = names
            try:
                self.model_.tell(rows, settings, rounds, late=late)
            except BaseException:
                if recorder is not None:
                    recorder.incomplete = True
                raise

    def _refuse_other_model(self) -> None:
        """Refuse a parameter ``model`` that is not the one with which the learner began."""
        now = getattr(self, "model", None)
        same = now == self._begun_model
        if isinstance(now, CostModel):
            same = type(now) is type(self.model_) and now.plain() == self.model_.plain()
        if not same:
            began = self._begun_model if isinstance(self._begun_model, str) else self.model_
            raise InputError(
                f"model must stay as it was when the learner began, {began!r}, got {now!r}. Start a new learner."
            )

    def _checked_answers(self, rows: Rows, known: Any, asked: Any) -> tuple[NDArray[np.float32] | None, Mask | None]:
        """The known costs, scaled to [0, 1], and the mask of those asked for."""
        if known is None:
            return None, None
        unit = check_cost(known, len(rows), self.classes_, CostScale.of(self.cost_bounds))
        return unit, ~np.isnan(unit) if asked is None else check_mask(asked, unit.shape, "asked")

    def _columns_of(self, labels: Any) -> list[int]:
        """The columns of some labels; the dictionary for this lookup is made once."""
        names = np.asarray(labels).ravel().tolist()
        if not hasattr(self, "_code_of"):
            self._code_of = {label: code for code, label in enumerate(self.classes_.tolist())}
        try:
            return [self._code_of[name] for name in names]
        except KeyError as unknown:
            raise UnknownLabelError(unknown.args[0], self.classes_.tolist()) from None

    def warn_if_collapsed(self) -> None:
        """Warn once if the learner has stopped asking although the latest answers show errors."""
        silent = self.model_.state.counters[SILENT_ROUNDS]
        if silent < LEAST_SILENCE or self.budget is not None or hasattr(self, "_warned"):
            return
        if warns_of_collapse(self.model_.state, self.mellowness, self.warm_up):
            self._warned = True
