"""Attachment scores: the share of words with the right head, and with the right head and label."""

from collections.abc import Iterable
from typing import NamedTuple

from coalface.data import Tree
from coalface.errors import InputError

PUNCTUATION = "PUNCT"  # the universal tag


class Attachment(NamedTuple):
    """The share of words with the right head (UAS), and with the right head and label (LAS)."""

    unlabelled: float
    labelled: float


def attachment_scores(truth: Iterable[Tree], predicted: Iterable[Tree], *, punctuation: bool = True) -> Attachment:
    """The attachment scores UAS and LAS; without ``punctuation``, words with the tag PUNCT do not count.

    >>> tree = Tree(("cats", "sleep"), ("NOUN", "VERB"), heads=(2, 0), labels=("nsubj", "root"))
    >>> attachment_scores([tree], [Tree(tree.words, tree.tags, (2, 0), ("obj", "root"))])
    Attachment(unlabelled=1.0, labelled=0.5)
    """
    n_words = n_heads = n_both = 0
    for wanted, got in zip(truth, predicted, strict=True):
        pairs = zip(wanted.tags, wanted.heads, got.heads, wanted.labels, got.labels, strict=True)
        for tag, head, found, label, found_label in pairs:
            if punctuation or tag != PUNCTUATION:
                n_words += 1
                n_heads += head == found
                n_both += head == found and label == found_label
    if not n_words:
        raise InputError("attachment scores need at least one word, got none.")
    return Attachment(n_heads / n_words, n_both / n_words)
