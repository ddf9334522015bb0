"""Sentences as arrays, and the check of all sentences at once."""

import numpy as np
import pytest

from coalface.data.formats.conllu import Tree
from coalface.errors import InputError
from coalface.structured.parsing.treebank import all_valid, check_sentence, treebank_of
from tests.structured.made_trees import crossing_sentences, sentences
from tests.structured.reference_parser import word_codes

GOOD = Tree(("cats", "sleep"), ("NOUN", "VERB"), (2, 0), ("nsubj", "root"), ("NN", "VB"), ("Number=Plur", "_"))
SENTENCES = [
    GOOD,
    Tree(("é",), ("X",), (0,), ("root",)),
    Tree((), ()),
    Tree(("cats", "sleep"), ("NOUN",), (2, 0), ("nsubj", "root")),
    Tree(("cats", "sleep"), ("NOUN", "VERB"), (2, 0), ("nsubj", "root"), ("NN",)),
    Tree(("cats", "sleep"), ("NOUN", "VERB"), (2, 0), ("nsubj", "root"), (), ("_",)),
    Tree(("cats", 1), ("NOUN", "VERB"), (2, 0), ("nsubj", "root")),
    Tree(("cats", "\ud800"), ("NOUN", "VERB"), (2, 0), ("nsubj", "root")),
    Tree(("cats", "sleep"), ("NOUN", None), (2, 0), ("nsubj", "root")),
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


def is_valid(tree, with_heads):
    try:
        check_sentence(tree, with_heads=with_heads)
    except InputError:
        return False
    return True


@pytest.mark.parametrize("with_heads", [True, False])
@pytest.mark.parametrize("tree", SENTENCES, ids=str)
def test_the_check_of_all_sentences_finds_what_the_check_of_each_finds(tree, with_heads):
    assert all_valid([GOOD, tree, GOOD], with_heads=with_heads) == is_valid(tree, with_heads)


def test_heads_of_other_types_are_left_to_the_check_of_each():
    tree = Tree(("cats", "sleep"), ("NOUN", "VERB"), tuple(np.array([2, 0])), ("nsubj", "root"))
    assert is_valid(tree, with_heads=True)
    assert not all_valid([tree], with_heads=True)


def test_the_codes_of_a_treebank_are_those_of_its_sentences():
    trees = [GOOD, *sentences(5), *crossing_sentences(2)]
    found = treebank_of(trees, ["det", "nsubj", "root"], learned=True)
    assert found.codes.tolist() == [list(code) for tree in trees for code in word_codes(tree)]
    assert found.starts.tolist() == np.cumsum([0, *(len(tree) + 1 for tree in trees)]).tolist()
    assert found.labels[:6].tolist() == [-1, 1, 2, -1, *(["det", "nsubj"].index(each) for each in trees[1].labels[:2])]
