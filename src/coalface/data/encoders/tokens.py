"""Words as rows of numbers: what a word and its neighbours look like, hashed into a fixed number of columns.

Texts become columns by the CRC-32 of the text and a mixing of its bits, so a column means the same in every file, on
every machine and in every run.
"""

from collections.abc import Sequence
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from coalface.data.dataset_fields import Examples
from coalface.errors import InputError

WINDOW = 2  # neighbours looked at on each side
_N_FEATURES = 9  # of one word: itself, in lower case, its shape, 3 prefixes, 3 suffixes
_NONE = -1  # where a word is too short for a prefix


def hashed_tokens(sentences: Sequence[Sequence[str]], bits: int = 18, window: int = WINDOW) -> Examples:
    """One row per word, 1 in the column of each of its features; neighbours outside the sentence have one of their own.

    ``window`` is the number of neighbours on each side.

    >>> X = hashed_tokens([["The", "cat"], ["It"]])
    >>> X.shape, X[[2]].nnz
    ((3, 262144), 11)
    """
    if not 1 <= bits <= 30:
        raise InputError(f"bits must be one of 1 to 30, got {bits!r}. Choose one of them.")
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
    X.sum_duplicates()  # two features of a word in one column count 2
    return X


def word_features(word: str) -> list[str]:
    """What a word looks like, in this order; prefixes and suffixes that it is too short for are left out.

    >>> word_features("Mr.")
    ['w=Mr.', 'l=mr.', 's=Aa.', '1=M', '2=Mr', '3=Mr.', '4=.', '5=r.', '6=Mr.']
    """
    lengths = range(1, min(len(word), 3) + 1)
    prefixes = [f"{length}={word[:length]}" for length in lengths]
    suffixes = [f"{length + 3}={word[-length:]}" for length in lengths]
    return [f"w={word}", f"l={word.lower()}", f"s={word_shape(word)}", *prefixes, *suffixes]


def word_shape(word: str) -> str:
    """Letters as A or a, digits as 0, the rest as it is; of equal neighbours one is kept.

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
    """The columns of each word's features at each place of the window; last, those of no word at all."""
    hashes = np.zeros((len(kinds) + 1, len(offsets), _N_FEATURES), dtype=np.uint32)
    there = np.zeros(hashes.shape, dtype=np.bool_)
    starts = [crc32(f"{offset}:".encode()) for offset in offsets]
    for row, word in enumerate(kinds):
        texts = [text.encode("utf-8", "surrogatepass") for text in word_features(word)]
        hashes[row, :, : len(texts)] = [[crc32(text, start) for text in texts] for start in starts]
        there[row, :, : len(texts)] = True
    hashes[-1, :, 0] = [crc32(b"outside", start) for start in starts]
    there[-1, :, 0] = True
    return np.where(there, _mixed(hashes) >> np.uint32(32 - bits), np.int64(_NONE)).astype(np.int32)


def _mixed(hashes: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Bits spread over the whole number: a CRC alone lets two texts that meet at one place meet at all of them."""
    mixed = hashes ^ (hashes >> np.uint32(16))
    mixed = mixed * np.uint32(0x85EBCA6B)  # odd, so that nothing is lost; overflow is meant
    mixed ^= mixed >> np.uint32(13)
    mixed = mixed * np.uint32(0xC2B2AE35)
    return np.asarray(mixed ^ (mixed >> np.uint32(16)), dtype=np.uint32)


def _neighbours(
    kind: NDArray[np.int64], sentences: Sequence[Sequence[str]], offset: int, outside: int
) -> NDArray[np.int64]:
    """The word ``offset`` places to the right of each word, ``outside`` where its sentence is over."""
    sentence = np.repeat(np.arange(len(sentences)), [len(words) for words in sentences])
    there = np.arange(len(kind)) + offset
    inside = (there >= 0) & (there < len(kind))
    clipped = np.where(inside, there, 0)
    return np.where(inside & (sentence[clipped] == sentence), kind[clipped], outside)
