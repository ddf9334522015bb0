"""Features of examples: an encoder turns texts and cells into rows of numbers, images become thumbnails."""

import re
from collections.abc import Callable, Mapping, Sequence
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from coalface.data import (
    Cells,
    Embedder,
    Encoder,
    Examples,
    as_date,
    as_number,
    checked_examples,
    clean_cells,
    fits,
    kinds,
)
from coalface.desk.project.sources import ColumnRoles
from coalface.errors import FileFormatError, InputError

SAMPLE = 2000  # examples that decide how columns are encoded
SIDE = 16  # width and height of a thumbnail, in pixels
_USUAL = ColumnRoles()
_TAG = re.compile(r"<(script|style)\b.*?</\1>|<[^>]*>", re.DOTALL | re.IGNORECASE)
_PARSERS: dict[str, Callable[[Any], Any]] = {kinds.NUMBER: as_number, kinds.DATE: as_date}
Content = Mapping[str, Any]


def new_encoder(
    contents: Sequence[Content], embed: Embedder | None = None, roles: ColumnRoles = _USUAL
) -> Encoder | None:
    """The encoder that these examples make; None if they have nothing to learn from.

    A column of numbers with a few words among them is text here: a pool is not refused for one cell. ``embed`` turns
    texts into vectors, and ``roles`` names other columns of texts.

    >>> print(new_encoder([{"kind": "text", "text": "Where is my parcel?", "cells": {"days": 3}}]).describe())
    text  text, words and word pairs and letters in words hashed into 262,144 columns
    days  number, standardised (mean 3, deviation 1)
    """
    columns, known = _columns(contents, roles), {"text", "html", *roles.text}
    texts = [name for name, cells in columns.items() if name in known or _is_mixed(name, cells)]
    try:
        return Encoder(text=texts, pairs=True, embed=embed).fit(columns)
    except InputError:
        return None


def encoded(encoder: Encoder | None, contents: Sequence[Content], roles: ColumnRoles = _USUAL) -> Examples:
    """The rows of examples; a cell that does not suit its column, or that is not there, is missing.

    Without an encoder, because the first examples had nothing to learn from, the rows are empty.

    >>> encoder = new_encoder([{"kind": "table", "cells": {"days": days}} for days in (1, 3)])
    >>> encoded(encoder, [{"kind": "table", "cells": {"days": "soon"}}, {"kind": "table", "cells": {}}]).nnz
    0
    """
    if encoder is None:
        return csr_array(np.zeros((len(contents), 1), np.float32))
    found, n_rows = _columns(contents, roles), len(contents)
    columns = {
        column.name: _suiting(found.get(column.name, [None] * n_rows), column.kind) for column in encoder.columns or ()
    }
    return encoder.transform(columns)


def _columns(contents: Sequence[Content], roles: ColumnRoles) -> dict[str, Cells]:
    """The text and the cells of examples, by column."""
    records = [{**_text(content, roles), **content.get("cells", {})} for content in contents]
    names = dict.fromkeys(name for record in records for name in record)
    return {name: clean_cells([record.get(name) for record in records]) for name in names}


def _text(content: Content, roles: ColumnRoles) -> dict[str, str]:
    return {} if content["kind"] == "table" else {(*roles.text, content["kind"])[0]: _text_of(content)}


def _is_mixed(name: str, cells: Cells) -> bool:
    try:
        kinds.kind_of(name, cells)
    except InputError:
        return True
    return False


def _suiting(cells: Cells, kind: str) -> Cells:
    parse = _PARSERS.get(kind)
    return cells if parse is None else [cell if cell is not None and fits([cell], parse) else None for cell in cells]


def _text_of(content: Content) -> str:
    """The text of an example without the tags of HTML; empty for a table.

    >>> _text_of({"kind": "html", "html": "<p>Fish &amp; chips</p>"}).strip()
    'Fish & chips'
    """
    return unescape(_TAG.sub(" ", content["html"])) if content["kind"] == "html" else str(content.get("text", ""))


def thumbnails(contents: Sequence[Content], folder: Path, sources: Sequence[Path | None] = ()) -> Examples:
    """A row of pixels per image, whose file is in a folder; errors name the user's own files, ``sources``."""
    files = [folder / content["file"] for content in contents]
    named = zip(files, sources or files, strict=True)
    return csr_array(np.stack([_thumbnail(file, source or file) for file, source in named]))


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
