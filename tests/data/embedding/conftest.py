"""A tiny sentence encoder, and a cache folder of its own for every test."""

import pytest

from tests.reference.tiny_bert import write_tiny_bert

NEEDED = "sentence embeddings need safetensors: pip install 'coalface[embeddings]'"


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    """Vectors of this test only."""
    monkeypatch.setenv("COALFACE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture(scope="session")
def tiny(tmp_path_factory):
    """The folder of a tiny BERT with random weights."""
    pytest.importorskip("safetensors", reason=NEEDED)
    return write_tiny_bert(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture
def minilm_is_tiny(tiny, monkeypatch):
    """The tiny BERT under the name "minilm", so that its tests need no weights of 90 MB."""
    from coalface.data.embedding.embedder import SentenceEmbedder

    fingerprint = SentenceEmbedder(tiny).fingerprint
    monkeypatch.setattr("coalface.data.embedding.embedder.MINILM_SHA256", fingerprint)
    monkeypatch.setenv("COALFACE_MINILM", str(tiny))
    return tiny
