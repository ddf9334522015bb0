"""Sentences whose tags are not those of the training are noticed."""

import warnings
from dataclasses import replace

import pytest

from coalface.errors import UnknownTagsWarning
from coalface.structured import DependencyParser
from tests.structured.made_trees import sentences

FINE = {"DET": "DT", "NOUN": "NN", "VERB": "VBZ", "ADP": "IN"}


def with_fine_tags(trees):
    return [replace(tree, fine_tags=tuple(FINE[tag] for tag in tree.tags)) for tree in trees]


@pytest.fixture(scope="module")
def parser():
    return DependencyParser(passes=1).fit(with_fine_tags(sentences(30)))


def test_the_column_of_another_tag_set_is_named_once_with_examples(parser):
    other = [replace(tree, tags=tree.fine_tags) for tree in with_fine_tags(sentences(5, seed=1))]
    with pytest.warns(UnknownTagsWarning) as caught:
        parser.predict(other)
    (text,) = [str(one.message) for one in caught]
    n_words = sum(map(len, other))
    assert text.startswith(f"{n_words} of {n_words} words have a tag in column UPOS that the parser has never seen")
    assert "'NN'" in text
    assert "It has learned 'ADP', 'DET', 'NOUN', 'VERB'" in text


def test_a_missing_column_is_noticed_by_a_saved_parser_too(parser, tmp_path):
    parser.save(tmp_path / "a.coal")
    loaded = DependencyParser.load(tmp_path / "a.coal")
    with pytest.warns(UnknownTagsWarning, match=r"in column XPOS .* \('_'\)"):
        loaded.predict(sentences(5, seed=1))


def test_known_tags_and_a_rare_new_one_pass_without_a_word(parser):
    trees = with_fine_tags(sentences(9, seed=1))
    trees[0] = replace(trees[0], tags=("INTJ", *trees[0].tags[1:]))
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        parser.predict(trees)
    assert said == []
