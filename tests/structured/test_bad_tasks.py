"""Faulty tasks: the error is one line that names the example and the step, and nothing is learned."""

import math
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from typing import ClassVar

import numpy as np
import pytest

from coalface import Abstain, Audits, Coal, CoalClassifier
from coalface.errors import InputError, UnknownLabelError
from coalface.learner.state import NotFittedError
from coalface.structured import SearchLearner, SequenceTask
from tests.structured.tasks import Spelling, arrays, words

BAD = ("abcab", "abcaX")  # an example whose last letter makes the tasks below fail


class Stumbling(Spelling):
    """Works until the hint is X; its roll-outs do not complete the word."""

    def rollout(self, state, action):
        self.called.append((state, action))
        return float(action != state[0][len(state[2])])

    def reference_loss(self, state):  # noqa: ARG002
        return 0.0

    def at_bad_letter(self, state):
        return state[1][len(state[2])] == "X"


class NotANumber(Stumbling):
    def rollout(self, state, action):
        loss = super().rollout(state, action)
        return self.value if self.at_bad_letter(state) else loss

    value = math.nan


class Infinite(NotANumber):
    value = -math.inf


class NoNumber(NotANumber):
    value = "much"


class Raising(Stumbling):
    def rollout(self, state, action):
        loss = super().rollout(state, action)
        if self.at_bad_letter(state):
            raise OSError("the simulator\nis down")
        return loss


class IllegalReference(Stumbling):
    def reference_loss(self, state):  # noqa: ARG002
        return None

    def reference(self, state):
        return "z" if self.at_bad_letter(state) else super().reference(state)


class NoWayOut(Stumbling):
    def allowed(self, state):
        return () if self.at_bad_letter(state) else super().allowed(state)


class UnknownAction(Stumbling):
    def allowed(self, state):
        return {"a", "q"} if self.at_bad_letter(state) else super().allowed(state)


class NotFinite(Stumbling):
    def features(self, state):
        return {"place": math.inf} if self.at_bad_letter(state) else super().features(state)


class StrangeFeatures(Stumbling):
    def features(self, state):
        return {"place": 1.0, 3: 1.0} if self.at_bad_letter(state) else super().features(state)


class NumbersAfterNames(Stumbling):
    def features(self, state):
        return {3: 1.0} if self.at_bad_letter(state) else super().features(state)


class UnhashableKey(Stumbling):
    def key(self, state):
        return list(state) if self.at_bad_letter(state) else None


class NanReference(Stumbling):
    def reference_loss(self, state):
        return math.nan if self.at_bad_letter(state) else 0.0


BROKEN = [
    (NotANumber, "the loss after action 'a' must be a finite number, got nan"),
    (Infinite, "must be a finite number, got -inf"),
    (NoNumber, "must be a finite number, got 'much'"),
    (Raising, "the roll-out of action 'a' failed, OSError: the simulator is down"),
    (IllegalReference, r"the reference must take an allowed action \('a', 'b', 'c'\), got 'z'"),
    (NoWayOut, "at least one action must be allowed until the output is finished, got none"),
    (UnknownAction, "allowed actions must be among task.actions, got 'q'"),
    (NotFinite, "values must be finite"),
    (StrangeFeatures, r"features must be all names .* got \['place', 3\]"),
    (NumbersAfterNames, "features must have names in all states or in none, got column numbers after names"),
    (UnhashableKey, "task.key must return something hashable, got a list"),
    (NanReference, "the loss of the reference must be a finite number, got nan"),
]


def broken(kind, message, n_before, warm_up):
    """A learner that has failed on an example, and one that has never seen it."""
    good, after, policy = (
        list(words(n_before)),
        next(words(1, seed=5)),
        CoalClassifier(mellowness=1.0, audits=Audits(0.5)),
    )
    learner, never = (SearchLearner(kind(), policy, warm_up=warm_up).partial_fit(good) for _ in range(2))
    with pytest.raises(InputError, match=message) as caught:
        learner.partial_fit([after, BAD, after])
    assert str(caught.value).startswith("Example 1, step 4: ")
    assert "\n" not in str(caught.value)
    return learner, never.partial_fit([after])


