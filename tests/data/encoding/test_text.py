"""Hashed texts are what a plain reference computes, on every machine and in every process."""

import math
import os
import subprocess
import sys
import zlib
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

from coalface.data.encoding.text import hashed_texts

WORDS = st.lists(st.sampled_from(["my", "My", "parcel", "parcels", "Grüße", "x", "9", "refund-me!"]), max_size=12)


def column(start, text, bits):
    """Murmur's last steps over a CRC-32, in Python's integers."""
    number = zlib.crc32(text.encode(), zlib.crc32(start))
    number ^= number >> 16
    number = number * 0x85EBCA6B % 2**32
    number ^= number >> 13
    number = number * 0xC2B2AE35 % 2**32
    return (number ^ number >> 16) >> (32 - bits)


def normalised(counts, bits):
    row = np.zeros(2**bits)
    for place, count in counts.items():
        row[place] = 1 + math.log(count)
    length = np.linalg.norm(row)
    return row / length if length else row


def reference(text, bits, pairs, letters):
    words = CountVectorizer(token_pattern=r"\w+").build_analyzer()(text)
    terms = [
        *words,
        *(CountVectorizer(token_pattern=r"\w+", ngram_range=(2, 2)).build_analyzer()(text) if pairs else []),
    ]
    row = normalised(Counter(column(b"w=", term, bits) for term in terms), bits)
    if letters:
        within = CountVectorizer(analyzer="char", ngram_range=(3, 5), lowercase=False).build_analyzer()
        grams = [gram for word in words for gram in within(f"<{word}>")]
        row = row + normalised(Counter(column(b"c=", gram, bits) for gram in grams), bits)
    length = np.linalg.norm(row)
    return row / length if length else row


@settings(max_examples=60, deadline=None)
@given(texts=st.lists(WORDS.map(" ".join), min_size=1, max_size=4), pairs=st.booleans(), letters=st.booleans())
def test_rows_are_those_of_a_plain_reference(texts, pairs, letters):
    found = hashed_texts(texts, 10, pairs=pairs, letters=letters).toarray()
    expected = [reference(text, 10, pairs, letters) for text in texts]
    np.testing.assert_allclose(found, expected, atol=1e-6)


@settings(max_examples=30, deadline=None)
@given(texts=st.lists(st.text(max_size=40), min_size=1, max_size=5))
def test_rows_of_any_text_have_length_one_or_are_empty(texts):
    lengths = np.linalg.norm(hashed_texts(texts, 12).toarray(), axis=1)
    assert np.all(np.isclose(lengths, 1) | (lengths == 0))


def test_half_a_character_can_be_hashed():
    assert hashed_texts(["\ud83d broken"], 12).nnz > 0


@pytest.mark.parametrize("hash_seed", ["0", "7"])
def test_another_process_gets_the_same_bits(hash_seed):
    code = (
        "from coalface.data.encoding.text import hashed_texts as h; X = h(['Where is my parcel?'], pairs=True); "
        "print(X.indices.tolist(), X.data.tobytes().hex())"
    )
    printed = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
    ).stdout
    X = hashed_texts(["Where is my parcel?"], pairs=True)
    assert printed.strip() == f"{X.indices.tolist()} {X.data.tobytes().hex()}"
