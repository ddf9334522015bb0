"""Invalid input is refused with one clear line, and changes nothing."""

from typing import Any

import numpy as np
import pytest

from coalface import CoalClassifier
from coalface.errors import FileFormatError, InputError
from coalface.structured import SequenceTagger
from tests.structured.made_sentences import made

GOOD = [["The", "cat"]], [["D", "N"]]


@pytest.mark.parametrize(
    ("sentences", "tags", "message"),
    [
        ([["The", "cat"], []], [["D", "N"], []], "sentence 1 has none"),
        ([], [], "at least 1"),
        ([["The", "cat"]], [["D"]], "sentence 0 needs 2, got 1"),
        ([["The", "cat"]], [["D", "N"], ["D"]], "1 needed, got 2"),
        (["The cat"], [["D", "N"]], "Split it into words"),
        ("The cat", [["D", "N"]], "list of strings per sentence"),
        ([["The", 3]], [["D", "N"]], "sentence 0, word 1 is 3"),
        ([["The", "cat"]], [["D", None]], "sentence 0, word 1 is None"),
        ([["The", "cat"]], [["D", "X"]], "Unknown label 'X'"),
    ],
)
def test_bad_sentences_are_refused_and_change_nothing(sentences: Any, tags: Any, message: str) -> None:
    tagger = SequenceTagger(classes=["D", "N"]).fit(*GOOD)
    before = {name: array.copy() for name, array in tagger.policy_.model_.arrays().items()}
    for learn in (tagger.partial_fit, tagger.fit):
        with pytest.raises(InputError, match=message) as raised:
            learn(sentences, tags)
        assert "\n" not in str(raised.value)
    assert tagger.sentences_ == 1
    for name, array in tagger.policy_.model_.arrays().items():
        np.testing.assert_array_equal(array, before[name])


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"roll_out": "learned"}, "SearchLearner"),
        ({"constraints": "iob"}, "'bio' or 'bilou'"),
        ({"constraints": "bio"}, "B-KIND"),
        ({"passes": 0}, "passes must be"),
        ({"window": -1}, "window must be"),
        ({"conjunctions": "no"}, "conjunctions must be True or False, got 'no'"),
        ({"history": 40}, "history must be at most"),
        ({"warm_up": 1.5}, "warm_up must be"),
        ({"policy": CoalClassifier(rule="eager")}, "rule must be one of"),
        ({"policy": "coal"}, "policy must be a CoalClassifier or None, got 'coal'"),
        ({"policy": CoalClassifier(model="forest")}, "policy must have model='online'"),
        ({"policy": CoalClassifier(budget={"costs": 3})}, "the default budget, .* Give the budget to the learner"),
        ({"policy": CoalClassifier(price_of_truth=2.0)}, "the default price_of_truth"),
        ({"cost_matrix": [[0.0, 2.0], [1.0, 0.0]]}, "Divide it"),
        ({"cost_matrix": [[0.5, 1.0], [1.0, 0.0]]}, "diagonal"),
        ({"cost_matrix": [[0.0, 1.0]]}, "got shape"),
        ({"classes": ["D"]}, "Unknown label 'N'"),
    ],
)
def test_bad_parameters_are_one_clear_line(params: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message) as raised:
        SequenceTagger(**params).fit(*GOOD)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("conjunctions", [True, False])
def test_no_sentences_have_no_tags(conjunctions: bool) -> None:
    assert SequenceTagger(conjunctions=conjunctions).fit(*GOOD).predict([]) == []


def test_without_conjunctions_their_columns_are_left_to_the_history() -> None:
    words, tags = [[f"word {n}" for n in range(175)]], [[f"tag {n:03}" for n in range(175)]]
    tagger = SequenceTagger(history=4, conjunctions=False).fit(words, tags)
    assert tagger.predict(words) == tags
    with pytest.raises(InputError, match="history must be at most 3 with 175 tags, got 4"):
        SequenceTagger(history=4).fit(words, tags)


