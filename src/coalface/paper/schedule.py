"""The schedule of Algorithm 1: the slack and the width threshold of each round, with the paper's constants.

Notation of the paper: ``KAPPA`` kappa, ``log_factor`` nu_n, ``loss_slack`` Delta_i (averaged), ``width_threshold``
psi_i, ``dimension`` d (the pseudo-dimension of the regressors of one label), ``failure_probability`` delta.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.data import finite_number, is_number, whole_number
from coalface.errors import InputError
from coalface.paper.oracles import Oracle
from coalface.paper.user_oracles import FiniteOracle

KAPPA = 3.0
PUBLISHED = 324.0


@dataclass(frozen=True)
class Schedule:
    """The slack of the analysis, for regressors of a given dimension or a finite class of regressors.

    ``constant`` is 324 in the paper, which does not try to make it small. The proofs need it; learners often do not.

    >>> schedule = Schedule(n_labels=3, dimension=10)
    >>> [round(float(schedule.log_factor(n))) for n in (100, 10_000)]
    [21006, 38911]
    >>> schedule.first_exclusion()
    148179
    """

    n_labels: int
    dimension: float | None = None
    class_size: int | None = None
    failure_probability: float = 0.05
    constant: float = PUBLISHED

    def __post_init__(self) -> None:
        if (self.dimension is None) == (self.class_size is None):
            raise InputError(f"pass one of dimension and class_size, got {self.dimension!r} and {self.class_size!r}.")
        for name, least in (("n_labels", 1), ("dimension", 0), ("class_size", 1)):
            value = getattr(self, name)
            if value is not None and not least <= value < np.inf:
                raise InputError(f"{name} must be at least {least} and finite, got {value!r}.")
        chance = self.failure_probability
        if not is_number(chance) or not 0 < chance <= 1 / np.e:
            raise InputError(f"failure_probability must be greater than 0 and at most 1/e, got {chance!r}.")
        if not 0 < self.constant < np.inf:
            raise InputError(f"constant must be above 0 and finite, got {self.constant!r}. The paper's is 324.")

    def log_factor(self, horizon: Any) -> NDArray[np.float64]:
        """How far summed squared losses may deviate from their expectation in any of ``horizon`` rounds."""
        n = np.asarray(horizon, np.float64)
        if (n < 1).any():
            raise InputError(f"horizon must be at least 1, got {horizon!r}.")
        d = 0.0 if self.dimension is None else self.dimension
        size = d * np.log(n) if self.class_size is None else np.log(self.class_size)
        union = np.log(8 * self.n_labels * np.e * (d + 1) / self.failure_probability) + 2 * np.log(n)
        return np.asarray(self.constant * (size + union))

    def loss_slack(self, round_number: Any, horizon: Any) -> NDArray[np.float64]:
        """The slack of a round: how far the mean loss of a plausible regressor may exceed the least one.

        >>> Schedule(n_labels=2, class_size=5).loss_slack([1, 10], 1000).tolist()  # the cap
        [3.0, 3.0]
        """
        past = np.maximum(np.asarray(round_number, np.float64) - 1, 0)
        with np.errstate(divide="ignore"):
            return np.asarray(KAPPA * np.minimum(self.log_factor(horizon) / past, 1.0))

    def first_exclusion(self) -> int:
        """The least horizon within which any regressor can be ruled out; until then, every regressor is plausible.

        Losses lie in [0, 1], so a slack of 1 or more excludes nothing.
        """
        return least_whole(lambda n: bool(n - 1 > KAPPA * self.log_factor(n)))


@dataclass(frozen=True)
class TheorySchedule:
    """The slack of Algorithm 1 with the constants of its proof, for a learner with a known horizon.

    >>> schedule = TheorySchedule(Schedule(n_labels=3, dimension=5), horizon=1000)
    >>> schedule.summed_slack(101), schedule.summed_slack(1)
    (300.0, 3.0)
    """

    schedule: Schedule
    horizon: int

    @classmethod
    def of(
        cls,
        n_labels: int,
        oracle: Oracle,
        dimension: Any,
        horizon: Any,
        failure_probability: Any,
        constant: Any = PUBLISHED,
    ) -> "TheorySchedule":
        """The schedule of a learner with these parameters."""
        size = len(oracle.members) if isinstance(oracle, FiniteOracle) else None
        if horizon is None or (dimension is None and size is None):
            raise InputError(
                "schedule='theory' needs the horizon (the number of examples in all) and the dimension of the class "
                f"(for a linear class, its features), got horizon={horizon!r} and dimension={dimension!r}."
            )
        d = None if size is not None else whole_number("dimension", dimension, least=1)
        constant = finite_number("constant", constant, 0.0, above=True)
        schedule = Schedule(n_labels, d, size, failure_probability, constant)
        return cls(schedule, whole_number("horizon", horizon, least=2))

    def check(self, first_round: int, n_rows: int, width: int) -> None:
        """Raise an InputError if the proofs do not cover these rounds, or regressors of this many coefficients.

        After the last round, the learner may still be looked at and be told late answers.
        """
        last = first_round + n_rows - 1
        if first_round > self.horizon + 1 or first_round <= self.horizon < last:
            raise InputError(
                f"horizon={self.horizon} is the number of examples in all, got example {last}. "
                "Begin a new learner with a larger horizon: the slack of every round depends on it."
            )
        if self.schedule.dimension is not None and width > self.schedule.dimension:
            raise InputError(
                f"dimension must be at least {width}, the number of coefficients of a regressor, constant included, "
                f"got {self.schedule.dimension:g}."
            )

    def summed_slack(self, round_number: int) -> float:
        """The slack at this round, summed over the rounds before; kappa at the first round."""
        past = max(round_number - 1, 1)
        return float(past * self.schedule.loss_slack(past + 1, self.horizon))


def width_threshold(round_number: Any) -> NDArray[np.float64]:
    """The threshold psi: a cost is worth asking for only if its range is wider.

    >>> width_threshold([1, 4]).tolist()
    [1.0, 0.5]
    """
    return np.asarray(1.0 / np.sqrt(np.asarray(round_number, np.float64)))


def least_whole(holds: Any, most: int = 10**30) -> int:
    """The least integer of at least 1 for which a monotone condition holds.

    >>> least_whole(lambda n: n * n > 1000)
    32
    """
    high = 1
    while not holds(high):
        if high >= most:
            raise InputError(
                f"the condition must hold for some number up to {most:.0e}, got none. Raise most, or weaken the "
                "condition."
            )
        high = min(2 * high, most)
    low = high // 2  # the condition does not hold there, or low is 0
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
