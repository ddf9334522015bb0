"""The options of VW text, above all those of namespaces: which are read, n-grams, and columns side by side.

As in Vowpal Wabbit, a namespace is known by the first letter of its name; a blank stands for the unnamed one. An n-gram
is a feature of its own, with the value 1, for features that follow each other in the namespaces of one letter.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coalface.data.numbers import whole_number
from coalface.errors import InputError

FEATURES = ("numbered", "named", "hashed")  # how features become columns
UNNAMED = " "
_ALL = ""  # in place of a letter: every namespace


def letter_of(feature: str) -> str:
    """The letter of a feature's namespace: the first byte of the namespace's name.

    >>> letter_of("words^cat"), letter_of("words^cat words^dog"), letter_of("cat")
    ('w', 'w', ' ')
    """
    space, bar, _ = feature.partition(" ")[0].partition("^")
    return space.encode()[:1].decode("latin-1") if bar and space else UNNAMED


class Tokens(NamedTuple):
    """The features of all lines in the order of the file, and the name of each column."""

    indptr: NDArray[np.int64]
    columns: NDArray[np.int32]
    values: NDArray[np.float32]
    names: list[str]


@dataclass(frozen=True)
class Namespaces:
    """How to read namespaces; see ``read_vw_text`` for its parameters.

    >>> Namespaces.of(ignore=["ab"], ngrams=["2", "w3"]).ngrams
    {'': 2, 'w': 3}
    """

    ignore: str
    keep: str | None
    ngrams: dict[str, int]
    skips: dict[str, int]
    grouped: bool

    @classmethod
    def of(
        cls,
        *,
        ignore: Sequence[str] = (),
        keep: Sequence[str] | None = None,
        ngrams: int | Sequence[str] = (),
        skips: int | Sequence[str] = (),
        grouped: bool = False,
    ) -> Self:
        """The checked options."""
        grams, gaps = _by_letter("ngrams", ngrams, least=2), _by_letter("skips", skips, least=0)
        for letter in gaps:
            if letter not in grams and _ALL not in grams:
                raise InputError(
                    f"skips needs ngrams for the same namespaces, got skips for {letter or 'all'!r} only. Pass both."
                )
        if not isinstance(grouped, bool):
            raise InputError(f"grouped must be True or False, got {grouped!r}. Choose one.")
        return cls("".join(ignore), None if keep is None else "".join(keep), grams, gaps, grouped)

    @property
    def any(self) -> bool:
        """Whether the features of a file have to be named: some option is not the default."""
        return bool(self.ignore or self.ngrams or self.grouped or self.keep is not None)

    def apply(self, tokens: Tokens) -> Tokens:
        """The features of the namespaces that are read, with their n-grams."""
        if not self.any:
            return tokens
        kept = self._filtered(tokens)
        return self._sorted(self._with_ngrams(kept))

    def _filtered(self, tokens: Tokens) -> Tokens:
        letters = [letter_of(name) for name in tokens.names]
        reads = np.array([one not in self.ignore and (self.keep is None or one in self.keep) for one in letters], bool)
        if reads.all():
            return tokens
        wanted = reads[tokens.columns]
        before = np.concatenate([[0], np.cumsum(wanted)])
        numbers = np.cumsum(reads, dtype=np.int32) - np.int32(1)
        names = [name for name, one in zip(tokens.names, reads.tolist(), strict=True) if one]
        return Tokens(before[tokens.indptr], numbers[tokens.columns[wanted]], tokens.values[wanted], names)

    def _with_ngrams(self, tokens: Tokens) -> Tokens:
        if not self.ngrams:
            return tokens
        letters = np.array([letter_of(name) for name in tokens.names], dtype=str)
        rows = np.repeat(np.arange(len(tokens.indptr) - 1), np.diff(tokens.indptr))
        all_rows, all_columns, all_values, names = [rows], [tokens.columns], [tokens.values], list(tokens.names)
        for letter in sorted(set(letters.tolist())):
            of_letter = np.flatnonzero(letters[tokens.columns] == letter)
            longest = self.ngrams.get(letter, self.ngrams.get(_ALL, 1))
            skips = self.skips.get(letter, self.skips.get(_ALL, 0))
            for length in range(2, longest + 1):
                at, grams = _grams(rows[of_letter], tokens.columns[of_letter], length, skips)
                codes, first = _codes(grams, len(tokens.names))
                all_rows.append(at)
                all_columns.append((codes + len(names)).astype(np.int32))
                all_values.append(np.ones(len(at), np.float32))
                names += [" ".join(tokens.names[column] for column in gram) for gram in grams[first].tolist()]
        row = np.concatenate(all_rows)
        order = np.argsort(row, kind="stable")
        indptr = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=len(tokens.indptr) - 1))])
        return Tokens(indptr, np.concatenate(all_columns)[order], np.concatenate(all_values)[order], names)

    def _sorted(self, tokens: Tokens) -> Tokens:
        """The columns sorted by the letter of their namespace, if they are to be grouped."""
        if not self.grouped:
            return tokens
        order = sorted(range(len(tokens.names)), key=lambda column: letter_of(tokens.names[column]))
        places = np.empty(len(order), np.int32)
        places[order] = np.arange(len(order), dtype=np.int32)
        return tokens._replace(columns=places[tokens.columns], names=[tokens.names[column] for column in order])


@dataclass(frozen=True)
class VwOptions:
    """The options of ``read_vw_text``; ``decided_by`` is the number of lines that have decided them, if they did."""

    features: str = "auto"
    bits: int = 18
    n_features: int | None = None
    feature_names: Sequence[str] | None = None
    labels: str = "auto"
    first_label: int | None = None
    classes: ArrayLike | None = None
    targets: str = "auto"
    ignore: Sequence[str] = ()
    keep: Sequence[str] | None = None
    ngrams: int | Sequence[str] = ()
    skips: int | Sequence[str] = ()
    grouped: bool = False
    name: str | None = None
    decided_by: int | None = None

    def __post_init__(self) -> None:
        choices: dict[str, tuple[Any, ...]] = {
            "features": ("auto", *FEATURES),
            "labels": ("auto", "numbered", "named"),
            "first_label": (None, 0, 1),
            "targets": ("auto", "costs", "classes"),
            "bits": tuple(range(1, 32)),
        }
        for option, allowed in choices.items():
            if (value := getattr(self, option)) not in allowed:
                listed = "1 to 31" if option == "bits" else ", ".join(map(repr, allowed))
                raise InputError(f"{option} must be one of {listed}, got {value!r}. Choose one of them.")
        self.spaces  # noqa: B018 (checks them)

    @cached_property
    def spaces(self) -> Namespaces:
        """The options about namespaces."""
        return Namespaces.of(
            ignore=self.ignore, keep=self.keep, ngrams=self.ngrams, skips=self.skips, grouped=self.grouped
        )


def _gram_offsets(length: int, skips: int) -> Iterator[tuple[int, ...]]:
    """The places of an n-gram's features after the first one; at most ``skips`` features are left out in between.

    >>> list(_gram_offsets(3, skips=1))
    [(1, 2), (1, 3), (2, 3)]
    """
    return combinations(range(1, length + skips), length - 1)


def _grams(
    rows: NDArray[np.int64], columns: NDArray[np.int32], length: int, skips: int
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """The row and the columns of every n-gram."""
    found_rows, found = [np.zeros(0, np.int64)], [np.zeros((0, length), np.int32)]
    for offsets in _gram_offsets(length, skips):
        last = len(rows) - offsets[-1]
        start = np.flatnonzero(rows[offsets[-1] :] == rows[: max(last, 0)])
        found_rows.append(rows[start])
        found.append(np.stack([columns[start + offset] for offset in (0, *offsets)], axis=1))
    return np.concatenate(found_rows), np.concatenate(found)


def _codes(grams: NDArray[np.int32], n_names: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The number of each n-gram among the distinct ones, and where each distinct one is first."""
    codes, first = np.zeros(len(grams), np.int64), np.zeros(0, np.int64)
    for column in grams.T:
        _, first, codes = np.unique(codes * n_names + column, return_index=True, return_inverse=True)
    return codes, first


def _by_letter(option: str, given: int | Sequence[str], *, least: int) -> dict[str, int]:
    """Numbers by letter from a number for all namespaces, or texts such as "2" and "w3"."""
    numbers: dict[str, int] = {}
    for text in [str(given)] if isinstance(given, int | str) else [str(one) for one in given]:
        letter = _ALL if text.isdecimal() else text[:1]
        digits = text.removeprefix(letter)
        if not digits.isdecimal():
            raise InputError(f'{option} must be numbers, with or without a letter, got {text!r}. Write "2" or "w2".')
        numbers[letter] = whole_number(option, int(digits), least)
    return numbers
