"""``Calibration``: how often the best label was missed, as audits measure it, and the slack that follows from it."""

from dataclasses import dataclass

import numpy as np

from coalface.kernels.state import AUDITS, LOG_FACTOR, MISSES, Counted

_Z = 1.959963984540054  # the 97.5 % quantile of the normal distribution


@dataclass(frozen=True)
class Calibration:
    """How often the best label was neither predicted nor asked about, as full audits measure it.

    ``stated`` is the rate that the learner keeps to, ``measured`` the share of ``audits`` in which the best label was
    missed, with a 95 % interval (Wilson's). ``slack_factor`` multiplies ``mellowness``: it grows with every miss, and
    shrinks again, down to 1, while there is none.

    >>> print(Calibration.of(stated=0.1, audits=200, misses=16, slack_factor=1.5))
    the best label was missed in 8.0 % of 200 audits (95 % interval 5.0 to 12.6 %, stated 10.0 %); slack x 1.5
    """

    stated: float
    measured: float
    low: float
    high: float
    audits: int
    slack_factor: float

    @classmethod
    def of(cls, stated: float, audits: int, misses: int, slack_factor: float) -> "Calibration":
        """The calibration after so many audits and misses; nothing is known before the first audit."""
        if not audits:
            return cls(stated, 0.0, 0.0, 1.0, 0, slack_factor)
        share, extra = misses / audits, _Z * _Z / audits
        middle = (share + extra / 2) / (1 + extra)
        half = _Z / (1 + extra) * float(np.sqrt(share * (1 - share) / audits + extra / audits / 4))
        return cls(stated, share, max(middle - half, 0.0), min(middle + half, 1.0), audits, slack_factor)

    def __str__(self) -> str:
        if not self.audits:
            return f"no audits yet, so how often the best label is missed is unknown (stated {100 * self.stated:.1f} %)"
        measured, low, high, stated = (
            f"{100 * rate:.1f}" for rate in (self.measured, self.low, self.high, self.stated)
        )
        return (
            f"the best label was missed in {measured} % of {self.audits} audits (95 % interval {low} to {high} %, "
            f"stated {stated} %); slack x {self.slack_factor:.3g}"
        )


def calibration_of(stated: float, counts: Counted) -> Calibration:
    """The calibration that the model's counts hold."""
    facts = counts.calibration
    return Calibration.of(stated, int(facts[AUDITS]), int(facts[MISSES]), float(np.exp(facts[LOG_FACTOR])))
