"""Beam decoding: greedy at width 1, and against all outputs of small tasks."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coalface.errors import InputError
from coalface.structured import SearchLearner, SearchTask, SequenceTask
from coalface.structured.beam import best_of_beam
from tests.structured.tasks import Spelling, words

LENGTH = 4


class Letters(SearchTask):
    """Words of a, b and c whose predicted costs depend on the word so far; "c" ends a word early."""

    actions = ("a", "b", "c")

    def __init__(self, seed):
        self.costs = {}
        self.random = np.random.default_rng(seed)

    def start(self, example):  # noqa: ARG002
        return ""

    def finished(self, state):
        return len(state) == LENGTH or state.endswith("c")

    def allowed(self, state):  # noqa: ARG002
        return self.actions

    def step(self, state, action):
        return state + action

    def features(self, state):  # noqa: ARG002
        return {}

    def reference(self, state):  # noqa: ARG002
        return "a"

    def loss(self, state):  # noqa: ARG002
        return 0.0

    def costs_in(self, states):
        for state in states:
            if state not in self.costs:
                self.costs[state] = self.random.normal(0.3, 0.5, size=3)
        return [(self.actions, self.costs[state]) for state in states]


def total(task, word):
    """The predicted total of a word, from the definition."""
    steps = [task.costs_in([word[:i]])[0][1]["abc".index(letter)] for i, letter in enumerate(word)]
    return float(np.clip(steps, 0.0, 1.0).sum())


def all_words():
    for n in range(1, LENGTH + 1):
        for letters in itertools.product("abc", repeat=n):
            word = "".join(letters)
            if "c" not in word[:-1] and (n == LENGTH or word.endswith("c")):
                yield word


def greedy(task):
    word = ""
    while not task.finished(word):
        word += "abc"[int(task.costs_in([word])[0][1].argmin())]
    return word


@given(seed=st.integers(0, 10_000))
def test_width_1_is_greedy_and_a_full_beam_is_the_best_of_all_outputs(seed):
    task = Letters(seed)
    everything = list(all_words())
    least = min(total(task, word) for word in everything)
    assert best_of_beam(task, "", task.costs_in, 1).state == greedy(task)
    assert best_of_beam(task, "", task.costs_in, len(everything)).total == pytest.approx(least)


@given(seed=st.integers(0, 10_000), width=st.integers(2, 12))
def test_no_beam_is_worse_than_greedy_or_better_than_the_best(seed, width):
    task = Letters(seed)
    found = best_of_beam(task, "", task.costs_in, width)
    assert found.total == pytest.approx(total(task, found.state))
    assert found.total <= total(task, greedy(task)) + 1e-12
    assert found.total >= min(total(task, word) for word in all_words()) - 1e-12


def test_the_greedy_output_stays_although_others_look_better_for_a_while():
    """After two letters, "ba" and "bb" are cheaper than the greedy "aa", but everything after them is expensive."""
    task = Letters(0)
    task.costs = {"": [0.0, 0.1, 1.0], "a": [0.9, 0.95, 1.0], "b": [0.0, 0.05, 1.0]}
    for word in ("".join(letters) for n in (2, 3) for letters in itertools.product("ab", repeat=n)):
        task.costs[word] = [0.0, 0.0, 1.0] if word.startswith("aa") else [1.0, 1.0, 1.0]
    task.costs = {word: np.array(costs) for word, costs in task.costs.items()}
    found = best_of_beam(task, "", task.costs_in, 2)
    assert (found.state, found.total) == ("aaaa", pytest.approx(0.9))


def test_a_learner_decodes_greedily_by_default_and_wider_on_request():
    examples = list(words(60))
    learner = SearchLearner(Spelling()).fit(examples)
    new = list(words(30, seed=1))
    assert learner.predict(new, beam=1) == learner.predict(new)
    assert len(learner.predict(new, beam=4)) == 30
    assert learner.score(new, beam=4) > -2.0


def test_a_wide_beam_finds_the_least_predicted_total_of_a_learner():
    """Against every sequence of letters, each walked through with the learner's own predictions."""
    learner = SearchLearner(Spelling()).fit(list(words(40, length=3)))
    task, policy = learner.task, learner.policy_

    def predicted_total(example, letters):
        state, costs = task.start(example), []
        for letter in letters:
            row = learner._columns.row(task.features(state))
            costs.append(float(policy.model_.predictions(row)[0, "abc".index(letter)]))
            state = task.step(state, letter)
        return float(np.clip(costs, 0.0, 1.0).sum())

    for example in words(10, seed=3, length=3):
        totals = {letters: predicted_total(example, letters) for letters in itertools.product("abc", repeat=3)}
        found = learner.predict([example], beam=27)[0]
        assert totals[tuple(found)] == pytest.approx(min(totals.values()), abs=1e-6)


def test_only_valid_actions_are_kept():
    task = SequenceTask(["O", "B-X", "I-X"], constraints="bio")
    sentences = [(["a", "b", "a"], ["B-X", "I-X", "O"]), (["b", "a", "b"], ["O", "B-X", "I-X"])] * 20
    learner = SearchLearner(task).fit(sentences)
    for tags in learner.predict([["b", "b", "a"], ["a", "a", "b"]], beam=5):
        assert all(tag != "I-X" or before in ("B-X", "I-X") for before, tag in zip(("O", *tags), tags, strict=False))


def test_a_beam_has_at_least_one_place():
    learner = SearchLearner(Spelling()).fit(list(words(5)))
    with pytest.raises(InputError, match="beam must be a whole number of at least 1, got 0"):
        learner.predict(list(words(1)), beam=0)
