"""Sequence labelling as a search task."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coalface import CoalClassifier
from coalface.data.formats.conll import Sentence
from coalface.errors import InputError
from coalface.structured import SearchLearner, SearchTask, SequenceTagger, SequenceTask
from coalface.structured.task import complete

BIO = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]
BILOU = ["O", "B-X", "I-X", "L-X", "U-X"]


@pytest.mark.parametrize(("tags", "scheme"), [(BIO, None), (BIO, "bio"), (BILOU, "bilou")])
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_a_roll_out_equals_the_completion_by_the_reference(tags, scheme, data):
    """In every reachable state, and for any cost matrix."""
    costs = [[0.0 if i == j else data.draw(st.sampled_from([0.25, 0.5, 1.0])) for j in range(5)] for i in range(5)]
    task = SequenceTask(tags, costs, scheme)
    words = ["w"] * data.draw(st.integers(1, 5))
    truth = complete(task, task.start(words), lambda state: data.draw(st.sampled_from(task.valid(state))))
    state = task.start((words, task.output(truth)))
    while not task.finished(state):
        assert task.reference_loss(state) == SearchTask.rollout(task, state, task.reference(state))
        for action in task.allowed(state):
            assert task.rollout(state, action) == SearchTask.rollout(task, state, action)
        state = task.step(state, data.draw(st.sampled_from(task.allowed(state))))
    pairs = zip(task.output(truth), task.output(state), strict=True)
    paid = [costs[tags.index(true)][tags.index(got)] for true, got in pairs]
    assert task.loss(state) == sum(paid)


def test_if_missing_a_name_is_worse_more_words_are_tagged_as_names():
    sentences = [(["may", "sleeps"], ["B-PER", "O"]), *[(["may", "sleeps"], ["O", "O"])] * 3] * 25
    even = SearchLearner(SequenceTask(["B-PER", "O"])).fit(sentences)
    missing_is_worse = [[0.0, 1.0], [0.1, 0.0]]
    careful = SearchLearner(SequenceTask(["B-PER", "O"], missing_is_worse)).fit(sentences)
    assert even.predict([["may", "sleeps"]]) == [("O", "O")]
    assert careful.predict([["may", "sleeps"]]) == [("B-PER", "O")]
    assert careful.score(sentences) > -0.1


def test_the_policy_learns_about_all_tags_and_predicts_valid_ones():
    task = SequenceTask(BIO, constraints="bio")
    start = task.start((["Ada", "sleeps"], ["B-PER", "O"]))
    assert task.allowed(start) == BIO
    assert task.valid(start) == ["O", "B-PER", "B-LOC"]
    assert task.valid(task.step(start, "B-PER")) == ["O", "B-PER", "I-PER", "B-LOC"]
    learner = SearchLearner(task, CoalClassifier(rule="passive")).fit([(["Ada", "Lovelace"], ["B-PER", "I-PER"])] * 9)
    assert learner.costs_queried_ == 9 * 2 * len(BIO)
    assert learner.predict([["Lovelace"]])[0][0] != "I-PER"


def test_sentences_from_files_are_examples():
    sentences = [Sentence(("the", "cat"), ("D", "N"))] * 5
    learner = SearchLearner(SequenceTask(["D", "N"])).fit(sentences)
    assert learner.predict(sentences[:1]) == learner.predict([("the", "cat")]) == [("D", "N")]
    assert learner.score(sentences) == 0.0


def test_sentences_without_tags_are_predicted():
    learner = SearchLearner(SequenceTask(["D", "N"])).fit([(["the", "cat"], ["D", "N"])] * 10)
    assert learner.predict([Sentence(("the", "cat"), ())]) == [("D", "N")]


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"cost_matrix": [[0.0, 2.0], [1.0, 0.0]]}, "Divide it by its largest cost"),
        ({"cost_matrix": [[0.5, 1.0], [1.0, 0.0]]}, "up to 0.5 on its diagonal"),
        ({"cost_matrix": [[0.0, 1.0]]}, "cost_matrix must be 2 x 2 numbers"),
        ({"cost_matrix": [["x", 1.0], [1.0, 0.0]]}, "cost_matrix must be 2 x 2 numbers"),
        ({"cost_matrix": [[0.0, math.nan], [1.0, 0.0]]}, "cost_matrix must lie in"),
        ({"constraints": "iob"}, "constraints must be None, 'bio' or 'bilou', got 'iob'"),
        ({"conjunctions": "no"}, "conjunctions must be True or False, got 'no'"),
        ({"history": "2"}, "history must be a.*, got '2'"),
        ({"history": -1}, "history must be a.*, got -1"),
        ({"history": 10**9}, "history must be at most 18 with 2 tags"),
        ({"window": -1}, "window must be a.*, got -1"),
        ({"tags": ["D", "D"]}, "must be distinct, got 'D' twice"),
        ({"tags": [1, 2]}, "must be strings, got 1"),
        ({"tags": "DN"}, "must be a one-dimensional list of labels"),
    ],
)
def test_the_task_and_the_tagger_refuse_the_same_parameters(params, message):
    with pytest.raises(InputError, match=message):
        SequenceTask(**{"tags": ["D", "N"], **params})
    renamed = {"classes" if name == "tags" else name: value for name, value in params.items()}
    with pytest.raises(InputError, match=message):
        SequenceTagger(**{"classes": ["D", "N"], **renamed}).fit([["the", "cat"]], [["D", "N"]])


def test_the_task_and_the_tagger_refuse_the_same_tags():
    words, tags = ["Ada", "saw", "Oslo"], ["B-PER", "O", "I-LOC"]
    with pytest.raises(InputError, match="word 2: tag 'I-LOC' is not allowed here"):
        SearchLearner(SequenceTask(BIO, constraints="bio")).fit([(words, tags)])
