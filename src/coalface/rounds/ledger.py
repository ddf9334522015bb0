"""``Ledger``, the interface of every ledger, and ``MemoryLedger``."""

from collections.abc import Iterable, Iterator
from typing import Any, Protocol

from coalface.errors import InputError
from coalface.rounds.round import Round

Header = dict[str, Any]


class Ledger(Protocol):
    """An append-only record of a learner: a header with its settings, then its rounds in order."""

    @property
    def header(self) -> Header | None:
        """The learner's settings and labels; None before ``begin``."""
        ...

    def begin(self, header: Header) -> None:
        """Write the header, once."""
        ...

    def append(self, rounds: Iterable[Round]) -> None:
        """Write rounds; they are stored safely when this returns."""
        ...

    def __iter__(self) -> Iterator[Round]: ...

    def __len__(self) -> int: ...


class MemoryLedger:
    """A ledger in memory, for experiments and tests.

    >>> ledger = MemoryLedger()
    >>> ledger.begin({"classes": ["a", "b"]})
    >>> ledger.append([Round(1, width=3)])
    >>> len(ledger)
    1
    """

    def __init__(self) -> None:
        self._header: Header | None = None
        self._rounds: list[Round] = []

    @property
    def header(self) -> Header | None:
        """The learner's settings and labels; None before ``begin``."""
        return self._header

    def begin(self, header: Header) -> None:
        """Write the header, once."""
        refuse_second_header(self._header)
        self._header = dict(header)

    def append(self, rounds: Iterable[Round]) -> None:
        """Write rounds."""
        require_header(self._header)
        self._rounds.extend(rounds)

    def __iter__(self) -> Iterator[Round]:
        return iter(tuple(self._rounds))

    def __len__(self) -> int:
        return len(self._rounds)


def recorded_round(line: Any) -> Round:
    """Parse a round stored in a ledger; a ValueError if it cannot be replayed."""
    one = Round.from_json(line)
    if not one.width:
        raise ValueError('"width" is missing')
    return one


def refuse_second_header(header: Header | None) -> None:
    """Raise an InputError if a ledger has a header already: it belongs to one learner."""
    if header is not None:
        raise InputError(
            "This ledger has begun already. Use a new one, or continue it with CoalClassifier.from_ledger."
        )


def require_header(header: Header | None) -> None:
    """Raise an InputError if a ledger has no header: rounds cannot be replayed without its labels."""
    if header is None:
        raise InputError("This ledger has not begun. Attach it with learner.record_to(ledger).")
