"""Checkpoints of a policy: after examples that failed, it is restored to its state before them."""

from copy import deepcopy
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from coalface.data.rows import Rows
from coalface.kernels.state import RoundArrays
from coalface.learner.estimator import CostClassifier
from coalface.models.online import OnlineModel
from coalface.models.undo import UndoLog
from coalface.rounds.queries import Queries
from coalface.structured.row_policy import Mask, RowPolicy

_STATES_PER_COPY = 1_000  # copying takes time in proportion to the model's size


class PolicyUpdate(NamedTuple):
    """What a policy is told about some states."""

    rows: Rows
    questions: RoundArrays | Queries
    costs: NDArray[np.float64]
    asked: Mask
    candidates: Mask


class Checkpoint(Protocol):
    """Where a policy can return to."""

    def tell(self, policy: RowPolicy, update: PolicyUpdate) -> None:
        """Let the policy learn an update that ``restored`` takes back."""

    def advance(self, policy: RowPolicy) -> None:
        """Move the checkpoint to now."""

    def restored(self, policy: RowPolicy) -> RowPolicy:
        """The policy as it was at the checkpoint; the checkpoint can be used again."""


def checkpoint_of(policy: RowPolicy) -> Checkpoint:
    """A checkpoint at the present state of a policy.

    >>> from coalface import CoalClassifier
    >>> from coalface.data.rows import check_rows
    >>> for model in ("online", "ridge"):
    ...     policy, rows = RowPolicy(CoalClassifier(["walk", "fly"], model=model).begin()), check_rows([[1.0]])
    ...     checkpoint, both = checkpoint_of(policy), np.ones((1, 2), np.bool_)
    ...     update = PolicyUpdate(rows, policy.ask(rows, both), np.array([[0.2, 0.9]]), both, both)
    ...     checkpoint.tell(policy, update)
    ...     print(policy.learner.round_, checkpoint.restored(policy).learner.round_)
    2 1
    2 1
    """
    return _Undoable(policy) if type(policy.learner.model_) is OnlineModel else _Copied(policy)


class _Undoable:
    """For the online model: it takes back single rows, so that nothing large is copied."""

    def __init__(self, policy: RowPolicy) -> None:
        self._log, self._width = UndoLog(_online(policy)), getattr(policy.learner, "n_features_in_", None)

    def advance(self, policy: RowPolicy) -> None:
        if self._log.model is policy.learner.model_:
            self._log.restart()
        else:  # the learner was given another model, such as one on a GPU
            self._log = UndoLog(_online(policy))
        self._width = getattr(policy.learner, "n_features_in_", None)

    def tell(self, policy: RowPolicy, update: PolicyUpdate) -> None:
        self._log.before(update.rows, policy.settings)
        policy.tell(*update)

    def restored(self, policy: RowPolicy) -> RowPolicy:
        self._log.undo()
        if self._width is None:
            policy.learner.__dict__.pop("n_features_in_", None)
        else:
            policy.learner.n_features_in_ = self._width
        return policy


def _online(policy: RowPolicy) -> OnlineModel:
    model = policy.learner.model_
    assert isinstance(model, OnlineModel)
    return model


class _Copied:
    """For any model: a copy of the policy and its updates since; applying these again gives the same policy."""

    _copy: CostClassifier
    _done: list[PolicyUpdate]  # up to the checkpoint
    _since: list[PolicyUpdate]

    def __init__(self, policy: RowPolicy) -> None:
        self._renew(policy)

    def tell(self, policy: RowPolicy, update: PolicyUpdate) -> None:
        policy.tell(*update)
        self._since.append(update)

    def advance(self, policy: RowPolicy) -> None:
        self._done += self._since
        self._since = []
        settings_changed = policy.learner.warm_up != self._copy.warm_up  # repeated updates must not see new settings
        if len(self._done) >= _STATES_PER_COPY or settings_changed:
            self._renew(policy)

    def restored(self, policy: RowPolicy) -> RowPolicy:  # noqa: ARG002
        self._since = []
        found = RowPolicy(deepcopy(self._copy))
        for update in self._done:
            found.tell(*update)
        return found

    def _renew(self, policy: RowPolicy) -> None:
        self._copy, self._done, self._since = deepcopy(policy.learner), [], []
