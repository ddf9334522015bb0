"""The tagger learns what a loop over ``CoalClassifier`` learns, counts its roll-outs, and can be saved."""

from functools import partial
from itertools import chain
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from coalface import Audits, Coal, CoalClassifier, OnlineModel
from coalface.errors import UnlearnedWarning
from coalface.learner.predicting import best_labels
from coalface.structured import SequenceTagger
from coalface.structured.policies import tagger_policy
from coalface.structured.tagging.tag_features import conjunction_columns, conjunction_keys, history_columns, word_rows
from tests.structured.made_sentences import as_bilou, made

WIDTH = 2**31 - 1
PASSIVE = CoalClassifier(rule="passive")


def row_of(words: list[str], place: int, previous: list[int], n_tags: int, history: int) -> Any:
    static = word_rows([words], window=2)[[place]]
    last = previous[-1] if previous else n_tags
    conjunctions = conjunction_columns(conjunction_keys([words])[place].tolist(), last) if history else []
    columns = [*static.indices.tolist(), *history_columns(previous, n_tags, history), *conjunctions]
    values = [*static.data.tolist(), *[1.0] * (history + len(conjunctions))]
    return csr_array((np.array(values, np.float32), np.array(columns), [0, len(columns)]), shape=(1, WIDTH))


class Loop:
    """A plain AggreVaTe loop: every tag that the policy asks about is rolled out to the end of the sentence."""

    def __init__(self, classes: list[str], costs: Any, scheme: str | None, **params: Any) -> None:
        self.classes, self.costs, self.scheme = classes, costs, scheme
        self.policy = CoalClassifier(classes=classes, **{"model": "online", "audits": "loss", **params})
        self.rollouts = 0

    def may(self, before: str | None, tag: str, *, last: bool) -> bool:
        if self.scheme is None:
            return True
        opened = before is not None and before[0] in ("B", "I")
        if tag[0] in "IL":
            legal = opened and before is not None and before[1:] == tag[1:]
        else:
            legal = not (self.scheme == "bilou" and opened)
        return legal and not (self.scheme == "bilou" and last and tag[0] in "BI")

    def finish(self, taken: list[str], truth: list[str]) -> float:
        """The loss of the sentence if the reference gives the rest of the words their true tags."""
        taken = [*taken, *truth[len(taken) :]]
        place = {tag: k for k, tag in enumerate(self.classes)}
        return sum(float(self.costs[place[true], place[got]]) for true, got in zip(truth, taken, strict=True))

    def learn(self, words: list[str], truth: list[str], history: int) -> None:
        taken: list[str] = []
        for place in range(len(words)):
            codes = [self.classes.index(tag) for tag in taken]
            row = row_of(words, place, codes, len(self.classes), history)
            own = self.finish(taken, truth)

            def roll_out(_row: int, tag: str, taken: list[str] = taken, own: float = own) -> float:
                self.rollouts += 1
                return min(max(self.finish([*taken, tag], truth) - own, 0.0), 1.0)

            chosen = str(best_labels(self.policy, row, by_model=True)[0])
            self.policy.interview(row, roll_out)
            taken = [*taken, chosen]


def uneven(n_tags: int) -> Any:
    costs = np.full((n_tags, n_tags), 0.25)
    costs[0], costs[:, -1] = 1.0, 0.5
    np.fill_diagonal(costs, 0.0)
    return costs


PUBLISHED = {
    "rule": Coal(slack="published", in_turn=False),
    "audits": None,
    "model": OnlineModel(learning_rate=0.5),
    "mellowness": 0.01,
}


