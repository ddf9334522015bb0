"""Learning to search through the generic interface."""

from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest
from sklearn.base import clone

from coalface import Coal, CoalClassifier, CommitteeModel, OnlineModel, RidgeModel
from coalface.errors import FileFormatError, InputError
from coalface.structured import SearchLearner
from coalface.structured.policy_choice import PolicyChoice
from tests.structured.tasks import Spelling, arrays, words

ROLL_OUTS = ["reference", "learned", "mixed", "mixed-per-state", "none"]


def passive(**others):
    return CoalClassifier(rule="passive", model=CommitteeModel(online=OnlineModel(learning_rate=0.5)), **others)


def test_it_learns_what_can_be_learned_with_fewer_roll_outs_than_passive():
    new = list(words(100, seed=1))
    learner = SearchLearner(Spelling(free=True)).fit(words(150))
    everything = SearchLearner(Spelling(free=True), passive()).fit(words(150))
    assert everything.rollouts_ == 150 * 5 * 3
    assert learner.rollouts_ < everything.rollouts_ / 2
    assert learner.score(new) > -0.6  # 0.33 of 5 hints are wrong
    assert learner.predict([("", "abc")]) == ["abc"]


def test_the_score_of_a_perfect_policy_is_0_and_not_minus_0():
    learner = SearchLearner(Spelling(), passive()).fit([("aaa", "aaa")] * 20)
    assert str(learner.score([("aaa", "aaa")])) == "0.0"


@pytest.mark.parametrize("roll_out", ROLL_OUTS)
@pytest.mark.parametrize("roll_in", ["learned", "reference", "mixed"])
def test_every_choice_of_policies_learns_and_repeats_exactly(roll_in, roll_out):
    def learn(**others):
        return SearchLearner(Spelling(), roll_in=roll_in, roll_out=roll_out, warm_up=5, **others).fit(words(40))

    learner = learn()
    assert learner.score(words(50, seed=1)) > -1.5  # guessing costs 3.3
    assert arrays(learner) == arrays(learn())
    drawn = "mixed" in roll_in or "mixed" in roll_out
    assert (
        arrays(learner) != arrays(learn(random_state=1, policy=CoalClassifier(random_state=0, model="online")))
    ) == drawn


@pytest.mark.parametrize("executor", [False, True])
@pytest.mark.parametrize("in_turn", [False, True])
@pytest.mark.parametrize("free", [False, True])
def test_roll_outs_are_counted_exactly(free, in_turn, executor):
    task = Spelling(free=free)
    with ThreadPoolExecutor(2) as pool:
        learner = SearchLearner(task, CoalClassifier(rule=Coal(in_turn=in_turn)), executor=pool if executor else None)
        learner.fit(words(40))
    assert learner.rollouts_ == len(task.called) == len(set(map(str, task.called)))
    if free:
        assert learner.rollouts_ == learner.costs_queried_
    else:  # one more where something was asked about, unless the reference's own action was
        states = {state for state, _ in task.called}
        asked_about_own = learner.costs_queried_ + len(states) - learner.rollouts_
        assert 0 < asked_about_own <= len(states)
        assert len(states) == learner.policy_.examples_queried_


def test_an_executor_changes_nothing():
    with ThreadPoolExecutor(3) as pool:
        parallel = SearchLearner(Spelling(), roll_out="mixed-per-state", executor=pool).fit(words(30))
    alone = SearchLearner(Spelling(), roll_out="mixed-per-state").fit(words(30))
    assert arrays(parallel) == arrays(alone)
    assert parallel.rollouts_ == alone.rollouts_


def test_every_roll_out_can_run_in_another_process():
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        for roll_out in ("learned", "mixed-per-state"):
            there = SearchLearner(Spelling(), roll_out=roll_out, executor=pool).fit(words(4))
            here = SearchLearner(Spelling(), roll_out=roll_out).fit(words(4))
            assert arrays(there) == arrays(here)
            assert there.rollouts_ == here.rollouts_


class RefusedError(Exception):
    """As many exceptions of client libraries: it can be pickled, but what was pickled cannot be read."""

    def __init__(self, code, text):
        super().__init__(f"{code}: {text}")


class Refusing(Spelling):
    def rollout(self, state, action):  # noqa: ARG002
        raise RefusedError(503, "come back later")


def test_an_exception_that_cannot_be_sent_leaves_the_pool_of_processes_whole():
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        with pytest.raises(InputError, match=r"action 'a' failed, .*RefusedError: 503: come back later"):
            SearchLearner(Refusing(), executor=pool).fit(words(2))
        assert SearchLearner(Spelling(), executor=pool).fit(words(2)).rollouts_ > 0


def test_a_state_that_comes_again_is_not_rolled_out_again():
    examples = [*words(5)] * 6
    task, fresh = Spelling(keyed=True), Spelling()
    learner = SearchLearner(task, passive()).fit(examples)
    without = SearchLearner(fresh, passive()).fit(examples)
    assert arrays(learner) == arrays(without)
    assert learner.costs_queried_ == without.costs_queried_ == without.rollouts_ == 6 * 5 * 5 * 3
    assert learner.rollouts_ == len(task.called) == len(set(task.called)) < without.rollouts_


