"""Checks the pool of an imported archive. Its arrays are indices into each other, and compiled code trusts them."""

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.desk.project.example_files import ExampleFiles
from coalface.desk.project.pool import Pool
from coalface.desk.project.settings_file import whole_text
from coalface.errors import FileFormatError

_BLOCK = 1 << 20  # numbers checked at a time, as the arrays are on disk


def check_pool(pool: Pool) -> None:
    """Refuse a pool whose files do not describe examples; those of a project that coalface made do."""
    _refuse_unless(len(pool) > 0 and 0 < pool.width <= np.iinfo(np.int32).max, "sizes")
    for part in pool.parts:
        _check_files(part, pool.width)
    _refuse_unless(_is_permutation(pool.order), "order")
    _refuse_unless(_is_permutation(pool.index["id_places"]), "places of ids")
    _refuse_unless(_rises(pool.index["id_hashes"]), "ids")
    for place in range(len(pool)):
        content, name = pool.content(place), pool.example_id(place)
        whole_text("A text of the pool", json.dumps([name, content], ensure_ascii=False))
        _refuse_unless(pool.place(name) == place, "ids")
        _refuse_unless(content["kind"] == pool.kind and _is_shown(content), "contents")


def _check_files(part: ExampleFiles, width: int) -> None:
    arrays = part.arrays
    _refuse_unless(_rises_to(arrays["starts"], len(part.lines)), "starts of lines")
    _refuse_unless(_rises_to(arrays["indptr"], len(arrays["columns"])), "starts of rows")
    _refuse_unless(_is_within(arrays["columns"], width), "columns")
    _refuse_unless(all(np.isfinite(block).all() for block in _blocks(arrays["values"])), "values")


def _is_shown(content: dict[str, object]) -> bool:
    """Whether an annotator can be shown the content: a text, HTML, the name of an image's file, or cells."""
    fields = {"text": str, "html": str, "file": str, "cells": dict}
    return any(isinstance(content.get(name), kind) for name, kind in fields.items()) and all(
        isinstance(content[name], kind) for name, kind in fields.items() if name in content
    )


def _rises(numbers: NDArray[Any]) -> bool:
    return bool((numbers[1:] >= numbers[:-1]).all())


def _rises_to(starts: NDArray[Any], end: int) -> bool:
    return len(starts) > 0 and starts[0] == 0 and starts[-1] == end and _rises(starts)


def _is_within(columns: NDArray[Any], width: int) -> bool:
    return all(((block >= 0) & (block < width)).all() for block in _blocks(columns))


def _is_permutation(places: NDArray[Any]) -> bool:
    return bool(np.array_equal(np.sort(places), np.arange(len(places))))


def _blocks(array: NDArray[Any]) -> list[NDArray[Any]]:
    return [array[start : start + _BLOCK] for start in range(0, len(array), _BLOCK)]


def _refuse_unless(fits: bool, what: str) -> None:
    if not fits:
        raise FileFormatError(f"The {what} of the pool do not describe examples. Export the project again.")
