"""Training episodes, several side by side: roll in, and in each state ask, roll out what is asked for, and learn.

All episodes of a group take their next decision at the same time: their states are one batch for the policy, and the
roll-outs that it asks for can run at the same time. A group of one learns state by state.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.data import Rows, stacked
from coalface.errors import InputError
from coalface.structured.feature_columns import FeatureColumns, decision_row
from coalface.structured.policy_choice import PolicyChoice
from coalface.structured.rollouts import Policy, RolloutError, Rollouts
from coalface.structured.row_policy import Mask, PolicyCheckpoint, PolicyUpdate, RowPolicy
from coalface.structured.state_costs import Disagreement, StateCosts
from coalface.structured.task import Action, SearchTask, in_order, reference_action, too_long

_MOST_CHOICES = 1_000_000  # sets of allowed actions that are remembered, times the number of actions
_EPISODES_CHECKED = 3  # in these, an extra step per state shows whether ``task.step`` changes its argument


@dataclass(frozen=True)
class LearnedPolicy:
    """Takes the action with the lowest predicted cost, without learning; ``predict`` limits it to valid actions."""

    task: SearchTask[Any, Any]
    policy: RowPolicy
    columns: FeatureColumns
    only_valid: bool = False

    def __call__(self, state: Any) -> Action:
        """The action to take."""
        actions = self._actions_in(state)
        if len(actions) == 1:
            return actions[0]
        row = decision_row(self.task, self.columns, state, actions)
        return self.task.actions[self.policy.best(row, _action_mask(self.task, actions))]

    def costs_in(self, states: Sequence[Any]) -> list[tuple[Sequence[Action], NDArray[np.float64]]]:
        """The actions that are possible in each state, and their predicted costs; a single action has none."""
        choices = [self._actions_in(state) for state in states]
        real = [place for place, actions in enumerate(choices) if len(actions) > 1]
        found: list[tuple[Sequence[Action], NDArray[np.float64]]] = [(actions, np.zeros(1)) for actions in choices]
        if real:
            rows = [decision_row(self.task, self.columns, states[place], choices[place]) for place in real]
            for place, costs in zip(real, self.policy.predicted(stacked(rows)), strict=True):
                found[place] = (choices[place], costs[_action_mask(self.task, choices[place])[0]].astype(np.float64))
        return found

    def _actions_in(self, state: Any) -> Sequence[Action]:
        if self.only_valid:
            return in_order(self.task, self.task.valid(state), "valid")
        return in_order(self.task, self.task.allowed(state), "allowed")


@dataclass
class Episode:
    """An episode while it is learned: where it stands, and how it came there."""

    number: int  # counted over all episodes
    example: Any
    name: str | None  # of the example, so that its losses can be kept; None keeps nothing
    pass_number: int = 1
    step: int = 0
    state: Any = None
    path: Any = None  # names the state if the example has a name
    steps_taken: list[tuple[Any, Action]] = field(default_factory=list)
    left_reference: bool = False

    def start(self, task: SearchTask[Any, Any]) -> None:
        """Go to the initial state."""
        self.state = task.start(self.example)
        self.path = None if self.name is None else (self.number, self.name)  # a second attempt has the same number

    def take(self, task: SearchTask[Any, Any], action: Action) -> None:
        """Go to the next state."""
        if not self.left_reference:
            self.steps_taken.append((self.state, action))
        self.state = task.step(self.state, action)
        if self.path is not None:  # the text, because hash(-1) == hash(-2)
            self.path = hash((self.path, repr(action)))
        self.step += 1

    def after_mistake(self, task: SearchTask[Any, Any]) -> bool:
        """Whether some step was not the reference's; found only where it matters, since it takes the task's time."""
        while self.steps_taken and not self.left_reference:
            state, action = self.steps_taken.pop()
            self.left_reference = action != reference_action(task, state)
        return self.left_reference


@dataclass
class _Decision:
    """A state of an episode in which there is a choice."""

    episode: Episode
    allowed: Sequence[Action]
    row: Rows
    candidates: NDArray[np.bool_]  # (1, K)
    costs: StateCosts


@dataclass
class EpisodeGroup:
    """Learns some episodes side by side; ``n_others`` and ``n_ties`` count costs: see ``StateCosts``."""

    policy: RowPolicy
    columns: FeatureColumns
    rollouts: Rollouts
    choice: PolicyChoice
    checkpoint: PolicyCheckpoint
    n_others: int = 0
    n_ties: int = 0
    at: Episode | None = None  # the one that is being handled, for errors

    def __post_init__(self) -> None:
        self.task = self.rollouts.task
        self._column = {action: k for k, action in enumerate(self.task.actions)}
        self._known_choices: dict[tuple[Action, ...], tuple[Sequence[Action], Mask]] = {}

    def learn(self, episodes: Sequence[Episode]) -> None:
        """Learn from every state on the way to complete outputs."""
        for self.at in episodes:
            self.at.start(self.task)
        decisions = [found for episode in episodes if (found := self._next_decision(episode)) is not None]
        while decisions:
            actions = self._learn_states(decisions)
            moved = []
            for decision, action in zip(decisions, actions, strict=True):
                self._take(decision.episode, action)
                found = self._next_decision(decision.episode)
                moved += [] if found is None else [found]
            decisions = moved

    def _next_decision(self, episode: Episode) -> _Decision | None:
        """Go on to the next state with more than one allowed action; None at the end."""
        task, self.at = self.task, episode
        while not task.finished(episode.state):
            if episode.step == task.longest:
                raise too_long(task)
            allowed, candidates = self._choices(task.allowed(episode.state))
            if len(allowed) > 1:
                return self._decision(episode, allowed, candidates)
            self._take(episode, allowed[0])
        return None

    def _choices(self, given: Collection[Action]) -> tuple[Sequence[Action], Mask]:
        """The allowed actions in order, and as a mask; both are remembered, since few sets of actions occur."""
        key = tuple(given)
        found = self._known_choices.get(key)
        if found is None:
            allowed = in_order(self.task, key, "allowed")
            found = (allowed, _action_mask(self.task, allowed))
            if len(self._known_choices) * len(self.task.actions) < _MOST_CHOICES:
                self._known_choices[key] = found
        return found

    def _decision(self, episode: Episode, allowed: Sequence[Action], candidates: Mask) -> _Decision:
        task = self.task
        row = decision_row(task, self.columns, episode.state, allowed, learn=True)
        if episode.number < _EPISODES_CHECKED:
            _check_step_keeps_state(task, self.columns, episode.state, allowed[0])
        return _Decision(episode, allowed, row, candidates, self._costs_in(episode))

    def _take(self, episode: Episode, action: Action) -> None:
        self.at = episode
        if self.choice.reference_rolls_in(episode.number, episode.step, episode.pass_number):
            action = reference_action(self.task, episode.state)
        episode.take(self.task, action)

    def _learn_states(self, decisions: list[_Decision]) -> list[Action]:
        """Learn the costs that the policy asks for; returns the actions it preferred before learning them."""
        rows, candidates = stacked([one.row for one in decisions]), np.vstack([one.candidates for one in decisions])
        costs, asked = np.full(candidates.shape, np.nan), np.zeros_like(candidates)
        self.at = decisions[0].episode
        questions = first = self.policy.ask(rows, candidates)
        while n_now := np.count_nonzero(now := questions.next):  # on small arrays, counting is faster than any()
            self._answer(decisions, now, costs)
            asked |= now
            if n_now == np.count_nonzero(questions.mask):  # answers only settle questions, so nothing is left to ask
                break
            self.at = decisions[0].episode
            questions = self.policy.ask(rows, candidates, costs, asked)
        self.checkpoint.tell(self.policy, PolicyUpdate(rows, first, costs, asked, candidates))
        preferred = np.where(candidates, first.predicted, np.inf).argmin(axis=1)
        return [self.task.actions[k] for k in preferred.tolist()]

    def _answer(self, decisions: list[_Decision], now: Mask, costs: NDArray[np.float64]) -> None:
        """Roll out the actions asked for now, those of all states together, and write their costs."""
        actions = self.task.actions
        asked = [[actions[k] for k in np.flatnonzero(row).tolist()] for row in now]
        plans = []
        for decision, mine in zip(decisions, asked, strict=True):
            self.at = decision.episode
            plans.append(decision.costs.wanted(mine) if mine else [])
        try:
            losses = iter(self.rollouts.losses([rollout for plan in plans for rollout in plan]))
        except RolloutError as problem:
            self.at = next(one.episode for one, plan in zip(decisions, plans, strict=True) if problem.rollout in plan)
            raise
        for number, (decision, mine, plan) in enumerate(zip(decisions, asked, plans, strict=True)):
            if not mine:
                continue
            self.at, others, ties = decision.episode, decision.costs.n_others, decision.costs.n_ties
            decision.costs.add(plan, [next(losses) for _ in plan])
            costs[number, now[number]] = decision.costs.of(mine)
            self.n_others += decision.costs.n_others - others
            self.n_ties += decision.costs.n_ties - ties

    def _costs_in(self, episode: Episode) -> StateCosts:
        task, choice, state = self.task, self.choice, episode.state
        if choice.roll_out == "none":
            return Disagreement(task, state)
        after_mistake = partial(episode.after_mistake, task)
        if choice.roll_out == "reference":
            return StateCosts(task, state, None, after_mistake, episode.path)
        learned, reference = LearnedPolicy(task, self.policy, self.columns), partial(reference_action, task)

        def policy_after(action: Action) -> Policy | None:
            key = (episode.number, episode.step, self._column[action])
            return choice.roll_out_policy(*key, learned, reference, episode.pass_number)

        return StateCosts(task, state, policy_after, after_mistake, episode.path)


def _action_mask(task: SearchTask[Any, Any], allowed: Sequence[Action]) -> Mask:
    """Which of ``task.actions`` are allowed, as one row.

    >>> from coalface.structured import SequenceTask
    >>> _action_mask(SequenceTask(["D", "N", "V"]), ["N"])
    array([[False,  True, False]])
    """
    if len(allowed) == len(task.actions):
        return np.ones((1, len(allowed)), np.bool_)
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
    return row.columns.tobytes(), row.values.tobytes(), bool(task.finished(state)), task.key(state)
