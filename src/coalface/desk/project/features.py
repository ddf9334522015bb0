"""Features of examples: words, cells and pixels become rows of numbers, the same on every machine."""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from html import unescape
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from coalface.data.dataset_fields import Examples, checked_examples
from coalface.errors import FileFormatError, InputError

WIDTH = 1 << 18  # columns that words are hashed into
SIDE = 16  # width and height of a thumbnail, in pixels
_WORD = re.compile(r"\w+")
_TAG = re.compile(r"<(script|style)\b.*?</\1>|<[^>]*>", re.DOTALL | re.IGNORECASE)
Content = Mapping[str, Any]


def width_of(kind: str) -> int:
    """The number of columns of examples of a kind."""
    return SIDE * SIDE * 3 if kind == "image" else WIDTH


def featurize(contents: Sequence[Content], folder: Path, sources: Sequence[Path | None] = ()) -> Examples:
    """One row per example, as in pools without an encoder; ``folder`` holds the files of images.

    ``sources`` are the user's own files of images, which errors name.

    >>> row = featurize([{"kind": "text", "text": "Where is my parcel?"}], Path())
    >>> row.shape, row.nnz
    ((1, 262144), 7)
    """
    if contents and contents[0]["kind"] == "image":
        files = [folder / content["file"] for content in contents]
        named = zip(files, sources or files, strict=True)
        return csr_array(np.stack([_thumbnail(file, source or file) for file, source in named]))
    hashed = _hasher().transform(
        _of_words(content) if "cells" not in content else _of_all(content) for content in contents
    )
    return csr_array(hashed)


@cache
def _hasher() -> Any:
    from sklearn.feature_extraction import FeatureHasher

    return FeatureHasher(WIDTH, input_type="dict", dtype=np.float32, alternate_sign=False)


def _of_words(content: Content) -> dict[str, float]:
    """Words and pairs of adjacent words in lower case, scaled so that long and short texts weigh the same."""
    words = _WORD.findall(text_of(content).lower())
    counts: dict[str, float] = {}
    for term in [*words, *(f"{left} {right}" for left, right in pairwise(words))]:
        counts[term] = counts.get(term, 0.0) + 1.0
    length = sum(count * count for count in counts.values()) ** 0.5
    return {term: count / length for term, count in counts.items()}


def text_of(content: Content) -> str:
    """The text of an example without the tags of HTML; empty for a table.

    >>> text_of({"kind": "html", "html": "<p>Fish &amp; chips</p>"}).strip()
    'Fish & chips'
    """
    return unescape(_TAG.sub(" ", content["html"])) if content["kind"] == "html" else str(content.get("text", ""))


def _of_all(content: Content) -> dict[str, float]:
    """The words, and the cells by column: numbers unchanged, texts of one word whole, longer texts by word."""
    features = _of_words(content)
    for column, cell in content["cells"].items():
        if isinstance(cell, int | float):
            features[f"{column}:"] = float(cell)
        elif cell is not None and len(words := _WORD.findall(str(cell).lower())) > 1:
            features |= {f"{column}:{word}": len(words) ** -0.5 for word in words}
        elif cell is not None:
            features[f"{column}={cell}"] = 1.0
    return features


def _thumbnail(path: Path, source: Path) -> np.ndarray[Any, np.dtype[np.float32]]:
    """The image in 16 x 16 pixels, as numbers from 0 to 1."""
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(path) as image:
            small = image.convert("RGB").resize((SIDE, SIDE), Image.Resampling.BOX)
    except (UnidentifiedImageError, OSError, Image.DecompressionBombError) as problem:
        reason = str(problem).replace(str(path), str(source))
        raise FileFormatError(f"{source} must be an image ({reason}). Remove it or save it again.") from None
    return (np.asarray(small, np.float32) / np.float32(255)).ravel()


def read_features(path: Path) -> Examples:
    """Feature vectors, a row per example: a .npy array, or a .npz that scipy.sparse.save_npz wrote."""
    from scipy.sparse import load_npz

    try:
        return checked_examples(load_npz(path) if path.suffix == ".npz" else np.load(path, allow_pickle=False))
    except (OSError, ValueError, KeyError, TypeError) as problem:
        if isinstance(problem, InputError):
            raise
        raise FileFormatError(f"{path} must be a .npy array or a sparse .npz ({problem}). Write it again.") from None
