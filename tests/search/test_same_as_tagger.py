"""The generic interface and the compiled tagger are one algorithm: same roll-outs, same costs, same model."""

import numpy as np
import pytest

from coalface import CoalClassifier
from coalface.search import SearchLearner, SequenceTagger, SequenceTask

TAGS = ["O", "B-PER", "I-PER", "B-LOC"]
COSTS = [[0.0, 0.3, 0.3, 0.3], [1.0, 0.0, 0.2, 0.6], [1.0, 0.2, 0.0, 0.6], [0.7, 0.4, 0.4, 0.0]]


def sentences(n, seed=0):
    """Names of one or two words between others, with some noise in what the words tell."""
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


@pytest.mark.parametrize(
    ("policy", "matrix", "constraints", "history"),
    [
        (CoalClassifier(), None, None, 2),
        (CoalClassifier(), COSTS, "bio", 1),
        (CoalClassifier.as_published(), COSTS, None, 2),
        (CoalClassifier(rule="passive", learning_rate=0.5), None, "bio", 0),
    ],
)
def test_two_passes_give_the_same_roll_outs_and_the_same_model(policy, matrix, constraints, history):
    examples = list(sentences(40))
    shared = {name: value for name, value in policy.get_params().items() if name in SequenceTagger().get_params()}
    own = {"classes": TAGS, "cost_matrix": matrix, "constraints": constraints, "history": history}
    tagger = SequenceTagger(**{**shared, **own, "warm_up": 3, "passes": 2})
    tagger.fit([words for words, _ in examples], [tags for _, tags in examples])
    task = SequenceTask(tagger.classes_.tolist(), tagger.cost_matrix and np.array(matrix), constraints, history=history)
    learner = SearchLearner(task, policy, warm_up=3, passes=2).fit(examples)

    assert learner.rollouts_ == tagger.rollouts_ > 0
    assert learner.costs_queried_ == tagger.costs_queried_
    for name, array in tagger.policy_.regressors_.arrays().items():
        assert np.array_equal(array, learner.policy_.regressors_.arrays()[name]), name
    words = [words for words, _ in sentences(20, seed=1)]
    assert [list(tags) for tags in learner.predict(words)] == tagger.predict(words)
