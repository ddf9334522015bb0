"""Sentences in columns, and words as examples."""

import gzip
import os
import subprocess
import sys
from zlib import crc32

import numpy as np
import pytest

from coalface import read_dataset
from coalface.data.encoding.text import WINDOW, hashed_tokens, word_features, word_shape
from coalface.data.formats.conll import Sentence, read_conll, read_sentences
from coalface.errors import FileFormatError, InputError

TEXT = "The\tDT\tO\ncat\tNN\tB-PET\n\n\nIt\tPRP\tO\n"
SENTENCES = [Sentence(("The", "cat"), ("O", "B-PET")), Sentence(("It",), ("O",))]


def written(tmp_path, text, name="a.conll"):
    path = tmp_path / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return path


@pytest.mark.parametrize("name", ["a.conll", "a.conll.gz", "a.txt"])
@pytest.mark.parametrize("change", [("\t", "\t"), ("\t", "  "), ("\n", "\r\n"), ("\n\n\n", "\n \n")])
def test_separators_line_ends_and_compression_make_no_difference(tmp_path, name, change):
    assert read_sentences(written(tmp_path, TEXT.replace(*change), name)) == SENTENCES
    assert read_sentences(written(tmp_path, TEXT.replace(*change).rstrip(), name)) == SENTENCES


def test_any_column_may_hold_the_tags(tmp_path):
    assert read_sentences(written(tmp_path, TEXT), tag=1)[0].tags == ("DT", "NN")
    assert read_sentences(written(tmp_path, TEXT), word=-3, tag=-2)[0] == Sentence(("The", "cat"), ("DT", "NN"))


def test_conll_u_gives_forms_and_universal_tags_of_real_words(tmp_path):
    rows = ["1-2\tdon't\t_\t_", "1\tdo\tdo\tAUX", "2\tn't\tnot\tPART", "2.1\tgo\tgo\tVERB", "3\tNew York\t_\tPROPN"]
    text = "# sent_id = 1\n# text = x\n" + "\n".join(rows) + "\n\n# sent_id = 2\n1\t#\t#\tSYM\n"
    assert read_sentences(written(tmp_path, text, "a.conllu")) == [
        Sentence(("do", "n't", "New York"), ("AUX", "PART", "PROPN")),
        Sentence(("#",), ("SYM",)),
    ]


def test_a_hash_among_the_words_is_a_word(tmp_path):
    text = "# newdoc\nIssue NN\n# SYM\n1-2 CD\n\n# SYM\n5 CD\n"
    assert [sentence.words for sentence in read_sentences(written(tmp_path, text))] == [
        ("Issue", "#", "1-2"),
        ("#", "5"),
    ]


def test_a_file_may_begin_with_a_hash_as_a_word(tmp_path):
    assert read_sentences(written(tmp_path, "# a remark\n#\tSYM\n5\tCD\n"))[0].words == ("#", "5")


def test_document_marks_end_a_sentence_and_are_not_words(tmp_path):
    text = "-DOCSTART- -X- O\n\nA DT O\n-DOCSTART- -X- O\nB DT O\n"
    assert [sentence.words for sentence in read_sentences(written(tmp_path, text))] == [("A",), ("B",)]


@pytest.mark.parametrize(
    ("text", "options", "said"),
    [
        (
            "a X\n\nb\n",
            {},
            r"a.conll, line 3: every word must have 2 columns, .* got 'b'. It has 1",
        ),
        ("a\tX\nb\t\n", {}, r"line 2: every word must have 2 columns"),
        ("a X\n# not here\n", {}, r"line 2: every word must have 2 columns, .* got '# not here'. It has 3"),
        ("a X\n", {"tag": 5}, r"line 1: a line with 2 columns has no column 5 for tags, got 'a X'"),
        ("\n# nothing\n\n", {}, "must hold at least one sentence"),
    ],
)
def test_a_broken_line_is_named(tmp_path, text, options, said):
    with pytest.raises(FileFormatError, match=said) as caught:
        read_sentences(written(tmp_path, text), **options)
    assert "\n" not in str(caught.value)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with a name")