def test_without_roll_outs_none_is_run_and_costs_say_where_the_reference_differs():
    task = Spelling()
    learner = SearchLearner(task, passive(), roll_in="reference", roll_out="none", warm_up=0).fit([("ab", "ab")])
    assert (learner.rollouts_, task.called, learner.costs_queried_) == (0, [], 6)


def test_costs_are_relative_to_the_reference_and_not_to_the_best_action_rolled_out():
    class Doomed(Spelling):
        """Every first letter loses as much, whatever the reference does afterwards."""

        scale = 4.0

        def rollout(self, state, action):  # noqa: ARG002
            return 3.0 + {"a": 0.0, "b": 2.0, "c": 8.0}[action]

        def reference_loss(self, state):  # noqa: ARG002
            return 2.0

    learner = SearchLearner(
        Doomed(), CoalClassifier(rule="passive", model=CommitteeModel(online=OnlineModel(learning_rate=10.0)))
    ).fit([("a", "a")] * 200)
    state = learner.task.start(("a", "a"))
    costs = learner.policy_.model_.predictions(learner._columns.row(learner.task.features(state)))
    np.testing.assert_allclose(costs, [[0.25, 0.75, 1.0]], atol=1e-3)


def test_the_roll_in_decides_which_states_are_learned():
    def states_with(roll_in):
        task = Spelling()
        SearchLearner(task, passive(), roll_in=roll_in).fit(words(30))
        return {state[2] == state[0][: len(state[2])] for state, _ in task.called}

    assert states_with("reference") == {True}
    assert states_with("learned") == {True, False}


def test_warm_up_is_counted_in_episodes():
    task = Spelling(free=True)
    learner = SearchLearner(task, CoalClassifier(mellowness=1e-9, audits=None), warm_up=4)
    learner.partial_fit(words(3))
    assert learner.rollouts_ == 3 * 5 * 3
    learner.partial_fit(words(1, seed=1))
    assert learner.rollouts_ == 4 * 5 * 3
    learner.partial_fit(words(50, seed=2))
    assert learner.rollouts_ < 4 * 5 * 3 + 50 * 5


def test_nothing_is_learned_from_a_state_with_one_allowed_action():
    class Forced(Spelling):
        def allowed(self, state):
            return ["b"] if len(state[2]) == 1 else self.actions

        def reference(self, state):
            return "b" if len(state[2]) == 1 else super().reference(state)

    task = Forced(free=True)
    learner = SearchLearner(task, passive()).fit([("abc", "abc")])
    assert learner.costs_queried_ == 6
    assert learner.policy_.round_ == 3
    assert learner.predict([("", "aaa")])[0][1] == "b"


def test_the_kind_and_the_order_of_allowed_actions_change_nothing():
    def learned_with(kind):
        class Kind(Spelling):
            def allowed(self, state):  # noqa: ARG002
                return kind(reversed(self.actions))

        return SearchLearner(Kind()).fit(words(20)).policy_.model_.arrays()

    expected = learned_with(tuple)
    for kind in (list, set, iter):
        for name, array in learned_with(kind).items():
            np.testing.assert_array_equal(array, expected[name], name)


def test_a_reference_that_is_no_action_is_one_clear_line():
    class Unhashable(Spelling):
        def allowed(self, state):  # noqa: ARG002
            return set(self.actions)

        def reference(self, state):  # noqa: ARG002
            return ["a"]

    with pytest.raises(InputError, match=r"the reference must take an allowed action .*, got \['a'\]"):
        SearchLearner(Unhashable()).fit(words(1))


def test_a_failed_example_changes_nothing_after_the_policy_was_given_another_model():
    class Stumbling(Spelling):
        def reference(self, state):
            return super().reference(state) if state[0] != "abcaX" or len(state[2]) < 4 else "z"

    learner = SearchLearner(Stumbling(), roll_out="none", warm_up=1000).fit(words(20))
    learner.policy_.model_ = learner.policy_.model_.moved("cpu")
    before = arrays(learner)
    with pytest.raises(InputError, match="the reference must take an allowed action"):
        learner.partial_fit([("abcaX", "abcab")])
    assert arrays(learner) == before


def test_examples_may_come_in_pieces_and_passes_are_rounds_over_them():
    examples = list(words(30))
    whole, pieces = SearchLearner(Spelling(), passes=2).fit(examples), SearchLearner(Spelling())
    for start in (0, 7, 20, 30, 45):
        pieces.partial_fit((examples * 2)[start : {0: 7, 7: 20, 20: 30, 30: 45, 45: 60}[start]])
    assert arrays(whole) == arrays(pieces)
    assert whole.episodes_ == pieces.episodes_ == 60


