"""Chooses which policy takes each step of a roll-in or roll-out: the learned one, the reference or a mixture.

Random draws depend only on the seed, the episode, the step and the action, so an episode repeats exactly.

In a mixture, the reference acts with a fixed probability, or with one that falls from pass to pass. Both papers start
with the reference alone and let its share decay. In DAgger, the reference acts in pass i with probability
beta_i = p^(i - 1), or in the first pass alone (p = 0). In Searn, each pass adds the new policy with weight beta to the
mixture, so the reference keeps the share (1 - beta)^(i - 1) in pass i.
"""

from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np

from coalface.data import one_of, whole_number
from coalface.errors import InputError, shortened
from coalface.structured.rollouts import Policy
from coalface.structured.task import Action, RollOut, SearchTask

_ROLL_IN, _ROLL_OUT = 1, 2  # independent random streams
RollIn = Literal["learned", "reference", "mixed"]
ROLL_INS = get_args(RollIn)
AUTO = "auto"  # in place of a roll-out: the task's own
_DAGGER, _SEARN = "dagger", "searn"
_FORMS = f"a number from 0 to 1, {_DAGGER!r}, '{_DAGGER}:P' or '{_SEARN}:BETA', such as '{_SEARN}:0.1'"
ROLL_OUTS = get_args(RollOut)


@dataclass(frozen=True)
class PolicyChoice:
    """How to roll in and out; in a mixture, the reference acts as often as ``mixture`` says: see ``reference_share``.

    >>> PolicyChoice("mixed", "reference", mixture=1.0, seed=0).reference_rolls_in(episode=0, step=3)
    True
    """

    roll_in: RollIn
    roll_out: RollOut
    mixture: float | str
    seed: int

    def __post_init__(self) -> None:
        one_of("roll_in", self.roll_in, ROLL_INS)
        one_of("roll_out", self.roll_out, ROLL_OUTS)
        reference_share(self.mixture, 1)
        whole_number("random_state", self.seed)

    def for_task(self, task: SearchTask[Any, Any]) -> "PolicyChoice":
        """The choice with the roll-out that the task has in place of "auto"."""
        if self.roll_out != AUTO:
            return self
        one_of("task.roll_out", task.roll_out, ROLL_OUTS[1:])
        return replace(self, roll_out=task.roll_out)

    def reference_rolls_in(self, episode: int, step: int, pass_number: int = 1) -> bool:
        """Whether the reference takes the next step of the roll-in."""
        if self.roll_in != "mixed":
            return self.roll_in == "reference"
        return bool(self._random(_ROLL_IN, episode, step).random() < reference_share(self.mixture, pass_number))

    def roll_out_policy(
        self, episode: int, step: int, action: int, learned: Policy, reference: Policy, pass_number: int = 1
    ) -> Policy | None:
        """The policy that completes the output after an action; None means the reference alone."""
        if self.roll_out in ("reference", "none"):
            return None
        if self.roll_out == "learned":
            return learned
        random, share = self._random(_ROLL_OUT, episode, step, action), reference_share(self.mixture, pass_number)
        if self.roll_out == "mixed":
            return None if random.random() < share else learned
        return _MixedPerState(random, share, learned, reference)

    def _random(self, *key: int) -> np.random.Generator:
        return np.random.default_rng([self.seed, *key])


@dataclass(frozen=True)
class _MixedPerState:
    """Draws the policy at every step; a class, since a closure could not be pickled for another process."""

    random: np.random.Generator
    share: float
    learned: Policy
    reference: Policy

    def __call__(self, state: Any) -> Action:
        return (self.reference if self.random.random() < self.share else self.learned)(state)


def reference_share(mixture: Any, pass_number: int) -> float:
    """The probability with which the reference acts in a pass, counted from 1; an InputError for a bad mixture.

    >>> [reference_share("dagger", i) for i in (1, 2, 3)], [reference_share("dagger:0.5", i) for i in (1, 2, 3)]
    ([1.0, 0.0, 0.0], [1.0, 0.5, 0.25])
    >>> [round(reference_share("searn:0.1", i), 3) for i in (1, 2, 3)], reference_share(0.3, 7)
    ([1.0, 0.9, 0.81], 0.3)
    """
    if not isinstance(mixture, str):
        return _share(mixture, mixture)
    name, _, number = mixture.partition(":")
    if mixture == _DAGGER:
        decay = 0.0
    elif name == _DAGGER:
        decay = _share(number, mixture)
    elif name == _SEARN:
        decay = 1.0 - _share(number, mixture)
    else:
        raise _refused(mixture)
    return float(decay ** (pass_number - 1))  # 0^0 is 1: the first pass belongs to the reference


def _share(value: Any, mixture: Any) -> float:
    try:
        share = float(value)
    except (TypeError, ValueError):
        raise _refused(mixture) from None
    if isinstance(value, bool) or not 0.0 <= share <= 1.0:
        raise _refused(mixture)
    return share


def _refused(mixture: Any) -> InputError:
    return InputError(f"mixture must be {_FORMS}, got {shortened(mixture)}.")
