"""What every ledger offers, those in memory and in a file, and the recorder that writes a learner's rounds to one."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from coalface.data.encoding.encoder import Encoder
from coalface.errors import InputError
from coalface.files.journal import Journal
from coalface.rounds.label_change import LabelChange
from coalface.rounds.round import Round

Header = dict[str, Any]
Entry = Round | LabelChange
_FILE_VERSION = 1


class Ledger(Protocol):
    """An append-only record of a learner: a header with its settings, then its rounds and label changes in order."""

    @property
    def header(self) -> Header | None:
        """The learner's settings and labels; None before ``begin``."""
        ...

    def begin(self, header: Header) -> None:
        """Write the header, once."""
        ...

    def append(self, entries: Iterable[Entry]) -> None:
        """Write rounds and label changes; they are stored safely when this returns."""
        ...

    def __iter__(self) -> Iterator[Entry]: ...

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
        self._entries: list[Entry] = []

    @property
    def header(self) -> Header | None:
        """The learner's settings and labels; None before ``begin``."""
        return self._header

    def begin(self, header: Header) -> None:
        """Write the header, once."""
        refuse_second_header(self._header)
        self._header = dict(header)

    def append(self, entries: Iterable[Entry]) -> None:
        """Write rounds and label changes."""
        require_header(self._header)
        self._entries.extend(entries)

    def __iter__(self) -> Iterator[Entry]:
        return iter(tuple(self._entries))

    def __len__(self) -> int:
        return len(self._entries)


class JsonLinesLedger:
    """The ledger in the file at ``path``, one JSON object per line; ``begin`` creates it. Open it again to read it.

    ``coalface.files.journal`` keeps the file crash-safe.

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
        self._journal = Journal(path, "ledger", _FILE_VERSION)
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


def recorded_entry(line: Any) -> Entry:
    """Parse a round or a label change stored in a ledger; a ValueError if it cannot be replayed."""
    if isinstance(line, dict) and "labels" in line:
        return LabelChange.from_json(line)
    one = Round.from_json(line)
    if one.width is None:
        raise ValueError('"n_features" is missing')
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


class Recorder:
    """Writes the rounds and label changes of one learner to one ledger.

    ``learned_with`` names the parameters that affect replay; the others only affect which costs are asked for.
    """

    def __init__(
        self,
        ledger: Ledger,
        texts: Sequence[str],
        learned_with: Iterable[str],
        params: Mapping[str, Any],
        budget: Mapping[str, Any],
    ) -> None:
        self.ledger = ledger
        self.texts = texts  # the labels as the ledger writes them
        self._params = {name: params[name] for name in learned_with}
        self.budget = budget  # that the ledger has, empty if there is none
        self.bounds = params.get("_bounds") if len(ledger) else None  # of costs, that the ledger has
        self.incomplete = False  # whether ledger and learner differ
        self.has_encoder = (ledger.header or {}).get("encoder") is not None  # whether the ledger can repeat it

    def check(self, params: Mapping[str, Any]) -> None:
        """Raise an InputError if a replay of the ledger could not repeat what the learner learns next."""
        if self.incomplete:
            raise InputError(
                "The ledger and this learner differ, because writing or learning an answer failed. Continue from the "
                "ledger: CoalClassifier.from_ledger(ledger)."
            )
        for name, then in self._params.items():
            if params[name] != then:
                raise InputError(
                    f"{name} must stay as it was when the ledger began, {then!r}, got {params[name]!r}. Start a new "
                    "learner with a new ledger."
                )

    def encoder_of(self, encoder: Encoder | None) -> dict[str, Any] | None:
        """The encoder as the next round must write it down; None if there is none or the ledger has it already."""
        return None if encoder is None or self.has_encoder else encoder.plain()

    def write(
        self, entries: Iterable[Entry], params: Mapping[str, Any], budget: Mapping[str, Any], *, learned: bool = False
    ) -> None:
        """Append rounds or changes under this budget.

        If it fails after they were ``learned``, ``check`` refuses to continue.
        """
        self.check(params)
        self.incomplete = learned
        written = list(entries)
        first = written[0] if written else None
        if first is not None and budget != self.budget:
            written[0] = replace(first, budget=budget)
        if isinstance(first, Round) and params.get("_bounds") != self.bounds:
            written[0], self.bounds = replace(written[0], bounds=params["_bounds"]), params["_bounds"]
        self.ledger.append(written)
        self.budget = self.budget if first is None else budget
        self.has_encoder |= any(isinstance(one, Round) and one.encoder is not None for one in written)
        self.incomplete = False
