"""The costs of actions in a state: the loss after each, minus the loss if the reference acts there.

Costs are never relative to the best action rolled out: a single action would then always cost 0.

Ties teach nothing that is false. An action that loses no more than the reference's own costs 0, and on the reference's
path that is a fact worth learning. After a mistake it often is not: where the true output is out of reach, actions tie
because nothing can be saved any more, and a policy that learned "cost 0" there would take them elsewhere, too. So after
a mistake, an action that ties with the reference's has no cost: it counts as asked for, and is not learned. A task
whose loss charges every mistake, even one that changes nothing any more, says so; its ties are facts everywhere.
"""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

from coalface.structured.rollouts import Policy, Rollout, finite_loss
from coalface.structured.task import Action, SearchTask, reference_action

_TIE = 1e-9  # of the scale
UNKNOWN = float("nan")


class StateCosts:
    """The costs of some actions in one state; ``wanted`` lists the roll-outs they need, ``add`` takes the losses.

    >>> from coalface.structured import SequenceTask
    >>> task = SequenceTask(["D", "N"])
    >>> costs = StateCosts(task, task.start((["the"], ["D"])))
    >>> rollouts = costs.wanted(["N"])
    >>> costs.add(rollouts, [1.0])
    >>> costs.of(["N"])
    [1.0]
    """

    def __init__(
        self,
        task: SearchTask[Any, Any],
        state: Any,
        policy_after: Callable[[Action], Policy | None] | None = None,
        after_mistake: Callable[[], bool] = lambda: False,
        path: Any = None,
    ) -> None:
        self._task, self._state, self._path = task, state, path
        self._policy_after, self._after_mistake = policy_after, after_mistake
        self._policies: dict[Action, Policy | None] = {}
        self._by_reference: dict[Action, float] = {}  # losses of outputs that the reference completed
        self._by_policy: dict[Action, float] = {}
        self.n_others = self.n_ties = 0  # actions other than the reference's, and those that cost no more than it

    def wanted(self, actions: Sequence[Action]) -> list[Rollout]:
        """The roll-outs that the costs of these actions need."""
        self._policies = {action: self._policy_after(action) if self._policy_after else None for action in actions}
        by_reference = [action for action, policy in self._policies.items() if policy is None]
        by_reference += [] if self._free_baseline is not None or self.reference in by_reference else [self.reference]
        plan = [
            Rollout(self._state, action, path=self._path) for action in by_reference if action not in self._by_reference
        ]
        return plan + [
            Rollout(self._state, action, policy) for action, policy in self._policies.items() if policy is not None
        ]

    def add(self, rollouts: Sequence[Rollout], losses: Sequence[float]) -> None:
        """Take the losses of roll-outs that were wanted."""
        for rollout, loss in zip(rollouts, losses, strict=True):
            (self._by_reference if rollout.policy is None else self._by_policy)[rollout.action] = loss

    def of(self, actions: Sequence[Action]) -> list[float]:
        """The cost of each action, in [0, 1]; NaN for a tie after a mistake."""
        return [self._cost_of(action) for action in actions]

    def _cost_of(self, action: Action) -> float:
        baseline = self._by_reference[self.reference] if self._free_baseline is None else self._free_baseline
        if self._policies[action] is not None:
            return min(max((self._by_policy[action] - baseline) / self._task.scale, 0.0), 1.0)
        cost = min(max((self._by_reference[action] - baseline) / self._task.scale, 0.0), 1.0)
        self.n_others += 1
        if cost > _TIE:
            return cost
        if action == self.reference:  # asked for only here: it takes the task's time
            self.n_others -= 1
            return cost
        self.n_ties += 1
        is_fact = self._task.charges_every_mistake or not self._after_mistake()
        return cost if is_fact else UNKNOWN

    @cached_property
    def _free_baseline(self) -> float | None:
        """The loss if the reference acts here; None where only a roll-out can tell."""
        free = self._task.reference_loss(self._state)
        return None if free is None else finite_loss(free, "of the reference")

    @cached_property
    def reference(self) -> Action:
        """The reference's action here."""
        return reference_action(self._task, self._state)


class Disagreement(StateCosts):
    """Cost 0 for the reference's action and 1 for any other; no roll-out is needed."""

    def wanted(self, actions: Sequence[Action]) -> list[Rollout]:  # noqa: ARG002
        """No roll-out."""
        return []

    def of(self, actions: Sequence[Action]) -> list[float]:
        """The cost of each action."""
        reference = self.reference
        return [float(action != reference) for action in actions]
