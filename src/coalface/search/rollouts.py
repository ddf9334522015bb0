"""Runs, counts and caches roll-outs: the loss after an action, found by completing the output."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from concurrent.futures import Executor, Future
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from coalface.errors import InputError, in_one_line
from coalface.search.task import Action, SearchTask, loss_when_completed, reference_action

Policy = Callable[[Any], Action]  # the action to take in a state


class _Rollout(NamedTuple):
    """An action in a state, and the policy that completes the output after it; None is the reference."""

    state: Any
    action: Action
    policy: Policy | None = None


class Outcome(NamedTuple):
    """The result of a roll-out that was run: its loss, or the exception it raised."""

    loss: Any
    problem: Exception | None = None


class _NotRun(NamedTuple):
    """The exception because of which the executor could not run a roll-out."""

    problem: Exception


class Rollouts:
    """Runs roll-outs, and counts them even if they fail.

    Roll-outs by the reference are cached where the task gives the state a key. Those by a learned policy are never
    cached, since the policy changes.

    >>> from coalface.search import SequenceTask
    >>> task = SequenceTask(["D", "N"])
    >>> rollouts, start = Rollouts(task), task.start((["the", "cat"], ["D", "N"]))
    >>> rollouts.losses([_Rollout(start, "N"), _Rollout(start, "D")]), rollouts.count
    ([1.0, 0.0], 2)
    """

    def __init__(self, task: SearchTask[Any, Any], executor: Executor | None = None, count: int = 0) -> None:
        self.task = task
        self.executor = executor
        self.count = count
        self._cache: dict[Hashable, float] = {}

    def losses(self, wanted: Sequence[_Rollout]) -> list[float]:
        """The loss after each action. If one fails, the successful ones are still cached."""
        keys = [self._cache_key(rollout) for rollout in wanted]
        to_run = [i for i, key in enumerate(keys) if key is None or key not in self._cache]
        found: dict[int, float] = {}
        problems: list[InputError] = []
        for i, outcome in zip(to_run, self._outcomes([wanted[i] for i in to_run]), strict=False):
            try:
                found[i] = _loss_of(outcome, wanted[i])
            except InputError as problem:
                problems.append(problem)
            else:
                self._cache.update({} if keys[i] is None else {keys[i]: found[i]})
        if problems:
            raise problems[0]
        return [found[i] if i in found else self._cache[key] for i, key in enumerate(keys)]

    def _cache_key(self, rollout: _Rollout) -> Hashable:
        key = self.task.key(rollout.state) if rollout.policy is None else None
        try:
            hash(key)
        except TypeError:
            raise InputError(
                f"task.key must return something hashable, got a {type(key).__name__}. Return a tuple."
            ) from None
        return None if key is None else (key, rollout.action)

    def _outcomes(self, wanted: list[_Rollout]) -> "Iterator[Outcome | _NotRun]":
        """The result of each; without an executor, nothing is run after a failure."""
        if self.executor is None:
            for rollout in wanted:
                self.count += 1
                outcome = _run(self.task, rollout)
                yield outcome
                if outcome.problem is not None:
                    return
            return
        futures = [_submitted(self.executor, self.task, rollout) for rollout in wanted]
        outcomes = [_awaited(future) for future in futures]  # waits for all, so that none still runs after a failure
        self.count += sum(isinstance(outcome, Outcome) for outcome in outcomes)
        yield from outcomes


class ExcessLosses:
    """The costs of the actions in one state: the loss after each, minus the loss if the reference acts here.

    Costs are never relative to the best action rolled out: a single action would then always cost 0.

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
        self._by_reference: dict[Action, float] = {}  # losses of outputs that the reference completed

    def __call__(self, actions: Sequence[Action]) -> list[float]:
        """The cost of each action, in [0, 1]."""
        policies = {action: self._policy_after(action) if self._policy_after else None for action in actions}
        wanted = [action for action, policy in policies.items() if policy is None]
        wanted += [] if self._free_baseline is not None or self._reference in wanted else [self._reference]
        plan = [_Rollout(self._state, action) for action in wanted if action not in self._by_reference]
        plan += [_Rollout(self._state, action, policy) for action, policy in policies.items() if policy is not None]
        by_policy: dict[Action, float] = {}
        for rollout, loss in zip(plan, self._rollouts.losses(plan), strict=True):
            (self._by_reference if rollout.policy is None else by_policy)[rollout.action] = loss
        baseline = self._by_reference[self._reference] if self._free_baseline is None else self._free_baseline
        losses = [(self._by_reference if policies[action] is None else by_policy)[action] for action in actions]
        return [min(max((loss - baseline) / self._task.scale, 0.0), 1.0) for loss in losses]

    @cached_property
    def _free_baseline(self) -> float | None:
        """The loss if the reference acts here; None where only a roll-out can tell."""
        free = self._task.reference_loss(self._state)
        return None if free is None else _finite_loss(free, "of the reference")

    @cached_property
    def _reference(self) -> Action:
        """The reference's action here."""
        return reference_action(self._task, self._state)


def _run(task: SearchTask[Any, Any], rollout: _Rollout) -> Outcome:
    """Run a roll-out, here or in another process; an exception is returned, not raised."""
    try:
        if rollout.policy is None:
            return Outcome(task.rollout(rollout.state, rollout.action))
        return Outcome(loss_when_completed(task, task.step(rollout.state, rollout.action), rollout.policy))
    except Exception as problem:
        return Outcome(None, problem)


def _submitted(executor: Executor, task: SearchTask[Any, Any], rollout: _Rollout) -> "Future[Outcome] | _NotRun":
    try:
        return executor.submit(_run, task, rollout)
    except RuntimeError as problem:  # the executor was shut down, or has lost a worker
        return _NotRun(problem)


def _awaited(future: "Future[Outcome] | _NotRun") -> Outcome | _NotRun:
    try:
        return future if isinstance(future, _NotRun) else future.result()
    except Exception as problem:  # the task cannot be pickled, or a worker was lost
        return _NotRun(problem)


def _loss_of(outcome: Outcome | _NotRun, rollout: _Rollout) -> float:
    """The loss; an InputError if the roll-out failed or gave no finite number."""
    problem = outcome.problem
    if problem is None:
        return _finite_loss(outcome.loss if isinstance(outcome, Outcome) else None, f"after action {rollout.action!r}")
    kind = "" if isinstance(problem, InputError) else f"{type(problem).__name__}: "
    what = "failed" if isinstance(outcome, Outcome) else "could not be run by the executor"
    raise InputError(f"the roll-out of action {rollout.action!r} {what}, {kind}{in_one_line(problem)}.") from problem


def _finite_loss(loss: Any, which: str) -> float:
    try:
        number = float(loss)
    except (TypeError, ValueError):
        number = np.nan
    if not np.isfinite(number):
        raise InputError(f"the loss {which} must be a finite number, got {loss!r}.")
    return number
