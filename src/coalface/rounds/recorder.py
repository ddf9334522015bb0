"""``Recorder``: writes what a learner learns to its ledger and refuses what a replay could not repeat."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from coalface.errors import InputError
from coalface.rounds.ledger import Ledger
from coalface.rounds.round import Round


class Recorder:
    """Writes the rounds of one learner to one ledger.

    ``learned_with`` names the parameters that affect replay; the others only affect which costs are asked for.
    """

    def __init__(
        self, ledger: Ledger, texts: Sequence[str], learned_with: Iterable[str], params: Mapping[str, Any]
    ) -> None:
        self.ledger = ledger
        self.texts = texts  # the labels as the ledger writes them
        self._params = {name: params[name] for name in learned_with}
        self._incomplete = False

    def check(self, params: Mapping[str, Any]) -> None:
        """Raise an InputError if a replay of the ledger could not repeat what the learner learns next."""
        if self._incomplete:
            raise InputError(
                "The ledger lacks answers that this learner has learned, because writing them failed. Continue from "
                "the ledger: CoalClassifier.from_ledger(ledger)."
            )
        for name, then in self._params.items():
            if params[name] != then:
                raise InputError(
                    f"{name} must stay as it was when the ledger began, {then!r}, got {params[name]!r}. Start a new "
                    "learner with a new ledger."
                )

    def write(self, rounds: Iterable[Round], params: Mapping[str, Any], *, learned: bool = False) -> None:
        """Append rounds. If this fails after they were ``learned``, ``check`` refuses to continue."""
        self.check(params)
        self._incomplete = learned
        self.ledger.append(rounds)
        self._incomplete = False
