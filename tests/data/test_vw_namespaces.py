"""Namespaces of VW text: some are left out, n-grams are VW's, and columns can be grouped."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from vowpalwabbit import Workspace

from coalface.data.formats.vw_options import letter_of
from coalface.data.formats.vw_text import read_vw_text
from coalface.errors import InputError

WORDS = st.lists(st.sampled_from("uvwxyz"), max_size=6)
LINES = st.lists(
    st.lists(st.tuples(st.sampled_from(["a", "apple", "b", ""]), WORDS), min_size=1, max_size=3), min_size=1
)


def read(folder, lines, **options):
    path = folder / "lines.vw"
    text = [" ".join(f"|{space} {' '.join(words)}" for space, words in line) for line in lines]
    path.write_text("".join(f"1:0 2:1 {one}\n" for one in text))
    return read_vw_text(path, **options)


def rows_of(dataset):
    """The features of each row by name."""
    table = dataset.X.toarray()
    return [{dataset.feature_names[column]: float(row[column]) for column in np.flatnonzero(row)} for row in table]


def expected_row(line, longest, skips):
    """The features and n-grams of a line, letter by letter, in plain Python."""
    found = {}
    for letter in "ab ":
        tokens = [
            f"{space}^{word}" if space else word
            for space, words in line
            if (space or " ")[0] == letter
            for word in words
        ]
        for length in range(1, longest + 1):
            for places in combinations(range(len(tokens)), length):
                if places[-1] - places[0] - (length - 1) <= skips:
                    name = " ".join(tokens[place] for place in places)
                    found[name] = found.get(name, 0.0) + 1.0
    return found


@settings(deadline=None, max_examples=60)
@given(lines=LINES, longest=st.integers(2, 4), skips=st.integers(0, 2))
def test_ngrams_are_all_neighbours_with_at_most_so_many_skipped(tmp_path_factory, lines, longest, skips):
    dataset = read(tmp_path_factory.mktemp("lines"), lines, ngrams=longest, skips=skips)
    assert rows_of(dataset) == [expected_row(line, longest, skips) for line in lines]


@pytest.mark.parametrize(
    ("options", "vw_options"),
    [
        ({"ngrams": 2}, "--ngram 2"),
        ({"ngrams": ["a3"], "skips": ["a2"]}, "--ngram a3 --skips a2"),
        ({"ngrams": ["4"], "skips": ["1"]}, "--ngram 4 --skips 1"),
        ({"ngrams": ["2", "b3"]}, "--ngram 2 --ngram b3"),
        ({"ignore": ["a"], "ngrams": 3}, "--ignore a --ngram 3"),
        ({"ignore": ["ba"]}, "--ignore ba"),
        ({"keep": ["b"]}, "--keep b"),
        ({"keep": ["a", "b"], "ngrams": 2}, "--keep a --keep b --ngram 2"),
    ],
)
def test_a_line_has_as_many_features_as_in_the_wheel(tmp_path, options, vw_options):
    text = "1:0 2:1 |a u v:2 w:0 x |b y z u |apple v w | free lonely"
    (tmp_path / "one.vw").write_text(text + "\n")
    workspace = Workspace(f"--csoaa 2 --indexing 1 --quiet --noconstant {vw_options}")
    example = workspace.example(text)
    n_features = example.get_feature_number()
    workspace.finish_example(example)
    workspace.finish()
    assert read_vw_text(tmp_path / "one.vw", **options).X.nnz == n_features


@settings(deadline=None, max_examples=30)
@given(lines=LINES)
def test_grouped_columns_of_a_letter_lie_side_by_side_and_rows_are_the_same(tmp_path_factory, lines):
    folder = tmp_path_factory.mktemp("lines")
    grouped = read(folder, lines, ngrams=2, grouped=True)
    letters = [letter_of(name) for name in grouped.feature_names]
    assert letters == sorted(letters)
    assert rows_of(grouped) == rows_of(read(folder, lines, ngrams=2))


def test_test_data_keeps_the_columns_of_the_training_data(tmp_path):
    train = read(tmp_path, [[("b", ["u"]), ("a", ["v", "w"])]], ngrams=2, grouped=True)
    assert train.feature_names == ("a^v", "a^w", "a^v a^w", "b^u")
    options = {"ngrams": 2, "grouped": True, "feature_names": train.feature_names}
    test = read(tmp_path, [[("a", ["x", "w"])]], **options)
    assert test.feature_names == (*train.feature_names, "a^x", "a^x a^w")
    assert rows_of(test) == [{"a^x": 1.0, "a^w": 1.0, "a^x a^w": 1.0}]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"ngrams": "x"}, "ngrams must be numbers"),
        ({"ngrams": 1}, "ngrams must be a whole number of at least 2"),
        ({"skips": 1}, "skips needs ngrams"),
        ({"ngrams": ["a2"], "skips": ["b1"]}, "skips needs ngrams"),
        ({"ngrams": 2, "features": "hashed"}, 'need features="named"'),
        ({"grouped": "yes"}, "grouped must be True or False"),
    ],
)
def test_an_option_without_sense_is_refused(tmp_path, options, said):
    with pytest.raises(InputError) as problem:
        read(tmp_path, [[("a", ["u"])]], **options)
    assert said in str(problem.value)
