"""Equal costs: facts on the reference's path, and nothing to learn from after a mistake."""

import numpy as np
import pytest

from coalface import CoalClassifier, OnlineModel
from coalface.errors import TiedCostsWarning
from coalface.structured import SearchLearner, SequenceTask
from tests.structured.tasks import Spelling, words


class Spoilt(Spelling):
    """After a wrong letter nothing can be saved: every letter costs the same."""

    def rollout(self, state, action):
        self.called.append((state, action))
        return self.loss_of(state[2] + action, state[0])

    def reference_loss(self, state):
        return self.loss_of(state[2], state[0])

    def loss(self, state):
        return self.loss_of(state[2], state[0])

    @staticmethod
    def loss_of(letters, word):
        return float(not word.startswith(letters))


class Charged(Spoilt):
    charges_every_mistake = True


def learned(kind, roll_in="learned", example=("ab", "xy")):
    """A learner that has met one example, whose first letter the untrained policy gets right and wrong."""
    policy = CoalClassifier(rule="passive", model=OnlineModel(learning_rate=0.5))
    learner = SearchLearner(kind(), policy, roll_in=roll_in, passes=3).fit([("ba", example[1]), example])
    return learner, learner.policy_.model_.state.answered[:3].tolist()


def test_after_a_mistake_a_tie_is_asked_for_and_not_learned():
    tied, answered = learned(Spoilt)
    facts, all_answered = learned(Charged)
    assert tied.costs_queried_ == facts.costs_queried_ == 2 * 2 * 3 * 3
    assert sum(answered) < sum(all_answered) == facts.costs_queried_


def test_on_the_reference_path_a_tie_is_a_fact():
    class Both(Spelling):
        """An a is as good as a b."""

        def rollout(self, state, action):  # noqa: ARG002
            return float(action == "c")

        def reference_loss(self, state):  # noqa: ARG002
            return 0.0

    _, answered = learned(Both, roll_in="reference", example=("bb", "xy"))
    assert answered == [12, 12, 12]


@pytest.mark.filterwarnings("ignore::coalface.errors.TiedCostsWarning")
def test_a_policy_does_not_believe_in_what_ties_after_a_mistake():
    """The second letter is plain from its hint; after a wrong first letter, which no hint tells, all letters tie."""
    rng = np.random.default_rng(0)
    examples = []
    for _ in range(300):
        word = "".join(rng.choice(list("abc"), size=4))
        examples.append((word, "?" + word[1:]))
    new = examples[:100]

    def later_letters_right(kind):
        learner = SearchLearner(kind()).fit(examples)
        wanted, got = "".join(word[1:] for word, _ in new), "".join(letters[1:] for letters in learner.predict(new))
        return np.mean([a == b for a, b in zip(wanted, got, strict=True)]), learner.rollouts_

    (believed, n_believed), (ignored, n_ignored) = later_letters_right(Charged), later_letters_right(Spoilt)
    assert ignored > 0.98
    assert ignored >= believed
    assert n_ignored < 0.7 * n_believed  # what is believed must be unlearned, which takes questions


def test_most_costs_that_tie_are_a_warning():
    class Indifferent(Spelling):
        def rollout(self, state, action):  # noqa: ARG002
            return 1.0

        def reference_loss(self, state):  # noqa: ARG002
            return 1.0

    message = r"\d+ of \d+ actions that the reference would not take cost no more than its own"
    with pytest.warns(TiedCostsWarning, match=message) as caught:
        SearchLearner(Indifferent(), CoalClassifier(rule="passive")).fit(words(40))
    assert len(caught) == 1


def test_a_task_may_choose_its_roll_out():
    class Known(Spelling):
        roll_out = "none"

    assert SearchLearner(Known()).fit(words(5)).rollouts_ == 0
    assert SearchLearner(Known(), roll_out="reference").fit(words(5)).rollouts_ > 0
    assert SearchLearner(Spelling()).fit(words(5)).rollouts_ > 0


@pytest.mark.parametrize("constraints", [None, "bio"])
def test_tags_without_a_cost_matrix_teach_the_same_with_and_without_roll_outs(constraints):
    tagged = [(["Ada", "saw", f"Town{i}"], ["B-PER", "O", "B-LOC"]) for i in range(40)]
    cells = []
    for roll_out in ("reference", "none"):
        task = SequenceTask(["O", "B-PER", "B-LOC"], constraints=constraints)
        learner = SearchLearner(task, CoalClassifier(model="online"), roll_out=roll_out, warm_up=2).fit(tagged)
        cells.append(learner.policy_.model_.arrays()["cells"])
    assert np.array_equal(*cells)
