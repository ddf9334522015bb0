"""Whole treebanks of heads: the kernels agree with the checks and changes of single trees."""

import itertools

import numpy as np
import pytest

from coalface.structured.kernels.trees import all_are_trees, lift_crossing_arcs
from tests.structured.reference_parser import NO_WORD, projectivize

KINDS = [lambda kernel: kernel, lambda kernel: kernel.py_func]


def is_tree(heads):
    """Whether exactly one word has the root as its head, and every other word descends from it."""
    below = {0}
    for _ in heads:
        below |= {word for word, head in enumerate(heads, start=1) if head in below}
    return len(below) == len(heads) + 1 and heads.count(0) == 1


def treebank(sentences):
    starts = np.cumsum([0, *(len(heads) + 1 for heads in sentences)])
    return starts, np.array([head for heads in sentences for head in (NO_WORD, *heads)], np.int32)


@pytest.mark.parametrize("kind", KINDS, ids=["compiled", "python"])
@pytest.mark.parametrize("n_words", [1, 2, 3, 4])
def test_exactly_the_trees_are_trees(kind, n_words):
    for heads in itertools.product(range(-1, n_words + 2), repeat=n_words):
        assert kind(all_are_trees)(*treebank([(0,), heads])) == is_tree(heads), heads


@pytest.mark.parametrize("kind", KINDS, ids=["compiled", "python"])
def test_crossing_arcs_of_all_sentences_are_lifted(kind):
    sentences = [heads for n in (3, 4, 5) for heads in itertools.product(range(n + 1), repeat=n) if is_tree(heads)]
    starts, heads = treebank(sentences[::7])
    kind(lift_crossing_arcs)(starts, heads)
    wanted = [projectivize((NO_WORD, *given)) for given in sentences[::7]]
    assert heads.tolist() == [head for each in wanted for head in each]
