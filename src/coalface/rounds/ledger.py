"""What every ledger offers, the one in memory, and the recorder that writes a learner's rounds to a ledger."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from coalface.data.encoding.encoder import Encoder
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
    """Writes the rounds of one learner to one ledger.

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
        self._budget = budget  # that the ledger has, empty if there is none
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
        self, rounds: Iterable[Round], params: Mapping[str, Any], budget: Mapping[str, Any], *, learned: bool = False
    ) -> None:
        """Append rounds under this budget. If it fails after they were ``learned``, ``check`` refuses to continue."""
        self.check(params)
        self.incomplete = learned
        written = list(rounds)
        if written and budget != self._budget:
            written[0] = replace(written[0], budget=budget)
        self.ledger.append(written)
        self._budget = budget if written else self._budget
        self.has_encoder |= any(one.encoder is not None for one in written)
        self.incomplete = False
