"""The interface of a search task: an output is built action by action, and only a complete one has a loss."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from coalface.data import label_array
from coalface.errors import InputError

Example = TypeVar("Example")
State = TypeVar("State")
Action = str | int  # a task may narrow it to one of them
RollOut = Literal["auto", "reference", "learned", "mixed", "mixed-per-state", "none"]
Features = Mapping[str, float] | Mapping[int, float] | NDArray[Any] | Sequence[float]


class SearchTask(ABC, Generic[Example, State]):
    """A structured output as a sequence of decisions. Implement the seven abstract methods.

    **States never change**: ``step`` returns a new one, so going back to an earlier state is free. A state may be any
    object.

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

    actions: Sequence[Action]  # all possible actions; the labels of the policy
    scale: float = 1.0  # the excess loss that counts as cost 1; larger ones are clipped
    roll_out: RollOut = "reference"  # what ``SearchLearner(roll_out="auto")`` does, the better one for this task
    charges_every_mistake: bool = False  # whether equal costs are facts after a mistake, too: see ``state_costs``
    longest: int = 1_000_000  # most steps of an episode; one that takes more is stopped with an error

    @abstractmethod
    def start(self, example: Example) -> State:
        """The initial state; in ``predict`` the example may lack the truth."""

    @abstractmethod
    def finished(self, state: State) -> bool:
        """Whether the output is complete."""

    @abstractmethod
    def allowed(self, state: State) -> Collection[Action]:
        """The actions possible here, at least one; never called for a finished state."""

    @abstractmethod
    def step(self, state: State, action: Any) -> State:
        """The state after an allowed action; must not change ``state``."""

    @abstractmethod
    def features(self, state: State) -> Features:
        """What the policy sees: values by name, values by column number, or one row of values."""

    @abstractmethod
    def reference(self, state: State) -> Action:
        """The action of the reference policy, which knows the truth; must be allowed."""

    @abstractmethod
    def loss(self, state: State) -> float:
        """The loss of a finished state."""

    # -- optional ------------------------------------------------------------------------------

    def action_features(self, state: State, action: Any) -> Features | None:  # noqa: ARG002 (to be overridden)
        """What the policy sees of an allowed action, as ``features``; None: actions have no features of their own.

        A task that overrides it has one regressor for all actions, so that an action that was never taken has a cost
        as soon as it has features. Actions may then be the places of a list that differs from state to state.
        """
        return None

    def valid(self, state: State) -> Collection[Action]:
        """The allowed actions that ``predict`` may take, at least one; by default all of them.

        Override it for rules about complete outputs, such as which tag may follow which. While it learns, the learner
        takes and rolls out all allowed actions: where a rule leaves only bad actions, their costs say little.
        """
        return self.allowed(state)

    def rollout(self, state: State, action: Any) -> float:
        """The loss after ``action`` if the reference completes the output: expensive, so called as rarely as possible.

        Override it if there is a faster way, or to run an external program.
        """
        return float(self.loss(complete(self, self.step(state, action), lambda later: reference_action(self, later))))

    def reference_loss(self, state: State) -> float | None:  # noqa: ARG002 (to be overridden)
        """The loss if the reference completes the output, if known without a roll-out; None runs a roll-out."""
        return None

    def key(self, state: State) -> Hashable:  # noqa: ARG002 (to be overridden)
        """A key that equal states of the same example share, so that roll-outs are cached; None caches nothing.

        Losses are cached by key alone. If two examples can have different losses, their keys must differ: put the
        example, or its id, into the key.
        """
        return None

    def output(self, state: State) -> Any:
        """What ``predict`` returns for a finished state."""
        return state


@dataclass(frozen=True, eq=False)
class LabelledSoFar(Generic[Example]):
    """A state of tasks that label the parts of a sentence one by one: the first labels, and what they lose."""

    sentence: Example
    given: tuple[Any, ...] = ()
    lost: float = 0.0


def check_task(task: Any) -> None:
    """Raise an InputError if ``task`` is not a SearchTask with valid ``actions`` and ``scale``."""
    if not isinstance(task, SearchTask):
        raise InputError(f"task must be a SearchTask, got {task!r}. Write a subclass of it.")
    actions = list(getattr(task, "actions", ()))
    if not actions:
        raise InputError(
            f"{type(task).__name__} must have actions, got none. List all possible actions in task.actions."
        )
    if not any(all(isinstance(action, kind) for action in actions) for kind in (str, int | np.integer)):
        raise InputError(f"task.actions must be all strings or all integers, got {actions[:20]}. Use one kind.")
    label_array(actions, "task.actions")
    scale: Any = task.scale
    if not isinstance(scale, int | float | np.number) or not 0.0 < scale < np.inf:
        raise InputError(f"task.scale must be a number above 0, got {scale!r}. Set the excess loss that costs 1.")


def has_action_features(task: SearchTask[Any, Any]) -> bool:
    """Whether the actions of a task have features of their own."""
    return type(task).action_features is not SearchTask.action_features


def in_order(task: SearchTask[Any, Any], actions: Collection[Action], kind: str) -> Sequence[Action]:
    """Actions in the order of ``task.actions``; an InputError if there is none or one is unknown.

    The fixed order keeps results from depending on the order of a set.
    """
    if actions is task.actions and len(actions):
        return task.actions
    given = set(actions)
    found = [action for action in task.actions if action in given]
    if len(found) < len(given):
        unknown = min(map(repr, given.difference(found)))
        raise InputError(f"{kind} actions must be among task.actions, got {unknown}. List it there.")
    if not found:
        raise InputError(
            f"at least one action must be {kind} until the output is finished, got none. Return one, or finish."
        )
    return found


def reference_action(task: SearchTask[Any, Any], state: Any) -> Action:
    """The reference's action; an InputError if it is not allowed."""
    action = task.reference(state)
    if action in task.actions and action in task.allowed(state):  # faster than to bring them into order
        return action
    allowed = in_order(task, task.allowed(state), "allowed")
    if action not in allowed:
        shown = ", ".join(map(repr, allowed[:20])) + (", ..." if len(allowed) > 20 else "")
        raise InputError(f"the reference must take an allowed action ({shown}), got {action!r}.")
    return action


def complete(task: SearchTask[Any, Any], state: Any, choose: Callable[[Any], Action]) -> Any:
    """The finished state that the actions of ``choose`` lead to."""
    for _ in range(task.longest):
        if task.finished(state):
            return state
        state = task.step(state, choose(state))
    if task.finished(state):
        return state
    raise too_long(task)


def too_long(task: SearchTask[Any, Any]) -> InputError:
    """The error for an episode of more than ``task.longest`` steps."""
    return InputError(f"an episode must be finished after task.longest = {task.longest} steps. Raise it if too low.")
