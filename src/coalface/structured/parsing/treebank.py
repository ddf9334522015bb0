"""Turns sentences into the arrays that the compiled parser reads."""

import os
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from hashlib import blake2b
from itertools import chain
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from coalface.data import Tree, reaches_root
from coalface.errors import InputError, shortened
from coalface.structured.kernels.parse_state import NO_WORD, Treebank
from coalface.structured.kernels.trees import lift_crossing_arcs
from coalface.structured.parsing.grammar import ATTRIBUTES

_MISSING, _ROOT = "_", "\0root"
_Value = TypeVar("_Value")


@lru_cache(maxsize=1 << 18)
def code_of(attribute: str, value: str) -> int:
    """A 64-bit hash of an attribute's value, never 0.

    >>> code_of("w", "cats") == code_of("w", "cats") != code_of("t", "cats")
    True
    """
    hashed = blake2b(value.encode(), digest_size=8, key=attribute.encode()).digest()
    return int.from_bytes(hashed, "little") or 1


def checked_trees(trees: Iterable[Tree], *, with_heads: bool) -> list[Tree]:
    """The sentences as a list; an InputError names the first bad one. ``with_heads``, each must have heads."""
    if isinstance(trees, str | bytes | os.PathLike | Tree) or not isinstance(trees, Iterable):
        raise InputError(
            f"trees must be a list of Tree values, got {shortened(trees)}. read_trees(path) reads them from a file."
        )
    given = list(trees)
    if with_heads and not given:
        raise InputError("trees must hold at least one tree, got none. Pass trees with heads and labels.")
    for number, tree in enumerate(given):
        try:
            if not isinstance(tree, Tree):
                raise InputError(f"a sentence must be a Tree, got {shortened(tree)}. Pass Tree(words, tags).")
            if with_heads and not (len(tree.heads) or len(tree.labels)):
                raise InputError("a tree must have heads to be learned or scored, got only words. Pass heads too.")
            check_sentence(tree, with_heads=with_heads)
        except InputError as problem:
            raise InputError(f"Tree {number}: {problem}") from None
    return given


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
        try:
            "".join(values).encode()  # much faster than one after the other
        except (TypeError, UnicodeEncodeError):
            wrong = next(place for place, value in enumerate(values) if not _is_text(value))
            raise InputError(f"{name} must be texts in Unicode, got {values[wrong]!r} for word {wrong + 1}.") from None
    if with_heads and (len(tree.heads) or len(tree.labels)):
        _check_tree(tree)


def _check_tree(tree: Tree) -> None:
    """Raise an InputError unless the heads form one tree with one word at its root, and every word has a label."""
    n_words, heads = len(tree), tree.heads
    for name, values in (("heads", heads), ("labels", tree.labels)):
        if len(values) != n_words:
            raise InputError(f"{name} of a tree must be one per word: {n_words} needed, got {len(values)}.")
    for word, head in enumerate(heads, start=1):
        if not isinstance(head, int | np.integer) or not 0 <= head <= n_words:
            raise InputError(f"a head must be a number from 0 to {n_words}, got {head!r} for word {word}.")
    for word, label in enumerate(tree.labels, start=1):
        if not _is_text(label) or not label or "\0" in label:
            raise InputError(f"a label must be a text in Unicode, and not empty, got {label!r} for word {word}.")
    roots = sum(head == 0 for head in heads)
    if roots != 1:
        raise InputError(f"exactly one word must have head 0, got {roots}. Correct the tree or leave it out.")
    for word in range(1, n_words + 1):
        if not reaches_root(heads, word):
            raise InputError(f"heads must lead from every word to the root, those of word {word} form a cycle.")


def _is_text(value: object) -> bool:
    """Whether a value is a text without half a surrogate pair, which could not be hashed."""
    if not isinstance(value, str):
        return False
    return value.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in value)


def treebank_of(trees: Sequence[Tree], labels: Sequence[str], *, learned: bool) -> Treebank:
    """The arrays of checked sentences; true heads and labels are used only if they are ``learned``."""
    starts, is_word = _places(trees)
    codes = np.empty((len(is_word), len(ATTRIBUTES)), np.uint64)
    codes[~is_word] = [code_of(attribute, _ROOT) for attribute in ATTRIBUTES]
    for place, (attribute, values) in enumerate(zip(ATTRIBUTES, _columns(trees), strict=True)):
        codes[is_word, place] = _mapped(values, {value: code_of(attribute, value) for value in set(values)}, np.uint64)
    heads = np.full(len(codes), NO_WORD, np.int32)
    true_labels = np.full(len(codes), NO_WORD, np.int32)
    if learned:
        numbers = {label: number for number, label in enumerate(labels)}
        given = _joined(tree.labels for tree in trees)
        true_labels[is_word] = _mapped(given, {label: numbers.get(label, NO_WORD) for label in set(given)}, np.int32)
        heads[is_word] = _joined(tree.heads for tree in trees)
        lift_crossing_arcs(starts, heads)
    keys = np.array([_sentence_key(tree) for tree in trees] if learned else [], np.uint64)
    return Treebank(starts, codes, heads, true_labels, keys)


def _places(trees: Sequence[Tree]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Where each sentence starts, with its root, and which places are those of words."""
    starts = np.concatenate([[0], np.cumsum([len(tree.words) + 1 for tree in trees], dtype=np.int64)])
    is_word = np.ones(starts[-1], np.bool_)
    is_word[starts[:-1]] = False
    return starts, is_word


def _columns(trees: Sequence[Tree]) -> Iterator[list[str]]:
    """The attributes of all words, in the order of ``ATTRIBUTES``."""
    yield [word.lower() for tree in trees for word in tree.words]
    yield _joined(tree.tags for tree in trees)
    yield _joined(tree.fine_tags or (_MISSING,) * len(tree.words) for tree in trees)
    yield _joined(tree.morphology or (_MISSING,) * len(tree.words) for tree in trees)


def _joined(parts: Iterable[Sequence[_Value]]) -> list[_Value]:
    return list(chain.from_iterable(parts))


def _mapped(values: list[str], numbers: dict[str, int], dtype: type[np.generic]) -> NDArray[Any]:
    return np.fromiter(map(numbers.__getitem__, values), dtype, len(values))


def _sentence_key(tree: Tree) -> int:
    """A 64-bit hash of a sentence and its tree.

    >>> tree = Tree(("cats", "sleep"), ("NOUN", "VERB"), (2, 0), ("nsubj", "root"))
    >>> _sentence_key(tree) == _sentence_key(Tree(tree.words, tree.tags, (0, 1), tree.labels))
    False
    """
    values = (tree.words, tree.tags, tree.heads, tree.labels)
    return code_of("sentence", "\n".join("\t".join(map(str, each)) for each in values))