@pytest.mark.parametrize(("kind", "message"), BROKEN, ids=lambda value: getattr(value, "__name__", ""))
def test_a_failed_episode_changes_nothing_but_the_count_of_roll_outs(kind, message):
    learner, never = broken(kind, message, n_before=2, warm_up=1000)
    assert arrays(learner) == arrays(never)
    assert learner._columns.mark == never._columns.mark
    assert learner.rollouts_ == len(learner.task.called) > never.rollouts_
    assert arrays(learner.partial_fit(words(3, seed=7))) == arrays(never.partial_fit(words(3, seed=7)))


@pytest.mark.parametrize(("n_before", "warm_up"), [(7, 5), pytest.param(390, 205, marks=pytest.mark.slow)])
def test_what_was_learned_long_ago_stays_learned(n_before, warm_up):
    """The copy for restoring is renewed after the warm-up and every 1,000 states, here 200 examples."""
    learner, never = broken(NoWayOut, "at least one action", n_before, warm_up)
    assert arrays(learner) == arrays(never)
    assert arrays(learner.partial_fit(words(3, seed=7))) == arrays(never.partial_fit(words(3, seed=7)))


def test_with_an_executor_a_failure_waits_for_the_others_and_counts_them():
    task = Raising()
    with ThreadPoolExecutor(2) as pool:
        learner = SearchLearner(task, executor=pool)
        with pytest.raises(InputError, match="Example 0, step 4: the roll-out of action 'a' failed, OSError"):
            learner.fit([BAD])
        with pytest.raises(InputError):
            learner.partial_fit([BAD])
        assert learner.rollouts_ == len(task.called)
        assert learner.costs_queried_ == 0


def test_a_shut_down_executor_is_one_line_and_runs_nothing():
    pool = ThreadPoolExecutor(1)
    pool.shutdown()
    learner = SearchLearner(Spelling(), executor=pool)
    message = "Example 0, step 0: the roll-out of action 'a' could not be run by the executor, RuntimeError"
    with pytest.raises(InputError, match=message):
        learner.partial_fit(words(2))
    assert (learner.rollouts_, learner.task.called) == (0, [])


def test_a_task_that_cannot_be_pickled_is_one_line_and_runs_nothing():
    class Local(Spelling):
        """A class made within a function cannot be pickled."""

    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        learner = SearchLearner(Local(), executor=pool)
        with pytest.raises(InputError, match=r"could not be run by the executor, .*pickle"):
            learner.partial_fit(words(2))
    assert learner.rollouts_ == 0


@pytest.mark.parametrize("executor", [False, True])
def test_roll_outs_beside_a_failed_one_need_not_be_run_again(executor):
    class FailsOnce(Stumbling):
        down = True

        def rollout(self, state, action):
            loss = super().rollout(state, action)
            if action == "b" and self.down:
                raise OSError("the simulator is down")
            return loss

    with ThreadPoolExecutor(2) as pool:
        task = FailsOnce(keyed=True)
        learner = SearchLearner(task, CoalClassifier(rule=Coal(in_turn=False)), executor=pool if executor else None)
        with pytest.raises(InputError, match="the roll-out of action 'b' failed, OSError"):
            learner.partial_fit([("abc", "abc")])
        task.down = False
        learner.partial_fit([("abc", "abc")])
    assert learner.rollouts_ == len(task.called) == len(set(task.called)) + 1  # 'b' twice in the first state


def test_another_task_does_not_get_the_roll_outs_of_the_first():
    first, second = Stumbling(keyed=True), Stumbling(keyed=True)
    learner = SearchLearner(first).fit([("abc", "abc")])
    learner.set_params(task=second).partial_fit([("abc", "abc")])
    assert len(second.called) == 9
    assert learner.rollouts_ == 18


