"""Texts and sentences as sparse rows: words, word pairs, and the letters of words, hashed into columns.

A count c weighs 1 + log c. Words (with pairs) and letters are scaled to the same length each, and every row that is not
empty has length 1, so that long and short texts weigh the same.

The column of a text is its CRC-32 with the bits mixed. It is the same in every file, on every machine and in every run.
"""

import math
import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from coalface.data.numbers import whole_number
from coalface.data.rows import Examples

_WORD = re.compile(r"\w+")
_SHORTEST, _LONGEST = 3, 5  # letters in a row
_WORD_START, _LETTERS_START = crc32(b"w="), crc32(b"c=")  # so that a word and its letters have other columns
MOST_BITS = 30
WINDOW = 2  # neighbours on each side whose features are used
_N_FEATURES = 9  # of one word of a sentence: itself, in lower case, its shape, 3 prefixes, 3 suffixes
_NONE = -1  # the word is too short for this prefix or suffix
_MOST_COUNTED = 1000  # a higher count weighs as much
_WEIGHTS = np.array([0.0, *(1.0 + math.log(count) for count in range(1, _MOST_COUNTED + 1))], np.float32)


def hashed_texts(texts: Sequence[str], bits: int = 18, *, pairs: bool = False, letters: bool = True) -> Examples:
    """One row of ``2**bits`` columns per text.

    >>> rows = hashed_texts(["Where is my parcel?", "where IS my parcel", ""])
    >>> rows.shape, (rows[[0]] != rows[[1]]).nnz, rows[[2]].nnz
    ((3, 262144), 0, 0)
    """
    words = _Codes()
    tokens = [[words[word] for word in _WORD.findall(text.lower())] for text in texts]
    of_words = _counts(tokens, len(words))
    parts = [of_words @ _features([[word] for word in words], _WORD_START, bits)]
    if pairs:
        parts[0] = parts[0] + _counted_pairs(tokens, list(words), bits)
    if letters:
        parts.append(of_words @ _features(map(_letters_of, words), _LETTERS_START, bits))
    total: Any = sum((_weighted(part) for part in parts[1:]), _weighted(parts[0]))
    rows: Examples = _of_length_one(total)
    return rows


def _letters_of(word: str) -> list[str]:
    """The three to five letters in a row within a word; ``<`` and ``>`` mark its ends.

    >>> _letters_of("lost")
    ['<lo', 'los', 'ost', 'st>', '<los', 'lost', 'ost>', '<lost', 'lost>']
    """
    marked = f"<{word}>"
    lengths = range(_SHORTEST, min(len(marked), _LONGEST) + 1)
    return [marked[start : start + length] for length in lengths for start in range(len(marked) - length + 1)]


class _Codes(dict[Any, int]):
    """Numbers keys in the order in which they are first looked up."""

    def __missing__(self, key: Any) -> int:
        self[key] = code = len(self)
        return code


def _counts(tokens: Sequence[Sequence[int]], width: int) -> Any:
    """How often each row has each code."""
    indptr = np.cumsum([0, *map(len, tokens)])
    codes = np.fromiter((code for row in tokens for code in row), np.int64, count=indptr[-1])
    counts: Any = csr_array((np.ones(len(codes)), codes, indptr), shape=(len(tokens), width))
    counts.sum_duplicates()
    return counts


def _features(features: Iterable[Sequence[str]], start: int, bits: int) -> Any:
    """The columns of each word's features, as a matrix of counts."""
    hashes: list[int] = []
    ends = [0]
    for texts in features:
        hashes += [crc32(text.encode("utf-8", "surrogatepass"), start) for text in texts]
        ends.append(len(hashes))
    columns = _columns_of_hashes(np.array(hashes, np.uint32), bits).astype(np.int64)
    found: Any = csr_array((np.ones(len(columns)), columns, np.array(ends)), shape=(len(ends) - 1, 1 << bits))
    found.sum_duplicates()
    return found


def _counted_pairs(tokens: Sequence[Sequence[int]], words: list[str], bits: int) -> Any:
    codes = _Codes()
    of_pairs = [[codes[pair] for pair in pairwise(row)] for row in tokens]
    texts = ([f"{words[left]} {words[right]}"] for left, right in codes)
    return _counts(of_pairs, len(codes)) @ _features(texts, _WORD_START, bits)


def _weighted(counts: Any) -> Any:
    """The weights of the counts, scaled to rows of length 1."""
    places = np.minimum(counts.data, _MOST_COUNTED).astype(np.int64)
    return _of_length_one(csr_array((_WEIGHTS[places].astype(np.float64), counts.indices, counts.indptr), counts.shape))


def _of_length_one(rows: Any) -> Any:
    """Rows of length 1; the sums run in the order of the columns, so that every machine gets the same bits."""
    rows.sort_indices()
    n_rows = rows.shape[0]
    row_of: NDArray[np.int64] = np.repeat(np.arange(n_rows), np.diff(rows.indptr))
    data = rows.data.astype(np.float64)
    length = np.sqrt(np.bincount(row_of, data * data, minlength=n_rows))
    scaled = (data / length[row_of]).astype(np.float32)
    return csr_array((scaled, rows.indices.astype(np.int32), rows.indptr.astype(np.int64)), shape=rows.shape)


