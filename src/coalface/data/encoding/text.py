"""Texts as sparse rows: words, word pairs and the letters within words, hashed into columns.

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

from coalface.data.dataset_fields import Examples
from coalface.errors import InputError

_WORD = re.compile(r"\w+")
_SHORTEST, _LONGEST = 3, 5  # letters in a row
_WORD_START, _LETTERS_START = crc32(b"w="), crc32(b"c=")  # so that a word and its letters have other columns
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
        parts.append(of_words @ _features(map(letters_of, words), _LETTERS_START, bits))
    total: Any = sum((_weighted(part) for part in parts[1:]), _weighted(parts[0]))
    rows: Examples = _of_length_one(total)
    return rows


def letters_of(word: str) -> list[str]:
    """The three to five letters in a row within a word; ``<`` and ``>`` mark its ends.

    >>> letters_of("lost")
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
    columns = columns_of_hashes(np.array(hashes, np.uint32), bits).astype(np.int64)
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


def columns_of_hashes(hashes: NDArray[np.uint32], bits: int) -> NDArray[np.uint32]:
    """The columns, below ``2**bits``, of CRC-32 hashes.

    The bits are mixed first: the CRC-32 of two texts that collide also collides after any common start.

    >>> from zlib import crc32
    >>> columns_of_hashes(np.array([crc32(b"parcel"), crc32(b"parcels")], np.uint32), bits=18).tolist()
    [174679, 203341]
    """
    mixed = hashes ^ (hashes >> np.uint32(16))
    mixed = mixed * np.uint32(0x85EBCA6B)  # odd, so that no information is lost; overflow is intended
    mixed ^= mixed >> np.uint32(13)
    mixed = mixed * np.uint32(0xC2B2AE35)
    return np.asarray((mixed ^ (mixed >> np.uint32(16))) >> np.uint32(32 - bits), dtype=np.uint32)


def check_bits(bits: int) -> None:
    """Raise an InputError unless ``2**bits`` columns are possible."""
    if isinstance(bits, bool) or not isinstance(bits, int) or not 1 <= bits <= 30:
        raise InputError(f"bits must lie between 1 and 30, got {bits!r}. The default is 18.")
