"""Writing datasets in Vowpal Wabbit's text format; ``vw_text`` describes the format."""

import os
import re
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from coalface.data.dataset import CostDataset
from coalface.data.formats.compression import packed_write
from coalface.data.labels import label_texts
from coalface.errors import InputError

_BLOCK = 1024  # rows formatted at a time
_WORD = re.compile(r"[^\s:|']?[^\s:|]*")


def write_vw_text(dataset: CostDataset, path: str | os.PathLike[str]) -> None:
    r"""Write a dataset as VW text, atomically; compressed if the name ends in ``.gz``.

    Features without names are numbered by their column. The line of an example without known costs lists no label.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> dataset = CostDataset([[1.0, 0.5]], [[0.0, np.nan]], ["cat", "dog"])
    >>> with TemporaryDirectory() as folder:
    ...     write_vw_text(dataset, Path(folder, "pets.vw"))
    ...     Path(folder, "pets.vw").read_text()
    'cat:0 dog | 0 1:0.5\n'
    """
    labels = _checked_words(label_texts(dataset.classes), "label")
    spaces, names = _feature_words(dataset)
    with packed_write(path) as file:
        for start in range(0, len(dataset), _BLOCK):
            block = dataset.subset(slice(start, start + _BLOCK))
            lines = zip(_label_parts(block, labels, start), _feature_parts(block, spaces, names), strict=True)
            file.write("".join(f"{left}{right}\n" for left, right in lines).encode())


def _checked_words(words: list[str], what: str) -> list[str]:
    for word in words:
        if not word or word == "shared" or not _WORD.fullmatch(word):
            raise InputError(
                f"In VW text, a {what} must be one word without blanks, ':', '|' and a leading ', "
                f"got {word!r}. Rename it, or write a dataset folder."
            )
    return words


def _feature_words(dataset: CostDataset) -> tuple[list[str], list[str]]:
    """The namespace and the name of every column."""
    if dataset.feature_names is None:
        return [""] * dataset.X.shape[1], [str(column) for column in range(dataset.X.shape[1])]
    pairs = [name.split("^", 1) if "^" in name else ["", name] for name in dataset.feature_names]
    for full, (space, name) in zip(dataset.feature_names, pairs, strict=True):
        if "^" in full and not space and "^" not in name:
            raise InputError(f"In VW text, a feature must not begin with '^', got {full!r}. Write {name!r} instead.")
        _checked_words([name, space or "x"], "feature")
    return [space for space, _ in pairs], [name for _, name in pairs]


def _texts(values: NDArray[np.float32]) -> list[str]:
    """The shortest texts that read back as the same float32."""
    texts: list[str] = values.astype(str).tolist()
    return [text.removesuffix(".0") for text in texts]


def _label_parts(block: CostDataset, labels: list[str], first_row: int) -> Iterator[str]:
    known = ~np.isnan(block.cost)
    may = np.ones_like(known) if block.candidates is None else block.candidates
    for row in np.flatnonzero((known & ~may).any(axis=1) | ~may.any(axis=1))[:1]:
        raise InputError(
            f"In VW text, every example has at least one candidate, and only candidates have a known cost; "
            f"example {first_row + row} breaks that rule. Write a dataset folder instead."
        )
    for row in range(len(block)):
        if may[row].all() and not known[row].any():
            yield ""
            continue
        costs = _texts(block.cost[row])
        words = [
            f"{labels[column]}:{costs[column]}" if known[row, column] else labels[column]
            for column in np.flatnonzero(may[row]).tolist()
        ]
        yield " ".join(words) + " "


def _feature_parts(block: CostDataset, spaces: list[str], names: list[str]) -> Iterator[str]:
    texts = _texts(block.X.data)
    columns = block.X.indices.tolist()
    ends = block.X.indptr.tolist()
    for start, end in pairwise(ends):
        words, space = ["|"], ""
        for column, text in zip(columns[start:end], texts[start:end], strict=True):
            if spaces[column] != space:
                space = spaces[column]
                words.append(f"|{space}")
            words.append(names[column] if text == "1" else f"{names[column]}:{text}")
        yield " ".join(words[1:] if len(words) > 1 and words[1].startswith("|") else words)
