"""What the tagger and the parser share: they learn from sentences, with a policy that COAL teaches."""

from typing import Any

from sklearn.base import BaseEstimator

from coalface.learner.classifiers import CoalClassifier
from coalface.learner.state import NotFittedError

POLICY_PARAMS = (
    *("rule", "mellowness", "width_scale", "learning_rate", "slack", "in_turn", "audit_rate", "accumulator"),
    *("sensitivity", "fit_intercept", "random_state"),
)


class SentenceLearner(BaseEstimator):  # type: ignore[misc]
    """Parameters, counts and the change of state in ``fit``."""

    rule: str
    mellowness: float
    width_scale: float
    learning_rate: float | str
    warm_up: int  # sentences
    slack: str
    in_turn: bool
    audit_rate: float
    accumulator: str
    sensitivity: str
    fit_intercept: bool
    random_state: int
    passes: int
    policy_: CoalClassifier
    sentences_ = 0  # learned so far; a sentence counts once per pass

    def _store(self, params: dict[str, Any]) -> None:
        """Set the parameters of a constructor, given as its ``locals()``, unchanged as scikit-learn requires."""
        self.__dict__.update({name: value for name, value in params.items() if name != "self"})

    def _become(self, fitted: "SentenceLearner") -> None:
        """Forget what was learned and take over the state of another, which has learned all without an error."""
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)
        self.__dict__.update(vars(fitted))

    @property
    def costs_queried_(self) -> int:
        """How many costs the policy has asked for, in all passes."""
        return self.policy_.costs_queried_ if hasattr(self, "policy_") else 0

    def _check_fitted(self) -> None:
        if not hasattr(self, "policy_"):
            raise NotFittedError(f"This {type(self).__name__} is not fitted yet: call 'fit' or 'partial_fit' first.")
