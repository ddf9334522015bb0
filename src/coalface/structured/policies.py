"""The policies of this package: each is a ``CoalClassifier`` of the user, or a default one.

Everything that builds a policy, knows its parameters, or writes it to a file is here.
"""

import os
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from inspect import signature
from types import MappingProxyType
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from coalface.errors import InputError, shortened
from coalface.files.bundle import read_bundle, rebuilding, write_bundle
from coalface.learner.classifiers import CoalClassifier
from coalface.learner.estimator import CostClassifier
from coalface.learner.state import NotFittedError
from coalface.models.online import OnlineModel
from coalface.sklearn_base import BaseEstimator, clone
from coalface.structured.tagging.spans import OUTSIDE, marks_spans

_KINDS = {kind.__name__: kind for kind in (CoalClassifier,)}
_NONE: Mapping[str, Any] = MappingProxyType({})
_STATES_PER_EXAMPLE = 100  # limits the warm-up, since a single example may have thousands of states
_NOT_OF_A_POLICY = {  # parameters that stay at their defaults, and what to do instead
    "cost_bounds": "Costs of actions lie in [0, 1]: set the scale of the task",
    "cost_matrix": "Give the costs to the task or to its learner",
    "abstain_cost": "An action must be taken in every state",
    "price_of_truth": "States have no true label that could be bought",
    "budget": "Give the budget to the learner of the policy",
}
_NOT_OF_A_LINE = {*_NOT_OF_A_POLICY, "classes", "features", "miss_rate", "model", "random_state", "warm_up"} - {
    "abstain_cost"
}


def tagger_policy(tags: Sequence[str], audits: str = "auto", **settings: Any) -> CoalClassifier:
    """The default policy for these tags, with some parameters of the user.

    Audits are "auto": if the tags mark spans, "O" is nearly always right, and an even audit hardly ever meets a span.

    >>> tagger_policy(["D", "N"]).audits, tagger_policy(["B-PER", "O"], mellowness=0.3).audits
    ('even', 'loss')
    """
    if audits == "auto":
        audits = "loss" if OUTSIDE in tags and marks_spans(tags) else "even"
    return CoalClassifier(**{"model": "online", "audits": audits, **settings})


def parser_policy(**settings: Any) -> CoalClassifier:
    """The default policy of a parser, with some parameters of the user."""
    return CoalClassifier(**{"model": "online", "mellowness": 0.5, **settings})


def policy_settings() -> dict[str, Any]:
    """The parameters of a policy that a line of a study may have, with their defaults.

    >>> policy_settings()["rule"], "random_state" in policy_settings()
    ('coal', False)
    """
    found = signature(CoalClassifier).parameters.items()
    return {name: parameter.default for name, parameter in found if name not in _NOT_OF_A_LINE}


def begun(given: CostClassifier, actions: Any, *, may_have: Sequence[str] = ()) -> CostClassifier:
    """A copy of the given policy that has begun with these actions; it does not warm up."""
    if not isinstance(given, CostClassifier):
        raise InputError(f"policy must be a CoalClassifier or None, got {shortened(given)}.")
    for name, remedy in _NOT_OF_A_POLICY.items():
        value = getattr(given, name)
        if name not in may_have and value is not None and not (name == "cost_bounds" and tuple(value) == (0.0, 1.0)):
            raise InputError(f"policy must have the default {name}, got {shortened(value)}. {remedy}.")
    return clone(given).set_params(classes=actions, warm_up=0).begin()


def begun_compiled(given: CostClassifier, actions: Any, *, may_have: Sequence[str] = ()) -> CostClassifier:
    """As ``begun``, for the compiled loops, which know the online model; it is also what "auto" means here.

    >>> begun_compiled(CoalClassifier(mellowness=0.2), ["D", "N"]).model_
    OnlineModel()
    """
    if isinstance(given, CoalClassifier) and given.model == "auto":
        given = clone(given).set_params(model="online")
    policy = begun(given, actions, may_have=may_have)
    if type(policy.model_) is not OnlineModel or policy.model_.interactions is not None:
        raise InputError(
            f"policy must have model='online' without interactions here, got {policy.model_!r}. Use SearchLearner for "
            "other models."
        )
    return policy


