"""``JsonLinesLedger``: a ledger in a file, one JSON object per line. ``coalface.files.journal`` keeps it crash-safe."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from coalface.files.journal import Journal
from coalface.rounds.ledger import Entry, Header, recorded_entry, refuse_second_header, require_header

_VERSION = 1


class JsonLinesLedger:
    """The ledger in the file at ``path``, which ``begin`` creates; open it again to read it.

    >>> from coalface.rounds.round import Round
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     ledger = JsonLinesLedger(Path(folder, "answers.jsonl"))
    ...     ledger.begin({"classes": ["a", "b"]})
    ...     ledger.append([Round(1, width=3)])
    ...     [one.number for one in JsonLinesLedger(ledger.path)]
    [1]
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._journal = Journal(path, "ledger", _VERSION)
        for _ in self:  # reports damage on opening, not in the middle of a replay
            pass

    @property
    def header(self) -> Header | None:
        """The learner's settings and labels; None before ``begin``."""
        return self._journal.header

    def begin(self, header: Header) -> None:
        """Write the header, once."""
        refuse_second_header(self.header)
        self._journal.begin(header)

    def append(self, entries: Iterable[Entry]) -> None:
        """Write rounds and label changes; they are on disk when this returns."""
        require_header(self.header)
        self._journal.append(one.to_json() for one in entries)

    def __iter__(self) -> Iterator[Entry]:
        for number, line in self._journal:
            try:
                yield recorded_entry(line)
            except ValueError as problem:
                raise self._journal.damaged(number, problem) from None

    def __len__(self) -> int:
        return self._journal.length
