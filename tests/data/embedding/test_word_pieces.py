"""Word pieces equal those of the package ``tokenizers``, whose table of Unicode is that of 2015."""

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coalface.data.embedding.word_pieces import WordPieces
from coalface.errors import FileFormatError
from tests.reference.tiny_bert import tokenizer_of

tokenizers = pytest.importorskip("tokenizers", reason="it is what word pieces are compared with")
MOVED = "\u166d\u1734\u1885\u1886"  # characters that Unicode has put elsewhere since
OLD = [  # the letters of Unicode 3.2, and code points that will never be letters
    letter
    for letter in map(chr, [*range(0xD800), *range(0xE000, 0x30000)])
    if (unicodedata.ucd_3_2_0.category(letter) != "Cn" or "\ufdd0" <= letter <= "\ufdef") and letter not in MOVED
]
ODD = [
    "",
    " ",
    "My PARCEL's lost, again?!",
    "cafe\u0301 o\u00f9, na\u00efve \u00dcbung \u2014 \u20ac5 a+b<c>d|e`~^",
    "\u4ef7\u683c \u65e5\u672c\u8a9e \ud55c\uad6d\uc5b4 \u0939\u093f\u0928\u094d\u0926\u0940 "
    "\u0627\u0644\u0639\u0631\u0628\u064a\u0629 \u05e9\u05b8\u05dc\u05d5\u05b9\u05dd",
    "\u0130stanbul \u03a3\u03af\u03c3\u03c5\u03c6\u03bf\u03c2 \u1e9e stra\u00dfe \u01c6 \u017f",
    "[SEP] hi [UNK][CLS]x[sep] [ PAD]##s",
    "a\u200bb\u00ad c\x00d\ufffd \t\n\r\x0b\x0c\x85 \u2028\u3000x",
    "\U0001f469\u200d\U0001f467 \U0001f1e9\U0001f1ea \U0001f44d\U0001f3fd",
    "x" * 100,
    "x" * 101,
    "word " * 400,
]


@pytest.fixture(scope="module", params=[(True, None), (False, None), (False, True), (True, False)])
def both(request):
    """Our word pieces and those of the package; every letter is a piece, so that none is lost unseen."""
    pieces = [
        "[PAD]",
        "[UNK]",
        "[CLS]",
        "[SEP]",
        *OLD,
        *(f"##{letter}" for letter in OLD),
        "wor",
        "##rd",
        "##\u0939\u093f",
    ]
    plain = tokenizer_of(pieces, *request.param)
    theirs = tokenizers.Tokenizer.from_str(json.dumps(plain))
    theirs.no_truncation()
    return WordPieces.of(plain), theirs


def test_every_letter_has_the_same_pieces(both):
    ours, theirs = both
    for start in range(0, len(OLD), 500):
        text = " ".join(f"a{letter}b{letter}" for letter in OLD[start : start + 500])
        assert ours.numbers(text, 10**6) == theirs.encode(text).ids, hex(ord(OLD[start]))


@pytest.mark.parametrize("text", ODD)
def test_odd_texts_have_the_same_pieces(both, text):
    ours, theirs = both
    theirs.enable_truncation(256)
    assert ours.numbers(text, 256) == theirs.encode(text).ids
    theirs.no_truncation()


@given(st.text(st.sampled_from(OLD[:3000]) | st.sampled_from(OLD), max_size=40))
def test_any_text_has_the_same_pieces(both, text):
    ours, theirs = both
    assert ours.numbers(text, 10**6) == theirs.encode(text).ids


@pytest.mark.parametrize(
    ("part", "name", "value", "message"),
    [
        ("model", "type", "Unigram", "type of model in its word pieces must be 'WordPiece', got 'Unigram'"),
        ("normalizer", "clean_text", False, "clean_text of normalizer in its word pieces must be True, got False"),
        ("model", "vocab", ["a"], "its word pieces are not those of a BERT"),
        ("post_processor", "single", [], "its word pieces are not those of a BERT"),
    ],
)
def test_other_word_pieces_are_refused(part, name, value, message):
    plain = tokenizer_of(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "a"])
    plain[part][name] = value
    with pytest.raises(FileFormatError, match=message):
        WordPieces.of(plain)


def test_a_piece_that_takes_the_blanks_beside_it_is_refused():
    plain = tokenizer_of(["[PAD]", "[UNK]", "[CLS]", "[SEP]"])
    plain["added_tokens"][0]["lstrip"] = True
    with pytest.raises(FileFormatError, match=r"lstrip of the token '\[PAD\]' in its word pieces must be False"):
        WordPieces.of(plain)
