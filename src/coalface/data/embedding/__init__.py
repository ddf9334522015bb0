"""Sentence embeddings without a network: a BERT from files on this machine, run in NumPy, and a cache of vectors."""

from coalface.data.embedding.embedder import SentenceEmbedder

__all__ = ["SentenceEmbedder"]
