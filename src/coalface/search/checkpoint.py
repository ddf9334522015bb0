"""Checkpoints of a policy: restore it to what it was before an episode that failed."""

from copy import deepcopy
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coalface.data.dataset_fields import Examples
from coalface.learner.estimator import CostClassifier
from coalface.rounds.queries import Queries

_STATES_PER_COPY = 1_000  # copying takes time in proportion to the model's size


class PolicyUpdate(NamedTuple):
    """What a policy is told about one state."""

    row: Examples
    cost: NDArray[np.float64]
    asked: Queries | NDArray[np.bool_]
    candidates: NDArray[np.bool_]

    def apply_to(self, policy: CostClassifier) -> None:
        """Let the policy learn it."""
        policy.tell(self.row, self.cost, self.asked, candidates=self.candidates)


class Checkpoint:
    """A copy of the policy and its updates since: applying these again gives the same policy, bit for bit.

    >>> from coalface import CoalClassifier
    >>> from scipy.sparse import csr_array
    >>> policy = CoalClassifier(["walk", "fly"])
    >>> checkpoint, everything = Checkpoint(policy), np.ones((1, 2), np.bool_)
    >>> PolicyUpdate(csr_array([[1.0]]), np.array([[0.2, 0.9]]), everything, everything).apply_to(policy)
    >>> checkpoint.policy().round_, policy.round_
    (1, 2)
    """

    def __init__(self, policy: CostClassifier) -> None:
        self._copy = deepcopy(policy)
        self._updates: list[PolicyUpdate] = []

    def policy(self) -> CostClassifier:
        """The policy after the last complete episode; the checkpoint can be used again."""
        policy = deepcopy(self._copy)
        for update in self._updates:
            update.apply_to(policy)
        return policy

    def advance(self, policy: CostClassifier, updates: list[PolicyUpdate]) -> None:
        """Record a complete episode: the policy after it, and the updates that led there."""
        self._updates += updates
        if len(self._updates) >= _STATES_PER_COPY:
            self._copy, self._updates = deepcopy(policy), []
