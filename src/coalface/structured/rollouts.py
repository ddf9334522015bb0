"""Runs, counts and caches roll-outs: the loss after an action, found by completing the output."""

import os
import pickle
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from math import isfinite, nan
from typing import Any, NamedTuple

from coalface.errors import InputError, in_one_line
from coalface.structured.known_losses import KnownLosses
from coalface.structured.task import Action, SearchTask, complete

Policy = Callable[[Any], Action]  # the action to take in a state


@dataclass(frozen=True, eq=False)
class Rollout:
    """An action in a state, and the policy that completes the output after it; None is the reference.

    ``path`` names the state if the task has no key for it.
    """

    state: Any
    action: Action
    policy: Policy | None = None
    path: Hashable = None


class RolloutError(InputError):
    """A roll-out failed; ``rollout`` says which."""

    def __init__(self, rollout: Rollout, text: str) -> None:
        InputError.__init__(self, text)
        self.rollout = rollout


class _RolloutOutcome(NamedTuple):
    """The result of a roll-out: its loss, or why there is none; ``was_run`` is false if it never started."""

    loss: Any
    problem: Exception | None = None
    was_run: bool = True


_Awaited = Future[_RolloutOutcome] | _RolloutOutcome  # an outcome if the executor could not take the roll-out


class Rollouts:
    """Runs roll-outs, and counts them even if they fail.

    Roll-outs by the reference are cached where the task gives the state a key. Those by a learned policy are never
    cached, since the policy changes. A roll-out that fails or takes longer than ``timeout`` seconds is run again up to
    ``retries`` times.

    >>> from coalface.structured import SequenceTask
    >>> task = SequenceTask(["D", "N"])
    >>> rollouts, start = Rollouts(task), task.start((["the", "cat"], ["D", "N"]))
    >>> rollouts.losses([Rollout(start, "N"), Rollout(start, "D")]), rollouts.count
    ([1.0, 0.0], 2)
    """

    def __init__(
        self,
        task: SearchTask[Any, Any],
        executor: Executor | None = None,
        count: int = 0,
        known: KnownLosses | None = None,
        retries: int = 0,
        timeout: float | None = None,
    ) -> None:
        self.task, self.executor, self.count = task, executor, count
        self.known = KnownLosses() if known is None else known
        self.retries, self.timeout = retries, timeout

    def losses(self, wanted: Sequence[Rollout]) -> list[float]:
        """The loss after each action. If one fails, the losses of the successful ones are kept."""
        keys = self._keys(wanted)
        found = [None if key is None else self.known.get(key) for key, _ in keys]
        to_run = [i for i, loss in enumerate(found) if loss is None]
        problem: InputError | None = None
        for i, outcome in zip(to_run, self._outcomes([wanted[i] for i in to_run]), strict=False):
            try:
                loss = found[i] = _loss_of(outcome, wanted[i])
            except InputError as failure:
                problem = problem or failure
                continue
            key, lasting = keys[i]
            if key is not None:
                self.known.add(key, loss, lasting=lasting)
        if problem is not None:
            raise problem
        return [loss for loss in found if loss is not None]

    def _keys(self, wanted: Sequence[Rollout]) -> list[tuple[Hashable, bool]]:
        """What each loss is kept by, and whether for good; None where nothing is kept."""
        state: Any = None
        key: Hashable = None
        found: list[tuple[Hashable, bool]] = []
        for rollout in wanted:
            if rollout.policy is not None:
                found.append((None, False))
                continue
            if state is None or rollout.state is not state:  # the roll-outs of a state follow one another
                state, key = rollout.state, self._state_key(rollout)
            if key is not None:
                found.append(((key, rollout.action), True))
            else:
                found.append((None if rollout.path is None else (rollout.path, rollout.action), False))
        return found

    def _state_key(self, rollout: Rollout) -> Hashable:
        """The task's key of a state, or None if it has none."""
        key = self.task.key(rollout.state)
        try:
            hash(key)
        except TypeError:
            raise RolloutError(
                rollout, f"task.key must return something hashable, got a {type(key).__name__}. Return a tuple."
            ) from None
        return key

    def _outcomes(self, wanted: list[Rollout]) -> list[_RolloutOutcome]:
        """The result of each; without an executor, nothing is run after a failure."""
        if self.executor is None:
            found = []
            for rollout in wanted:
                found.append(self._run_here(rollout))
                if found[-1].problem is not None:
                    break
            return found
        outcomes, again = self._run_there(wanted), self.retries
        while again and any(outcome.problem is not None for outcome in outcomes):
            failed = [i for i, outcome in enumerate(outcomes) if outcome.problem is not None]
            for i, outcome in zip(failed, self._run_there([wanted[i] for i in failed]), strict=True):
                outcomes[i] = outcome
            again -= 1
        return outcomes

    def _run_here(self, rollout: Rollout) -> _RolloutOutcome:
        for _ in range(1 + self.retries):
            self.count += 1
            outcome = _run(self.task, rollout)
            if outcome.problem is None:
                break
        return outcome

    def _run_there(self, wanted: list[Rollout]) -> list[_RolloutOutcome]:
        assert self.executor is not None
        futures = [_submitted(self.executor, self.task, rollout) for rollout in wanted]
        outcomes = [self._awaited(future) for future in futures]  # all, so that none still runs after a failure
        self.count += sum(outcome.was_run for outcome in outcomes)
        return outcomes

    def _awaited(self, future: _Awaited) -> _RolloutOutcome:
        if isinstance(future, _RolloutOutcome):
            return future
        try:
            return future.result(self.timeout)
        except TimeoutError:
            never_started = future.cancel()
            slow = TimeoutError(f"it took longer than timeout = {self.timeout:g} seconds")
            return _RolloutOutcome(None, slow, was_run=not never_started)
        except Exception as problem:  # the task cannot be pickled, or a worker was lost
            return _RolloutOutcome(None, problem, was_run=False)


