"""Raw values as rows of numbers: hashed features of words, and standardised columns.

The column of a text is its CRC-32 with the bits mixed. It is the same in every file, on every machine and in every run.
"""

import warnings
from collections.abc import Sequence
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from coalface.data.dataset_fields import Examples
from coalface.data.encoding.text import check_bits, columns_of_hashes

WINDOW = 2  # neighbours on each side whose features are used
_N_FEATURES = 9  # of one word: itself, in lower case, its shape, 3 prefixes, 3 suffixes
_NONE = -1  # the word is too short for this prefix or suffix


def hashed_tokens(sentences: Sequence[Sequence[str]], bits: int = 18, window: int = WINDOW) -> Examples:
    """One row per word with 1 in the column of each feature; a neighbour outside the sentence is a feature too.

    ``window`` is the number of neighbours on each side.

    >>> X = hashed_tokens([["The", "cat"], ["It"]])
    >>> X.shape, X[[2]].nnz
    ((3, 262144), 11)
    """
    check_bits(bits)
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
    return np.where(there, columns_of_hashes(hashes, bits), np.int64(_NONE)).astype(np.int32)


def _neighbours(
    kind: NDArray[np.int64], sentences: Sequence[Sequence[str]], offset: int, outside: int
) -> NDArray[np.int64]:
    """The word ``offset`` places to the right of each word; ``outside`` beyond the end of its sentence."""
    sentence = np.repeat(np.arange(len(sentences)), [len(words) for words in sentences])
    there = np.arange(len(kind)) + offset
    inside = (there >= 0) & (there < len(kind))
    clipped = np.where(inside, there, 0)
    return np.where(inside & (sentence[clipped] == sentence), kind[clipped], outside)


def standardised(X: NDArray[Any], train: NDArray[Any]) -> NDArray[np.float64]:
    """Columns with mean 0 and deviation 1 over the rows ``train``; NaN becomes the median, a constant column 0.

    >>> X = np.array([[1.0, 5.0], [3.0, 5.0], [np.nan, 5.0], [4.0, 6.0]])
    >>> standardised(X, np.arange(3))
    array([[-1.22474487,  0.        ],
           [ 1.22474487,  0.        ],
           [ 0.        ,  0.        ],
           [ 2.44948974,  0.        ]])
    """
    values = np.array(X, dtype=np.float64)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a column may be NaN in all training rows
        median = np.nan_to_num(np.nanmedian(values[train], axis=0))
    values = np.where(np.isnan(values), median, values)
    values -= values[train].mean(axis=0)
    deviation = values[train].std(axis=0)
    # The computed mean of equal numbers differs by rounding, so the deviation alone cannot show a constant column.
    constant = values[train].max(axis=0) - values[train].min(axis=0) == 0
    scaled: NDArray[np.float64] = np.divide(values, deviation, out=np.zeros_like(values), where=~constant)
    return scaled
