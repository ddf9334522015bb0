"""The columns of named features in a stream of VW text: Python sees a name when it first occurs, not in every block.

The kernel describes each distinct name of a block by four integers: its first seven bytes, the next seven, its length
and namespace, and its start. The first three decide which name it is if it has at most 14 bytes. They are looked up
here as arrays; longer names are looked up as texts, and so are all others once two names share a hash.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Spans = NDArray[np.int64]  # (n, 4): see ``kernels.words.find_name``
Hashes = NDArray[np.uint64]

_LOW32 = 0xFFFFFFFF
_PACKED = 14  # bytes of a name that its integers hold
_FACTORS = tuple(np.uint64(factor) for factor in (0x2545F4914F6CDD1D, 0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93))
_SHIFT = np.uint64(32)


class _SortedNames(NamedTuple):
    """Some short names, sorted by hash."""

    hashes: Hashes
    keys: Spans  # (n, 3)
    columns: NDArray[np.int32]


class NameTable:
    """Gives names columns, in order of first appearance after the names it begins with.

    >>> table = NameTable(["cat"])
    >>> spans = np.array([[0x676F64, 0, 3, 0], [0x746163, 0, 3, 4]])  # "dog" and "cat", as the kernel packs them
    >>> table.places(spans, [""], lambda spans: ["dog", "cat"][: len(spans)]).tolist(), table.names
    ([1, 0], ('cat', 'dog'))
    """

    def __init__(self, names: Iterable[str] = ()) -> None:
        self.names = tuple(names)
        self._column = {name: place for place, name in enumerate(self.names)}  # of long names, or of all
        self._all_as_texts = bool(self.names)
        self._space_codes: dict[str, int] = {}
        self._runs: list[_SortedNames] = []

    def places(self, spans: Spans, spaces: list[str], texts_of: Callable[[Spans], list[str]]) -> NDArray[np.int32]:
        """The columns of the distinct names of a block, whose namespaces are ``spaces``; ``texts_of`` reads names."""
        if any("^" in space for space in spaces):
            self._use_texts()  # "a^b" and "c" make the same name as "a" and "b^c"
        keys, hashes = self._keys_of(spans, spaces)
        columns = np.full(len(spans), -1, np.int32)
        short = (spans[:, 2] & _LOW32) <= _PACKED
        if not self._all_as_texts:
            self._look_up(keys, hashes, short, columns)
        new = np.flatnonzero(columns < 0)
        self._add(new, texts_of(spans[new]), short, columns)
        if not self._all_as_texts:
            added = new[short[new]]
            self._keep(_SortedNames(hashes[added], keys[added], columns[added]))
        return columns

    def _keys_of(self, spans: Spans, spaces: list[str]) -> tuple[Spans, Hashes]:
        """The integers that tell names apart, with namespaces as numbered by the table, and a hash of these."""
        codes = np.array([self._space_codes.setdefault(space, len(self._space_codes)) for space in spaces], np.int64)
        keys = spans[:, :3].copy()
        if len(codes):
            keys[:, 2] = (spans[:, 2] & _LOW32) | (codes[spans[:, 2] >> 32] << 32)
        hashes = np.zeros(len(keys), np.uint64)
        for column, factor in enumerate(_FACTORS):
            hashes = (hashes ^ keys[:, column].astype(np.uint64)) * factor
            hashes ^= hashes >> _SHIFT
        return keys, hashes

    def _look_up(self, keys: Spans, hashes: Hashes, short: NDArray[np.bool_], columns: NDArray[np.int32]) -> None:
        """Write the columns of the short names that the table has."""
        for run in self._runs:
            at = np.minimum(np.searchsorted(run.hashes, hashes), len(run.hashes) - 1)
            found = np.flatnonzero(short & (run.hashes[at] == hashes))
            if (run.keys[at[found]] != keys[found]).any():
                self._use_texts()
                columns[:] = -1
                return
            columns[found] = run.columns[at[found]]

    def _add(
        self, new: NDArray[np.int64], texts: list[str], short: NDArray[np.bool_], columns: NDArray[np.int32]
    ) -> None:
        """Write the columns of these names, and keep those that are new."""
        if not self._all_as_texts and short[new].all():
            columns[new] = np.arange(len(self.names), len(self.names) + len(new), dtype=np.int32)
            self.names = (*self.names, *texts)
            return
        added: list[str] = []
        for row, text, is_short in zip(new.tolist(), texts, short[new].tolist(), strict=True):
            column = len(self.names) + len(added)
            if not is_short or self._all_as_texts:
                column = self._column.setdefault(text, column)
            if column == len(self.names) + len(added):
                added.append(text)
            columns[row] = column
        self.names = (*self.names, *added)

    def _keep(self, run: _SortedNames) -> None:
        """Keep a run, merged with those that are not much longer, so that there are few of them."""
        while self._runs and len(self._runs[-1].hashes) < 2 * len(run.hashes):
            last = self._runs.pop()
            run = _SortedNames(
                np.concatenate([last.hashes, run.hashes]),
                np.concatenate([last.keys, run.keys]),
                np.concatenate([last.columns, run.columns]),
            )
        order = np.argsort(run.hashes, kind="stable")
        run = _SortedNames(run.hashes[order], run.keys[order], run.columns[order])
        if (run.hashes[1:] == run.hashes[:-1]).any():
            self._use_texts()
        elif len(order):
            self._runs.append(run)

    def _use_texts(self) -> None:
        """Look all names up as texts from now on."""
        if not self._all_as_texts:
            self._column = {name: place for place, name in enumerate(self.names)}
            self._all_as_texts, self._runs = True, []
