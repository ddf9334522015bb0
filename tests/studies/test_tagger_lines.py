"""A tagger's curve is the run of a tagger over rows, measured at checkpoints."""

import numpy as np
import pytest

from coalface.data.dataset import CostDataset, TrainTest
from coalface.data.formats.conll import Sentence, examples_of_words
from coalface.errors import InputError
from coalface.structured import SequenceTagger
from tagger import TAGGER, tagging_curve
from tests.structured.made_sentences import made
from tests.studies.studies import small_study

CLASSES = np.array(["B-LOC", "B-PER", "I-LOC", "I-PER", "O"])


def data_of(sentences, tags, bits=30):
    pairs = [Sentence(tuple(words), tuple(marks)) for words, marks in zip(sentences, tags, strict=True)]
    return examples_of_words(pairs, CLASSES, bits, "made")


def test_the_curve_ends_where_the_tagger_would_have_ended():
    sentences, tags = made(80)
    order = np.random.default_rng(3).permutation(80)
    test = made(40, seed=1)
    curve = tagging_curve(
        SequenceTagger(), data_of(sentences, tags), data_of(*test), order=order, checkpoints=[100, 150]
    )
    tagger = SequenceTagger(classes=CLASSES, conjunctions=False)
    tagger.fit([sentences[i] for i in order], [tags[i] for i in order])
    assert curve.costs_queried[-1] == tagger.rollouts_
    assert curve.examples_queried[-1] == tagger.policy_.examples_queried_
    assert curve.rounds[-1] == sum(map(len, sentences))
    assert curve.test_cost[-1] == pytest.approx(1 - tagger.score(*test))
    assert 150 <= curve.costs_queried[1] < 160


def test_a_study_can_have_taggers_in_its_lines():
    lines = '[lines.passive]\nlearner = "tagger"\nrule = "passive"\n[lines.coal]\nlearner = "tagger"\nhistory = [0, 1]'
    study = small_study(lines=lines, plugins=["tagger"])
    assert [line.rule for line in study.lines] == ["passive", "coal", "coal"]
    problem = TrainTest(data_of(*made(60)), data_of(*made(20, seed=1)))
    passive = TAGGER.run({"rule": "passive"}, problem, permutation=0, checkpoints="doubling")
    active = TAGGER.run({}, problem, permutation=0, checkpoints="doubling")
    assert passive.costs_queried[-1] == 5 * len(problem.train)
    assert active.costs_queried[-1] < passive.costs_queried[-1] / 3


def test_settings_that_a_tagger_cannot_have_are_refused():
    with pytest.raises(InputError, match="history"):
        TAGGER.check({"history": -1}, n_labels=2)
    with pytest.raises(InputError, match="rule must be one of"):
        TAGGER.check({"rule": "eager"}, n_labels=2)
    assert "batch" not in TAGGER.parameters


def test_data_without_sentences_cannot_be_tagged():
    rows = CostDataset.from_labels(np.eye(4), list("abab"))
    with pytest.raises(InputError, match="must consist of sequences"):
        TAGGER.run({}, TrainTest(rows, rows), permutation=0, checkpoints="doubling")


def test_sentences_are_kept_in_a_folder_and_count_in_the_fingerprint(tmp_path):
    data = data_of(*made(9), bits=18)
    data.save(tmp_path / "made")
    np.testing.assert_array_equal(CostDataset.open(tmp_path / "made").sequence, data.sequence)
    alone = CostDataset(data.X, classes=data.classes, truth=data.truth, cost_matrix=data.cost_matrix)
    assert alone.fingerprint != data.fingerprint
    assert data.subset([3, 4]).sequence.tolist() == data.sequence[3:5].tolist()