@pytest.mark.parametrize(
    ("scheme", "params", "matrix", "history"),
    [
        (None, {}, False, 2),
        (None, PUBLISHED, False, 1),
        (None, {"rule": "passive"}, True, 0),
        ("bio", {"audits": Audits(0.3, by="loss")}, True, 2),
        ("bilou", {"mellowness": 0.02}, False, 3),
    ],
)
def test_the_compiled_tagger_is_a_loop_over_the_classifier(
    scheme: str | None, params: dict[str, Any], matrix: bool, history: int
) -> None:
    sentences, tags = made(30)
    if scheme == "bilou":
        tags = as_bilou(tags)
    classes = sorted({tag for sentence in tags for tag in sentence})
    costs = uneven(len(classes)) if matrix else 1.0 - np.eye(len(classes))
    tagger = SequenceTagger(
        classes,
        costs if matrix else None,
        tagger_policy(classes, **params),
        warm_up=4,
        history=history,
        constraints=scheme,
    ).fit(sentences, tags)
    loop = Loop(classes, costs, scheme, **params)
    for number, (words, truth) in enumerate(zip(sentences, tags, strict=True)):
        loop.policy.set_params(rule__warm_up=10**6 if number < 4 else 0)
        loop.learn(words, truth, history)
    assert tagger.rollouts_ == loop.rollouts
    assert tagger.costs_queried_ == loop.policy.costs_queried_
    ours, theirs = tagger.policy_.model_.arrays(), loop.policy.model_.arrays()
    for name, array in ours.items():
        np.testing.assert_array_equal(array, theirs[name], err_msg=name)


def test_tags_are_predicted_from_the_tags_before_them() -> None:
    """Only the tag of the first word tells how to tag the equal words after it."""
    sentences, tags = [["up", "x", "x"], ["down", "x", "x"]] * 40, [["U", "u", "u"], ["D", "d", "d"]] * 40
    tagger = SequenceTagger(window=0, history=1).fit(sentences, tags)
    assert tagger.predict(sentences[:2]) == tags[:2]
    blind = SequenceTagger(window=0, history=0).fit(sentences, tags)
    assert blind.score(sentences, tags) < 0.7


def test_passive_rolls_out_every_tag_of_every_word_and_active_far_fewer() -> None:
    sentences, tags = made(300)
    n_words, n_tags = sum(map(len, sentences)), 5
    passive = SequenceTagger(policy=PASSIVE, passes=2).fit(sentences, tags)
    active = SequenceTagger().fit(sentences, tags)
    assert passive.rollouts_ == passive.costs_queried_ == 2 * n_words * n_tags
    assert active.rollouts_ < passive.rollouts_ / 10
    test = made(100, seed=1)
    assert active.score(*test) > passive.score(*test) - 0.02
    assert active.span_f1(*test) > 0.9


def test_conjunctions_tell_what_a_word_means_after_a_tag() -> None:
    """The second tag is an exclusive or of the first tag and the second word, which no sum of both can be."""
    sentences = [["up", "x"], ["up", "y"], ["down", "x"], ["down", "y"]] * 40
    tags = [["U", "a"], ["U", "b"], ["D", "b"], ["D", "a"]] * 40
    scores = [
        SequenceTagger(policy=PASSIVE, window=0, **others).fit(sentences, tags).score(sentences, tags)
        for others in ({}, {"conjunctions": False}, {"history": 0})
    ]
    assert scores[0] == 1.0
    assert max(scores[1:]) < 0.9


def long_ones(n_sentences: int, seed: int) -> Any:
    """Sentences of about thirty words, nearly all of them outside names."""
    parts = made(6 * n_sentences, seed, share=0.04)
    return [[list(chain(*part[i : i + 6])) for i in range(0, len(part), 6)] for part in parts]


@pytest.mark.parametrize("published", [True, False])
@pytest.mark.parametrize("mellowness", [1e-4, 1e-3, 1e-2, 0.1, 1.0])
def test_no_mellowness_collapses(mellowness: float, published: bool) -> None:
    """A tagger that tags every word O finds no span."""
    sentences, tags = long_ones(150, seed=1)
    kind = CoalClassifier.as_published if published else partial(CoalClassifier, model="online", audits="loss")
    tagger = SequenceTagger(policy=kind(mellowness=mellowness)).fit(sentences, tags)
    assert tagger.span_f1(*long_ones(60, seed=101)) > 0.5