class InPlace(Spelling):
    """Its steps change the state that they start from."""

    def start(self, example):
        return [*super().start(example)]

    def step(self, state, action):
        state[2] += action
        return state


class Shared(Spelling):
    """Its states are new, but share a list."""

    def start(self, example):
        return *example, []

    def step(self, state, action):
        state[2].append(action)
        return tuple(state)

    def features(self, state):
        return {f"hint {state[1][len(state[2])]}": 1.0}


@pytest.mark.parametrize("task", [InPlace(), Shared()])
@pytest.mark.parametrize("warm_up", [0, 10])
def test_a_step_that_changes_its_state_is_refused(task, warm_up):
    with pytest.raises(InputError, match=r"task.step must return a new state .* Copy its parts"):
        SearchLearner(task, warm_up=warm_up).fit(words(3))


def test_an_error_of_a_task_keeps_its_kind():
    with pytest.raises(UnknownLabelError, match=r"Example 1, step 0: .*Unknown label 'X'"):
        SearchLearner(SequenceTask(["D", "N"])).fit([(["the"], ["D"]), (["the"], ["X"])])


def test_other_errors_of_the_task_pass_through_and_change_nothing_either():
    class Interrupted(Stumbling):
        def features(self, state):
            if self.at_bad_letter(state):
                raise KeyboardInterrupt
            return super().features(state)

    learner = SearchLearner(Interrupted()).partial_fit(words(3))
    before = arrays(learner)
    with pytest.raises(KeyboardInterrupt):
        learner.partial_fit([BAD])
    assert arrays(learner) == before


def test_an_endless_task_is_stopped():
    class Endless(Spelling):
        longest = 50

        def finished(self, state):  # noqa: ARG002
            return False

        def features(self, state):
            return {"length": float(len(state[2]))}

        def reference(self, state):  # noqa: ARG002
            return "a"

    with pytest.raises(InputError, match=r"step 0: .* after task.longest = 50 steps"):
        SearchLearner(Endless()).fit([("a", "a")])
    with pytest.raises(InputError, match=r"step 50: .* after task.longest = 50 steps"):
        SearchLearner(Endless(), roll_out="none").fit([("a", "a")])


@pytest.mark.slow
def test_an_episode_of_ten_thousand_steps_is_learned():
    task = SequenceTask(["D", "N"])
    learner = SearchLearner(task, warm_up=0).fit([(["the", "cat"] * 5_000, ["D", "N"] * 5_000)])
    assert learner.policy_.round_ == 10_001
    assert learner.predict([["the", "cat"]]) == [("D", "N")]


@pytest.mark.parametrize("examples", [[], iter(())])
def test_no_examples_are_refused(examples):
    with pytest.raises(InputError, match="examples must hold at least one"):
        SearchLearner(Spelling()).fit(examples)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"roll_in": "oracle"}, "roll_in must be one of 'learned', 'reference', 'mixed', got 'oracle'"),
        ({"roll_out": None}, "roll_out must be one of"),
        ({"mixture": 1.5}, "mixture must be a number from 0 to 1, .*, got 1.5"),
        ({"mixture": "half"}, "mixture must be a number from 0 to 1"),
        ({"passes": 0}, "passes must be a.*, got 0"),
        ({"warm_up": -1}, "warm_up must be a.*, got -1"),
        ({"random_state": -1}, "random_state must be a"),
        ({"policy": CoalClassifier(cost_bounds=(0.0, 2.0))}, "policy must have the default cost_bounds"),
        ({"policy": CoalClassifier(abstain=Abstain(0.5))}, "the default abstain, got Abstain\\(cost=0.5\\)"),
        ({"policy": CoalClassifier(price_of_truth=2)}, "policy must have the default price_of_truth, got 2"),
        ({"policy": CoalClassifier(mellowness=-1.0)}, "mellowness must be"),
    ],
)
def test_bad_parameters_are_named(params, message):
    for learn in (SearchLearner.fit, SearchLearner.partial_fit):
        learner = SearchLearner(Spelling(), **params)
        if not (learn is SearchLearner.partial_fit and "passes" in params):
            with pytest.raises(InputError, match=message):
                learn(learner, words(2))
            assert not hasattr(learner, "policy_")


