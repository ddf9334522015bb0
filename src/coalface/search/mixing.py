"""Who leads: the policy that is learned, the reference, or now one and now the other.

Chances depend on the seed, the episode, the step and the action only, so that an episode repeats exactly.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from coalface.data.numbers import whole_number
from coalface.errors import InputError
from coalface.search.rollouts import Policy
from coalface.search.task import Action

_ROLL_IN, _ROLL_OUT = 1, 2  # streams of chances that have nothing to do with each other
ROLL_INS = ("learned", "reference", "mixed")
ROLL_OUTS = ("reference", "learned", "mixed", "mixed-per-state", "none")


@dataclass(frozen=True)
class Mixing:
    """How to roll in and out; ``mixture`` is the share of the reference where both take part.

    >>> Mixing("mixed", "reference", mixture=1.0, seed=0).reference_leads(episode=0, step=3)
    True
    """

    roll_in: str
    roll_out: str
    mixture: float
    seed: int

    def __post_init__(self) -> None:
        _one_of("roll_in", self.roll_in, ROLL_INS)
        _one_of("roll_out", self.roll_out, ROLL_OUTS)
        if not isinstance(self.mixture, int | float) or not 0.0 <= self.mixture <= 1.0:
            raise InputError(f"mixture must be a number from 0 to 1, got {self.mixture!r}.")
        whole_number("random_state", self.seed)

    def reference_leads(self, episode: int, step: int) -> bool:
        """Whether the reference takes the next action of the roll-in."""
        if self.roll_in != "mixed":
            return self.roll_in == "reference"
        return bool(self._draws(_ROLL_IN, episode, step).random() < self.mixture)

    def policy_after(self, episode: int, step: int, action: int, learned: Policy, reference: Policy) -> Policy | None:
        """Who completes the output after an action; None is the reference all the way."""
        if self.roll_out in ("reference", "none"):
            return None
        if self.roll_out == "learned":
            return learned
        draws = self._draws(_ROLL_OUT, episode, step, action)
        if self.roll_out == "mixed":
            return None if draws.random() < self.mixture else learned
        return _Alternating(draws, self.mixture, learned, reference)

    def _draws(self, *place: int) -> np.random.Generator:
        return np.random.default_rng([self.seed, *place])


@dataclass(frozen=True)
class _Alternating:
    """Now the reference, now the learned policy; unlike a function made on the spot it can go to another process."""

    draws: np.random.Generator
    mixture: float
    learned: Policy
    reference: Policy

    def __call__(self, state: Any) -> Action:
        return (self.reference if self.draws.random() < self.mixture else self.learned)(state)


def _one_of(name: str, value: Any, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise InputError(f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r}.")
