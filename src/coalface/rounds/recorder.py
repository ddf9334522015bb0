"""Writing what a learner learns to its ledger, so that the two never drift apart unnoticed."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from threading import RLock
from typing import Any

from coalface.errors import InputError
from coalface.files.interrupts import interrupts_put_off
from coalface.rounds.ledger import Ledger
from coalface.rounds.round import Round


class Recorder:
    """Writes the rounds of one learner to one ledger.

    ``learned_with`` names the parameters that affect replay; the others only decide what is asked.
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

    def write(self, rounds: Iterable[Round], *, learned: bool = False) -> None:
        """Append rounds. If they were ``learned`` already and that fails, the learner cannot go on."""
        self._behind = learned
        self.ledger.append(rounds)
        self._behind = False

    @contextmanager
    def undisturbed(self, lock: RLock) -> Iterator[None]:
        """A block in which no other thread learns and Ctrl-C waits."""
        with lock, interrupts_put_off():
            yield
