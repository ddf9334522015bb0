"""The active part of a learner: ``ask`` chooses questions without changing state, ``interview`` asks them."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np

from coalface.data.costs import CostScale, checked_answer
from coalface.data.frames import by_row
from coalface.data.numbers import whole_number
from coalface.data.rows import Rows
from coalface.errors import InputError
from coalface.learner.conversation import Conversation, affordable
from coalface.learner.deciding import Mask
from coalface.learner.known_parts import KnownParts
from coalface.learner.purse import Purse
from coalface.learner.teaching import TeachingLearner
from coalface.rounds.queries import Queries


class AskingLearner(TeachingLearner):
    """A learner that asks for costs and learns from the answers."""

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
        of each example, or gives the features of its labels: see ``SharedModel``. ``known`` (n, K) holds the costs
        answered so far, NaN elsewhere: labels that they rule out are not asked about, nor are those ``asked`` already
        (by default the known ones). ``interview`` does this for you.
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
        X, candidates = self.with_label_features(X, candidates)
        rows = self._rows(X)
        known, asked = by_row(known, X, "known"), by_row(asked, X, "asked")
        allowed, (costs, before) = self._candidates(candidates, rows, X), self._checked_answers(rows, known, asked)
        parts = self.known_parts(X, rows, self.classes_, offset, asking_price)
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
        X, candidates = self.with_label_features(X, candidates)
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
        parts, purse = self.known_parts(X, rows, self.classes_, offset, asking_price), self._purse()

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
