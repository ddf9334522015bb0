"""Vectors are computed once per list of texts and kept as plain .npy files."""

import numpy as np
import pytest

from coalface.data.embedding import embedder as module
from coalface.data.embedding.embedder import SentenceEmbedder
from tests.reference.tiny_bert import write_tiny_bert

TEXTS = [f"my parcel {number}" for number in range(40)]


@pytest.fixture
def computed(monkeypatch):
    """How many texts were computed, call by call."""
    counts = []
    original = module.embedded

    def counting(model, texts):
        counts.append(len(texts))
        return original(model, texts)

    monkeypatch.setattr(module, "embedded", counting)
    return counts


def test_the_same_texts_are_computed_once_and_have_the_same_bits(tiny, own_cache, computed):
    first = SentenceEmbedder(tiny)(TEXTS + TEXTS)
    np.testing.assert_array_equal(SentenceEmbedder(tiny)(TEXTS), first[:40])
    assert computed == [40]
    (file,) = own_cache.rglob("*.*")
    np.testing.assert_array_equal(np.load(file, allow_pickle=False), first[:40])


def test_other_texts_and_other_weights_have_files_of_their_own(tiny, tmp_path, own_cache, computed):
    SentenceEmbedder(tiny)(TEXTS)
    SentenceEmbedder(tiny)(TEXTS[::-1])
    other = SentenceEmbedder(write_tiny_bert(tmp_path / "other", seed=1))(TEXTS)
    assert computed == [40, 40, 40]
    assert len(list(own_cache.rglob("*.npy"))) == 3
    assert np.abs(other - SentenceEmbedder(tiny)(TEXTS)).max() > 0.1


@pytest.mark.parametrize("damage", [b"", b"\x93NUMPY", b"not an array"])
def test_a_damaged_file_is_computed_again(tiny, own_cache, computed, damage):
    first = SentenceEmbedder(tiny)(TEXTS)
    (file,) = own_cache.rglob("*.npy")
    file.write_bytes(damage)
    np.testing.assert_array_equal(SentenceEmbedder(tiny)(TEXTS), first)
    np.testing.assert_array_equal(np.load(file), first)
    assert computed == [40, 40]


def test_a_cache_that_cannot_be_written_is_not_an_error(tiny, tmp_path, monkeypatch, computed):
    (tmp_path / "file").touch()
    monkeypatch.setenv("COALFACE_CACHE", str(tmp_path / "file"))
    assert SentenceEmbedder(tiny)(TEXTS).shape == (40, 12)
    assert computed == [40]


def test_few_texts_and_cache_false_leave_no_files(tiny, own_cache):
    SentenceEmbedder(tiny)(TEXTS[:3])
    SentenceEmbedder(tiny, cache=False)(TEXTS)
    assert not own_cache.exists()
