"""Writing what a learner learns to its ledger, so that the two never drift apart unnoticed."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from coalface.errors import InputError
from coalface.rounds.ledger import Ledger
from coalface.rounds.round import Round


class Recorder:
    """Writes the rounds of one learner to one ledger.

    ``learned_with`` names the parameters that affect replay; the others only decide what is asked.
    """

    def __init__(
        self, ledger: Ledger, texts: Sequence[str], learned_with: Iterable[str], params: Mapping[str, Any]
    ) -> None:
        self.ledger = ledger
        self.texts = texts  # the labels as the ledger spells them
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

    def write(self, rounds: Iterable[Round], params: Mapping[str, Any], *, learned: bool = False) -> None:
        """Append rounds. If they were ``learned`` already and that fails, the learner cannot go on."""
        self.check(params)
        self._behind = learned
        self.ledger.append(rounds)
        self._behind = False
