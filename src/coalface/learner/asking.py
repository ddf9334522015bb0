"""The active part of a learner: ``ask`` chooses questions without changing state, ``tell`` learns answers."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coalface.data.costs import (
    CostScale,
    as_cost_array,
    check_asking_price,
    check_cost,
    check_mask,
    check_offset,
    checked_answer,
)
from coalface.data.encoding.encoder import Encoder
from coalface.data.frames import by_label, by_row, in_seen_order
from coalface.data.numbers import whole_number
from coalface.data.rows import Rows, check_row, check_width
from coalface.data.truths import Codes, truth_codes, with_costs_of
from coalface.errors import InputError, UnknownLabelError, shortened
from coalface.files.interrupts import interrupts_put_off
from coalface.kernels.state import ROUND, SILENT_ROUNDS, Settings, new_rounds
from coalface.learner.conversation import Conversation, affordable
from coalface.learner.known_parts import NO_PARTS, KnownParts
from coalface.learner.purse import Purse
from coalface.learner.settings import settings_for
from coalface.learner.state import DEFAULTS
from coalface.learner.stopping import LEAST_SILENCE, warn_of_unanswered, warns_of_collapse
from coalface.learner.told import told_arrays
from coalface.learner.truths import TruthLearner
from coalface.models.serving import Served
from coalface.rounds.arrays import AnswerArrays, ServedLabels, answer_arrays, rounds_from_arrays, rows_of_rounds
from coalface.rounds.queries import CostRanges, Queries
from coalface.rounds.round import Round

Mask = NDArray[np.bool_]


class AskingLearner(TruthLearner):
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
        offset: Any = None,
        asking_price: Any = None,
    ) -> Queries:
        """The costs worth asking for, with reasons; the learner does not change.

        ``max_costs`` limits the questions to those with the widest ranges. ``candidates`` (n, K) restricts the labels
        of each example. ``known`` (n, K) holds the costs answered so far, NaN elsewhere: labels that they rule out are
        not asked about, nor are those ``asked`` already (by default the known ones). ``interview`` does this for you.
        A question about one example is not repeated for near-duplicates: see ``alike``. With ``price_of_truth``, the
        true label is asked for where at least that many costs are wanted: ``queries.truth`` marks these examples. With
        a ``budget``, no more is asked for than it allows.

        ``offset`` (n, K) or (K,) is the known part of each cost, in the unit of ``cost_bounds``. The total cost of a
        label is its offset plus the cost that is learned, and questions are about the least total. ``tell`` takes it
        from these questions. ``asking_price`` (n, K) or (K,) is what each question costs, in any unit. Of the questions
        that would settle as much, the cheapest comes first.

        Row r is decided at round ``first_round`` + r, by default the next rounds. Pass ``first_round`` if some earlier
        questions were not answered yet.

        If X is raw (texts, a table, records) and the learner is new, X decides how columns are encoded. The learner
        keeps that as ``encoder_``, so that ``tell`` and all later calls encode alike.

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
        known, asked = by_row(known, X, "known"), by_row(asked, X, "asked")
        allowed, (costs, before) = self._candidates(candidates, rows, X), self._checked_answers(rows, known, asked)
        parts = self.known_parts(rows, self.classes_, offset, asking_price)
        queries = replace(self._decide(rows, allowed, costs, before, start, parts=parts), checksum=rows.checksum())
        queries = queries if limit is None else queries.limited_to(limit)
        purse = self._purse()
        return queries if purse is None else affordable(queries, purse, before)

    def interview(
        self,
        X: Any,
        answer: Callable[[int, Any], float] | None = None,
        *,
        truth: Callable[[int], Any] | None = None,
        candidates: Any = None,
        offset: Any = None,
        asking_price: Any = None,
    ) -> Self:
        """Ask about each example, one question after another, then learn its answers.

        ``answer(i, label)`` returns the cost of a label on example ``i``, NaN for "can't tell". ``truth(i)`` returns
        the true label where the learner asks for it (``price_of_truth``), None for "can't tell". With a price of at
        most 1 the learner asks for nothing else, and ``answer`` may be left out. ``offset`` and ``asking_price`` are as
        in ``ask``.

        With a ``budget`` without ``over``, the interview ends at the first question that does not fit.

        >>> from coalface import CoalClassifier
        >>> costs = {"walk": 0.2, "fly": 0.9}
        >>> learner = CoalClassifier(["walk", "fly"]).interview([[1.0]] * 99, lambda i, label: costs[label])
        >>> learner.round_, learner.costs_queried_ < 150
        (100, True)
        """
        rows = self._rows(X)
        allowed, scale = self._candidates(candidates, rows, X), CostScale.of(self.cost_bounds)
        if truth is None and self.price_of_truth is not None:
            raise InputError(
                f"interview needs truth=... with price_of_truth={self.price_of_truth!r}, because the learner asks for "
                "true labels. Pass a function that returns the true label of example i."
            )
        if truth is not None and self.price_of_truth is None:
            raise InputError(
                "interview asks for true labels only with price_of_truth, got truth=... without it. Pass "
                "price_of_truth=1 to the learner if a true label takes as much work as one cost."
            )
        if answer is None and (self.price_of_truth is None or self.price_of_truth > 1):
            raise InputError("interview needs answer, a function that returns the cost of a label on example i.")
        parts, purse = self.known_parts(rows, self.classes_, offset, asking_price), self._purse()

        def one_cost(i: int, _: int, k: int) -> float:
            assert answer is not None  # at a price of at most 1, every question is for a true label
            return checked_answer(answer(i, self.classes_[k]), i, self.classes_[k], scale)

        def one_truth(i: int, _: int) -> Any:
            return None if truth is None else truth(i)

        for i in range(len(rows)):
            if purse is not None and purse.empty:
                break
            row, mine = rows.take(np.array([i])), None if allowed is None else allowed[i : i + 1]
            truth_of = None if truth is None else partial(one_truth, i)
            done = self._converse(row, mine, partial(one_cost, i), truth_of, purse, parts.of_rows([i]))
            self._tell(X, row, self.classes_, done.cost, done.asked, mine, truth=done.truth, offset=done.offset)
            self.warn_if_collapsed()
            if not done.complete:
                break
        return self

    def _converse(
        self,
        rows: Rows,
        candidates: Mask | None,
        answer: Callable[[int, int], float],
        truth: Callable[[int], Any] | None,
        purse: Purse | None,
        parts: KnownParts,
    ) -> Conversation:
        """Ask about some rows, one question after another, as far as the purse goes; nothing is learned.

        ``answer(row, k)`` gives a cost, ``truth(row)`` a true label.
        """
        queries = first = self._decide(rows, candidates, parts=parts)
        found = Conversation.start(len(rows), len(self.classes_), purse)
        if truth is not None and first.truth.any():
            found.ask_truths(first, truth, self.classes_, self._costs_by_truth())
        while (open_ones := queries.next & ~found.whole[:, None]).any() and found.complete:
            found.ask_costs(open_ones, answer)
            answers = self._checked_answers(rows, found.cost, found.asked_costs)
            queries = self._decide(rows, candidates, *answers, parts=parts)
        return found.ended(first)

    def ask_row(self, indices: ArrayLike, values: ArrayLike) -> NDArray[Any]:
        """The labels to ask about for one sparse example, the most promising first; a fast path for services.

        >>> from coalface import CoalClassifier
        >>> CoalClassifier(["walk", "fly"]).ask_row(indices=[3, 17], values=[1.0, 0.5]).tolist()
        ['walk', 'fly']
        """
        self.begin()._refuse_changed()
        row, settings = check_row(indices, values, getattr(self, "n_features_in_", 0)), self.settings_for()
        rounds = new_rounds(1, settings.n_labels, self._candidates(None, row))
        found = self.model_.ask(row, settings, rounds, outlook=False)
        asked = np.flatnonzero(found.mask[0])
        asked, purse = asked[np.argsort(found.predicted[0, asked], kind="stable")], self._purse()
        before = 0 if purse is None else purse.examples
        if purse is not None and found.truth[0]:
            asked = asked if purse.buys_truth(new_example=True) else asked[:0]
        elif purse is not None:
            bought = np.array([purse.buys_cost(k, purse.examples == before) for k in asked.tolist()], np.bool_)
            asked = asked[bought]
        return np.asarray(self.classes_[asked])

    # -- telling ----------------------------------------------------------------------------------

    def tell(
        self,
        X: Any,
        cost: Any = None,
        asked: Any = None,
        late: bool = False,
        *,
        truth: Any = None,
        candidates: Any = None,
        offset: Any = None,
    ) -> Self:
        """Learn the known costs and close one round per row, even if nothing was asked about it.

        ``truth`` has the true label of each row, None or NaN where it is unknown; ``cost_matrix`` turns it into the
        costs of the row, in place of those in ``cost``.

        ``asked`` are the costs that were asked for: the result of ``ask``, or a boolean array, or by default the known
        ones. A cost that was asked for and is NaN means "can't tell". Questions that were told before, or that are
        about other examples, are refused. ``late`` answers are about examples whose rounds are closed: they are learned
        and counted as costs, but do not close a round. ``offset`` is the known part of each cost, as in ``ask``; if
        ``asked`` is what ``ask`` returned, its offset is used.

        >>> from coalface import CoalClassifier
        >>> learner = CoalClassifier(["walk", "fly"]).tell([[1.0, 0.0]], [[0.2, np.nan]])
        >>> _ = learner.tell([[1.0, 0.0]], [[np.nan, 0.9]], late=True)
        >>> learner.round_, learner.costs_queried_, learner.examples_queried_
        (2, 2, 1)
        >>> learner = CoalClassifier(["walk", "fly", "swim"], price_of_truth=2)
        >>> queries = learner.ask([[1.0, 0.0]])
        >>> print(queries)
        1 true label and 0 of 3 costs asked for, on 1 of 1 examples
        >>> learner.tell([[1.0, 0.0]], truth=["walk"], asked=queries).truths_queried_
        1
        """
        if not hasattr(self, "model_"):
            self.begin()
        X = in_seen_order(X, self)
        (rows, encoder), codes = self.encoded(X), None
        if isinstance(asked, Queries):
            self._refuse_strange(asked, rows, late=bool(late))
            cost, asked = asked.with_later_labels(self.classes_, cost)
        if truth is not None:
            codes = truth_codes(truth, len(rows), self.classes_)
            given = by_label(by_row(cost, X, "cost"), self.classes_, "cost")
            cost = with_costs_of(codes, self._costs_by_truth(), given)
        elif cost is None:
            raise InputError("cost must have two dimensions (examples, labels), got None. Pass it, or truth=labels.")
        if offset is None and isinstance(asked, Queries):
            offset = asked.offset
        self._tell(
            X,
            rows,
            self.classes_,
            cost,
            asked,
            candidates,
            late=bool(late),
            truth=codes,
            encoder=encoder,
            offset=offset,
        )
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
            raise InputError(f"labels must name each label once, got {shortened(np.asarray(labels).tolist())}.")
        matters = self.audit_rate > 0 or self.price_of_truth is not None
        decided: Any = asked
        if matters:  # as ask_row decided
            decided = self._decide(row, self._candidates(None, row)).restricted_to(asked)
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
        if any(one.late != rounds[0].late for one in rounds):
            raise InputError("rounds must be all late or all not late, got both. Tell them in two calls.")
        if any((one.served is None) != (rounds[0].served is None) for one in rounds):
            raise InputError("rounds must be all served or all not served, got both. Tell them in two calls.")
        for one in rounds:
            self._refuse_contradiction(one)
        return self.replay_rounds(rounds, X)

    def replay_rounds(self, rounds: Sequence[Round], X: Any = None) -> Self:
        """Learn rounds that were told once and recorded: their costs stand, although ``cost_matrix`` may have changed.

        >>> from coalface import CoalClassifier
        >>> learner = CoalClassifier(["walk", "fly"]).begin()
        >>> learner.replay_rounds([Round(1, ask=("walk",), costs={"walk": 0.2})], [[1.0]]).round_
        2
        """
        late = rounds[0].late
        rows = rows_of_rounds(rounds) if X is None else None
        answers = answer_arrays([self._with_costs(one) for one in rounds], self.classes_.tolist())
        self._tell(
            X,
            rows,
            self.classes_,
            answers.cost,
            answers.asked,
            answers.candidates,
            answers,
            late=late,
            truth=answers.truth if rounds[0].served is None else None,
            offset=answers.offset,
            served=answers.served,
        )
        return self

    def check_rounds(self, rounds: Sequence[Round]) -> None:
        """Raise an InputError if a label or a cost of these rounds is not one of the learner's."""
        self.begin()
        answers = answer_arrays(rounds, self.classes_.tolist())
        check_cost(answers.cost, len(rounds), self.classes_, CostScale.of(self.cost_bounds))

    # -- internals --------------------------------------------------------------------------------

    def _decide(
        self,
        rows: Rows,
        candidates: Mask | None,
        known: NDArray[np.float32] | None = None,
        asked: Mask | None = None,
        first_round: int | None = None,
        settings: Settings | None = None,
        parts: KnownParts = NO_PARTS,
    ) -> Queries:
        settings = settings or settings_for(len(self.classes_), {**DEFAULTS, **vars(self)})
        rounds = new_rounds(len(rows), settings.n_labels, candidates, known, asked, *parts)
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
            truth=found.truth,
            price_of_truth=settings.price_of_truth,
            offset=parts.offsets.astype(np.float64) * scale.span if len(parts.offsets) else None,
        )

    def known_parts(self, rows: Rows, labels: NDArray[Any], offset: Any = None, asking_price: Any = None) -> KnownParts:
        """The known parts of costs and the prices of questions, checked."""
        parts = NO_PARTS if offset is None else KnownParts(self._offsets(rows, labels, offset))
        if asking_price is None:
            return parts
        return parts._replace(prices=check_asking_price(asking_price, len(rows), labels))

    def _offsets(self, rows: Rows, labels: NDArray[Any], offset: Any) -> NDArray[np.float32]:
        """The known parts of costs, scaled to [0, 1]; the least of a row is 0 unless abstaining has a cost."""
        scale = CostScale.of(self.cost_bounds)
        return check_offset(offset, len(rows), labels, scale, shifted=self.abstain_cost is None)

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
        truth: Codes | None = None,
        encoder: Encoder | None = None,
        offset: Any = None,
        served: ServedLabels | None = None,
    ) -> None:
        """Check the answers, write them to the ledger, then learn them; a failed check changes nothing."""
        X = in_seen_order(X, self)
        rows, encoder = (rows, encoder) if rows is not None else self.encoded(X)
        n_rows, recorder = len(rows), self._recorder
        settings = settings_for(len(labels), {**DEFAULTS, **vars(self)})
        scale = CostScale.of(self.cost_bounds)
        cost = by_label(by_row(cost, X, "cost"), labels, "cost")
        asked, candidates = by_row(asked, X, "asked"), by_row(candidates, X, "candidates")
        unit = check_cost(cost, n_rows, labels, scale)
        given = unit if recorder is None else scale.within(cost)
        known_part = None if offset is None else self._offsets(rows, labels, offset)
        rounds = told_arrays(unit, labels, asked, candidates, recorded, truth, known_part)
        check_width(rows, self)
        names = self._names_of(X, encoder)
        begun = hasattr(self, "model_")
        self._refuse_changed()
        model = self.model_ if begun else self._new_model(labels)
        model.check(rows)
        if not begun:
            self._begin_with(labels, model)
        with self.model_.lock if recorder is None else interrupts_put_off(), self.model_.lock:
            if recorder is not None:
                first_round = int(self.model_.state.counters[ROUND])
                used = recorder.encoder_of(encoder or getattr(self, "encoder_", None))
                recorder.write(
                    rounds_from_arrays(
                        first_round,
                        recorder.texts,
                        rows,
                        given,
                        rounds,
                        names,
                        late,
                        truth=truth,
                        encoder=used,
                        span=scale.span,
                        served=served,
                    ),
                    vars(self),
                    self.plain_budget,
                )
            self._keep_encoder(encoder)
            self.n_features_in_ = max(rows.width, getattr(self, "n_features_in_", 0))
            if names is not None:
                self.feature_names_in_ = names
            try:
                if served is None:
                    self.model_.tell(rows, settings, rounds, late=late)
                else:
                    settings = settings._replace(budget=np.inf, alike=np.inf)
                    costs = np.ascontiguousarray(unit[np.arange(n_rows), served.labels])
                    self.model_.observe(rows, settings, rounds.candidates, Served(*served, costs))
            except BaseException:
                if recorder is not None:
                    recorder.incomplete = True
                raise

    def _refuse_strange(self, asked: Queries, rows: Rows, *, late: bool) -> None:
        """Refuse questions about other examples or, unless they are late, of rounds that are closed."""
        if asked.checksum is not None and len(asked) == len(rows) and asked.checksum != rows.checksum():
            raise InputError(
                "asked must be what ask returned for these examples, got questions about others. Pass the same X."
            )
        if asked.first_round < self.round_ and not late:
            raise InputError(
                f"asked must continue from round {self.round_}, but its round {asked.first_round} was learned already. "
                "Pass late=True for second or late answers, or asked=queries.mask for new ones."
            )

    def _checked_answers(self, rows: Rows, known: Any, asked: Any) -> tuple[NDArray[np.float32] | None, Mask | None]:
        """The known costs, scaled to [0, 1], and the mask of those asked for."""
        if known is None:
            return None, None
        unit = check_cost(known, len(rows), self.classes_, CostScale.of(self.cost_bounds))
        return unit, ~np.isnan(unit) if asked is None else check_mask(asked, len(unit), self.classes_, "asked")

    def _columns_of(self, labels: Any) -> list[int]:
        """The columns of some labels; the dictionary for this lookup is made once."""
        names = np.asarray(labels).ravel().tolist()
        if not hasattr(self, "_code_of"):
            self._code_of = {label: code for code, label in enumerate(self.classes_.tolist())}
        try:
            return [self._code_of[name] for name in names]
        except KeyError as unknown:
            raise UnknownLabelError(unknown.args[0], self.classes_.tolist(), addable=True) from None

    @property
    def unanswered(self) -> Mask:
        """Whether no cost of a label was ever answered, (K,); retired labels may be among them."""
        return np.asarray(self.model_.state.answered[: len(self.classes_)] == 0)

    def warn_if_unanswered(self) -> None:
        """Warn once, when predictions are made, if some labels have no answered cost and others have."""
        silent = self.unanswered & self.model_.active
        if silent.any() and not self.unanswered.all() and not hasattr(self, "_warned_unanswered"):
            self._warned_unanswered = True
            warn_of_unanswered(self.classes_[silent].tolist())

    def warn_if_collapsed(self) -> None:
        """Warn once if the learner has stopped asking although the latest answers show errors."""
        silent = self.model_.state.counters[SILENT_ROUNDS]
        if silent < LEAST_SILENCE or self.budget is not None or hasattr(self, "_warned"):
            return
        if warns_of_collapse(self.model_.state, self.mellowness, self.warm_up):
            self._warned = True
