"""A policy that can go back: to what it was before an episode that turned out to be broken."""

from copy import deepcopy
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coalface.data.dataset_fields import Examples
from coalface.learner.estimator import CostClassifier
from coalface.rounds.queries import Queries

_STATES_PER_COPY = 1_000  # a copy takes as long as the model is large, so it is made now and then


class Told(NamedTuple):
    """What a policy was told about a state."""

    row: Examples
    cost: NDArray[np.float64]
    asked: Queries | NDArray[np.bool_]
    candidates: NDArray[np.bool_]

    def to(self, policy: CostClassifier) -> None:
        """Tell it."""
        policy.tell(self.row, self.cost, self.asked, candidates=self.candidates)


class Checkpoint:
    """A copy of the policy and all that it was told since: learning that again gives the same policy, bit for bit.

    >>> from coalface import CoalClassifier
    >>> from scipy.sparse import csr_array
    >>> policy = CoalClassifier(["walk", "fly"])
    >>> checkpoint, everything = Checkpoint(policy), np.ones((1, 2), np.bool_)
    >>> Told(csr_array([[1.0]]), np.array([[0.2, 0.9]]), everything, everything).to(policy)
    >>> checkpoint.policy().round_, policy.round_
    (1, 2)
    """

    def __init__(self, policy: CostClassifier) -> None:
        self._copy = deepcopy(policy)
        self._since: list[Told] = []

    def policy(self) -> CostClassifier:
        """The policy as it was after the last whole episode; the checkpoint can be used again."""
        policy = deepcopy(self._copy)
        for told in self._since:
            told.to(policy)
        return policy

    def move(self, policy: CostClassifier, told: list[Told]) -> None:
        """The episode is whole: this is what the policy is now, and what it was told meanwhile."""
        self._since += told
        if len(self._since) >= _STATES_PER_COPY:
            self._copy, self._since = deepcopy(policy), []
