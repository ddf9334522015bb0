"""The estimator for learning to search: its policy decides which actions to roll out, and learns their costs."""

import os
from collections.abc import Iterable
from concurrent.futures import Executor
from typing import Any, Self

from sklearn.base import BaseEstimator, clone

from coalface.data.labels import label_array
from coalface.data.numbers import whole_number
from coalface.errors import InputError
from coalface.learner.classifiers import CoalClassifier
from coalface.learner.estimator import CostClassifier
from coalface.learner.state import NotFittedError
from coalface.search.checkpoint import Checkpoint
from coalface.search.episode import Episode, LearnedPolicy
from coalface.search.feature_columns import FeatureColumns
from coalface.search.persistence import SavedLearner, read_search_learner, write_search_learner
from coalface.search.policy_choice import PolicyChoice, set_warm_up
from coalface.search.rollouts import Rollouts
from coalface.search.task import SearchTask, check_task, complete, valid_actions

_SAVED_PARAMS = ("roll_in", "roll_out", "mixture", "passes", "warm_up", "random_state")


class SearchLearner(BaseEstimator):  # type: ignore[misc]
    """Learns a policy for a ``SearchTask`` (AggreVaTe) and rolls out only actions whose cost can still matter.

    The policy rolls in. In each state it asks for the costs of some actions; the learner rolls these out and tells the
    policy. ``docs/learning-to-search.md`` explains the parameters.

    >>> from coalface.search import SequenceTask
    >>> sentences = [(["the", "cat"], ["D", "N"]), (["a", "dog"], ["D", "N"])] * 50
    >>> learner = SearchLearner(SequenceTask(["D", "N"])).fit(sentences)
    >>> learner.predict([["the", "dog"]])
    [('D', 'N')]
    >>> learner.rollouts_ == learner.costs_queried_ < 200  # of 400
    True
    """

    _rollouts: Rollouts

    def __init__(
        self,
        task: SearchTask[Any, Any],
        policy: CostClassifier | None = None,
        roll_in: str = "learned",
        roll_out: str = "reference",
        mixture: float = 0.5,
        passes: int = 1,
        warm_up: int = 10,
        executor: Executor | None = None,
        random_state: int = 0,
    ) -> None:
        self.task = task
        self.policy = policy
        self.roll_in = roll_in
        self.roll_out = roll_out
        self.mixture = mixture
        self.passes = passes
        self.warm_up = warm_up
        self.executor = executor
        self.random_state = random_state

    def fit(self, examples: Iterable[Any]) -> Self:
        """Forget everything, then learn the examples in order, ``passes`` times. If one fails, nothing changes."""
        given, passes = list(examples), whole_number("passes", self.passes, least=1)
        fresh = type(self)(**self.get_params(deep=False))
        try:
            for _ in range(passes):
                fresh.partial_fit(given)
        except BaseException:
            self._count_lost_rollouts(fresh.rollouts_)
            raise
        self.__dict__.update(vars(fresh))
        return self

    def partial_fit(self, examples: Iterable[Any]) -> Self:
        """Learn the examples in order, once. If one fails, it changes nothing; those before it stay learned."""
        given = list(examples)
        if not given:
            raise InputError("examples must hold at least one example, got none.")
        choice = PolicyChoice(self.roll_in, self.roll_out, self.mixture, self.random_state)
        whole_number("warm_up", self.warm_up)
        self._prepare()
        for number, example in enumerate(given):
            self._learn(number, example, choice)
        return self

    def predict(self, examples: Iterable[Any]) -> list[Any]:
        """The learned policy's output for each example."""
        return [self.task.output(state) for state in self._final_states(examples)]

    def score(self, examples: Iterable[Any]) -> float:
        """Minus the mean loss of the predictions."""
        losses = [float(self.task.loss(state)) for state in self._final_states(examples)]
        if not losses:
            raise InputError("examples must hold at least one example, got none.")
        return -sum(losses) / len(losses)

    @property
    def costs_queried_(self) -> int:
        """How many costs the policy asked for."""
        return self.policy_.costs_queried_ if hasattr(self, "policy_") else 0

    @property
    def rollouts_(self) -> int:
        """How many roll-outs were run, including those of failed episodes and fits; cached ones are not run."""
        return self._rollouts.count if hasattr(self, "_rollouts") else 0

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything but the task to one file, atomically; ``load`` continues exactly from there.

        Cached roll-outs are not saved: after ``load`` they are run again when needed.
        """
        self._check_fitted()
        params = {name: getattr(self, name) for name in _SAVED_PARAMS}
        saved = SavedLearner(params, self.policy_, self._columns, self.episodes_, self.rollouts_)
        write_search_learner(path, saved)

    @classmethod
    def load(cls, path: str | os.PathLike[str], task: SearchTask[Any, Any], executor: Executor | None = None) -> Self:
        """The learner that ``save`` wrote, for the same task."""
        check_task(task)
        saved = read_search_learner(path)
        learner = cls(task, policy=clone(saved.policy), executor=executor, **saved.params)
        learned_for = saved.policy.classes_.tolist()
        if learned_for != list(task.actions):
            raise InputError(f"{path} was learned for the actions {learned_for}, the task has {list(task.actions)}.")
        learner._start_from(saved.policy, saved.columns, saved.episodes, saved.rollouts)
        return learner

    def __sklearn_clone__(self) -> Self:
        """An unfitted copy; it shares the task and the executor."""
        params = self.get_params(deep=False)
        return type(self)(**{**params, "policy": None if self.policy is None else clone(self.policy)})

    # -- internals -----------------------------------------------------------------------------

    def _prepare(self) -> None:
        """Check the task, and create the policy on the first call."""
        check_task(self.task)
        if not hasattr(self, "policy_"):
            policy = _policy_for(self.task, self.policy, self.random_state)
            self._start_from(policy, FeatureColumns(), 0, self.rollouts_)
        if self._rollouts.task is not self.task:  # roll-outs cached for another task do not apply
            self._rollouts = Rollouts(self.task, count=self.rollouts_)
        self._rollouts.executor = self.executor

    def _count_lost_rollouts(self, n_rollouts: int) -> None:
        """Count roll-outs of a failed fit: they were run, though nothing was learned from them."""
        if not hasattr(self, "_rollouts"):
            self._rollouts = Rollouts(self.task)
        self._rollouts.count += n_rollouts

    def _start_from(self, policy: CostClassifier, columns: FeatureColumns, episodes: int, rollouts: int) -> None:
        self.policy_ = policy
        self.episodes_ = episodes
        self._columns = columns
        self._rollouts = Rollouts(self.task, self.executor, rollouts)
        self._checkpoint = Checkpoint(policy)

    def _learn(self, number: int, example: Any, choice: PolicyChoice) -> None:
        """Learn an example; if that fails, restore the state before it."""
        self._set_warm_up()
        mark = self._columns.mark
        episode = Episode(self.policy_, self._columns, self._rollouts, choice, self.episodes_)
        try:
            episode.learn(example)
        except BaseException as problem:
            self.policy_ = self._checkpoint.policy()
            self._columns.restore(mark)
            if isinstance(problem, InputError):
                where = f"Example {number}, step {episode.step}"
                raise _with_text(problem, f"{where}: {problem} It was not learned.") from problem
            raise
        self._checkpoint.advance(self.policy_, episode.updates)
        self.episodes_ += 1

    def _set_warm_up(self) -> None:
        """Count the warm-up in episodes, not states: the first states of one episode are much alike."""
        before = self.policy_.warm_up
        set_warm_up(self.policy_, whole_number("warm_up", self.warm_up), self.episodes_)
        if self.policy_.warm_up != before:
            self._checkpoint = Checkpoint(self.policy_)  # replayed updates must not see the new setting

    def _check_fitted(self) -> None:
        if not hasattr(self, "policy_"):
            raise NotFittedError("This SearchLearner has learned nothing yet: call 'fit' or 'partial_fit' first.")

    def _final_states(self, examples: Iterable[Any]) -> Iterable[Any]:
        self._check_fitted()
        choose = LearnedPolicy(self.task, self.policy_, self._columns, valid_actions)
        for number, example in enumerate(examples):
            try:
                yield complete(self.task, self.task.start(example), choose)
            except InputError as problem:
                raise _with_text(problem, f"Example {number}: {problem}") from problem


def _policy_for(task: SearchTask[Any, Any], given: CostClassifier | None, seed: int) -> CostClassifier:
    """An unfitted policy over the task's actions."""
    policy: CostClassifier = CoalClassifier(random_state=seed, model="online") if given is None else clone(given)
    if policy.price_of_truth is not None:
        raise InputError(f"policy must have price_of_truth=None, got {policy.price_of_truth!r}: states have no truth.")
    if tuple(policy.cost_bounds) != (0.0, 1.0) or policy.cost_matrix is not None or policy.abstain_cost is not None:
        raise InputError("policy must have the default cost_bounds, cost_matrix and abstain_cost. Set task.scale.")
    policy.classes, policy.warm_up = label_array(task.actions, "task.actions"), 0
    policy.begin()
    return policy


def _with_text(problem: InputError, text: str) -> InputError:
    """An error of the same class with another text."""
    found = type(problem).__new__(type(problem))
    found.args = (text,)
    return found
