"""Turns sentences into the arrays that the compiled parser reads."""

from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b

import numpy as np

from coalface.data.formats.conllu import Tree
from coalface.errors import InputError
from coalface.kernels.parse_state import NO_WORD
from coalface.kernels.parsing import Treebank
from coalface.search.parsing.arc_hybrid import check_tree, projectivize
from coalface.search.parsing.templates import ATTRIBUTES

_MISSING = "_"


@lru_cache(maxsize=1 << 18)
def code_of(attribute: str, value: str) -> int:
    """A 64-bit hash of an attribute's value, never 0.

    >>> code_of("w", "cats") == code_of("w", "cats") != code_of("t", "cats")
    True
    """
    hashed = blake2b(value.encode(), digest_size=8, key=attribute.encode()).digest()
    return int.from_bytes(hashed, "little") or 1


def word_codes(tree: Tree) -> list[tuple[int, ...]]:
    """The attributes of the root and of each word, as hashes in the order of ``ATTRIBUTES``."""
    missing = (_MISSING,) * len(tree)
    lowered = [word.lower() for word in tree.words]
    columns = (lowered, tree.tags, tree.fine_tags or missing, tree.morphology or missing)
    hashed = [
        [code_of(attribute, value) for value in values] for attribute, values in zip(ATTRIBUTES, columns, strict=True)
    ]
    return [tuple(code_of(attribute, "\0root") for attribute in ATTRIBUTES), *zip(*hashed, strict=True)]


def check_sentence(tree: Tree, *, with_heads: bool = True) -> None:
    """Raise an InputError unless every word has a tag, and either no word has a head or the heads form a tree.

    Without ``with_heads``, heads and labels may be anything, since they are not used.
    """
    if not len(tree) or len(tree.tags) != len(tree):
        raise InputError(f"a sentence must have words and one tag per word, got {len(tree)} and {len(tree.tags)}.")
    for name, values in (("fine_tags", tree.fine_tags), ("morphology", tree.morphology)):
        if len(values) not in (0, len(tree)):
            raise InputError(f"{name} must be one per word, or none: {len(tree)} needed, got {len(values)}.")
    for name in ("words", "tags", "fine_tags", "morphology"):
        values = getattr(tree, name)
        wrong = next((place for place, value in enumerate(values) if not _is_text(value)), None)
        if wrong is not None:
            raise InputError(f"{name} must be texts in Unicode, got {values[wrong]!r} for word {wrong + 1}.")
    if with_heads and (tree.heads or tree.labels):
        check_tree(tree)


def _is_text(value: object) -> bool:
    """Whether a value is a text without half a surrogate pair, which could not be hashed."""
    if not isinstance(value, str):
        return False
    return value.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in value)


def treebank_of(trees: Sequence[Tree], labels: Sequence[str], *, learned: bool) -> Treebank:
    """The arrays of checked sentences; true heads and labels are used only if they are ``learned``."""
    lengths = np.array([len(tree) + 1 for tree in trees], np.int64)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    codes = np.array([code for tree in trees for code in word_codes(tree)], np.uint64).reshape(-1, len(ATTRIBUTES))
    heads = np.full(len(codes), NO_WORD, np.int32)
    true_labels = np.full(len(codes), NO_WORD, np.int32)
    if learned:
        numbers = {label: number for number, label in enumerate(labels)}
        for tree, start in zip(trees, starts[:-1].tolist(), strict=True):
            span = slice(start, start + len(tree) + 1)
            heads[span] = projectivize((NO_WORD, *tree.heads))
            true_labels[span] = [NO_WORD, *(numbers.get(label, NO_WORD) for label in tree.labels)]
    keys = np.array([sentence_key(tree) for tree in trees] if learned else [], np.uint64)
    return Treebank(starts, codes, heads, true_labels, keys)


def sentence_key(tree: Tree) -> int:
    """A 64-bit hash of a sentence and its tree.

    >>> tree = Tree(("cats", "sleep"), ("NOUN", "VERB"), (2, 0), ("nsubj", "root"))
    >>> sentence_key(tree) == sentence_key(Tree(tree.words, tree.tags, (0, 1), tree.labels))
    False
    """
    values = (tree.words, tree.tags, tree.heads, tree.labels)
    return code_of("sentence", "\n".join("\t".join(map(str, each)) for each in values))
