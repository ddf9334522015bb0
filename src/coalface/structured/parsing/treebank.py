"""Turns sentences into the arrays that the compiled parser reads."""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from hashlib import blake2b
from itertools import chain
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from coalface.data.formats.conllu import Tree
from coalface.errors import InputError
from coalface.structured.kernels.parse_state import NO_WORD
from coalface.structured.kernels.parsing import Treebank
from coalface.structured.kernels.trees import all_are_trees, lift_crossing_arcs
from coalface.structured.parsing.arc_hybrid import check_tree, is_text
from coalface.structured.parsing.templates import ATTRIBUTES

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


def word_codes(tree: Tree) -> list[tuple[int, ...]]:
    """The attributes of the root and of each word, as hashes in the order of ``ATTRIBUTES``."""
    missing = (_MISSING,) * len(tree)
    lowered = [word.lower() for word in tree.words]
    columns = (lowered, tree.tags, tree.fine_tags or missing, tree.morphology or missing)
    hashed = [
        [code_of(attribute, value) for value in values] for attribute, values in zip(ATTRIBUTES, columns, strict=True)
    ]
    return [tuple(code_of(attribute, _ROOT) for attribute in ATTRIBUTES), *zip(*hashed, strict=True)]


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
        wrong = next((place for place, value in enumerate(values) if not is_text(value)), None)
        if wrong is not None:
            raise InputError(f"{name} must be texts in Unicode, got {values[wrong]!r} for word {wrong + 1}.")
    if with_heads and (len(tree.heads) or len(tree.labels)):
        check_tree(tree)


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
    keys = np.array([sentence_key(tree) for tree in trees] if learned else [], np.uint64)
    return Treebank(starts, codes, heads, true_labels, keys)


def all_valid(trees: Sequence[Tree], *, with_heads: bool) -> bool:
    """Whether ``check_sentence`` finds no fault with any sentence; much faster than asking about each."""
    for tree in trees:
        n_words = len(tree.words)
        if not n_words or len(tree.tags) != n_words or {len(tree.fine_tags), len(tree.morphology)} - {0, n_words}:
            return False
        if with_heads and not len(tree.heads) == len(tree.labels) == n_words:
            return False
    try:
        for name in ("words", "tags", "fine_tags", "morphology"):
            "".join(_joined(getattr(tree, name) for tree in trees)).encode()
        return not with_heads or (_are_labels(_joined(tree.labels for tree in trees)) and _heads_are_trees(trees))
    except (TypeError, UnicodeEncodeError):
        return False


def _are_labels(labels: list[str]) -> bool:
    return b"\0" not in "".join(labels).encode() and "" not in labels


def _heads_are_trees(trees: Sequence[Tree]) -> bool:
    starts, is_word = _places(trees)
    given = _joined(tree.heads for tree in trees)
    if set(map(type, given)) != {int} or max(given) >= len(is_word) or min(given) < 0:
        return False
    heads = np.zeros(len(is_word), np.int32)
    heads[is_word] = given
    return all_are_trees(starts, heads)


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


def sentence_key(tree: Tree) -> int:
    """A 64-bit hash of a sentence and its tree.

    >>> tree = Tree(("cats", "sleep"), ("NOUN", "VERB"), (2, 0), ("nsubj", "root"))
    >>> sentence_key(tree) == sentence_key(Tree(tree.words, tree.tags, (0, 1), tree.labels))
    False
    """
    values = (tree.words, tree.tags, tree.heads, tree.labels)
    return code_of("sentence", "\n".join("\t".join(map(str, each)) for each in values))
