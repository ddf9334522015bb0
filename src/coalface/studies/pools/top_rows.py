"""The best rows of a stream, duplicates once, in bounded memory."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

_LEAST_PENDING = 2**13  # rows that wait before the best of them are kept


class TopRows:
    """The ``limit`` rows of the largest scores above 0, each digest once; of equal rows, the one that came first.

    ``digests`` may be all distinct, for a ranking that keeps duplicates. The best rows of several streams, added in
    the order of these, are the best rows of all of them together.

    >>> import pyarrow as pa
    >>> top = TopRows(limit=2)
    >>> top.add(np.array([0.1, 0.5, 0.0]), [b"a", b"b", b"c"], pa.table({"name": ["Ada", "Bob", "Cy"]}))
    >>> top.add(np.array([0.5, 0.3]), [b"b", b"d"], pa.table({"name": ["Bob again", "Dee"]}))
    >>> scores, digests, table = top.best()
    >>> scores.tolist(), table["name"].to_pylist()
    ([0.5, 0.3], ['Bob', 'Dee'])
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.floor = 0.0  # a row must score more to be among the best
        self._scores: list[NDArray[np.float64]] = []
        self._digests: list[bytes] = []
        self._tables: list[Any] = []

    def add(self, scores: NDArray[np.float64], digests: list[bytes], table: Any) -> None:
        """Add rows that come after all others."""
        better = np.flatnonzero(scores > self.floor)
        if len(better) < len(scores):
            scores, digests, table = scores[better], [digests[place] for place in better.tolist()], table.take(better)
        if not self._tables or len(scores):
            self._scores.append(scores)
            self._digests += digests
            self._tables.append(table)
        if len(self._digests) >= max(2 * self.limit, _LEAST_PENDING):
            self._compact()

    def best(self) -> tuple[NDArray[np.float64], list[bytes], Any]:
        """The scores, digests and table of the best rows, the largest score first."""
        self._compact()
        return self._scores[0], self._digests, self._tables[0]

    def _compact(self) -> None:
        import pyarrow as pa

        scores = np.concatenate(self._scores)
        kept: list[int] = []
        seen: set[bytes] = set()
        for place in np.argsort(-scores, kind="stable").tolist():
            if len(kept) == self.limit:
                break
            if self._digests[place] not in seen:
                seen.add(self._digests[place])
                kept.append(place)
        table = pa.concat_tables(self._tables, promote_options="permissive").take(np.array(kept, np.int64))
        self._scores = [scores[kept]]
        self._digests = [self._digests[place] for place in kept]
        self._tables = [table]
        if len(kept) == self.limit:
            self.floor = float(scores[kept[-1]])
