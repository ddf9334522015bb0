"""Dependency trees in CoNLL-U files, the format of Universal Dependencies: ten columns, one word per line."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from coalface.data.formats.conll import NOT_A_WORD
from coalface.data.formats.text_lines import bad_line, read_lines
from coalface.errors import FileFormatError

_ID, _FORM, _TAG, _HEAD, _LABEL, _N_COLUMNS = 0, 1, 3, 6, 7, 10


@dataclass(frozen=True)
class Tree:
    """A sentence with the head of each word: 1 is the first word, 0 the root. Sentences to be parsed have no heads.

    >>> Tree(("cats", "sleep"), ("NOUN", "VERB"), heads=(2, 0), labels=("nsubj", "root")).heads[0]
    2
    """

    words: tuple[str, ...]
    tags: tuple[str, ...]
    heads: tuple[int, ...] = ()
    labels: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.words)


def read_trees(path: str | os.PathLike[str], *, subtypes: bool = False) -> list[Tree]:
    r"""The trees of a plain or ``.gz`` file, with universal tags.

    Multi-word tokens and empty nodes are skipped. Labels are cut at their colon, as is usual for evaluation, unless
    ``subtypes`` is true.

    >>> from tempfile import TemporaryDirectory
    >>> rows = ["1 cats _ NOUN _ _ 2 nsubj:pass _ _", "2 sleep _ VERB _ _ 0 root _ _"]
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a.conllu").write_text("\n".join(rows).replace(" ", "\t") + "\n")
    ...     read_trees(Path(folder, "a.conllu"))
    [Tree(words=('cats', 'sleep'), tags=('NOUN', 'VERB'), heads=(2, 0), labels=('nsubj', 'root'))]
    """
    source = Path(path)
    trees = [_tree(source, rows, subtypes) for rows in _sentences(source)]
    if not trees:
        raise FileFormatError(f"{source} must hold at least one tree, got none. Check the file.")
    return trees


_Row = tuple[int, list[str]]  # the number of a line and its columns


def _sentences(source: Path) -> Iterator[list[_Row]]:
    rows: list[_Row] = []
    for number, line in enumerate([*read_lines(source), ""], start=1):
        cells = line.split("\t")
        if not line.strip():
            if rows:
                yield rows
            rows = []
        elif line.startswith("#") or NOT_A_WORD.fullmatch(cells[_ID]):
            continue
        elif len(cells) != _N_COLUMNS or not (cells[_FORM] and cells[_TAG] and cells[_LABEL]):
            raise bad_line(source, number, f"every word must have {_N_COLUMNS} columns", line, f"It has {len(cells)}")
        elif cells[_ID] != str(len(rows) + 1):
            raise bad_line(source, number, f"word {len(rows) + 1} must come next", cells[_ID], "Number the words again")
        else:
            rows.append((number, cells))


def _tree(source: Path, rows: list[_Row], subtypes: bool) -> Tree:
    heads = [_head(source, number, cells[_HEAD], len(rows)) for number, cells in rows]
    for word, (number, cells) in enumerate(rows, start=1):
        if not reaches_root(heads, word):
            raise bad_line(source, number, "the heads of a word must lead to the root", cells[_HEAD], "Break the cycle")
    return Tree(
        words=tuple(cells[_FORM] for _, cells in rows),
        tags=tuple(cells[_TAG] for _, cells in rows),
        heads=tuple(heads),
        labels=tuple(cells[_LABEL] if subtypes else cells[_LABEL].split(":")[0] for _, cells in rows),
    )


def _head(source: Path, number: int, text: str, n_words: int) -> int:
    if not text.isdecimal() or int(text) > n_words:
        raise bad_line(source, number, f"a head must be a number from 0 to {n_words}", text, "Correct the column HEAD")
    return int(text)


def reaches_root(heads: list[int] | tuple[int, ...], word: int) -> bool:
    """Whether the heads of a word lead to the root.

    >>> reaches_root([2, 0], word=1), reaches_root([2, 1], word=1)
    (True, False)
    """
    for _ in heads:
        if word == 0:
            return True
        word = heads[word - 1]
    return word == 0
