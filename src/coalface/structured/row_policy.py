"""The policy as learning to search uses it: rows that were checked once go straight to its model.

After examples that failed, it goes back to its checkpoint before them.
"""

from copy import deepcopy
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from coalface.data import Rows
from coalface.kernels import RoundArrays, new_rounds
from coalface.learner import CoalClassifier, settings_of
from coalface.rounds import Queries

Mask = NDArray[np.bool_]
_STATES_PER_COPY = 10_000  # copying takes time in proportion to the model's size


class PolicyUpdate(NamedTuple):
    """What a policy is told about some states; ``questions`` are the first ones about them."""

    rows: Rows
    questions: RoundArrays | Queries
    costs: NDArray[np.float64]
    asked: Mask
    candidates: Mask


class RowPolicy:
    """Asks and teaches a learner about rows, several at a time; ``refresh`` after its parameters changed.

    >>> from coalface import CoalClassifier
    >>> from coalface.data.rows import check_rows
    >>> policy, rows = RowPolicy(CoalClassifier(["walk", "fly"]).begin()), check_rows([[1.0]])
    >>> both = np.ones((1, 2), np.bool_)
    >>> questions = policy.ask(rows, both)
    >>> policy.tell(PolicyUpdate(rows, questions, np.array([[0.9, 0.2]]), questions.mask, both))
    >>> policy.best(rows, both), policy.learner.round_
    (1, 2)
    """

    def __init__(self, learner: CoalClassifier) -> None:
        self.learner = learner
        self.refresh()

    def refresh(self) -> None:
        """Read the learner's parameters again."""
        self.settings = settings_of(self.learner)

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

    def tell(self, update: PolicyUpdate) -> None:
        """Learn the costs that were asked for."""
        rows, questions, costs, asked, candidates = update
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


class PolicyCheckpoint:
    """Where a policy can return to: a copy of it and its updates since, which give the same policy again.

    >>> from coalface import CoalClassifier
    >>> from coalface.data.rows import check_rows
    >>> policy, rows = RowPolicy(CoalClassifier(["walk", "fly"], model="online").begin()), check_rows([[1.0]])
    >>> checkpoint, both = PolicyCheckpoint(policy), np.ones((1, 2), np.bool_)
    >>> checkpoint.tell(policy, PolicyUpdate(rows, policy.ask(rows, both), np.array([[0.2, 0.9]]), both, both))
    >>> policy.learner.round_, checkpoint.restored().learner.round_
    (2, 1)
    """

    _done: list[PolicyUpdate]  # up to the checkpoint
    _since: list[PolicyUpdate]

    def __init__(self, policy: RowPolicy) -> None:
        self._renew(policy)

    def tell(self, policy: RowPolicy, update: PolicyUpdate) -> None:
        """Let the policy learn an update that ``restored`` takes back."""
        policy.tell(update)
        self._since.append(update)

    def advance(self, policy: RowPolicy) -> None:
        """Move the checkpoint to now."""
        self._done += self._since
        self._since = []
        settings, model = self._of  # updates are repeated with the settings and the model of their time
        if len(self._done) >= _STATES_PER_COPY or settings != policy.settings or model is not policy.learner.model_:
            self._renew(policy)

    def restored(self) -> RowPolicy:
        """The policy as it was at the checkpoint, which can be used again."""
        self._since = []
        found = RowPolicy(deepcopy(self._copy))
        for update in self._done:
            found.tell(update)
        self._of = (found.settings, found.learner.model_)
        return found

    def _renew(self, policy: RowPolicy) -> None:
        self._copy, self._of = deepcopy(policy.learner), (policy.settings, policy.learner.model_)
        self._done, self._since = [], []


def _matrix(rows: Rows) -> Any:
    return csr_array((rows.values, rows.columns, rows.indptr), shape=(len(rows), rows.width))
