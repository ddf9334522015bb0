"""The contents of examples as columns, and the encoder that new projects make of them.

Projects of earlier versions have no encoder in their pool; ``features.featurize`` still makes their rows.
"""

from collections.abc import Callable, Sequence
from typing import Any

from coalface.data.dataset_fields import Examples
from coalface.data.embedding.embedder import Embedder
from coalface.data.encoding import kinds
from coalface.data.encoding.cells import Cells, as_date, as_number, clean_cells, fits
from coalface.data.encoding.encoder import Encoder
from coalface.desk.project.columns import Columns
from coalface.desk.project.features import Content, text_of
from coalface.errors import InputError

SAMPLE = 2000  # examples that decide how columns are encoded
_USUAL = Columns()
_PARSERS: dict[str, Callable[[Any], Any]] = {kinds.NUMBER: as_number, kinds.DATE: as_date}


def new_encoder(contents: Sequence[Content], embed: Embedder | None = None, roles: Columns = _USUAL) -> Encoder | None:
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


def encoded(encoder: Encoder, contents: Sequence[Content], roles: Columns = _USUAL) -> Examples:
    """The rows of examples; a cell that does not suit its column, or that is not there, is missing.

    >>> encoder = new_encoder([{"kind": "table", "cells": {"days": days}} for days in (1, 3)])
    >>> encoded(encoder, [{"kind": "table", "cells": {"days": "soon"}}, {"kind": "table", "cells": {}}]).nnz
    0
    """
    found, n_rows = _columns(contents, roles), len(contents)
    columns = {
        column.name: _suiting(found.get(column.name, [None] * n_rows), column.kind) for column in encoder.columns or ()
    }
    return encoder.transform(columns)


def _columns(contents: Sequence[Content], roles: Columns) -> dict[str, Cells]:
    """The text and the cells of examples, by column."""
    records = [{**_text(content, roles), **content.get("cells", {})} for content in contents]
    names = dict.fromkeys(name for record in records for name in record)
    return {name: clean_cells([record.get(name) for record in records]) for name in names}


def _text(content: Content, roles: Columns) -> dict[str, str]:
    return {} if content["kind"] == "table" else {(*roles.text, content["kind"])[0]: text_of(content)}


def _is_mixed(name: str, cells: Cells) -> bool:
    try:
        kinds.kind_of(name, cells)
    except InputError:
        return True
    return False


def _suiting(cells: Cells, kind: str) -> Cells:
    parse = _PARSERS.get(kind)
    return cells if parse is None else [cell if cell is not None and fits([cell], parse) else None for cell in cells]
