"""The estimator for learning to search: its policy decides which actions to roll out, and learns their costs."""

import os
import warnings
from collections.abc import Iterable
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import Any, Self

from coalface.data import finite_number, label_array, whole_number
from coalface.errors import InputError, TiedCostsWarning
from coalface.files import rebuilding
from coalface.learner import CoalClassifier, warn_if_collapsed
from coalface.sklearn_base import clone
from coalface.structured.beam import best_of_beam
from coalface.structured.episode import Episode, EpisodeGroup, LearnedPolicy
from coalface.structured.feature_columns import FeatureColumns
from coalface.structured.known_losses import KnownLosses, fingerprint
from coalface.structured.policies import PolicyLearner, Progress, begun, set_warm_up
from coalface.structured.policy_choice import PolicyChoice, RollIn
from coalface.structured.rollouts import Rollouts
from coalface.structured.row_policy import PolicyCheckpoint, RowPolicy
from coalface.structured.task import RollOut, SearchTask, check_task, complete, has_action_features

_ENOUGH_COSTS = 200  # of actions other than the reference's, for the warning of ties


@dataclass(eq=False, repr=False)
class SearchLearner(PolicyLearner):
    """Learns a policy for a ``SearchTask`` (AggreVaTe) and rolls out only actions whose cost can still matter.

    The policy rolls in. In each state it asks for the costs of some actions; the learner rolls these out and tells the
    policy. ``docs/learning-to-search.md`` explains the parameters.

    >>> from coalface.structured import SequenceTask
    >>> sentences = [(["the", "cat"], ["D", "N"]), (["a", "dog"], ["D", "N"])] * 50
    >>> learner = SearchLearner(SequenceTask(["D", "N"])).fit(sentences)
    >>> learner.predict([["the", "dog"]])
    [('D', 'N')]
    >>> learner.rollouts_ == learner.costs_queried_ < 200  # of 400
    True
    """

    task: SearchTask[Any, Any]
    policy: CoalClassifier | None = None
    roll_in: RollIn = "learned"
    roll_out: RollOut = "auto"
    mixture: float | str = 0.5
    passes: int = 1
    warm_up: int = 10
    executor: Executor | None = None
    at_once: int = 1
    retries: int = 0
    timeout: float | None = None
    random_state: int = 0
    _rollouts: Rollouts = field(init=False)
    _kind, _not_saved = "search learner", ("policy", "task", "executor")

    def fit(self, examples: Iterable[Any], progress: Progress | None = None) -> Self:
        """Forget everything, then learn the examples in order, ``passes`` times.

        The learner calls ``progress(examples_done, examples_in_total, rollouts)`` after every group of ``at_once``
        examples. If an example fails, nothing is learned, but losses that were paid for are kept: calling ``fit`` with
        the same examples again does not run their roll-outs again.
        """
        given, passes = list(examples), whole_number("passes", self.passes, least=1)
        fresh = self._unfitted()
        if hasattr(self, "_rollouts") and self._rollouts.task is self.task:
            fresh._rollouts = Rollouts(self.task, known=self._rollouts.known)
        try:
            fresh._learn(given, passes, progress)
        except BaseException:
            self._keep_paid(fresh)
            raise
        fresh._rollouts.known.forget_paid()
        self._become(fresh)
        return self

    def partial_fit(self, examples: Iterable[Any], progress: Progress | None = None) -> Self:
        """Learn the examples in order, once. If one fails, its group changes nothing; those before it stay learned."""
        self._learn(list(examples), 1, progress)
        self._rollouts.known.forget_paid()
        return self

    def predict(self, examples: Iterable[Any], *, beam: int = 1) -> list[Any]:
        """The learned policy's output for each example.

        With a ``beam`` above 1, so many partial outputs are kept, and the one with the least predicted total cost is
        returned; its total is never above that of the greedy output.
        """
        return [self.task.output(state) for state in self._final_states(examples, beam)]

    def score(self, examples: Iterable[Any], *, beam: int = 1) -> float:
        """Minus the mean loss of the predictions."""
        losses = [float(self.task.loss(state)) for state in self._final_states(examples, beam)]
        if not losses:
            raise InputError("examples must hold at least one example, got none.")
        return 0.0 - sum(losses) / len(losses)  # 0.0, not -0.0, without a loss

    @property
    def rollouts_(self) -> int:
        """How many roll-outs were run, including those of failed episodes and fits; cached ones are not run."""
        return self._rollouts.count if hasattr(self, "_rollouts") else 0

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything but the task to one file, atomically; ``load`` continues exactly from there.

        Cached roll-outs are saved if the task's keys are texts, numbers, or tuples of these.
        """
        self._check_fitted()
        own = {
            "features": list(self._columns.by_name),
            "width": self._columns.width,
            "counts": [self.episodes_, self.rollouts_, self.passes_],
            "cached": self._rollouts.known.plain(),
        }
        self._write(path, own)

    @classmethod
    def load(cls, path: str | os.PathLike[str], task: SearchTask[Any, Any], executor: Executor | None = None) -> Self:
        """The learner that ``save`` wrote, for the same task."""
        check_task(task)
        learner, policy, own, _ = cls._read(path, task=task, executor=executor)
        learned_for = policy.classes_.tolist()
        if learned_for != list(task.actions):
            raise InputError(
                f"{path} was learned for the actions {learned_for}, the task has {list(task.actions)}. Pass the saved "
                "learner's task."
            )
        with rebuilding(path, cls._kind):
            episodes, rollouts, passes = own["counts"]
            learner._rollouts = Rollouts(task, executor, rollouts, KnownLosses.of_plain(own["cached"]))
            learner._start_from(policy, FeatureColumns(own["features"], own["width"]), episodes, passes)
        return learner

    def __sklearn_clone__(self) -> Self:
        """An unfitted copy; it shares the task and the executor."""
        params = self.get_params(deep=False)
        return type(self)(**{**params, "policy": None if self.policy is None else clone(self.policy)})

    # -- internals -----------------------------------------------------------------------------

    def _prepare(self) -> None:
        """Check the parameters, and create the policy on the first call."""
        retries = whole_number("retries", self.retries)
        timeout = None if self.timeout is None else finite_number("timeout", self.timeout, 0.0, above=True)
        if timeout is not None and self.executor is None:
            raise InputError(f"timeout needs an executor, got timeout={timeout:g} without one. Pass executor=...")
        policy = None if hasattr(self, "policy_") else self._new_policy()
        known = self._rollouts.known if hasattr(self, "_rollouts") and self._rollouts.task is self.task else None
        self._rollouts = Rollouts(self.task, self.executor, self.rollouts_, known, retries, timeout)
        if policy is not None:
            self._start_from(policy, FeatureColumns(), 0, 0)

    def _default_policy(self) -> CoalClassifier:
        return CoalClassifier(
            random_state=self.random_state, model="shared" if has_action_features(self.task) else "online"
        )

    def _new_policy(self) -> CoalClassifier:
        """The policy, which has begun with the task's actions."""
        actions, shares = label_array(self.task.actions, "task.actions"), has_action_features(self.task)
        policy = begun(self._given_policy(), actions, may_have=["budget"])
        if policy.model_.reads_label_features != shares:
            needed = "model='shared'" if shares else "another model: its actions have no features"
            raise InputError(
                f"policy must have {needed}, because task.action_features is {'' if shares else 'not '}defined, got "
                f"{policy.model!r}."
            )
        return policy

    def _keep_paid(self, failed: Self) -> None:
        """Count the roll-outs of a failed fit and keep their losses, though nothing was learned from them."""
        if not hasattr(failed, "_rollouts"):
            return
        known, count = failed._rollouts.known, self.rollouts_ + failed.rollouts_
        self._rollouts = Rollouts(self.task, count=count, known=known)

    def _start_from(self, policy: CoalClassifier, columns: FeatureColumns, episodes: int, passes: int) -> None:
        self.policy_ = policy
        self.episodes_, self.passes_ = episodes, passes
        self._columns = columns
        self._rows = RowPolicy(policy)
        self._checkpoint = PolicyCheckpoint(self._rows)

    def _learn(self, given: list[Any], passes: int, progress: Progress | None) -> Self:
        """Learn the examples in groups; a failed group changes nothing."""
        if not given:
            raise InputError("examples must hold at least one example, got none.")
        at_once = whole_number("at_once", self.at_once, least=1)
        whole_number("warm_up", self.warm_up)
        check_task(self.task)
        choice = PolicyChoice(self.roll_in, self.roll_out, self.mixture, self.random_state).for_task(self.task)
        self._prepare()
        self._rows.refresh()
        self._checkpoint.advance(self._rows)
        group = EpisodeGroup(self._rows, self._columns, self._rollouts, choice, self._checkpoint)
        warned = False
        for done in range(0, passes * len(given), at_once):
            numbers = range(done, min(done + at_once, passes * len(given)))
            turns = [divmod(number, len(given)) for number in numbers]
            self._learn_group(group, [(place, given[place], self.passes_ + turn + 1) for turn, place in turns])
            warned = warned or _warns_of_ties(group)
            if progress is not None:
                progress(numbers.stop, passes * len(given), self.rollouts_)
        self.passes_ += passes
        return self

    def _learn_group(self, group: EpisodeGroup, numbered: list[tuple[int, Any, int]]) -> None:
        """Learn some examples side by side; if that fails, restore the state before them."""
        before = self.policy_.rule.warm_up
        set_warm_up(self.policy_, self.warm_up, self.episodes_)
        if self.policy_.rule.warm_up != before:
            self._rows.refresh()
            self._checkpoint.advance(self._rows)
        mark, keeps = self._columns.mark, group.choice.roll_out not in ("none", "learned")
        episodes = [
            Episode(self.episodes_ + place, example, fingerprint(example) if keeps else None, pass_number)
            for place, (_, example, pass_number) in enumerate(numbered)
        ]
        try:
            group.learn(episodes)
        except BaseException as problem:
            self._restore(group, mark)
            if isinstance(problem, InputError) and group.at is not None:
                where = f"Example {numbered[group.at.number - self.episodes_][0]}, step {group.at.step}"
                raise _with_text(problem, f"{where}: {problem} It was not learned.") from problem
            raise
        self._checkpoint.advance(self._rows)
        warn_if_collapsed(self.policy_)
        self.episodes_ += len(episodes)

    def _restore(self, group: EpisodeGroup, mark: tuple[int, int, bool | None]) -> None:
        self._rows = group.policy = self._checkpoint.restored()
        self.policy_ = self._rows.learner
        self._columns.restore(mark)

    def _final_states(self, examples: Iterable[Any], beam: int) -> Iterable[Any]:
        width = whole_number("beam", beam, least=1)
        self._check_fitted()
        self._rows.refresh()
        choose = LearnedPolicy(self.task, self._rows, self._columns, only_valid=True)
        for number, example in enumerate(examples):
            try:
                start = self.task.start(example)
                if width == 1:
                    yield complete(self.task, start, choose)
                else:
                    yield best_of_beam(self.task, start, choose.costs_in, width).state
            except InputError as problem:
                raise _with_text(problem, f"Example {number}: {problem}") from problem


def _warns_of_ties(group: EpisodeGroup) -> bool:
    """Warn if most actions that the reference would not take cost no more than its own; returns whether it did."""
    if group.n_others < _ENOUGH_COSTS or 2 * group.n_ties <= group.n_others:
        return False
    warnings.warn(
        f"{group.n_ties} of {group.n_others} actions that the reference would not take cost no more than its own, so "
        "roll-outs teach little. Let task.loss charge every mistake, or pass roll_out='none'.",
        TiedCostsWarning,
        stacklevel=4,
    )
    return True


def _with_text(problem: InputError, text: str) -> InputError:
    """An error of the same class with another text."""
    found = type(problem).__new__(type(problem))
    found.args = (text,)
    return found
