"""Roll-outs: what is lost after an action, found out by completing the output; counted, cached, maybe in parallel."""

from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Executor, Future
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from coalface.errors import InputError, in_one_line
from coalface.search.task import Action, SearchTask, finish, reference_action

Policy = Callable[[Any], Action]  # the action to take in a state


class Rollout(NamedTuple):
    """An action in a state, and who completes the output after it: the reference, or a policy."""

    state: Any
    action: Action
    policy: Policy | None = None


class Rollouts:
    """Runs roll-outs and counts those that were run, also those that failed.

    Roll-outs of the reference are remembered where the task gives the state a key; those of a policy never are, since
    it learns.

    >>> from coalface.search import SequenceTask
    >>> task = SequenceTask(["D", "N"])
    >>> rollouts, start = Rollouts(task), task.start((["the", "cat"], ["D", "N"]))
    >>> rollouts.losses([Rollout(start, "N"), Rollout(start, "D")]), rollouts.count
    ([1.0, 0.0], 2)
    """

    def __init__(self, task: SearchTask[Any, Any], executor: Executor | None = None, count: int = 0) -> None:
        self.task = task
        self.executor = executor
        self.count = count
        self._known: dict[Hashable, float] = {}

    def losses(self, wanted: Sequence[Rollout]) -> list[float]:
        """The loss after each action."""
        names = [self._name(rollout) for rollout in wanted]
        to_run = [i for i, name in enumerate(names) if name not in self._known]
        found = dict(zip(to_run, self._run([wanted[i] for i in to_run]), strict=True))
        for i in to_run:
            found[i] = _checked(found[i], f"after action {wanted[i].action!r}")
        self._known.update({names[i]: found[i] for i in to_run if names[i] is not None})
        return [found[i] if i in found else self._known[name] for i, name in enumerate(names)]

    def _name(self, rollout: Rollout) -> Hashable:
        key = self.task.key(rollout.state) if rollout.policy is None else None
        return None if key is None else (key, rollout.action)

    def _run(self, wanted: list[Rollout]) -> list[Any]:
        if self.executor is None:
            return [self._call(rollout) for rollout in wanted]
        futures = []
        for rollout in wanted:
            futures.append(self._submit(self.executor, rollout))
            self.count += 1
        problems = [future.exception() for future in futures]  # waits for all: nothing runs on behind a failure
        for rollout, problem in zip(wanted, problems, strict=True):
            if isinstance(problem, Exception):
                raise _failed(rollout, problem) from problem
        return [future.result() for future in futures]

    def _call(self, rollout: Rollout) -> Any:
        self.count += 1
        try:
            return _loss_after(self.task, rollout)
        except Exception as problem:
            raise _failed(rollout, problem) from problem

    def _submit(self, executor: Executor, rollout: Rollout) -> "Future[Any]":
        if rollout.policy is None:  # the task and its state can travel to another process, a policy cannot
            return executor.submit(self.task.rollout, rollout.state, rollout.action)
        return executor.submit(_loss_after, self.task, rollout)


class ExcessLosses:
    """The costs of the actions in one state: how much more is lost after each than if the reference had gone on.

    That is never relative to the best action that was rolled out: a single one would then always cost 0.

    >>> from coalface.search import SequenceTask
    >>> task = SequenceTask(["D", "N"])
    >>> ExcessLosses(Rollouts(task), task.start((["the"], ["D"])))(["N"])
    [1.0]
    """

    def __init__(
        self, rollouts: Rollouts, state: Any, policy_after: Callable[[Action], Policy | None] | None = None
    ) -> None:
        self._rollouts, self._task, self._state = rollouts, rollouts.task, state
        self._policy_after = policy_after
        self._by_reference: dict[Action, float] = {}  # losses after actions from which the reference went on

    def __call__(self, actions: Sequence[Action]) -> list[float]:
        """The cost of each action, in [0, 1]."""
        policies = {action: self._policy_after(action) if self._policy_after else None for action in actions}
        wanted = [action for action, policy in policies.items() if policy is None]
        wanted += [] if self._free_baseline is not None or self._own in wanted else [self._own]
        plan = [Rollout(self._state, action) for action in wanted if action not in self._by_reference]
        plan += [Rollout(self._state, action, policy) for action, policy in policies.items() if policy is not None]
        by_policy: dict[Action, float] = {}
        for rollout, loss in zip(plan, self._rollouts.losses(plan), strict=True):
            (self._by_reference if rollout.policy is None else by_policy)[rollout.action] = loss
        baseline = self._by_reference[self._own] if self._free_baseline is None else self._free_baseline
        losses = [(self._by_reference if policies[action] is None else by_policy)[action] for action in actions]
        return [min(max((loss - baseline) / self._task.scale, 0.0), 1.0) for loss in losses]

    @cached_property
    def _free_baseline(self) -> float | None:
        """What is lost if the reference goes on, unless that takes a roll-out."""
        free = self._task.reference_loss(self._state)
        return None if free is None else _checked(free, "of the reference")

    @cached_property
    def _own(self) -> Action:
        """What the reference would do here."""
        return reference_action(self._task, self._state)


def _loss_after(task: SearchTask[Any, Any], rollout: Rollout) -> Any:
    if rollout.policy is None:
        return task.rollout(rollout.state, rollout.action)
    return finish(task, task.step(rollout.state, rollout.action), rollout.policy)


def _failed(rollout: Rollout, problem: Exception) -> InputError:
    kind = "" if isinstance(problem, InputError) else f"{type(problem).__name__}: "
    return InputError(f"the roll-out of action {rollout.action!r} failed, {kind}{in_one_line(problem)}.")


def _checked(loss: Any, which: str) -> float:
    try:
        number = float(loss)
    except (TypeError, ValueError):
        number = np.nan
    if not np.isfinite(number):
        raise InputError(f"the loss {which} must be a finite number, got {loss!r}.")
    return number
