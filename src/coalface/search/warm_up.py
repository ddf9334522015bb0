"""The warm-up of a search: in the first examples every allowed action is rolled out."""

from coalface.learner.estimator import CostClassifier

_STATES_PER_EXAMPLE = 100  # limits the warm-up, since a single example may have thousands of states


def set_warm_up(policy: CostClassifier, warm_up: int, n_examples: int) -> bool:
    """Switch the policy's warm-up on or off for the next example; returns whether it is on.

    ``n_examples`` examples were learned before; the first ``warm_up`` belong to the warm-up.

    >>> from coalface import CoalClassifier
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
