"""What a user says about a search: an output is built action by action, and only a complete one has a loss."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from coalface.data.labels import label_array
from coalface.errors import InputError

Example = TypeVar("Example")
State = TypeVar("State")
Action = str | int
Features = Mapping[str, float] | Mapping[int, float] | NDArray[Any] | Sequence[float]


class SearchTask(ABC, Generic[Example, State]):
    """A structured output as a sequence of decisions. The seven methods without a body are yours to write.

    **States never change**: ``step`` gives back a new one, so that going back to an earlier state is free. What a
    state is made of is the task's own matter.

    >>> class Spell(SearchTask):
    ...     actions = ("a", "b")
    ...     def start(self, example):
    ...         return example, ""
    ...     def finished(self, state):
    ...         return len(state[1]) == len(state[0])
    ...     def allowed(self, state):
    ...         return self.actions
    ...     def step(self, state, action):
    ...         return state[0], state[1] + action
    ...     def features(self, state):
    ...         return {f"at {len(state[1])}": 1.0}
    ...     def reference(self, state):
    ...         return state[0][len(state[1])]
    ...     def loss(self, state):
    ...         return sum(a != b for a, b in zip(*state))
    >>> task = Spell()
    >>> task.rollout(task.start("abba"), "b")
    1.0
    """

    actions: Sequence[Action]  # all there are; the labels of the policy
    scale: float = 1.0  # the excess loss of an action that counts as cost 1; more is cut off
    longest: int = 1_000_000  # steps of an episode: beyond them a task is taken for endless

    @abstractmethod
    def start(self, example: Example) -> State:
        """The state in which nothing is decided; for predictions the example may lack the truth."""

    @abstractmethod
    def finished(self, state: State) -> bool:
        """Whether the output is complete."""

    @abstractmethod
    def allowed(self, state: State) -> Collection[Action]:
        """The actions that may be taken, at least one; not called for finished states."""

    @abstractmethod
    def step(self, state: State, action: Action) -> State:
        """The state after an allowed action; ``state`` stays as it is."""

    @abstractmethod
    def features(self, state: State) -> Features:
        """What the policy sees: numbers by name, or by number of column, or a row of numbers."""

    @abstractmethod
    def reference(self, state: State) -> Action:
        """The action of the reference policy, which knows the truth; one of the allowed."""

    @abstractmethod
    def loss(self, state: State) -> float:
        """The loss of a finished state."""

    # -- may be replaced -----------------------------------------------------------------------

    def rollout(self, state: State, action: Action) -> float:
        """The loss after ``action`` if the reference does the rest: the expensive part, called as seldom as possible.

        Replace it where there is a quicker way, or where a program of its own does it.
        """
        return finish(self, self.step(state, action), lambda later: reference_action(self, later))

    def reference_loss(self, state: State) -> float | None:  # noqa: ARG002 (to be replaced)
        """The loss if the reference does the rest, where that is known for free; None costs one more roll-out."""
        return None

    def key(self, state: State) -> Hashable:  # noqa: ARG002 (to be replaced)
        """What makes two states the same, the example included: they share their roll-outs. None shares nothing."""
        return None

    def output(self, state: State) -> Any:
        """What ``predict`` gives for a finished state."""
        return state


def check_task(task: Any) -> None:
    """Raise an InputError if a task lacks what every task has."""
    if not isinstance(task, SearchTask):
        raise InputError(f"task must be a SearchTask, got {task!r}. Write a subclass of it.")
    actions = list(getattr(task, "actions", ()))
    if not actions:
        raise InputError(f"{type(task).__name__} must have actions, got none. List all there are in task.actions.")
    if not any(all(isinstance(action, kind) for action in actions) for kind in (str, int | np.integer)):
        raise InputError(f"task.actions must be all texts or all whole numbers, got {actions[:20]}.")
    label_array(actions, "task.actions")
    scale: Any = task.scale
    if not isinstance(scale, int | float | np.number) or not 0.0 < scale < np.inf:
        raise InputError(f"task.scale must be a number above 0, got {scale!r}.")


def allowed_actions(task: SearchTask[Any, Any], state: Any) -> Sequence[Action]:
    """The allowed actions in the order of ``task.actions``; an InputError if there is none or one is unknown.

    Whoever asks twice for the same state gets the same list, so that nothing depends on the order of a set.
    """
    given = set(task.allowed(state))
    found = [action for action in task.actions if action in given]
    if len(found) < len(given):
        stranger = min(map(repr, given.difference(found)))
        raise InputError(f"allowed actions must be among task.actions, got {stranger}. List it there.")
    if not found:
        raise InputError("at least one action must be allowed until the output is finished, got none.")
    return found


def reference_action(task: SearchTask[Any, Any], state: Any) -> Action:
    """The action of the reference; an InputError if it is not allowed."""
    action = task.reference(state)
    allowed = allowed_actions(task, state)
    if action not in allowed:
        shown = ", ".join(map(repr, allowed[:20])) + (", ..." if len(allowed) > 20 else "")
        raise InputError(f"the reference must take an allowed action ({shown}), got {action!r}.")
    return action


def finish(task: SearchTask[Any, Any], state: Any, choose: Callable[[Any], Action]) -> float:
    """The loss of the output that ``choose`` completes."""
    return float(task.loss(complete(task, state, choose)))


def complete(task: SearchTask[Any, Any], state: Any, choose: Callable[[Any], Action]) -> Any:
    """The finished state at which ``choose`` arrives."""
    for _ in range(task.longest):
        if task.finished(state):
            return state
        state = task.step(state, choose(state))
    if task.finished(state):
        return state
    raise InputError(f"an episode must be finished after task.longest = {task.longest} steps. Raise it if need be.")
