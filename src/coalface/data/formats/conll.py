"""CoNLL files: tagged sentences in columns, one word per line and a blank line between sentences.

``read_sentences`` returns the words and their tags. ``read_conll`` makes every word an example.
"""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coalface.data.dataset import CostDataset
from coalface.data.encoding.text import hashed_tokens
from coalface.data.formats.text_lines import bad_line, read_lines
from coalface.data.labels import label_array, label_codes
from coalface.errors import FileFormatError, InputError, UnknownLabelError

NOT_A_WORD = re.compile(r"\d+[-.]\d+")  # CoNLL-U: a multi-word token 1-2, an empty node 1.1
_DOCUMENT = "-DOCSTART-"


@dataclass(frozen=True)
class Sentence:
    """Words and their tags, one tag per word; no tags if the file was read with ``tagged=False``.

    >>> sentence = Sentence(("The", "cat"), ("DT", "NN"))
    >>> len(sentence), dict(zip(sentence.words, sentence.tags))
    (2, {'The': 'DT', 'cat': 'NN'})
    """

    words: tuple[str, ...]
    tags: tuple[str, ...]
    lines: tuple[int, ...] = field(default=(), compare=False, repr=False)  # line numbers in the file, from 1

    def __len__(self) -> int:
        return len(self.words)


def read_sentences(
    path: str | os.PathLike[str], *, word: int | None = None, tag: int | None = None, tagged: bool = True
) -> list[Sentence]:
    r"""The sentences of a plain or ``.gz`` file with tabs or blanks between its columns.

    ``word`` and ``tag`` are column numbers that start at 0; negative ones count from the right. By default they are the
    first and the last column, in ``.conllu`` files the form (1) and the universal tag (3). Lines ``# ...`` before a
    sentence are comments. CoNLL-U's multi-word tokens and empty nodes and CoNLL-2003's ``-DOCSTART-`` are skipped. With
    ``tagged=False`` no column of tags is needed or read.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a.conll").write_text("The DT\ncat NN\n\nIt PRP\n")
    ...     read_sentences(Path(folder, "a.conll"))
    [Sentence(words=('The', 'cat'), tags=('DT', 'NN')), Sentence(words=('It',), tags=('PRP',))]
    """
    source = Path(path)
    universal = source.name.removesuffix(".gz").endswith(".conllu")
    word = (1 if universal else 0) if word is None else word
    column = (3 if universal else -1) if tag is None else tag
    sentences = []
    words: list[str] = []
    tags: list[str] = []
    lines: list[int] = []
    for number, cells in _rows(source, word, column if tagged else None):
        if cells is not None:
            words.append(cells[word])
            tags += [cells[column]] if tagged else []
            lines.append(number)
        elif words:
            sentences.append(Sentence(tuple(words), tuple(tags), tuple(lines)))
            words, tags, lines = [], [], []
    if not sentences:
        raise FileFormatError(f"{source} must hold at least one sentence, got none. Check the file.")
    return sentences


def _rows(source: Path, word: int, tag: int | None) -> Iterator[tuple[int, list[str] | None]]:
    """The line number and the cells of every word; None instead of cells where a sentence ends."""
    lines = read_lines(source)
    separator = "\t" if any("\t" in line for line in lines) else None  # None: any number of blanks
    n_columns, within = 0, False
    for number, line in enumerate(lines, start=1):
        cells = line.split(separator) if line.strip() else []
        if not cells or cells[0] == _DOCUMENT:
            within = False
            yield number, None
        elif within or not _is_comment(cells, n_columns, separator):
            if word != 0 and NOT_A_WORD.fullmatch(cells[0]):
                continue
            n_columns = n_columns or _checked_width(source, number, cells, word, tag)
            if len(cells) != n_columns or not (cells[word] and (tag is None or cells[tag])):
                rule = f"every word must have {n_columns} columns, and its word and tag must not be empty"
                raise bad_line(source, number, rule, line, f"It has {len(cells)}")
            within = True
            yield number, cells
    yield len(lines), None


def _is_comment(cells: list[str], n_columns: int, separator: str | None) -> bool:
    """Whether a line before a sentence is a comment; a '#' followed by all other columns is a word."""
    if not cells[0].startswith("#"):
        return False
    return len(cells) != n_columns if n_columns else separator is None or len(cells) == 1


def _checked_width(source: Path, number: int, cells: list[str], word: int, tag: int | None) -> int:
    for name, column in (("word", word), ("tag", tag)):
        if column is not None and not -len(cells) <= column < len(cells):
            rule = f"a line with {len(cells)} columns has no column {column} for {name}s"
            raise bad_line(source, number, rule, " ".join(cells), "Choose another column")
    if tag is not None and word % len(cells) == tag % len(cells):
        raise InputError(
            f"{source}: words and tags must be in different columns, got column {word} for both. Choose "
            "another column, or a file with tags."
        )
    return len(cells)


def read_conll(
    path: str | os.PathLike[str],
    *,
    word: int | None = None,
    tag: int | None = None,
    bits: int = 18,
    classes: ArrayLike | None = None,
    name: str | None = None,
) -> CostDataset:
    r"""Every word of a file as an example, its tag as the label, with 0/1 costs.

    Features are those of ``hashed_tokens``, in 2**bits columns. By default the labels are the tags of this file in
    alphabetical order. To read test data, pass the ``classes`` of the training data.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a.conll").write_text("The DT\ncat NN\n\nIt PRP\n")
    ...     read_conll(Path(folder, "a.conll"))
    CostDataset('a', 3 examples, 262,144 features, 3 labels)
    """
    source = Path(path)
    sentences = read_sentences(source, word=word, tag=tag)
    tags = np.unique([tag for sentence in sentences for tag in sentence.tags])
    known = tags if classes is None else label_array(classes)
    try:
        return examples_of_words(sentences, known, bits, source.name.split(".")[0] if name is None else name)
    except UnknownLabelError as error:
        raise FileFormatError(f"{source}: {error}") from None


def examples_of_words(sentences: Sequence[Sentence], classes: NDArray[Any], bits: int, name: str) -> CostDataset:
    """Every word as an example with 0/1 costs, and every sentence as a sequence."""
    return CostDataset(
        hashed_tokens([sentence.words for sentence in sentences], bits),
        classes=classes,
        truth=label_codes([tag for sentence in sentences for tag in sentence.tags], classes),
        cost_matrix=1.0 - np.eye(len(classes)),
        sequence=np.repeat(np.arange(len(sentences)), [len(sentence) for sentence in sentences]),
        name=name,
    )
