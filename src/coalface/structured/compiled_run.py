"""What the compiled loops of the tagger and the parser share: a policy they can run, and a run done in pieces."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.errors import InputError
from coalface.learner import CoalClassifier
from coalface.models import CommitteeModel, OnlineModel, model_of
from coalface.sklearn_base import clone
from coalface.structured.policies import begun, set_warm_up


def begun_compiled(given: CoalClassifier, actions: Any, *, may_have: Sequence[str] = ()) -> CoalClassifier:
    """As ``begun``, for the compiled loops, which know the online model; "auto" means its first member alone here.

    >>> begun_compiled(CoalClassifier(mellowness=0.2), ["D", "N"]).model_
    OnlineModel()
    """
    if isinstance(given, CoalClassifier) and isinstance(model := model_of(given.model), CommitteeModel):
        given = clone(given).set_params(model=model.online or OnlineModel())
    policy = begun(given, actions, may_have=may_have)
    if type(policy.model_) is not OnlineModel or policy.model_.interactions is not None:
        raise InputError(
            f"policy must have model='online' without interactions here, got {policy.model_!r}. Use SearchLearner for "
            "other models."
        )
    return policy


def online_model(policy: CoalClassifier) -> OnlineModel:
    """The policy's model, which the compiled loops use directly."""
    assert isinstance(policy.model_, OnlineModel)
    return policy.model_


class CompiledRun:
    """A training run of a policy over sentences in a given ``order``, done in pieces.

    ``n_before`` is the number of sentences that the policy has learned already; the warm-up counts them.
    """

    def __init__(self, policy: CoalClassifier, order: NDArray[np.int64], warm_up: int, n_before: int) -> None:
        self.policy, self.model, self.order = policy, online_model(policy), order
        self._warm_up, self._n_before = warm_up, n_before
        self._done = np.zeros(1, np.int64)  # the kernel updates it in place, so it is right after Ctrl-C too

    @property
    def done(self) -> int:
        """How much of the order is learned."""
        return int(self._done[0])

    @property
    def finished(self) -> bool:
        """Whether all of it is learned."""
        return self.done == len(self.order)

    def _warms_up(self, n_sentences: int) -> bool:
        """Switch the warm-up on or off for the sentence after so many; returns whether it is on."""
        return set_warm_up(self.policy, self._warm_up, self._n_before + n_sentences)