def _columns_of_hashes(hashes: NDArray[np.uint32], bits: int) -> NDArray[np.uint32]:
    """The columns, below ``2**bits``, of CRC-32 hashes.

    The bits are mixed first: the CRC-32 of two texts that collide also collides after any common start.

    >>> from zlib import crc32
    >>> _columns_of_hashes(np.array([crc32(b"parcel"), crc32(b"parcels")], np.uint32), bits=18).tolist()
    [174679, 203341]
    """
    mixed = hashes ^ (hashes >> np.uint32(16))
    mixed = mixed * np.uint32(0x85EBCA6B)  # odd, so that no information is lost; overflow is intended
    mixed ^= mixed >> np.uint32(13)
    mixed = mixed * np.uint32(0xC2B2AE35)
    return np.asarray((mixed ^ (mixed >> np.uint32(16))) >> np.uint32(32 - bits), dtype=np.uint32)


def hashed_tokens(sentences: Sequence[Sequence[str]], bits: int = 18, window: int = WINDOW) -> Examples:
    """One row per word with 1 in the column of each feature; a neighbour outside the sentence is a feature too.

    ``window`` is the number of neighbours on each side.

    >>> X = hashed_tokens([["The", "cat"], ["It"]])
    >>> X.shape, X[[2]].nnz
    ((3, 262144), 11)
    """
    whole_number("bits", bits, 1, MOST_BITS)
    offsets = range(-window, window + 1)
    kinds: dict[str, int] = {}
    kind = np.array([kinds.setdefault(word, len(kinds)) for words in sentences for word in words], dtype=np.int64)
    outside = len(kinds)
    table = _feature_columns(list(kinds), bits, offsets)  # (kinds + 1, window, features of a word)
    parts = [table[_neighbours(kind, sentences, offset, outside), place] for place, offset in enumerate(offsets)]
    columns = np.concatenate(parts, axis=1) if len(kind) else np.empty((0, 1), np.int32)
    there = columns != _NONE
    indptr = np.concatenate([[0], np.cumsum(there.sum(axis=1))])
    indices = columns[there]
    X: Examples = csr_array((np.ones(len(indices), np.float32), indices, indptr), shape=(len(kind), 1 << bits))
    X.sum_duplicates()  # two features of a word in the same column add up to 2
    return X


def word_features(word: str) -> list[str]:
    """The features of a word; prefixes and suffixes longer than the word are left out.

    >>> word_features("Mr.")
    ['w=Mr.', 'l=mr.', 's=Aa.', '1=M', '2=Mr', '3=Mr.', '4=.', '5=r.', '6=Mr.']
    """
    lengths = range(1, min(len(word), 3) + 1)
    prefixes = [f"{length}={word[:length]}" for length in lengths]
    suffixes = [f"{length + 3}={word[-length:]}" for length in lengths]
    return [f"w={word}", f"l={word.lower()}", f"s={word_shape(word)}", *prefixes, *suffixes]


def word_shape(word: str) -> str:
    """The word with letters as A or a, digits as 0, and runs of equal characters shortened to one.

    >>> word_shape("McDonald's-90")
    "AaAa'a-0"
    """
    shape = ""
    for letter in word:
        kind = "0" if letter.isdigit() else letter
        if letter.isalpha():
            kind = "A" if letter.isupper() else "a"
        if not shape.endswith(kind):
            shape += kind
    return shape


def _feature_columns(kinds: list[str], bits: int, offsets: range) -> NDArray[np.int32]:
    """The columns of each word's features at each place of the window; the last row is for places outside."""
    hashes = np.zeros((len(kinds) + 1, len(offsets), _N_FEATURES), dtype=np.uint32)
    there = np.zeros(hashes.shape, dtype=np.bool_)
    starts = [crc32(f"{offset}:".encode()) for offset in offsets]
    for row, word in enumerate(kinds):
        texts = [text.encode("utf-8", "surrogatepass") for text in word_features(word)]
        hashes[row, :, : len(texts)] = [[crc32(text, start) for text in texts] for start in starts]
        there[row, :, : len(texts)] = True
    hashes[-1, :, 0] = [crc32(b"outside", start) for start in starts]
    there[-1, :, 0] = True
    return np.where(there, _columns_of_hashes(hashes, bits), np.int64(_NONE)).astype(np.int32)


def _neighbours(
    kind: NDArray[np.int64], sentences: Sequence[Sequence[str]], offset: int, outside: int
) -> NDArray[np.int64]:
    """The word ``offset`` places to the right of each word; ``outside`` beyond the end of its sentence."""
    sentence = np.repeat(np.arange(len(sentences)), [len(words) for words in sentences])
    there = np.arange(len(kind)) + offset
    inside = (there >= 0) & (there < len(kind))
    clipped = np.where(inside, there, 0)
    return np.where(inside & (sentence[clipped] == sentence), kind[clipped], outside)
