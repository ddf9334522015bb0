"""The general interface and the compiled tagger give the same roll-outs, costs and model."""

import numpy as np
import pytest

from coalface import CoalClassifier, CommitteeModel, OnlineModel
from coalface.structured import SearchLearner, SequenceTagger, SequenceTask
from tests.structured.made_sentences import as_bilou

TAGS = ["O", "B-PER", "I-PER", "B-LOC"]
COSTS = [[0.0, 0.3, 0.3, 0.3], [1.0, 0.0, 0.2, 0.6], [1.0, 0.2, 0.0, 0.6], [0.7, 0.4, 0.4, 0.0]]


def sentences(n, seed=0):
    """Sentences with names of one or two words, some of them ambiguous."""
    rng = np.random.default_rng(seed)
    for _ in range(n):
        words, tags = [], []
        for kind in rng.choice(["O", "PER", "LOC"], size=rng.integers(1, 5)):
            if kind == "PER":
                length = int(rng.integers(1, 3))
                words += [f"Ada{rng.integers(3)}", f"Love{rng.integers(3)}"][:length]
                tags += ["B-PER", "I-PER"][:length]
            else:
                words.append(
                    f"{'Paris' if kind == 'LOC' else 'word'}{rng.integers(6)}" if rng.random() < 0.8 else "Ada1"
                )
                tags.append("B-LOC" if kind == "LOC" else "O")
        yield words, tags


BILOU = ["U-LOC", "L-PER", "O", "I-PER", "B-PER", "U-PER"]  # in no particular order


def same_model(examples, tags, policy, matrix, constraints, history=2, conjunctions=True, **others):
    """Fit both, check that they agree bit for bit, and return the tagger."""
    tagger = SequenceTagger(
        tags, matrix, policy, constraints=constraints, history=history, conjunctions=conjunctions, warm_up=3, **others
    )
    tagger.fit([words for words, _ in examples], [marks for _, marks in examples])
    task = SequenceTask(tags, matrix, constraints, history=history, conjunctions=conjunctions)
    learner = SearchLearner(task, policy, warm_up=3, **others).fit(examples)
    assert learner.rollouts_ == tagger.rollouts_
    assert learner.costs_queried_ == tagger.costs_queried_
    assert learner.policy_.round_ == tagger.policy_.round_
    for name, array in tagger.policy_.model_.arrays().items():
        assert np.array_equal(array, learner.policy_.model_.arrays()[name]), name
    words = [words for words, _ in sentences(20, seed=1)]
    assert [list(marks) for marks in learner.predict(words)] == tagger.predict(words)
    return tagger


@pytest.mark.parametrize(
    ("policy", "matrix", "constraints", "history"),
    [
        (CoalClassifier(), None, None, 2),
        (CoalClassifier(), COSTS, "bio", 1),
        (CoalClassifier(model="online", audits="loss"), None, "bio", 2),
        (CoalClassifier.as_published(), COSTS, None, 2),
        (CoalClassifier(rule="passive", model=CommitteeModel(online=OnlineModel(learning_rate=0.5))), None, "bio", 0),
    ],
)
def test_two_passes_give_the_same_roll_outs_and_the_same_model(policy, matrix, constraints, history):
    assert same_model(list(sentences(40)), TAGS, policy, matrix, constraints, history, passes=2).rollouts_ > 0


def test_without_conjunctions_too():
    assert same_model(list(sentences(40)), TAGS, CoalClassifier(), None, "bio", conjunctions=False).rollouts_ > 0


@pytest.mark.parametrize(
    "policy",
    [CoalClassifier(), CoalClassifier(rule="passive", model=CommitteeModel(online=OnlineModel(learning_rate=0.5)))],
    ids=str,
)
@pytest.mark.parametrize("constraints", [None, "bio", "bilou"])
@pytest.mark.parametrize("seed", range(4))
def test_any_cost_matrix_gives_the_same_model(policy, constraints, seed):
    """Sums of costs must not depend on the order or precision in which they are added."""
    examples = list(sentences(40, seed))
    tags = TAGS
    if constraints == "bilou":
        tags, words = BILOU, [words for words, _ in examples]
        examples = list(zip(words, as_bilou([marks for _, marks in examples]), strict=True))
    matrix = np.random.default_rng(seed).random((len(tags), len(tags)))
    np.fill_diagonal(matrix, 0.0)
    assert same_model(examples, tags, policy, matrix, constraints).rollouts_ > 0


def test_where_there_is_only_one_tag_nothing_is_asked():
    assert same_model([(["a"], ["A"])] * 20, ["A"], CoalClassifier(), None, None).rollouts_ == 0


@pytest.mark.parametrize("seed", [0, 1, 5])
def test_the_seed_reaches_the_policy(seed):
    examples = list(sentences(40))
    tagger = SequenceTagger(TAGS, policy=CoalClassifier(random_state=seed)).fit(*zip(*examples, strict=True))
    learner = SearchLearner(SequenceTask(TAGS), random_state=seed).fit(examples)
    assert learner.policy_.random_state == seed
    for name, array in tagger.policy_.model_.arrays().items():
        assert np.array_equal(array, learner.policy_.model_.arrays()[name]), name


def test_a_warm_up_ends_after_a_hundred_words_for_each_of_its_sentences():
    examples = [(["w", "v"] * 140, ["D", "N"] * 140), (["w"] * 9, ["D"] * 9)]
    silent = CoalClassifier(mellowness=0.0, audits=None)
    assert same_model(examples, ["D", "N"], silent, None, None).rollouts_ == 2 * 289
    long = [(["w", "v"] * 500, ["D", "N"] * 500)]
    assert same_model(long, ["D", "N"], silent, None, None).rollouts_ == 2 * 300