def test_a_scale_and_actions_must_make_sense():
    class NoScale(Spelling):
        scale = 0.0

    class Twice(Spelling):
        actions = ("a", "a")

    with pytest.raises(InputError, match=r"task.scale must be a number above 0, got 0.0"):
        SearchLearner(NoScale()).fit(words(2))
    with pytest.raises(InputError, match=r"task.actions must be distinct, got 'a' twice"):
        SearchLearner(Twice()).fit(words(2))

    class ScaleInWords(Spelling):
        scale = "2"

    class Mixed(Spelling):
        actions = ("a", 1)

    class None_(Spelling):  # noqa: N801
        actions = ()

    for kind, message in (
        (ScaleInWords, "task.scale must be a number above 0, got '2'"),
        (Mixed, "task.actions must be all strings or all integers.* Use one kind"),
        (None_, "must have actions, got none"),
    ):
        with pytest.raises(InputError, match=message):
            SearchLearner(kind()).fit(words(2))
    with pytest.raises(InputError, match="task must be a SearchTask, got None"):
        SearchLearner(None).fit(words(2))


def test_actions_may_be_an_array():
    class Array(Spelling):
        actions = np.array(["a", "b", "c"])

    learner, same = (SearchLearner(kind(), roll_out="mixed").fit(words(20)) for kind in (Array, Spelling))
    assert arrays(learner) == arrays(same)
    assert learner.predict(words(5, seed=2)) == same.predict(words(5, seed=2))


def test_predicting_needs_a_learner_that_has_learned(tmp_path):
    with pytest.raises(NotFittedError, match="SearchLearner is not fitted yet"):
        SearchLearner(Spelling()).predict([("a", "a")])
    unfitted = SearchLearner(Spelling())
    with pytest.raises(NotFittedError, match="SearchLearner is not fitted yet"):
        unfitted.save(tmp_path / "nothing.search")
    assert not hasattr(unfitted, "policy_")
    learner = SearchLearner(Spelling()).fit(words(2))
    with pytest.raises(InputError, match="examples must hold at least one"):
        learner.score([])


def test_predicting_changes_nothing():
    class Wide(Spelling):
        def features(self, state):
            return np.ones(len(state[1]))

    class Numbered(Spelling):
        numbers: ClassVar[dict[str, int]] = {"a": 0, "b": 5, "c": 9}

        def features(self, state):
            return {self.numbers.get(state[1][len(state[2])], 1000): 1.0}

    for task in (Wide(), Numbered(), Spelling()):
        learner = SearchLearner(task).fit(words(3))
        mark, before = learner._columns.mark, arrays(learner)
        learner.predict([("", "abcXYabc")])
        assert (learner._columns.mark, arrays(learner)) == (mark, before)


@pytest.mark.parametrize(
    ("example", "message"),
    [
        (([], []), "must have at least one word"),
        ((["the", "cat"], ["D"]), "tags must be one per word"),
        ((["the"], ["X"]), "Unknown label 'X'"),
        ((["the", 3], ["D", "N"]), "must be strings"),
        (["the", "cat"], "must have tags to be learned"),
    ],
)
def test_bad_sentences_are_refused(example, message):
    with pytest.raises(InputError, match=message) as caught:
        SearchLearner(SequenceTask(["D", "N"])).fit([(["the"], ["D"]), example])
    assert str(caught.value).startswith("Example 1, step 0: ")