def test_a_pipe_is_not_called_missing(tmp_path):
    os.mkfifo(tmp_path / "words")
    with pytest.raises(FileFormatError, match="words must be a file, since it may be read twice, got a pipe"):
        read_sentences(tmp_path / "words")


def test_files_that_are_not_text_are_named(tmp_path):
    with pytest.raises(InputError, match="different columns, got column 0 for both"):
        read_sentences(written(tmp_path, "word\n"))
    with pytest.raises(FileFormatError, match="There is no file"):
        read_sentences(tmp_path / "none.conll")
    (tmp_path / "b.conll.gz").write_bytes(gzip.compress(b"a X\nb Y\n\xff Z\n"))
    with pytest.raises(FileFormatError, match="line 3: text must be UTF-8"):
        read_sentences(tmp_path / "b.conll.gz")
    (tmp_path / "b.conll.gz").write_bytes(gzip.compress(b"a X\n" * 99)[:-9])
    with pytest.raises(FileFormatError, match="truncated or damaged"):
        read_sentences(tmp_path / "b.conll.gz")


def test_every_word_is_an_example_of_its_tag(tmp_path):
    dataset = read_dataset(written(tmp_path, TEXT, "a.conll.gz"))
    assert dataset.X.shape == (3, 2**18)
    assert dataset.classes.tolist() == ["B-PET", "O"]
    assert dataset.cost.tolist() == [[1, 0], [0, 1], [1, 0]]
    assert dataset.name == "a"


def test_test_data_takes_the_tags_of_the_training_data(tmp_path):
    train = read_conll(written(tmp_path, TEXT))
    test = read_conll(written(tmp_path, "a O\n", "b.conll"), classes=train.classes)
    assert test.cost.tolist() == [[1, 0]]
    with pytest.raises(FileFormatError, match=r"b.conll: Unknown label 'B-ORG'"):
        read_conll(written(tmp_path, "a B-ORG\n", "b.conll"), classes=train.classes)


def column_by_hand(text, bits):
    """The documented hash in plain integers."""
    h = crc32(text.encode())
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        h = ((h ^ (h >> shift)) * factor) % 2**32
    return (h ^ (h >> 16)) >> (32 - bits)


@pytest.mark.parametrize("bits", [4, 18])
def test_the_features_are_those_of_the_words_around(bits):
    sentences = [["The", "U.S.", "won", "3-0"], ["Hm"], ["été", "x", "x"]]
    expected = np.zeros((8, 2**bits))
    row = 0
    for words in sentences:
        for place in range(len(words)):
            for offset in range(-WINDOW, WINDOW + 1):
                inside = 0 <= place + offset < len(words)
                for text in word_features(words[place + offset]) if inside else ["outside"]:
                    expected[row, column_by_hand(f"{offset}:{text}", bits)] += 1
            row += 1
    np.testing.assert_array_equal(hashed_tokens(sentences, bits).toarray(), expected)


def test_a_word_too_short_for_a_prefix_has_fewer_features():
    assert word_features("Ab") == ["w=Ab", "l=ab", "s=Aa", "1=A", "2=Ab", "4=b", "5=Ab"]
    assert [word_shape(word) for word in ("USA", "iPhone", "3.14", "")] == ["A", "aAa", "0.0", ""]


def test_columns_spread_over_the_whole_width():
    X = hashed_tokens([[f"word{number}" for number in range(2000)]], bits=10)
    per_column = np.bincount(X.indices, minlength=1024)
    assert (per_column > 0).all()


def test_columns_do_not_depend_on_the_process():
    code = "from coalface.data.encoding.text import hashed_tokens as h; print(h([['The', 'cat']]).indices.tolist())"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONHASHSEED": "7"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == str(hashed_tokens([["The", "cat"]]).indices.tolist())


def test_bits_outside_their_range_are_refused(tmp_path):
    with pytest.raises(InputError, match="bits must be a whole number of at least 1 and at most 30, got 40"):
        read_conll(written(tmp_path, TEXT), bits=40)
