"""One training episode: roll in, and in each state ask for costs, roll out the actions asked for and learn."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.errors import InputError
from coalface.learner.estimator import CostClassifier
from coalface.search.checkpoint import PolicyUpdate
from coalface.search.feature_columns import FeatureColumns
from coalface.search.policy_choice import PolicyChoice
from coalface.search.rollouts import ExcessLosses, Policy, Rollouts
from coalface.search.task import Action, SearchTask, allowed_actions, reference_action, too_long

_EPISODES_CHECKED = 3  # in these, an extra step per state shows whether ``task.step`` changes its argument


@dataclass(frozen=True)
class LearnedPolicy:
    """Takes the action with the lowest predicted cost, without learning; ``predict`` limits it to valid actions."""

    task: SearchTask[Any, Any]
    policy: CostClassifier
    columns: FeatureColumns
    actions_in: Callable[[SearchTask[Any, Any], Any], Sequence[Action]] = allowed_actions

    def __call__(self, state: Any) -> Action:
        """The action to take."""
        actions = self.actions_in(self.task, state)
        if len(actions) == 1:
            return actions[0]
        row = self.columns.row(self.task.features(state))
        found: Action = self.policy.model_labels(row, candidates=_action_mask(self.task, actions))[0].item()
        return found


@dataclass
class Episode:
    """An episode while it is learned; ``step`` and ``updates`` show how far it has come."""

    policy: CostClassifier
    columns: FeatureColumns
    rollouts: Rollouts
    choice: PolicyChoice
    number: int  # counted over all episodes
    step: int = 0
    updates: list[PolicyUpdate] = field(default_factory=list)

    def learn(self, example: Any) -> None:
        """Learn from every state on the way to a complete output."""
        task = self.rollouts.task
        state = task.start(example)
        while not task.finished(state):
            if self.step == task.longest:
                raise too_long(task)
            allowed = allowed_actions(task, state)
            action = self._learn_state(state, allowed) if len(allowed) > 1 else allowed[0]
            if self.choice.reference_rolls_in(self.number, self.step):
                action = reference_action(task, state)
            state = task.step(state, action)
            self.step += 1

    def _learn_state(self, state: Any, allowed: Sequence[Action]) -> Action:
        """Learn the costs that the policy asks for; returns the action it preferred before learning them."""
        task = self.rollouts.task
        row, candidates = self.columns.row(task.features(state), learn=True), _action_mask(task, allowed)
        if self.number < _EPISODES_CHECKED:
            _check_step_keeps_state(task, self.columns, state, allowed[0])
        costs = self._costs_of(state)
        cost, asked = np.full(candidates.shape, np.nan), np.zeros_like(candidates)
        queries = first = self.policy.ask(row, candidates=candidates)
        while queries.next.any():
            now = np.flatnonzero(queries.next[0]).tolist()
            cost[0, now] = costs([task.actions[k] for k in now])
            asked |= queries.next
            queries = self.policy.ask(row, candidates=candidates, known=cost, asked=asked)
        update = PolicyUpdate(row, cost, first.restricted_to(asked), candidates)
        update.apply_to(self.policy)
        self.updates.append(update)
        return task.actions[int(np.where(candidates, first.predicted, np.inf).argmin())]

    def _costs_of(self, state: Any) -> Callable[[Sequence[Action]], list[float]]:
        task, choice = self.rollouts.task, self.choice
        if choice.roll_out == "none":
            return partial(_disagreement_costs, task, state)
        learned = LearnedPolicy(task, self.policy, self.columns)
        reference = partial(reference_action, task)

        def policy_after(action: Action) -> Policy | None:
            return choice.roll_out_policy(self.number, self.step, list(task.actions).index(action), learned, reference)

        return ExcessLosses(self.rollouts, state, policy_after)


def _action_mask(task: SearchTask[Any, Any], allowed: Sequence[Action]) -> NDArray[np.bool_]:
    """Which of ``task.actions`` are allowed, as one row.

    >>> from coalface.search import SequenceTask
    >>> _action_mask(SequenceTask(["D", "N", "V"]), ["N"])
    array([[False,  True, False]])
    """
    chosen = set(allowed)
    return np.array([[action in chosen for action in task.actions]])


def _check_step_keeps_state(task: SearchTask[Any, Any], columns: FeatureColumns, state: Any, action: Action) -> None:
    """Raise an InputError if a step changes the state it starts from: roll-outs need that state again."""
    before = _observed(task, columns, state)
    task.step(state, action)
    try:
        same = _observed(task, columns, state) == before
    except Exception:  # the changed state may have no features any more
        same = False
    if not same:
        raise InputError(
            f"task.step must return a new state and leave the old one unchanged, action {action!r} changed it. "
            "Copy its parts before changing them, or use tuples."
        )


def _observed(task: SearchTask[Any, Any], columns: FeatureColumns, state: Any) -> tuple[Any, ...]:
    row = columns.row(task.features(state))
    return row.indices.tobytes(), row.data.tobytes(), bool(task.finished(state)), task.key(state)


def _disagreement_costs(task: SearchTask[Any, Any], state: Any, actions: Sequence[Action]) -> list[float]:
    """Cost 0 for the reference's action and 1 for any other; no roll-out is needed."""
    reference = reference_action(task, state)
    return [float(action != reference) for action in actions]
