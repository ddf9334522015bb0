"""Whole treebanks of heads: the kernel agrees with the changes of single trees."""

import itertools

import numpy as np
import pytest

from coalface.structured.kernels.trees import lift_crossing_arcs
from tests.structured.reference_parser import NO_WORD, is_tree, projectivize

KINDS = [lambda kernel: kernel, lambda kernel: kernel.py_func]


def treebank(sentences):
    starts = np.cumsum([0, *(len(heads) + 1 for heads in sentences)])
    return starts, np.array([head for heads in sentences for head in (NO_WORD, *heads)], np.int32)


@pytest.mark.parametrize("kind", KINDS, ids=["compiled", "python"])
def test_crossing_arcs_of_all_sentences_are_lifted(kind):
    sentences = [heads for n in (3, 4, 5) for heads in itertools.product(range(n + 1), repeat=n) if is_tree(heads)]
    starts, heads = treebank(sentences[::7])
    kind(lift_crossing_arcs)(starts, heads)
    wanted = [projectivize((NO_WORD, *given)) for given in sentences[::7]]
    assert heads.tolist() == [head for each in wanted for head in each]