@pytest.mark.parametrize("cut", [3, 25])
def test_a_saved_learner_goes_on_exactly(tmp_path, cut):
    examples = list(words(40))
    learner = SearchLearner(Spelling(), roll_in="mixed", roll_out="mixed").partial_fit(examples[:cut])
    learner.save(tmp_path / "a.search")
    loaded = SearchLearner.load(tmp_path / "a.search", Spelling())
    assert (loaded.rollouts_, loaded.costs_queried_) == (learner.rollouts_, learner.costs_queried_)
    assert arrays(loaded.partial_fit(examples[cut:])) == arrays(learner.partial_fit(examples[cut:]))
    assert loaded.rollouts_ == learner.rollouts_
    assert loaded.predict(words(20, seed=3)) == learner.predict(words(20, seed=3))


def test_numbers_of_numpy_can_be_saved_and_a_loaded_policy_is_not_the_parameter(tmp_path):
    params = {"random_state": np.int64(3), "warm_up": np.int64(2), "mixture": np.float64(0.25)}
    SearchLearner(Spelling(), **params).fit(words(3)).save(tmp_path / "a.search")
    loaded = SearchLearner.load(tmp_path / "a.search", Spelling())
    assert (loaded.random_state, loaded.warm_up, loaded.mixture) == (3, 2, 0.25)
    loaded.set_params(policy__mellowness=0.9)
    assert loaded.policy_.mellowness == CoalClassifier().mellowness


def test_a_policy_that_could_not_be_loaded_is_not_saved(tmp_path):
    class Own(CoalClassifier):
        pass

    learner = SearchLearner(Spelling(), Own()).fit(words(3))
    with pytest.raises(InputError, match="policy must be a CoalClassifier itself to be saved, got Own"):
        learner.save(tmp_path / "a.search")
    assert not (tmp_path / "a.search").exists()


def test_a_clone_shares_the_task_and_the_executor():
    with ThreadPoolExecutor(1) as pool:
        learner = SearchLearner(Spelling(), CoalClassifier(mellowness=0.3), executor=pool, passes=2).fit(words(3))
        copy = clone(learner)
    assert (copy.task, copy.executor) == (learner.task, pool)
    assert copy.policy is not learner.policy
    assert (copy.policy.mellowness, copy.passes, copy.rollouts_) == (0.3, 2, 0)


def test_draws_of_rolling_in_and_out_are_independent():
    choice = PolicyChoice("mixed", "mixed", 0.5, seed=0)
    places = [(episode, step) for episode in range(40) for step in range(10)]
    leads = [choice.reference_rolls_in(*place) for place in places]
    for action in range(3):
        completes = [choice.roll_out_policy(*place, action, len, len) is None for place in places]
        assert 140 < sum(a == b for a, b in zip(leads, completes, strict=True)) < 260  # of 400


def test_files_of_other_tasks_and_other_things_are_refused(tmp_path):
    SearchLearner(Spelling()).fit(words(2)).save(tmp_path / "a.search")

    class Other(Spelling):
        actions = ("a", "b")

    with pytest.raises(InputError, match="learned for the actions"):
        SearchLearner.load(tmp_path / "a.search", Other())
    CoalClassifier(classes=["a", "b"]).save(tmp_path / "b.coal")
    with pytest.raises(FileFormatError, match="holds a model, not a search learner"):
        SearchLearner.load(tmp_path / "b.coal", Spelling())


def test_fit_forgets_and_a_failing_fit_forgets_nothing():
    task = Spelling()
    learner = SearchLearner(task).fit(words(10))
    before, n_rollouts = arrays(learner), learner.rollouts_
    for _ in range(2):
        with pytest.raises(InputError, match="Example 1"):
            learner.fit([("a", "a"), ("x", "a")])
    assert arrays(learner) == before
    assert learner.rollouts_ == len(task.called) > n_rollouts
    assert arrays(learner.fit(words(10))) == before
    assert learner.rollouts_ == n_rollouts


def test_a_first_fit_that_fails_has_run_its_roll_outs():
    task = Spelling()
    learner = SearchLearner(task)
    with pytest.raises(InputError, match="Example 3"):
        learner.fit([*words(3), ("x", "a")])
    assert learner.rollouts_ == len(task.called) > 0
    assert learner.partial_fit(words(1)).rollouts_ == len(task.called)


def test_any_learner_can_be_the_policy(tmp_path):
    learner = SearchLearner(Spelling(free=True), CoalClassifier(model="ridge"), warm_up=3).fit(words(30))
    assert learner.score(words(50, seed=1)) > -1.0  # guessing costs 3.3
    learner.save(tmp_path / "a.search")
    loaded = SearchLearner.load(tmp_path / "a.search", Spelling(free=True))
    assert isinstance(loaded.policy_.model_, RidgeModel)
    assert arrays(loaded.partial_fit(words(5, seed=3))) == arrays(learner.partial_fit(words(5, seed=3)))
