"""The learner's pen: what it learns is written down, and the two never drift apart unnoticed."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from threading import RLock
from typing import Any

from coalface.errors import InputError
from coalface.files.interrupts import interrupts_put_off
from coalface.rounds.entry import Entry
from coalface.rounds.ledger import Ledger


class Recorder:
    """Writes what one learner is told to one ledger.

    ``learned_with`` names the parameters that decide how an answer is learned; others only decide what is asked.
    """

    def __init__(self, ledger: Ledger, learned_with: Iterable[str], params: Mapping[str, Any]) -> None:
        self.ledger = ledger
        self._params = {name: params[name] for name in learned_with}
        self._behind = False

    def check(self, params: Mapping[str, Any]) -> None:
        """Refuse to learn what a replay could not learn again."""
        if self._behind:
            raise InputError(
                "The ledger lacks answers that this learner has learned, because writing them failed. Go on from the "
                "ledger: CoalClassifier.from_ledger(ledger)."
            )
        for name, then in self._params.items():
            if params[name] != then:
                raise InputError(
                    f"{name} must stay as it was when the ledger began, {then!r}, got {params[name]!r}. Start a new "
                    "learner with a new ledger."
                )

    def write(self, entries: Iterable[Entry], *, learned: bool = False) -> None:
        """Append entries. If they were ``learned`` already and that fails, the learner cannot go on."""
        self._behind = learned
        self.ledger.append(entries)
        self._behind = False


def one_at_a_time(lock: RLock, recorder: Recorder | None) -> AbstractContextManager[Any]:
    """A block in which no other thread learns and, where a ledger is kept, Ctrl-C waits."""
    return lock if recorder is None else _undisturbed(lock)


@contextmanager
def _undisturbed(lock: RLock) -> Iterator[None]:
    with lock, interrupts_put_off():
        yield
