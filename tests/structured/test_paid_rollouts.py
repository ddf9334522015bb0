"""Roll-outs cost money: none is run twice that need not be, and several examples can run theirs at once."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from coalface import CoalClassifier, CommitteeModel, OnlineModel
from coalface.errors import InputError
from coalface.structured import SearchLearner
from tests.structured.tasks import Spelling, arrays, words


class Flaky(Spelling):
    """Fails the roll-outs whose numbers are in ``failures``."""

    failures = frozenset()

    def rollout(self, state, action):
        loss = super().rollout(state, action)
        if len(self.called) in self.failures:
            raise OSError("the simulator is down")
        return loss


def test_a_failed_fit_keeps_what_was_paid():
    examples = list(words(20))
    clean = SearchLearner(Spelling()).fit(examples)
    task = Flaky()
    task.failures = {clean.rollouts_ - 5}
    learner = SearchLearner(task)
    with pytest.raises(InputError, match="the simulator is down"):
        learner.fit(examples)
    learner.fit(examples)
    assert len(task.called) == clean.rollouts_ + 1  # only the failed roll-out was run twice
    assert arrays(learner) == arrays(clean)
    assert learner.rollouts_ == 6  # of this fit


def test_an_example_that_changed_after_a_failure_is_rolled_out_again():
    task = Flaky()
    task.failures = {8}
    example = ["abcab", "abcab"]
    learner = SearchLearner(task, CoalClassifier(rule="passive"))
    with pytest.raises(InputError):
        learner.fit([example])
    example[0] = "bbcab"
    learner.fit([example])
    fresh = SearchLearner(Spelling(), CoalClassifier(rule="passive")).fit([example])
    assert arrays(learner) == arrays(fresh)


def test_a_failed_example_keeps_what_was_paid_and_then_forgets_it():
    task, (first, second) = Flaky(free=True), words(2)
    task.failures = {15 + 14}
    learner = SearchLearner(task).partial_fit([first])
    with pytest.raises(InputError, match="Example 0, step 4"):
        learner.partial_fit([second])
    learner.partial_fit([second])
    assert len(task.called) == 30 + 1
    learner.partial_fit([second])
    assert len(task.called) == 45 + 1


def test_cached_roll_outs_survive_saving(tmp_path):
    examples, task, again = list(words(6)), Spelling(keyed=True), Spelling(keyed=True)
    learner = SearchLearner(
        task, CoalClassifier(rule="passive", model=CommitteeModel(online=OnlineModel(learning_rate=0.5)))
    ).fit(examples)
    learner.save(tmp_path / "a.search")
    loaded = SearchLearner.load(tmp_path / "a.search", again).partial_fit(examples)
    assert len(again.called) == loaded.rollouts_ - learner.rollouts_
    assert not {(state, action) for state, action in again.called} & set(task.called)
    assert arrays(loaded) == arrays(learner.partial_fit(examples))


@pytest.mark.parametrize("in_threads", [False, True])
def test_a_failed_roll_out_is_run_again(in_threads):
    task = Flaky(free=True)
    task.failures = {3, 4, 20}
    with ThreadPoolExecutor(1) as pool:
        learner = SearchLearner(task, retries=2, executor=pool if in_threads else None).fit(words(5))
        assert arrays(learner) == arrays(SearchLearner(Spelling(free=True)).fit(words(5)))
        assert learner.rollouts_ == len(task.called) == learner.costs_queried_ + 3
        task.failures = set(range(len(task.called), len(task.called) + 10))
        with pytest.raises(InputError, match="the simulator is down"):
            learner.set_params(retries=1).partial_fit(words(1))


def test_a_roll_out_that_takes_too_long_fails():
    class Hanging(Spelling):
        release = threading.Event()

        def rollout(self, state, action):
            if not self.called:
                self.called.append((state, action))
                self.release.wait(20)
            return super().rollout(state, action)

    task = Hanging()
    with ThreadPoolExecutor(2) as pool:
        learner = SearchLearner(task, executor=pool, timeout=0.05)
        with pytest.raises(InputError, match=r"Example 0, step 0: .* it took longer than timeout = 0.05 seconds"):
            learner.fit(words(1))
        task.called.clear()
        task.release.set()
        learner.set_params(timeout=20.0).fit(words(2))
    with pytest.raises(InputError, match="timeout needs an executor, got timeout=1 without one"):
        SearchLearner(task, timeout=1.0).fit(words(1))


def test_progress_is_reported_after_every_group():
    seen = []
    learner = SearchLearner(Spelling(), passes=2, at_once=4)
    learner.fit(words(6), progress=lambda *now: seen.append(now))
    assert [(done, total) for done, total, _ in seen] == [(4, 12), (8, 12), (12, 12)]
    assert seen[-1][2] == learner.rollouts_


class Together(Spelling):
    """Counts how many roll-outs run at the same time; each waits up to ``patience`` seconds until four did."""

    def __init__(self, patience):
        super().__init__(free=True)
        self.running, self.most, self.patience, self.changed = 0, 0, patience, threading.Condition()

    def rollout(self, state, action):
        with self.changed:
            self.running += 1
            self.most = max(self.most, self.running)
            self.changed.notify_all()
            self.changed.wait_for(lambda: self.most == 4, self.patience)
            self.running -= 1
        return super().rollout(state, action)


def test_examples_side_by_side_run_their_roll_outs_at_once_and_learn_the_same_without_an_executor():
    one, task = Together(patience=0.002), Together(patience=0.5)
    with ThreadPoolExecutor(4) as pool:
        SearchLearner(one, warm_up=0, executor=pool).fit(words(12))
        learner = SearchLearner(task, warm_up=0, at_once=6, executor=pool).fit(words(12))
    alone = SearchLearner(Spelling(free=True), warm_up=0, at_once=6).fit(words(12))
    assert one.most < task.most == 4
    assert arrays(learner) == arrays(alone)
    assert learner.episodes_ == 12
    better = SearchLearner(Spelling(free=True), at_once=5).fit(words(150))
    assert better.score(words(100, seed=1)) > -0.6  # 0.33 of 5 hints are wrong


def test_a_group_is_learned_completely_or_not_at_all():
    task = Flaky(free=True)
    learner = SearchLearner(task, at_once=3).partial_fit(words(3))
    before, columns = arrays(learner), learner._columns.mark
    task.failures = {len(task.called) + 20}
    with pytest.raises(InputError, match=r"Example [012], step \d: .* It was not learned"):
        learner.partial_fit(words(6, seed=4))
    assert (arrays(learner), learner._columns.mark) == (before, columns)
    fresh = SearchLearner(Spelling(free=True), at_once=3).partial_fit(words(3))
    assert arrays(learner.partial_fit(words(6, seed=4))) == arrays(fresh.partial_fit(words(6, seed=4)))
