"""``SentenceEmbedder``: texts as vectors, by all-MiniLM-L6-v2 or another BERT on this machine."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from coalface.data.embedding.bert import Floats
from coalface.data.embedding.cache import cached_file, read_cached, write_cached
from coalface.data.embedding.folder import SentenceModel, read_folder
from coalface.data.embedding.minilm import MINILM, MINILM_SHA256, minilm_folder

_PIECES_AT_ONCE = 128  # word pieces per batch: their values stay in the cache of a core
_LEAST_CACHED = 32  # texts
_LEAST_SHOWN = 256  # texts; fewer take about a second


class SentenceEmbedder:
    """Turns texts into vectors of length 1, for ``CoalClassifier(features=...)`` and ``Encoder(embed=...)``.

    Without a ``folder``, the encoder is all-MiniLM-L6-v2, as ``features="minilm"`` has it. Otherwise the folder has the
    ``model.safetensors``, ``config.json`` and ``tokenizer.json`` of a BERT. A vector is the mean over the first 256
    word pieces of a text. Vectors are kept in a cache on disk unless ``cache`` is false.

    >>> SentenceEmbedder(), SentenceEmbedder("models/e5-small").name
    (SentenceEmbedder(), 'e5-small')
    """

    def __init__(self, folder: str | os.PathLike[str] | None = None, *, cache: bool = True) -> None:
        self.folder = None if folder is None else Path(folder)
        self.cache = cache

    @property
    def name(self) -> str:
        """What files and descriptions call the encoder."""
        return MINILM if self.folder is None else self.folder.resolve().name

    @property
    def fingerprint(self) -> str:
        """The SHA-256 of the weights; an InputError if they are not on this machine."""
        return self._model().fingerprint

    def check(self) -> None:
        """Raise an InputError or FileFormatError if the encoder cannot be used on this machine."""
        self._model()

    def __call__(self, texts: Sequence[str]) -> Floats:
        """One vector per text; equal texts have equal vectors."""
        model = self._model()
        distinct = list(dict.fromkeys(texts))
        vectors = self._vectors(model, distinct)
        place = {text: row for row, text in enumerate(distinct)}
        return vectors[np.array([place[text] for text in texts], np.int64)]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SentenceEmbedder) and (self.folder, self.cache) == (other.folder, other.cache)

    def __hash__(self) -> int:
        return hash((self.folder, self.cache))

    def __repr__(self) -> str:
        options = [repr(str(self.folder))] * (self.folder is not None) + ["cache=False"] * (not self.cache)
        return f"SentenceEmbedder({', '.join(options)})"

    def _model(self) -> SentenceModel:
        if self.folder is None:
            return read_folder(minilm_folder(), MINILM_SHA256)
        return read_folder(self.folder)

    def _vectors(self, model: SentenceModel, texts: list[str]) -> Floats:
        """The vectors of distinct texts, from the cache if it has them."""
        if not self.cache or len(texts) < _LEAST_CACHED:
            return embedded(model, texts)
        path = cached_file(model.fingerprint + model.pieces_hash, texts)
        vectors = read_cached(path, (len(texts), model.bert.width))
        if vectors is None:
            vectors = embedded(model, texts)
            write_cached(path, vectors)
        return vectors


def embedded(model: SentenceModel, texts: Sequence[str]) -> Floats:
    """The vectors of texts; a bar on the terminal shows how many are done."""
    pieces = model.pieces(texts)
    vectors = np.zeros((len(texts), model.bert.width), np.float32)
    with _bar(len(texts)) as advance:
        for places in batches(np.array([len(found) for found in pieces], np.int64)):
            vectors[places] = model.bert.vectors(np.stack([pieces[place] for place in places]))
            advance(len(places))
    return vectors


def batches(lengths: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    """The places of texts, in batches of equal length, the longest first.

    >>> [places.tolist() for places in batches(np.array([3, 5, 3]))]
    [[1], [0, 2]]
    """
    for length in np.unique(lengths)[::-1]:
        places = np.flatnonzero(lengths == length)
        size = max(_PIECES_AT_ONCE // max(int(length), 1), 1)
        yield from (places[start : start + size] for start in range(0, len(places), size))


class _Advance(Protocol):
    def __call__(self, done: int) -> None: ...


@contextmanager
def _bar(total: int) -> Iterator[_Advance]:
    """A function that counts texts, on a bar if standard error is a terminal and there are many."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    hidden = total < _LEAST_SHOWN or not console.is_terminal
    with Progress(console=console, transient=True, disable=hidden) as bars:
        task = bars.add_task("Embedding texts", total=total)
        yield lambda done: bars.advance(task, done)