def _run(task: SearchTask[Any, Any], rollout: Rollout) -> _RolloutOutcome:
    """Run a roll-out, here or in another process; an exception is returned, not raised."""
    try:
        if rollout.policy is None:
            return _RolloutOutcome(task.rollout(rollout.state, rollout.action))
        return _RolloutOutcome(task.loss(complete(task, task.step(rollout.state, rollout.action), rollout.policy)))
    except Exception as problem:
        return _RolloutOutcome(None, problem)


def _run_for(caller: int, task: SearchTask[Any, Any], rollout: Rollout) -> _RolloutOutcome:
    """Run a roll-out for the process ``caller``; an exception that cannot be sent there is replaced by its text."""
    outcome = _run(task, rollout)
    if outcome.problem is None or os.getpid() == caller:
        return outcome
    try:
        pickle.loads(pickle.dumps(outcome.problem))
    except Exception:  # the caller's pool would break, and all roll-outs with it
        text = f"{type(outcome.problem).__name__}: {in_one_line(outcome.problem)}"
        return _RolloutOutcome(None, RuntimeError(text))
    return outcome


def _submitted(executor: Executor, task: SearchTask[Any, Any], rollout: Rollout) -> _Awaited:
    try:
        return executor.submit(_run_for, os.getpid(), task, rollout)
    except RuntimeError as problem:  # the executor was shut down, or has lost a worker
        return _RolloutOutcome(None, problem, was_run=False)


def _loss_of(outcome: _RolloutOutcome, rollout: Rollout) -> float:
    """The loss; an InputError if the roll-out failed or gave no finite number."""
    problem = outcome.problem
    if problem is None:
        try:
            return finite_loss(outcome.loss, f"after action {rollout.action!r}")
        except InputError as not_finite:
            raise RolloutError(rollout, str(not_finite)) from None
    kind = "" if isinstance(problem, InputError) else f"{type(problem).__name__}: "
    what = "failed" if outcome.was_run else "could not be run by the executor"
    text = f"the roll-out of action {rollout.action!r} {what}, {kind}{in_one_line(problem)}."
    raise RolloutError(rollout, text) from problem


def finite_loss(loss: Any, which: str) -> float:
    """The loss as a number; an InputError if it is not a finite one."""
    try:
        number = float(loss)
    except (TypeError, ValueError):
        number = nan
    if not isfinite(number):
        raise InputError(f"the loss {which} must be a finite number, got {loss!r}.")
    return number
