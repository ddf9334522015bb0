"""The vectors equal those of a plain BERT with padding and a mask, and figures published for all-MiniLM-L6-v2."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coalface.data.embedding.embedder import SentenceEmbedder
from coalface.data.embedding.folder import minilm_folder, read_folder
from coalface.errors import FileFormatError, InputError
from tests.data.embedding.conftest import NEEDED
from tests.reference.bert import sentence_vectors, word_pieces
from tests.reference.tiny_bert import write_tiny_bert

MESSY = [
    "My PARCEL's lost, again?!",
    "",
    "café\u0301 où",
    "路上 lost",
    "back\tmy\nmoney" * 9,
    "x" * 120,
    "a\u200bb",
    "¿?",
]


@given(st.lists(st.text("abz mypc.é路 ", max_size=30), min_size=1, max_size=6))
def test_vectors_equal_those_of_a_plain_encoder_with_padding_and_a_mask(tiny, texts):
    found = SentenceEmbedder(tiny, cache=False)(texts)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, sentence_vectors(tiny, texts), atol=2e-5)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1.0, atol=1e-5)


def test_word_pieces_equal_those_of_a_plain_tokeniser(tiny):
    vocabulary = json.loads((tiny / "tokenizer.json").read_text())["model"]["vocab"]
    assert [found.tolist() for found in read_folder(tiny).pieces(MESSY)] == [
        word_pieces(text, vocabulary, 16) for text in MESSY
    ]


def test_a_text_has_one_vector_wherever_it_stands(tiny):
    embed = SentenceEmbedder(tiny, cache=False)
    found = embed(["my parcel", "lost", "my parcel", "is my money back?"])
    np.testing.assert_array_equal(found[0], found[2])
    np.testing.assert_allclose(found[0], embed(["my parcel"])[0], atol=1e-6)
    assert embed([]).shape == (0, 12)
    assert np.isfinite(embed(["\ud800"])).all()


def test_words_after_the_last_position_do_not_count(tiny):
    embed = SentenceEmbedder(tiny, cache=False)
    start = "my parcel is lost " * 4
    found = embed([start + "money", start + "where late"])
    np.testing.assert_allclose(*found, atol=1e-6)  # rows of a matrix product may differ in their last bits


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda folder: (folder / "config.json").unlink(), "has no config.json. A sentence encoder needs"),
        (lambda folder: (folder / "config.json").write_text("{}"), "has no 'hidden_act', which a BERT has"),
        (lambda folder: (folder / "config.json").write_text("{"), "is not a sentence encoder"),
        (lambda folder: write_tiny_bert(folder, hidden_act="relu"), "must be a BERT with the activation gelu"),
        (lambda folder: (folder / "model.safetensors").write_bytes(b"x" * 100), "is not a sentence encoder"),
        (lambda folder: (folder / "tokenizer.json").write_text("{}"), "is not a sentence encoder"),
    ],
)
def test_a_folder_that_is_not_a_sentence_encoder_is_refused_in_one_line(tiny, tmp_path, spoil, message):
    folder = write_tiny_bert(tmp_path / "spoilt")
    spoil(folder)
    with pytest.raises((FileFormatError, InputError), match=message) as caught:
        SentenceEmbedder(folder)(["my parcel"])
    assert "\n" not in str(caught.value)


@pytest.fixture(scope="module")
def minilm():
    """all-MiniLM-L6-v2 itself."""
    pytest.importorskip("safetensors", reason=NEEDED)
    try:
        minilm_folder()
    except InputError as problem:
        pytest.skip(str(problem))
    return SentenceEmbedder(cache=False)


def test_minilm_has_the_published_similarities(minilm):
    texts = ["That is a happy person", "That is a happy dog", "That is a very happy person", "Today is a sunny day"]
    vectors = minilm(texts)
    published = [0.6945773363113403, 0.9429150819778442, 0.2568760812282562]  # documentation of the inference service
    np.testing.assert_allclose(vectors[1:] @ vectors[0], published, atol=1e-6)


def test_minilm_equals_the_plain_encoder(minilm):
    texts = ["Where is my parcel?", "naïve Übung — 价格", "supercalifragilistic " * 60]
    np.testing.assert_allclose(minilm(texts), sentence_vectors(minilm_folder(), texts), atol=1e-6)


@pytest.mark.parametrize("terminal", [False, True])
def test_a_bar_is_shown_on_a_terminal_only(tiny, monkeypatch, capsys, terminal):
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    if terminal:
        monkeypatch.setenv("FORCE_COLOR", "1")
    SentenceEmbedder(tiny, cache=False)([f"parcel {number}" for number in range(300)])
    captured = capsys.readouterr()
    assert ("Embedding texts" in captured.err) == terminal
    assert not captured.out