def set_warm_up(policy: CostClassifier, warm_up: int, n_examples: int) -> bool:
    """Switch the policy's warm-up on or off for the next example; returns whether it is on.

    ``n_examples`` examples were learned before; the first ``warm_up`` belong to the warm-up.

    >>> policy = CoalClassifier(["O", "NAME"], warm_up=0).tell([[1.0]] * 3, [[0.0, 1.0]] * 3)
    >>> set_warm_up(policy, warm_up=2, n_examples=1), policy.warm_up  # 200 states at most
    (True, 200)
    >>> set_warm_up(policy, warm_up=2, n_examples=2), policy.warm_up
    (False, 3)
    """
    policy.begin()
    most, n_states = _STATES_PER_EXAMPLE * warm_up, policy.round_ - 1
    is_on = n_examples < warm_up and n_states < most
    policy.warm_up = most if is_on else min(policy.warm_up, n_states)
    return is_on


class PolicyLearner(BaseEstimator, ABC):
    """The base of all learners of this package: each has a policy, which COAL teaches."""

    policy: CostClassifier | None
    policy_: CostClassifier
    _kind: ClassVar[str]  # of its files
    _not_saved: ClassVar[tuple[str, ...]] = ("policy",)  # parameters that are not in its files, or not as they are

    @property
    def costs_queried_(self) -> int:
        """How many costs the policy has asked for, in all passes."""
        return self.policy_.costs_queried_ if hasattr(self, "policy_") else 0

    def set_params(self, **params: Any) -> Self:
        """Set parameters; ``policy__x`` is one of the policy, which is the default one if there was none.

        >>> from coalface.structured import DependencyParser
        >>> parser = DependencyParser().set_params(policy__mellowness=0.2)
        >>> parser.policy.mellowness, parser.policy.model
        (0.2, 'online')
        """
        if self.policy is None and any(name.startswith("policy__") for name in params):
            self.policy = self._default_policy()
        super().set_params(**params)
        return self

    @abstractmethod
    def _default_policy(self) -> CostClassifier:
        """The unfitted policy of a learner to which the user gives none."""

    def _given_policy(self) -> CostClassifier:
        return self._default_policy() if self.policy is None else self.policy

    def _check_fitted(self) -> None:
        if not hasattr(self, "policy_"):
            raise NotFittedError(f"This {type(self).__name__} is not fitted yet: call 'fit' or 'partial_fit' first.")

    def _unfitted(self) -> Self:
        """A learner with the same parameters."""
        return type(self)(**self.get_params(deep=False))

    def _become(self, fitted: Self) -> None:
        """Forget what was learned and take over the state of another, which has learned all without an error."""
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)
        self.__dict__.update(vars(fitted))

    def _write(
        self,
        path: str | os.PathLike[str],
        own: Mapping[str, Any],
        arrays: Mapping[str, NDArray[Any]] = MappingProxyType({}),
    ) -> None:
        """Write the parameters, the policy, and these JSON values and arrays to one file, atomically."""
        self._check_fitted()
        policy = self.policy_
        name = type(policy).__name__
        if _KINDS.get(name) is not type(policy):
            raise InputError(
                f"policy must be one of coalface's own learners to be saved, got {name}. Use one of these."
            )
        params = {name: value for name, value in self.get_params(deep=False).items() if name not in self._not_saved}
        plain = {name: None if value is None else np.asarray(value).tolist() for name, value in params.items()}
        with policy.model_.lock:
            meta, learned = policy.bundled()
            of_learner = {"params": plain, "has_policy": self.policy is not None, "own": own, "arrays": list(arrays)}
            write_bundle(path, self._kind, {**of_learner, "kind": name, "policy": meta}, {**learned, **arrays})

    @classmethod
    def _read(
        cls, path: str | os.PathLike[str], **others: Any
    ) -> tuple[Self, CostClassifier, dict[str, Any], dict[str, NDArray[Any]]]:
        """A learner with the parameters of a file and ``others``, its policy, and the values and arrays."""
        meta, arrays = read_bundle(path, cls._kind)
        with rebuilding(path, cls._kind):
            own = {name: arrays.pop(name) for name in meta["arrays"]}
            policy = _KINDS[meta["kind"]].from_bundle(meta["policy"], arrays, path=path)
            given = clone(policy) if meta["has_policy"] else None
            return cls(**{**meta["params"], "policy": given, **others}), policy, meta["own"], own
