"""One example from its start to a complete output: roll in, ask, roll out, tell."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.errors import InputError
from coalface.learner.estimator import CostClassifier
from coalface.search.checkpoint import Told
from coalface.search.columns import Columns
from coalface.search.mixing import Mixing
from coalface.search.rollouts import ExcessLosses, Policy, Rollouts
from coalface.search.task import Action, SearchTask, allowed_actions, reference_action

_EPISODES_PROBED = 3  # in which every step is tried once more than needed, to see that it changes nothing


class LearnedPolicy:
    """The action of least predicted cost in any state; nothing is learned by looking."""

    def __init__(self, task: SearchTask[Any, Any], policy: CostClassifier, columns: Columns) -> None:
        self.task, self.policy, self.columns = task, policy, columns

    def __call__(self, state: Any) -> Action:
        """The action to take."""
        allowed = allowed_actions(self.task, state)
        if len(allowed) == 1:
            return allowed[0]
        row = self.columns.row(self.task.features(state))
        found: Action = self.policy.predict(row, candidates=mask_of(self.task, allowed))[0].item()
        return found


@dataclass
class Episode:
    """An episode in the course of being learned; ``step`` and ``told`` say how far it has come."""

    policy: CostClassifier
    columns: Columns
    rollouts: Rollouts
    mixing: Mixing
    number: int  # of all episodes
    step: int = 0
    told: list[Told] = field(default_factory=list)

    def play(self, example: Any) -> None:
        """Learn from every state on the way to a complete output."""
        task = self.rollouts.task
        state = task.start(example)
        while not task.finished(state):
            if self.step == task.longest:
                raise InputError(f"an episode must end after task.longest = {task.longest} steps. Raise it if need be.")
            allowed = allowed_actions(task, state)
            action = self._learn(state, allowed) if len(allowed) > 1 else allowed[0]  # without a choice, no lesson
            if self.mixing.reference_leads(self.number, self.step):
                action = reference_action(task, state)
            state = task.step(state, action)
            self.step += 1

    def _learn(self, state: Any, allowed: Sequence[Action]) -> Action:
        """Learn what the policy wants to know about a state; the action it would have taken before that."""
        task = self.rollouts.task
        row, candidates = self.columns.row(task.features(state), learn=True), mask_of(task, allowed)
        if self.number < _EPISODES_PROBED:
            _check_that_it_stays(task, self.columns, state, allowed[0])
        costs = self._costs_of(state)
        cost, asked = np.full(candidates.shape, np.nan), np.zeros_like(candidates)
        queries = first = self.policy.ask(row, candidates=candidates)
        while queries.next.any():
            now = np.flatnonzero(queries.next[0]).tolist()
            cost[0, now] = costs([task.actions[k] for k in now])
            asked |= queries.next
            queries = self.policy.ask(row, candidates=candidates, known=cost, asked=asked)
        told = Told(row, cost, first.put(asked), candidates)
        told.to(self.policy)
        self.told.append(told)
        return task.actions[int(np.where(candidates, first.predicted, np.inf).argmin())]

    def _costs_of(self, state: Any) -> Callable[[Sequence[Action]], list[float]]:
        task, mixing = self.rollouts.task, self.mixing
        if mixing.roll_out == "none":
            return partial(_disagreements, task, state)
        learned = LearnedPolicy(task, self.policy, self.columns)
        reference = partial(reference_action, task)

        def policy_after(action: Action) -> Policy | None:
            return mixing.policy_after(self.number, self.step, list(task.actions).index(action), learned, reference)

        return ExcessLosses(self.rollouts, state, policy_after)


def mask_of(task: SearchTask[Any, Any], allowed: Sequence[Action]) -> NDArray[np.bool_]:
    """The allowed actions as a row over all of them.

    >>> from coalface.search import SequenceTask
    >>> mask_of(SequenceTask(["D", "N", "V"]), ["N"])
    array([[False,  True, False]])
    """
    chosen = set(allowed)
    return np.array([[action in chosen for action in task.actions]])


def _check_that_it_stays(task: SearchTask[Any, Any], columns: Columns, state: Any, action: Action) -> None:
    """Raise an InputError if a step changes the state it starts from: roll-outs could not go back to that."""
    before = _looks(task, columns, state)
    task.step(state, action)
    try:
        same = _looks(task, columns, state) == before
    except Exception:  # it may have no features any more
        same = False
    if not same:
        raise InputError(
            f"task.step must give back a new state and leave the old one as it is, action {action!r} changed it. "
            "Copy what it is made of, or use tuples."
        )


def _looks(task: SearchTask[Any, Any], columns: Columns, state: Any) -> tuple[Any, ...]:
    row = columns.row(task.features(state))
    return row.indices.tobytes(), row.data.tobytes(), bool(task.finished(state)), task.key(state)


def _disagreements(task: SearchTask[Any, Any], state: Any, actions: Sequence[Action]) -> list[float]:
    """Cost 1 for every action that the reference would not take: no roll-out is needed to know that."""
    own = reference_action(task, state)
    return [float(action != own) for action in actions]
