"""The policy as learning to search uses it: rows that were checked once go straight to its model."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from coalface.data.rows import Rows
from coalface.kernels.state import RoundArrays, new_rounds
from coalface.learner.estimator import CostClassifier
from coalface.rounds.queries import Queries

Mask = NDArray[np.bool_]


class RowPolicy:
    """Asks and teaches a learner about rows, several at a time; ``refresh`` after its parameters changed.

    >>> from coalface import CoalClassifier
    >>> from coalface.data.rows import check_rows
    >>> policy, rows = RowPolicy(CoalClassifier(["walk", "fly"]).begin()), check_rows([[1.0]])
    >>> both = np.ones((1, 2), np.bool_)
    >>> questions = policy.ask(rows, both)
    >>> policy.tell(rows, questions, np.array([[0.9, 0.2]]), questions.mask, both)
    >>> policy.best(rows, both), policy.learner.round_
    (1, 2)
    """

    def __init__(self, learner: CostClassifier) -> None:
        self.learner = learner
        self.refresh()

    def refresh(self) -> None:
        """Read the learner's parameters again."""
        self.settings = self.learner.settings_for()

    def ask(
        self, rows: Rows, candidates: Mask, costs: NDArray[np.float64] | None = None, asked: Mask | None = None
    ) -> RoundArrays | Queries:
        """The questions about these rows, given the costs known so far."""
        if self.learner.budget is not None:  # only the learner knows what a budget still buys
            return self.learner.ask(_matrix(rows), candidates=candidates, known=costs, asked=asked)
        known = None if costs is None else costs.astype(np.float32)
        rounds = new_rounds(len(rows), self.settings.n_labels, candidates, known, asked)
        is_first = asked is None  # only the first questions about a row are told, and need an outlook
        return self.learner.model_.ask(rows, self.settings, rounds, outlook=is_first)

    def tell(
        self, rows: Rows, questions: RoundArrays | Queries, costs: NDArray[np.float64], asked: Mask, candidates: Mask
    ) -> None:
        """Learn the costs that were asked for; ``questions`` are the first ones about these rows."""
        learner = self.learner
        if isinstance(questions, Queries):
            learner.tell(_matrix(rows), costs, questions.restricted_to(asked), candidates=candidates)
            return
        told = questions._replace(costs=costs.astype(np.float32), asked=asked, candidates=candidates)
        learner.model_.tell(rows, self.settings, told)
        learner.n_features_in_ = max(rows.width, getattr(learner, "n_features_in_", 0))

    def predicted(self, rows: Rows) -> NDArray[np.float32]:
        """The predicted costs of all actions, (n, K)."""
        model = self.learner.model_
        with model.lock:
            return model.predictions(rows)

    def best(self, rows: Rows, candidates: Mask) -> int:
        """The column of the action with the least predicted cost."""
        return int(self.learner.model_.answer(rows, self.settings, candidates)[0])


def stacked(rows: Sequence[Rows]) -> Rows:
    """Several rows as one batch."""
    if len(rows) == 1:
        return rows[0]
    lengths = [len(one.columns) for one in rows]
    return Rows(
        np.concatenate([[0], np.cumsum(lengths)]),
        np.concatenate([one.columns for one in rows]),
        np.concatenate([one.values for one in rows]),
        max(one.width for one in rows),
    )


def _matrix(rows: Rows) -> Any:
    return csr_array((rows.values, rows.columns, rows.indptr), shape=(len(rows), rows.width))
