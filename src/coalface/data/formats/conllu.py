"""Dependency trees in CoNLL-U files, the format of Universal Dependencies: ten columns, one word per line."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from coalface.data.formats.conll import NOT_A_WORD
from coalface.data.formats.text_lines import bad_line, read_lines
from coalface.errors import FileFormatError

_ID, _FORM, _TAG, _FINE_TAG, _MORPHOLOGY, _HEAD, _LABEL, _DEPS, _N_COLUMNS = 0, 1, 3, 4, 5, 6, 7, 8, 10
_MISSING = "_"


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
    fine_tags: tuple[str, ...] = ()  # of the language or treebank
    morphology: tuple[str, ...] = ()  # such as "Case=Nom|Number=Sing"

    def __len__(self) -> int:
        return len(self.words)


def read_trees(path: str | os.PathLike[str], *, subtypes: bool = False, heads: bool = True) -> list[Tree]:
    r"""The trees of a plain or ``.gz`` file, with universal tags, fine tags and morphology.

    Multi-word tokens and empty nodes are skipped; a token must lie within its sentence. Every word needs one of the two
    tags. Labels are cut at their colon, as is usual for evaluation, unless ``subtypes`` is true. Without ``heads``, the
    columns HEAD and DEPREL are not read, and may be ``_``.

    >>> from tempfile import TemporaryDirectory
    >>> rows = ["1 cats _ NOUN _ _ 2 nsubj:pass _ _", "2 sleep _ VERB _ _ 0 root _ _"]
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a.conllu").write_text("\n".join(rows).replace(" ", "\t") + "\n")
    ...     tree, = read_trees(Path(folder, "a.conllu"))
    >>> tree.words, tree.tags, tree.heads, tree.labels
    (('cats', 'sleep'), ('NOUN', 'VERB'), (2, 0), ('nsubj', 'root'))
    """
    source = Path(path)
    trees = [_tree(source, rows, subtypes, heads) for rows in _sentences(source)]
    if not trees:
        raise FileFormatError(f"{source} must hold at least one tree, got none. Check the file.")
    return trees


_Row = tuple[int, list[str]]  # the number of a line and its columns


def _sentences(source: Path) -> Iterator[list[_Row]]:
    rows: list[_Row] = []
    tokens: list[_Row] = []  # multi-word tokens, such as 1-2
    for number, line in enumerate([*read_lines(source), ""], start=1):
        cells = line.split("\t")
        if not line.strip():
            _check_tokens(source, tokens, len(rows))
            if rows:
                yield rows
            rows, tokens = [], []
        elif line.startswith("#") or NOT_A_WORD.fullmatch(cells[_ID]):
            tokens += [(number, cells)] if not line.startswith("#") and "-" in cells[_ID] else []
        elif len(cells) != _N_COLUMNS:
            raise bad_line(source, number, f"every word must have {_N_COLUMNS} columns", line, f"It has {len(cells)}")
        elif not (cells[_FORM] and cells[_TAG] and cells[_LABEL]):
            raise bad_line(source, number, "no column of a word may be empty", line, "Write _ for a missing value")
        elif {cells[_TAG], cells[_FINE_TAG]} <= {_MISSING, ""}:
            rule = "every word must have a tag (UPOS or XPOS)"
            raise bad_line(source, number, rule, cells[_TAG], "Tag the words first, since the parser needs tags")
        elif cells[_ID] != str(len(rows) + 1):
            raise bad_line(source, number, f"word {len(rows) + 1} must come next", cells[_ID], "Number the words again")
        else:
            rows.append((number, cells))


def _check_tokens(source: Path, tokens: list[_Row], n_words: int) -> None:
    """Raise an error for a multi-word token that does not lie within its sentence."""
    for number, cells in tokens:
        first, last = map(int, cells[_ID].split("-"))
        if not 1 <= first <= last <= n_words:
            rule = f"a multi-word token must lie within words 1 to {n_words} of its sentence"
            raise bad_line(source, number, rule, cells[_ID], "Correct its numbers")


def _tree(source: Path, rows: list[_Row], subtypes: bool, with_heads: bool) -> Tree:
    def column(number: int) -> tuple[str, ...]:
        return tuple(cells[number] for _, cells in rows)

    sentence = Tree(column(_FORM), column(_TAG), fine_tags=column(_FINE_TAG), morphology=column(_MORPHOLOGY))
    if not with_heads:
        return sentence
    heads = tuple(_head(source, number, cells[_HEAD], len(rows)) for number, cells in rows)
    for word, (number, cells) in enumerate(rows, start=1):
        if not reaches_root(heads, word):
            raise bad_line(source, number, "the heads of a word must lead to the root", cells[_HEAD], "Break the cycle")
    if heads.count(0) > 1:
        number, cells = rows[heads.index(0, heads.index(0) + 1)]
        rule = f"exactly one word of a sentence must have head 0, {heads.count(0)} have"
        raise bad_line(source, number, rule, cells[_FORM], "Correct the tree or leave it out")
    labels = tuple(_label(source, number, cells[_LABEL], subtypes) for number, cells in rows)
    return replace(sentence, heads=heads, labels=labels)


def _head(source: Path, number: int, text: str, n_words: int) -> int:
    if not text.isdecimal() or int(text) > n_words:
        raise bad_line(source, number, f"a head must be a number from 0 to {n_words}", text, "Correct the column HEAD")
    return int(text)


def _label(source: Path, number: int, text: str, subtypes: bool) -> str:
    label = text if subtypes else text.split(":")[0]
    if label in (_MISSING, ""):
        raise bad_line(source, number, "a word with a head must have a label", text, "Correct the column DEPREL")
    return label


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


def lines_with_heads(path: str | os.PathLike[str], trees: Iterable[Tree]) -> Iterator[str]:
    r"""The lines of a file with the heads and labels of these trees, one tree per sentence; the rest stays as it is.

    The column DEPS becomes ``_``, since it could contradict them.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a.conllu").write_text("# text = Go!\n1\tGo\tgo\tVERB\t_\t_\t_\t_\t_\tx=y\n")
    ...     list(lines_with_heads(Path(folder, "a.conllu"), [Tree(("Go",), ("VERB",), (0,), ("root",))]))
    ['# text = Go!', '1\tGo\tgo\tVERB\t_\t_\t0\troot\t_\tx=y', '']
    """
    words = (found for tree in trees for found in zip(tree.heads, tree.labels, strict=True))
    line = ""
    for line in read_lines(Path(path)):
        cells = line.split("\t")
        if not line.strip() or line.startswith("#") or NOT_A_WORD.fullmatch(cells[_ID]):
            yield line
        else:
            head, label = next(words)
            yield "\t".join([*cells[:_HEAD], str(head), label, "_", *cells[_DEPS + 1 :]])
    if line.strip():
        yield ""  # every sentence ends with an empty line
