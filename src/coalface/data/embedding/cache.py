"""Vectors on disk, one .npy file per encoder and list of texts, so that a pool is embedded once."""

import os
from collections.abc import Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from coalface.files.atomic import atomic_write

VARIABLE = "COALFACE_CACHE"
_FORMAT = b"coalface vectors 1"


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


def cached_file(encoder: str, texts: Sequence[str]) -> Path:
    """The file for the vectors of these texts by the encoder with this fingerprint.

    >>> cached_file("a", ["b", "c"]) == cached_file("a", ["bc"]), cached_file("a", ["b"]).suffix
    (False, '.npy')
    """
    digest = sha256(_FORMAT + encoder.encode())
    for text in texts:
        encoded = text.encode("utf-8", "surrogatepass")
        digest.update(len(encoded).to_bytes(8, "little") + encoded)
    return cache_folder() / "vectors" / f"{digest.hexdigest()}.npy"


def read_cached(path: Path, shape: tuple[int, int]) -> NDArray[np.float32] | None:
    """The vectors in a file; None if there is none, or it is damaged."""
    with suppress(OSError, ValueError, EOFError):
        vectors = np.load(path, allow_pickle=False)
        if vectors.shape == shape and vectors.dtype == np.float32 and np.isfinite(vectors).all():
            return np.asarray(vectors)
    return None


def write_cached(path: Path, vectors: NDArray[np.float32]) -> None:
    """Write the vectors; a folder that cannot be written is not an error, because the cache only saves time."""
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(path, private=True) as file:  # texts cannot be read back, but their likeness can
            np.save(file, vectors, allow_pickle=False)
