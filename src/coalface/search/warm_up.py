"""The first examples, in which everything is rolled out."""

from coalface.learner.estimator import CostClassifier

_MOST_STATES = 100  # for each example of ``warm_up``: one alone may have thousands


def warm_up_goes_on(policy: CostClassifier, warm_up: int, n_examples: int) -> bool:
    """Whether the example after these ``n_examples`` is rolled out in full; the policy is told.

    >>> from coalface import CoalClassifier
    >>> policy = CoalClassifier(["O", "NAME"], warm_up=0).tell([[1.0]] * 3, [[0.0, 1.0]] * 3)
    >>> warm_up_goes_on(policy, warm_up=2, n_examples=1), policy.warm_up  # 200 states at most
    (True, 200)
    >>> warm_up_goes_on(policy, warm_up=2, n_examples=2), policy.warm_up
    (False, 3)
    """
    policy.begin()
    most, n_states = _MOST_STATES * warm_up, policy.round_ - 1
    goes_on = n_examples < warm_up and n_states < most
    policy.warm_up = most if goes_on else min(policy.warm_up, n_states)
    return goes_on
