"""The slack with which the theorems hold.

Notation: kappa times min(nu / (i - 1), 1) is the slack Delta_i at round i, on the scale of averages, with kappa = 3 and
nu = 324 (d ln n + ln(8 K e (d + 1) n^2 / delta)), where d is the (pseudo-)``dimension`` of the class, n the ``horizon``
and delta the ``failure_probability``. For a finite class ln |F| takes the place of d ln n.
"""

import math
from dataclasses import dataclass
from typing import Any

from coalface.errors import InputError
from coalface.regressors.foreign import FiniteOracle
from coalface.regressors.oracles import Oracle
from coalface.regressors.settings import whole_number

KAPPA = 3.0
_DEVIATION = 324.0


@dataclass(frozen=True)
class TheorySchedule:
    """The slack of Algorithm 1 with the constants of its proof.

    >>> schedule = TheorySchedule(n_labels=3, dimension=5, horizon=1000)
    >>> round(schedule.deviation), schedule.summed_slack(101), schedule.summed_slack(1)
    (18572, 300.0, 3.0)
    """

    n_labels: int
    dimension: int
    horizon: int
    failure_probability: float = 0.05
    n_functions: int | None = None  # of a finite class; its dimension counts as 0

    @classmethod
    def of(
        cls, n_labels: int, oracle: Oracle, dimension: Any, horizon: Any, failure_probability: Any
    ) -> "TheorySchedule":
        """The schedule of a learner with these parameters."""
        size = len(oracle.members) if isinstance(oracle, FiniteOracle) else None
        if horizon is None or (dimension is None and size is None):
            raise InputError(
                "schedule='theory' needs the horizon (how many examples there will be) and the dimension of the class "
                f"(of a linear one: its features), got horizon={horizon!r} and dimension={dimension!r}."
            )
        return cls(
            n_labels,
            0 if size is not None else whole_number("dimension", dimension, least=1),
            whole_number("horizon", horizon, least=2),
            _chance(failure_probability),
            size,
        )

    @property
    def deviation(self) -> float:
        """How far losses may be from their expectation, in all rounds together (nu)."""
        n, d = self.horizon, self.dimension
        size = d * math.log(n) if self.n_functions is None else math.log(self.n_functions)
        return _DEVIATION * (size + math.log(8 * self.n_labels * math.e * (d + 1) * n**2 / self.failure_probability))

    def summed_slack(self, round_number: int) -> float:
        """The slack at this round, summed over the rounds before; kappa itself at the first."""
        return KAPPA * min(self.deviation, max(round_number - 1, 1))


def _chance(value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not 0.0 < number <= 1 / math.e:
        raise InputError(f"failure_probability must be greater than 0 and at most 1/e, got {value!r}.")
    return number
