"""``SentenceEmbedder``: texts as vectors, by all-MiniLM-L6-v2 or another BERT on this machine."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from coalface.data.embedding.bert import Floats
from coalface.data.embedding.folder import MINILM, MINILM_SHA256, SentenceModel, minilm_folder, read_folder
from coalface.errors import InputError, shortened
from coalface.files.atomic import atomic_write

Embedder = Callable[[list[str]], Any]  # texts to vectors
_PIECES_AT_ONCE = 128  # word pieces per batch: their values stay in the cache of a core
_LEAST_CACHED = 32  # texts
_LEAST_SHOWN = 256  # texts; fewer take about a second
VARIABLE = "COALFACE_CACHE"  # the folder of the vectors on disk
_FORMAT = b"coalface vectors 1"


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
        path = _cached_file(model.fingerprint + model.pieces_hash, texts)
        vectors = _read_cached(path, (len(texts), model.bert.width))
        if vectors is None:
            vectors = embedded(model, texts)
            _write_cached(path, vectors)
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


def cache_folder() -> Path:
    """The folder of the cache: ``COALFACE_CACHE``, or the usual place of this system.

    >>> from unittest.mock import patch
    >>> with patch.dict(os.environ, {VARIABLE: "vectors"}):
    ...     cache_folder().as_posix()
    'vectors'
    """
    named = os.environ.get(VARIABLE)
    if named:
        return Path(named)
    configured = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    return (Path(configured) if configured else Path.home() / ".cache") / "coalface"


def _cached_file(encoder: str, texts: Sequence[str]) -> Path:
    """The file for the vectors of these texts by the encoder with this fingerprint.

    >>> _cached_file("a", ["b", "c"]) == _cached_file("a", ["bc"]), _cached_file("a", ["b"]).suffix
    (False, '.npy')
    """
    digest = sha256(_FORMAT + encoder.encode())
    for text in texts:
        encoded = text.encode("utf-8", "surrogatepass")
        digest.update(len(encoded).to_bytes(8, "little") + encoded)
    return cache_folder() / "vectors" / f"{digest.hexdigest()}.npy"


def _read_cached(path: Path, shape: tuple[int, int]) -> NDArray[np.float32] | None:
    """The vectors in a file; None if there is none, or it is damaged."""
    with suppress(OSError, ValueError, EOFError):
        vectors = np.load(path, allow_pickle=False)
        if vectors.shape == shape and vectors.dtype == np.float32 and np.isfinite(vectors).all():
            return np.asarray(vectors)
    return None


def _write_cached(path: Path, vectors: NDArray[np.float32]) -> None:
    """Write the vectors; a folder that cannot be written is not an error, because the cache only saves time."""
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(path, private=True) as file:  # texts cannot be read back, but their likeness can
            np.save(file, vectors, allow_pickle=False)


def embedder_named(name: Any) -> SentenceEmbedder:
    """The sentence encoder "minilm", or the one in a folder.

    >>> embedder_named("minilm")
    SentenceEmbedder()
    """
    if isinstance(name, str) and name == MINILM:
        return SentenceEmbedder()
    if isinstance(name, str | Path) and Path(name).is_dir():
        return SentenceEmbedder(name)
    raise InputError(
        f"embed must be {MINILM!r}, the folder of a sentence encoder, or a function from a list of texts to vectors, "
        f"got {shortened(name)}. Pass one of them."
    )


def plain_embedder(embed: Embedder | None) -> bool | dict[str, str]:
    """Its description for a file: the name and hash of a sentence encoder, or whether there is a function.

    >>> plain_embedder(None), plain_embedder(len)
    (False, True)
    """
    if isinstance(embed, SentenceEmbedder):
        return {"name": embed.name, "sha256": embed.fingerprint}
    return embed is not None


def embedder_again(plain: Any, given: Embedder | None = None) -> Embedder | None:
    """The embedder that a file describes: ``given``, which must match the description, or MiniLM itself.

    >>> embedder_again(False) is None, embedder_again(True, len)
    (True, <built-in function len>)
    """
    if not isinstance(plain, Mapping):
        if plain and given is None:
            raise InputError("this encoder needs the function that turns texts into vectors. Pass it as features")
        return given
    name, wanted = plain.get("name"), plain.get("sha256")
    if given is None and wanted == MINILM_SHA256:
        given = SentenceEmbedder()
    if not isinstance(given, SentenceEmbedder):
        raise InputError(
            f"it needs the sentence encoder {name!r}, whose weights have the SHA-256 {wanted}. Pass "
            "features=SentenceEmbedder(FOLDER)"
        )
    if given.fingerprint != wanted:
        raise InputError(
            f"it needs the sentence encoder {name!r}, whose weights have the SHA-256 {wanted}, got "
            f"{given.name!r} with {given.fingerprint}. Pass features=SentenceEmbedder(FOLDER) with the right folder"
        )
    return given