def test_illegal_tags_are_refused_with_constraints() -> None:
    words, tags = [["Ada", "saw", "Oslo"]], [["B-PER", "O", "I-LOC"]]
    classes = ["B-LOC", "B-PER", "I-LOC", "I-PER", "O"]
    with pytest.raises(InputError, match="Sentence 0, word 2: tag 'I-LOC' is not allowed here"):
        SequenceTagger(classes=classes, constraints="bio").fit(words, tags)


def test_bilou_needs_a_tag_that_ends_a_span() -> None:
    with pytest.raises(InputError, match=r"after 'B-X' with constraints='bilou'"):
        SequenceTagger(classes=["B-X", "O"], constraints="bilou").fit([["a"]], [["O"]])


def test_an_unfitted_tagger_says_so(tmp_path: Any) -> None:
    for use in (lambda t: t.predict([["a"]]), lambda t: t.save(tmp_path / "t")):
        with pytest.raises(ValueError, match="not fitted yet"):
            use(SequenceTagger())


def test_a_file_of_another_kind_is_refused(tmp_path: Any) -> None:
    CoalClassifier(["D", "N"]).tell([[1.0]], [[0.0, 1.0]]).save(tmp_path / "model")
    with pytest.raises(FileFormatError, match="holds a model, not a tagger"):
        SequenceTagger.load(tmp_path / "model")


def test_classes_keep_their_order() -> None:
    """The cost matrix follows the order of classes: in both orders, missing an N is worse here."""
    words, tags = [["the"]] * 100, [["N"], ["D"], ["D"], ["D"]] * 25
    for names, costs in ((["N", "D"], [[0.0, 1.0], [0.1, 0.0]]), (["D", "N"], [[0.0, 0.1], [1.0, 0.0]])):
        tagger = SequenceTagger(classes=names, cost_matrix=costs).fit(words, tags)
        assert tagger.classes_.tolist() == names
        assert tagger.predict([["the"]]) == [["N"]]
    tagger = SequenceTagger()
    for _ in range(2):
        tagger.partial_fit(*GOOD, classes=["N", "D"])
    assert (tagger.classes_.tolist(), tagger.sentences_) == (["N", "D"], 2)
    with pytest.raises(InputError, match="classes must stay"):
        tagger.partial_fit(*GOOD, classes=["D", "N"])


def test_an_interrupted_tagger_keeps_what_it_has_learned() -> None:
    words, tags = [["The", "cat"]] * 30_000, [["D", "N"]] * 30_000

    def stop(done: int, total: int, rollouts: int) -> None:
        if done > 20_000:
            raise KeyboardInterrupt

    tagger = SequenceTagger(warm_up=3)
    with pytest.raises(KeyboardInterrupt):
        tagger.partial_fit(words, tags, progress=stop)
    assert 10_000 < tagger.sentences_ < 30_000
    assert tagger.policy_.round_ - 1 == 2 * tagger.sentences_
    same = SequenceTagger(warm_up=3).partial_fit(words[: tagger.sentences_], tags[: tagger.sentences_])
    assert tagger.rollouts_ == same.rollouts_


def test_classes_cannot_change() -> None:
    tagger = SequenceTagger().fit(*GOOD)
    with pytest.raises(InputError, match="classes must stay"):
        tagger.partial_fit(*GOOD, classes=["D", "N", "V"])


def test_parameters_of_the_default_policy_can_be_set_and_leave_its_others_alone() -> None:
    sentences, tags = made(30)
    tagger = SequenceTagger(["B-LOC", "B-PER", "I-LOC", "I-PER", "O"]).set_params(policy__mellowness=0.0, window=1)
    assert (tagger.policy.mellowness, tagger.policy.audits, tagger.window) == (0.0, "loss", 1)
    given = SequenceTagger(policy=CoalClassifier(mellowness=0.0, audits="loss"), window=1).fit(sentences, tags)
    assert (
        tagger.fit(sentences, tags).rollouts_
        == given.rollouts_
        < SequenceTagger(window=1).fit(sentences, tags).rollouts_
    )