def test_without_a_warm_up_it_may_collapse() -> None:
    policy = CoalClassifier.as_published(mellowness=1e-5)
    with pytest.warns(UnlearnedWarning, match=r"'I-LOC', 'I-PER' .*'B-LOC' \(34 "):
        tagger = SequenceTagger(policy=policy, warm_up=0).fit(*long_ones(150, seed=1))
    assert tagger.rollouts_ < 100
    assert tagger.span_f1(*long_ones(60, seed=101)) < 0.2


def test_a_warm_up_of_sentences_is_asked_in_full() -> None:
    sentences, tags = made(6)
    tagger = SequenceTagger(policy=CoalClassifier(audits=None, mellowness=0.0), warm_up=4)
    for words, marks in zip(sentences[:4], tags[:4], strict=True):
        tagger.partial_fit([words], [marks], classes=["B-LOC", "B-PER", "I-LOC", "I-PER", "O"])
    assert tagger.rollouts_ == 5 * sum(map(len, sentences[:4]))
    tagger.partial_fit(sentences[4:], tags[4:])
    assert tagger.rollouts_ == 5 * sum(map(len, sentences[:4]))


def test_it_does_not_matter_how_sentences_are_split_over_calls(tmp_path: Any) -> None:
    sentences, tags = made(40)
    whole = SequenceTagger().fit(sentences, tags)
    parts = SequenceTagger(classes=whole.classes_)
    parts.partial_fit(sentences[:7], tags[:7]).save(tmp_path / "tagger.coal")
    parts = SequenceTagger.load(tmp_path / "tagger.coal").partial_fit(sentences[7:], tags[7:])
    assert (parts.sentences_, parts.rollouts_) == (whole.sentences_, whole.rollouts_)
    for name, array in whole.policy_.model_.arrays().items():
        np.testing.assert_array_equal(array, parts.policy_.model_.arrays()[name], err_msg=name)
    assert parts.predict(sentences) == whole.predict(sentences)


def test_constrained_tags_are_always_in_order() -> None:
    sentences, tags = made(60)
    test = made(60, seed=5)[0]
    for scheme, marked in (("bio", tags), ("bilou", as_bilou(tags))):
        tagger = SequenceTagger(policy=PASSIVE, constraints=scheme).fit(sentences[:20], marked[:20])
        loop = Loop(tagger.classes_.tolist(), None, scheme)
        for predicted in tagger.predict(test):
            for place, tag in enumerate(predicted):
                before = predicted[place - 1] if place else None
                assert loop.may(before, tag, last=place + 1 == len(predicted))


def test_a_costly_mistake_is_avoided() -> None:
    """A third of the words are names; if missing one is expensive, all are tagged as names."""
    sentences, tags = [["Rose"]] * 200, [["NAME"], ["O"], ["O"]] * 66 + [["NAME"], ["O"]]
    even = SequenceTagger().fit(sentences, tags)
    careful = SequenceTagger(cost_matrix=[[0.0, 1.0], [0.1, 0.0]]).fit(sentences, tags)
    assert (even.predict([["Rose"]]), careful.predict([["Rose"]])) == ([["O"]], [["NAME"]])


def test_a_very_long_sentence_is_a_sentence() -> None:
    words, tags = ["The", "cat"] * 5000, ["D", "N"] * 5000
    tagger = SequenceTagger().fit([words], [tags])
    assert tagger.score([words], [tags]) > 0.99
    assert tagger.policy_.round_ == 10_001


def test_progress_counts_words_and_rollouts() -> None:
    seen: list[tuple[int, int, int]] = []
    sentences, tags = made(20)
    tagger = SequenceTagger(passes=3).fit(sentences, tags, progress=lambda *numbers: seen.append(numbers))
    n_words = sum(map(len, sentences))
    words_done = [done for done, _, _ in seen]
    assert words_done == sorted(set(words_done))
    assert words_done[-1] == 3 * n_words
    assert {total for _, total, _ in seen} == {3 * n_words}
    assert seen[-1][2] == tagger.rollouts_
