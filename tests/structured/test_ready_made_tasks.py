"""Ready-made tasks: multiclass, and entities and relations."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coalface import Coal, CoalClassifier
from coalface.errors import InputError
from coalface.learner.predicting import best_labels
from coalface.structured import MentionSentence, MulticlassTask, RelationTask, SearchLearner

# -- multiclass ------------------------------------------------------------------------------------


def blobs(n=120, n_labels=5, seed=0):
    random = np.random.default_rng(seed)
    centres, truth = 2 * np.random.default_rng(9).normal(size=(n_labels, 4)), random.integers(n_labels, size=n)
    return centres[truth] + random.normal(size=(n, 4)), truth


def test_one_decision_per_example_is_the_classifier_itself():
    X, truth = blobs()
    learner = SearchLearner(MulticlassTask(range(5)), warm_up=0).fit(list(zip(X, truth.tolist(), strict=True)))
    classifier = CoalClassifier(range(5), model="online", rule=Coal(warm_up=0), shuffle=False)
    classifier.interview(X, lambda i, label: float(label != truth[i]))
    ours, theirs = learner.policy_.model_.arrays(), classifier.model_.arrays()
    assert all(np.array_equal(ours[name], theirs[name]) for name in ours)
    assert learner.rollouts_ == classifier.costs_queried_ < 600
    assert learner.predict(list(X[:20])) == best_labels(classifier, X[:20], by_model=True).tolist()


@pytest.mark.parametrize("n_labels", [2, 3, 5, 8])
def test_every_label_has_a_path_and_the_reference_finds_it(n_labels):
    task = MulticlassTask([f"label {k}" for k in range(n_labels)], binary=True)
    for label in task.labels.tolist():
        state = task.start(([1.0], label))
        while not task.finished(state):
            state = task.step(state, task.reference(state))
        assert (task.output(state), task.loss(state)) == (label, 0.0)


@given(seed=st.integers(0, 1000), taken=st.lists(st.sampled_from("01"), max_size=3))
def test_roll_outs_reach_the_least_cost_below_a_node(seed, taken):
    """Against walking to every label by hand."""
    costs = np.random.default_rng(seed).random((6, 6))
    task, truth = MulticlassTask(range(6), costs, binary=True), seed % 6
    state = task.start(([1.0], truth))
    for action in taken[:2]:
        state = task.step(state, action) if action in task.allowed(state) else state
    finished = [""]
    for _ in range(3 - len(state.taken)):
        finished = [path + bit for path in finished for bit in "01"]
    paths = ["".join(state.taken) + path for path in finished]
    losses = [costs[truth, int(path, 2)] for path in paths if int(path, 2) < 6]
    assert task.reference_loss(state) == pytest.approx(min(losses))
    found = {action: task.rollout(state, action) for action in task.allowed(state)}
    assert min(found.values()) == pytest.approx(min(losses))
    assert found[task.reference(state)] == pytest.approx(min(losses))


def test_binary_decisions_learn_what_words_tell_apart():
    random = np.random.default_rng(2)
    truth = random.integers(5, size=400).tolist()
    rows = [{f"word {label}": 1.0, f"noise {random.integers(9)}": 1.0} for label in truth]
    examples = list(zip(rows, truth, strict=True))
    learner = SearchLearner(MulticlassTask(range(5), binary=True)).fit(examples[:300])
    assert 1 + learner.score(examples[300:]) > 0.95
    assert learner.rollouts_ < 600  # of some 1,400


@pytest.mark.parametrize("costs", [np.zeros((2, 3)), -np.eye(3), np.full((3, 3), np.nan), [[0], [1, 2]], "costs"])
def test_a_bad_cost_matrix_is_refused(costs):
    with pytest.raises(InputError, match="cost_matrix must have 3 rows and columns"):
        MulticlassTask(range(3), costs)


# -- entities and relations ------------------------------------------------------------------------

TYPES, RELATIONS = ["person", "firm", "town"], ["works for", "lives in"]
RULES = {"works for": [("person", "firm")], "lives in": [("person", "town")]}


def sentences(n=60):
    people, firms, towns = ["Ada", "Bo", "Cy"], ["Acme", "Bolt"], ["Rome", "Oslo", "Bonn"]
    for i in range(n):
        who, firm, town = people[i % 3], firms[i % 2], towns[(i // 3) % 3]
        pair = [(0, 1), (3, 4)]
        yield MentionSentence(f"{who} works for {firm} .".split(), pair, ["person", "firm"], {(0, 1): "works for"})
        yield MentionSentence(f"{who} lives in {town} .".split(), pair, ["person", "town"], {(0, 1): "lives in"})
        three = [(0, 1), (2, 3), (4, 5)]
        yield MentionSentence(f"{firm} of {town} met {who} .".split(), three, ["firm", "town", "person"])


def errors(truth, found):
    """The loss from its definition."""
    pairs = itertools.permutations(range(len(truth.mentions)), 2)
    wrong = sum(a != b for a, b in zip(truth.types, found.types, strict=True))
    return wrong + sum(truth.relations.get(pair) != found.relations.get(pair) for pair in pairs)


def test_types_and_relations_are_learned_from_few_roll_outs():
    examples = list(sentences())
    learner = SearchLearner(RelationTask(TYPES, RELATIONS, RULES)).fit(examples)
    found = learner.predict([MentionSentence(one.words, one.mentions) for one in examples[-30:]])
    assert np.mean([errors(*pair) for pair in zip(examples[-30:], found, strict=True)]) < 0.1
    assert learner.score(examples[-30:]) == -np.mean([errors(*p) for p in zip(examples[-30:], found, strict=True)])
    decisions = sum(3 * len(one.mentions) ** 2 for one in examples)
    assert learner.rollouts_ < decisions / 4


def test_predictions_keep_to_the_rules():
    examples = list(sentences(2))  # too few to learn much
    learner = SearchLearner(RelationTask(TYPES, RELATIONS, RULES)).fit(examples)
    for beam in (1, 3):
        for found in learner.predict(list(sentences(20)), beam=beam):
            for (i, j), relation in found.relations.items():
                assert (found.types[i], found.types[j]) in RULES[relation]


def test_mentions_may_be_an_array():
    one = next(sentences(1))
    mentions = np.array(one.mentions)
    learner = SearchLearner(RelationTask(TYPES, RELATIONS)).fit([replace(one, mentions=mentions)])
    assert learner.score([one]) == learner.score([replace(one, mentions=mentions)])


def test_the_loss_of_any_labelling_is_its_number_of_errors():
    task, truth = RelationTask(TYPES, RELATIONS), list(sentences(1))[2]
    random = np.random.default_rng(1)
    for _ in range(20):
        state = task.start(truth)
        while not task.finished(state):
            allowed = task.allowed(state)
            state = task.step(state, allowed[random.integers(len(allowed))])
        assert task.loss(state) == errors(truth, task.output(state))


def related(relations):
    sentence = MentionSentence(["x", "and", "y"], [(0, 1), (2, 3)], ["a", "a"], relations)
    return RelationTask(["a"], ["r"]).start(sentence)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: RelationTask(["a", "b"], ["a"]), "types and relations"),
        (lambda: RelationTask(["a"], ["r"], {"s": [("a", "a")]}), "rules must be about the types .* got 's'"),
        (lambda: RelationTask(["a"], ["r"], {"r": [("a", "c")]}), "rules must be about the types .* got 'c'"),
        (
            lambda: RelationTask(["a"], ["r"], wrong_relation=0),
            "wrong_relation must be a finite number greater than 0, got 0",
        ),
        (lambda: RelationTask(["a"], ["r"]).start(MentionSentence(["x"], [(0, 2)])), "within the 1 words"),
        (lambda: RelationTask(["a"], ["r"]).start(MentionSentence(["x"], [(0, 1)], ["b"])), "types must be among 'a'"),
        (lambda: RelationTask(["a"], ["r"]).start(MentionSentence(["x"], [(0, 1)], [])), "one per mention, 1, got 0"),
        (lambda: RelationTask(["a"], ["r"], wrong_relation="1 or so"), "wrong_relation must be .* got '1 or so'"),
        (lambda: RelationTask(["a"], ["r"], {"r": ("a", "a")}), "rules of 'r' must be a list of pairs"),
        (lambda: RelationTask(["a"], ["r"], {"r": [("a", "a", "a")]}), "rules of 'r' must be a list of pairs"),
        (lambda: RelationTask(["a"], ["r"], [("r", "a", "a")]), "rules must map each relation"),
        (lambda: RelationTask(["a"], ["r"]).start(("x", "y")), "an example must be a MentionSentence"),
        (lambda: RelationTask(["a"], ["r"]).start(MentionSentence("x y", [(0, 1)])), "words must be a list of texts"),
        (lambda: RelationTask(["a"], ["r"]).start(MentionSentence(["x"], [0])), r"a mention must be \(start, end\)"),
        (lambda: RelationTask(["a"], ["r"]).start(MentionSentence(["x"], [(0.0, 1.0)])), "a mention must be .* whole"),
        (lambda: related({(0, 2): "r"}), r"between two of the 2 mentions, .* got \(0, 2\)"),
        (lambda: related({(0, -1): "r"}), r"between two of the 2 mentions, .* got \(0, -1\)"),
        (lambda: related({(1, 1): "r"}), r"between two of the 2 mentions, .* got \(1, 1\)"),
        (lambda: related([((0, 1), "r")]), "relations must map pairs of mentions"),
        (lambda: related(None), "relations must map pairs of mentions"),
    ],
)
def test_bad_relations_are_refused_in_one_line(make, message):
    with pytest.raises(InputError, match=message):
        make()


@pytest.mark.parametrize("features", ["words", ["a", "b"], None, np.ones((2, 2)), {"size": "large"}])
def test_bad_features_are_refused_alike_with_one_decision_or_several(features):
    for binary in (False, True):
        with pytest.raises(InputError, match=r"Example 0, step 0: .*must be"):
            SearchLearner(MulticlassTask(range(4), binary=binary)).fit([(features, 1)])


def test_a_text_is_not_a_flag():
    with pytest.raises(InputError, match="binary must be True or False, got 'no'"):
        MulticlassTask(range(4), binary="no")
