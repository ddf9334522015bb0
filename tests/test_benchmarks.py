"""The benchmarks run and report every figure; what they measure is not for tests to judge."""

import json
import math

import numpy as np
import pytest
from benchmarks import embeddings, generic_search, rare_tags, streaming, tagging
from benchmarks.__main__ import PARTS, measure
from benchmarks.problems import dense_images, sparse_text
from benchmarks.report import save, show
from benchmarks.vw import table_bits
from rich.console import Console

from coalface.data.formats.conll import Sentence
from tests.structured.made_sentences import made

pytest.importorskip("vowpalwabbit")

PER_RULE = ("speed / VW", "share of copy bandwidth", "model bytes / least")
EXPECTED = {
    *(f"simulate {rule}: {what}" for rule in ("coal", "passive") for what in PER_RULE),
    "predict: speed / VW",
    "VW text reader: speed / VW",
    "ask + tell of one row",
}


@pytest.fixture(scope="module")
def figures():
    problem = sparse_text(n_train=120, n_labels=5, n_features=300, nonzeros=8)
    return list(measure([problem], set(PARTS) - {"startup"}, repeats=1, progress=lambda _: None))


def test_every_figure_is_reported_as_a_finite_number_within_its_range(figures):
    assert {figure.name for figure in figures} >= EXPECTED
    for figure in figures:
        assert math.isfinite(figure.value), figure
        assert 0 <= figure.low <= figure.value <= figure.high, figure
        assert figure.unit in ("times", "share", "microseconds", "seconds")


def test_both_sides_do_the_same_work(figures):
    details = next(figure.details for figure in figures if figure.name == "simulate passive: speed / VW")
    assert details["our_costs_asked"] == details["vw_costs_asked"] == 120 * 5
    assert details["our_test_cost"] == pytest.approx(details["vw_test_cost"], abs=0.05)


def test_the_report_is_a_table_and_json(figures, tmp_path):
    console = Console(record=True, width=200, quiet=True)
    show(figures, console)
    save(figures, {"cores": 1}, tmp_path / "figures.json")
    saved = json.loads((tmp_path / "figures.json").read_text())
    assert [figure["name"] for figure in saved["figures"]] == [figure.name for figure in figures]
    assert saved["versions"]["vowpalwabbit"]


def test_generated_rows_have_the_density_that_was_asked_for():
    problem = dense_images(n_train=40, n_labels=4, n_features=500)
    assert problem.train.statistics().density == pytest.approx(0.21, abs=0.03)


@pytest.mark.parametrize(("n_features", "n_labels", "bits"), [(6_000, 40, 21), (47_236, 102, 23), (47_000, 103, 23)])
def test_the_table_of_vw_is_large_enough_for_features_and_intercept(n_features, n_labels, bits):
    assert table_bits(n_features, n_labels) == bits


def test_more_features_than_lie_before_the_intercept_have_no_table():
    assert table_bits(11_650_396, 2) == 25
    with pytest.raises(ValueError, match=r"at most 11,650,396 features .*, got 11,650,397"):
        table_bits(11_650_397, 2)


def test_embeddings_are_measured_against_the_machine():
    speed = embeddings.measure(20, 3, batches=2, singles=3, batch=8)
    assert (speed.features, speed.labels) == (20, 3)
    assert speed.state_bytes > 2 * 3 * 20**2
    for value in (speed.batched, speed.share_of_product, speed.single, speed.share_of_copy):
        assert 0 < value < math.inf


def test_the_tagger_is_compared_on_the_same_words():
    sentences = [Sentence(tuple(words), tuple(tags)) for words, tags in zip(*made(40), strict=True)]
    found = tagging.against_vw("made", sentences, sentences, repeats=1, passes=2)
    assert found.ours > 0.9
    assert found.theirs > 0.9
    assert found.our_speed > 0
    assert found.speed_ratio > 0


def test_the_tagger_is_compared_with_a_crf():
    pytest.importorskip("sklearn_crfsuite")
    sentences = [Sentence(tuple(words), tuple(tags)) for words, tags in zip(*made(40), strict=True)]
    for spans in (True, False):
        found = tagging.against_crf("made", sentences, sentences, spans=spans, iterations=20)
        assert min(found.ours, found.theirs) > 0.9


def test_the_time_of_a_search_learner_is_split_between_task_kernels_and_itself():
    task = generic_search.Spelling()
    cost = generic_search.measure("spelling", task, generic_search.words(30), repeats=1)
    assert cost.states == 30 * 8
    assert cost.rollouts > 0
    assert 0 < cost.in_task < cost.seconds
    assert 0 < cost.in_kernels < cost.seconds
    assert 0 <= cost.between < 1
    assert not vars(task)  # nothing is timed any more


def test_a_stopwatch_leaves_out_what_another_one_measures():
    outer, inner = generic_search.Stopwatch(), generic_search.Stopwatch()
    work = inner.watched(lambda: sum(range(200_000)))
    outer.watched(lambda: [work() for _ in range(5)])()
    assert (outer.calls, inner.calls) == (1, 5)
    assert inner.seconds > 5 * outer.seconds


def test_thinned_sentences_have_names_on_at_most_the_given_share_of_their_words():
    words, tags = ("in", "Rome", "or", "Ada"), ("O", "B-LOC", "O", "B-PER")
    named = [Sentence(words, tags)] * 50
    rest = [Sentence(("it", "rains"), ("O", "O"))] * 200
    kept = rare_tags.thinned(rare_tags.only(named + rest, "LOC"), 0.02, np.random.default_rng(0))
    names, total = sum(one.tags.count("B-LOC") for one in kept), sum(map(len, kept))
    assert 0.02 * total - 1 < names <= 0.02 * total
    assert {tag for one in kept for tag in one.tags} == {"O", "B-LOC"}
    assert sum(len(one) == 2 for one in kept) == len(rest)


@pytest.mark.slow
def test_streamed_training_is_compared_on_the_same_file(tmp_path):
    found = {(one.format, one.way): one for one in streaming.measure(600, tmp_path, rows=100)}
    assert list(found) == [("vw", "streamed"), ("vw", "in memory"), ("vw", "Vowpal Wabbit"), *list(found)[3:]]
    assert {one.rows for one in found.values()} == {600}
    for format in ("vw", "csv"):
        streamed, whole = found[format, "streamed"], found[format, "in memory"]
        assert streamed.residuals == whole.residuals
        assert streamed.per_second > 0
        assert streamed.peak_bytes > 0
    assert list(tmp_path.glob("600.*")) == []
