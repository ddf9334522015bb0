"""Teaching a learner: ``tell`` writes answers to the ledger, then learns them."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from coalface.data.costs import CostScale, check_cost
from coalface.data.encoding.encoder import Encoder
from coalface.data.frames import by_label, by_row, in_seen_order
from coalface.data.rows import Rows, check_width
from coalface.data.targets import Codes, truth_codes, with_costs_of
from coalface.errors import InputError
from coalface.files.interrupts import interrupts_put_off
from coalface.kernels.state import ROUND
from coalface.learner.deciding import DecidingLearner
from coalface.learner.told import told_arrays
from coalface.models.serving import Served
from coalface.rounds.arrays import AnswerArrays, ServedLabels, answer_arrays, rounds_from_arrays, rows_of_rounds
from coalface.rounds.queries import Queries
from coalface.rounds.round import Round


class TeachingLearner(DecidingLearner):
    """A learner that learns answers."""

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
        X, candidates = self.with_label_features(X, candidates)
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
        names: NDArray[np.object_] | None = None,
    ) -> None:
        """Check the answers, write them to the ledger, then learn them; a failed check changes nothing.

        ``names`` are those of the features, by default the columns of ``X``.
        """
        X = in_seen_order(X, self)
        rows, encoder = (rows, encoder) if rows is not None else self.encoded(X)
        n_rows, recorder = len(rows), self._recorder
        settings = self.settings_for(len(labels))
        scale = CostScale.of(self.cost_bounds)
        cost = by_label(by_row(cost, X, "cost"), labels, "cost")
        asked, candidates = by_row(asked, X, "asked"), by_row(candidates, X, "candidates")
        unit = check_cost(cost, n_rows, labels, scale)
        given = unit if recorder is None else scale.within(cost)
        known_part = None if offset is None else self._offsets(X, rows, labels, offset)
        rounds = told_arrays(unit, labels, asked, candidates, recorded, truth, known_part)
        check_width(rows, self)
        names = self._names_of(X, encoder) if names is None else names
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
                    self._all_params(),
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
