"""Sentences as arrays, and which sentences are refused."""

import itertools

import numpy as np
import pytest

from coalface.data.formats.conllu import Tree
from coalface.errors import InputError
from coalface.structured.parsing.treebank import checked_trees, treebank_of
from tests.structured.made_trees import crossing_sentences, sentences
from tests.structured.reference_parser import is_tree, word_codes

GOOD = Tree(("cats", "sleep"), ("NOUN", "VERB"), (2, 0), ("nsubj", "root"), ("NN", "VB"), ("Number=Plur", "_"))
GOOD_TOO = Tree(("é",), ("X",), (0,), ("root",))
BAD_WORDS = [
    Tree((), ()),
    Tree(("cats", "sleep"), ("NOUN",), (2, 0), ("nsubj", "root")),
    Tree(("cats", "sleep"), ("NOUN", "VERB"), (2, 0), ("nsubj", "root"), ("NN",)),
    Tree(("cats", "sleep"), ("NOUN", "VERB"), (2, 0), ("nsubj", "root"), (), ("_",)),
    Tree(("cats", 1), ("NOUN", "VERB"), (2, 0), ("nsubj", "root")),
    Tree(("cats", "\ud800"), ("NOUN", "VERB"), (2, 0), ("nsubj", "root")),
    Tree(("cats", "sleep"), ("NOUN", None), (2, 0), ("nsubj", "root")),
]
BAD_TREES = [
    Tree(("cats", "sleep"), ("NOUN", "VERB"), (2,), ("nsubj", "root")),
    Tree(("cats", "sleep"), ("NOUN", "VERB"), (2, 0), ("nsubj",)),
    Tree(("cats", "sleep"), ("NOUN", "VERB"), (0, 0), ("root", "root")),
    Tree(("cats", "sleep"), ("NOUN", "VERB"), (2, 1), ("nsubj", "root")),
    Tree(("cats", "sleep"), ("NOUN", "VERB"), (3, 0), ("nsubj", "root")),
    Tree(("cats", "sleep"), ("NOUN", "VERB"), (-1, 0), ("nsubj", "root")),
    Tree(("cats", "sleep"), ("NOUN", "VERB"), (2.0, 0), ("nsubj", "root")),
    Tree(("cats", "sleep"), ("NOUN", "VERB"), ("2", "0"), ("nsubj", "root")),
    Tree(("cats", "sleep"), ("NOUN", "VERB"), (1 << 70, 0), ("nsubj", "root")),
    *(Tree(("cats", "sleep"), ("NOUN", "VERB"), (2, 0), (label, "root")) for label in ("", "a\0", "\ud800", None, 3)),
]


def refused(tree, with_heads):
    try:
        checked_trees([GOOD, tree, GOOD_TOO], with_heads=with_heads)
    except InputError as problem:
        return str(problem).startswith("Tree 1: ")
    return False


@pytest.mark.parametrize("tree", BAD_WORDS, ids=str)
def test_bad_words_are_refused(tree):
    assert refused(tree, with_heads=True)
    assert refused(tree, with_heads=False)


@pytest.mark.parametrize("tree", BAD_TREES, ids=str)
def test_bad_heads_and_labels_are_refused_where_they_are_used(tree):
    assert refused(tree, with_heads=True)
    assert not refused(tree, with_heads=False)


def test_heads_may_be_whole_numbers_of_numpy():
    assert not refused(
        Tree(("cats", "sleep"), ("NOUN", "VERB"), tuple(np.array([2, 0])), ("nsubj", "root")), with_heads=True
    )


@pytest.mark.parametrize("n_words", [1, 2, 3, 4])
def test_exactly_the_trees_are_trees(n_words):
    for heads in itertools.product(range(-1, n_words + 2), repeat=n_words):
        tree = Tree(("cat",) * n_words, ("NOUN",) * n_words, heads, ("dep",) * n_words)
        assert refused(tree, with_heads=True) == (not is_tree(heads)), heads


def test_the_codes_of_a_treebank_are_those_of_its_sentences():
    trees = [GOOD, *sentences(5), *crossing_sentences(2)]
    found = treebank_of(trees, ["det", "nsubj", "root"], learned=True)
    assert found.codes.tolist() == [list(code) for tree in trees for code in word_codes(tree)]
    assert found.starts.tolist() == np.cumsum([0, *(len(tree) + 1 for tree in trees)]).tolist()
    assert found.labels[:6].tolist() == [-1, 1, 2, -1, *(["det", "nsubj"].index(each) for each in trees[1].labels[:2])]
