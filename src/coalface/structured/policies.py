"""The policies of this package: each is a ``CoalClassifier`` of the user, or a default one.

Everything that builds a policy, knows its parameters, or writes it to a file is here.
"""

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from coalface.errors import InputError, shortened
from coalface.files import read_bundle, rebuilding, write_bundle
from coalface.learner import CoalClassifier, NotFittedError, bundled, from_bundle, rule_of
from coalface.models import OnlineModel
from coalface.sklearn_base import BaseEstimator, clone
from coalface.structured.tagging.spans import OUTSIDE, marks_spans

Progress = Callable[[int, int, int], None]  # what is done, in total, and the costs paid for
_STATES_PER_EXAMPLE = 100  # limits the warm-up, since a single example may have thousands of states
_NOT_OF_A_POLICY = {  # parameters that stay at their defaults, and what to do instead
    "cost_bounds": "Costs of actions lie in [0, 1]: set the scale of the task",
    "cost_matrix": "Give the costs to the task or to its learner",
    "abstain": "An action must be taken in every state",
    "price_of_truth": "States have no true label that could be bought",
    "budget": "Give the budget to the learner of the policy",
}


def tagger_policy(tags: Sequence[str], audits: Any = "auto", **settings: Any) -> CoalClassifier:
    """The default policy for these tags, with some parameters of the user, also nested ones.

    Audits are "auto": if the tags mark spans, "O" is nearly always right, and an even audit hardly ever meets a span.

    >>> tagger_policy(["D", "N"]).audits, tagger_policy(["B-PER", "O"], audits__rate=0.3).audits
    ('even', Audits(by='loss', rate=0.3))
    """
    if audits == "auto":
        audits = "loss" if OUTSIDE in tags and marks_spans(tags) else "even"
    return CoalClassifier(model=OnlineModel(), audits=audits).set_params(**settings)


def parser_policy(**settings: Any) -> CoalClassifier:
    """The default policy of a parser, with some parameters of the user, also nested ones."""
    return CoalClassifier(model=OnlineModel(), mellowness=0.5).set_params(**settings)


def begun(given: CoalClassifier, actions: Any, *, may_have: Sequence[str] = ()) -> CoalClassifier:
    """A copy of the given policy that has begun with these actions; it does not warm up."""
    if not isinstance(given, CoalClassifier):
        raise InputError(f"policy must be a CoalClassifier or None, got {shortened(given)}. Pass one.")
    for name, remedy in _NOT_OF_A_POLICY.items():
        value = getattr(given, name)
        if name not in may_have and value is not None and not (name == "cost_bounds" and tuple(value) == (0.0, 1.0)):
            raise InputError(f"policy must have the default {name}, got {shortened(value)}. {remedy}.")
    return clone(given).set_params(classes=actions, rule__warm_up=0).begin()


def set_warm_up(policy: CoalClassifier, warm_up: int, n_examples: int) -> bool:
    """Switch the policy's warm-up on or off for the next example; returns whether it is on.

    ``n_examples`` examples were learned before; the first ``warm_up`` belong to the warm-up.

    >>> from coalface import Coal
    >>> policy = CoalClassifier(["O", "NAME"], rule=Coal(warm_up=0)).tell([[1.0]] * 3, [[0.0, 1.0]] * 3)
    >>> set_warm_up(policy, warm_up=2, n_examples=1), policy.rule.warm_up  # 200 states at most
    (True, 200)
    >>> set_warm_up(policy, warm_up=2, n_examples=2), policy.rule.warm_up
    (False, 3)
    """
    policy.begin()
    most, n_states, before = _STATES_PER_EXAMPLE * warm_up, policy.round_ - 1, rule_of(policy.rule).warm_up
    is_on = n_examples < warm_up and n_states < most
    now = most if is_on else min(before, n_states)
    if now != before:
        policy.set_params(rule__warm_up=now)
    return is_on


class PolicyLearner(BaseEstimator, ABC):
    """The base of all learners of this package: each has a policy, which COAL teaches."""

    policy: CoalClassifier | None
    policy_: CoalClassifier
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
        >>> parser.policy
        CoalClassifier(mellowness=0.2, model=OnlineModel())
        """
        if self.policy is None and any(name.startswith("policy__") for name in params):
            self.policy = self._default_policy()
        super().set_params(**params)
        return self

    @abstractmethod
    def _default_policy(self) -> CoalClassifier:
        """The unfitted policy of a learner to which the user gives none."""

    def _given_policy(self) -> CoalClassifier:
        return self._default_policy() if self.policy is None else self.policy

    def _check_fitted(self) -> None:
        if not hasattr(self, "policy_"):
            raise NotFittedError(f"This {type(self).__name__} is not fitted yet: call 'fit' or 'partial_fit' first.")

    @abstractmethod
    def _learn(self, *given: Any) -> Self:
        """Learn what is given, after what was learned before."""

    def _fit(self, *given: Any) -> Self:
        """Learn what is given and nothing else; if that fails, nothing changes."""
        self._become(self._unfitted()._learn(*given))
        return self

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
        policy, kind = self.policy_, type(self.policy_)
        if kind is not CoalClassifier:
            raise InputError(f"policy must be a CoalClassifier itself to be saved, got {kind.__name__}. Pass one.")
        params = {name: value for name, value in self.get_params(deep=False).items() if name not in self._not_saved}
        plain = {name: None if value is None else np.asarray(value).tolist() for name, value in params.items()}
        with policy.model_.lock:
            meta, learned = bundled(policy)
            of_learner = {"params": plain, "has_policy": self.policy is not None, "own": own, "arrays": list(arrays)}
            write_bundle(path, self._kind, {**of_learner, "policy": meta}, {**learned, **arrays})

    @classmethod
    def _read(
        cls, path: str | os.PathLike[str], **others: Any
    ) -> tuple[Self, CoalClassifier, dict[str, Any], dict[str, NDArray[Any]]]:
        """A learner with the parameters of a file and ``others``, its policy, and the values and arrays."""
        meta, arrays = read_bundle(path, cls._kind)
        with rebuilding(path, cls._kind):
            own = {name: arrays.pop(name) for name in meta["arrays"]}
            policy = from_bundle(CoalClassifier, meta["policy"], arrays, path=path)
            given = clone(policy) if meta["has_policy"] else None
            return cls(**{**meta["params"], "policy": given, **others}), policy, meta["own"], own
