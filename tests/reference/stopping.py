"""What more asking could save, once more: from a list of rounds, with explicit weights, and no code of the library."""

from dataclasses import dataclass

import numpy as np

MEMORY = 2000


@dataclass(frozen=True)
class Round:
    """What was decided about one example, and the answers; arrays have one entry per label."""

    predicted: np.ndarray
    lowest: np.ndarray
    propensity: np.ndarray
    asked: np.ndarray
    costs: np.ndarray
    candidates: np.ndarray
    abstain_cost: float = np.inf

    @property
    def answer(self):
        """The label of least prediction, None to abstain."""
        among = np.where(self.candidates, self.predicted, np.inf)
        return None if among.min() > self.abstain_cost else int(among.argmin())

    @property
    def expected(self):
        return self.abstain_cost if self.answer is None else float(np.clip(self.predicted[self.answer], 0, 1))

    @property
    def chance(self):
        return 1.0 if self.answer is None else float(self.propensity[self.answer])

    @property
    def cost(self):
        """Unbiased, whatever was expected: the surprise of those asked stands for that of those who were not."""
        if self.answer is None or not self.asked[self.answer] or np.isnan(self.costs[self.answer]):
            return self.expected
        return self.expected + (float(self.costs[self.answer]) - self.expected) / self.chance

    @property
    def reachable(self):
        return min(float(self.lowest[self.candidates].min(initial=np.inf)), self.abstain_cost)


@dataclass(frozen=True)
class ReferenceSaving:
    estimate: float
    half: float
    rounds: float
    cost: float
    expected: float
    reachable: float


def weights_of(n):
    """Equal up to ``MEMORY`` rounds; from then on each new round takes one part in ``MEMORY`` from all before."""
    weights = np.zeros(0)
    for i in range(1, n + 1):
        share = 1 / min(i, MEMORY)
        weights = np.append(weights * (1 - share), share)
    return weights


def reference_saving(rounds):
    weights = weights_of(len(rounds))
    cost, expected, reachable = (
        np.array([getattr(each, name) for each in rounds]) for name in ("cost", "expected", "reachable")
    )
    mean = weights @ (cost - reachable)
    concentration = np.sum(weights**2)
    variance = weights @ (cost - reachable - mean) ** 2 / (1 - concentration)
    ages = np.arange(len(rounds))[::-1]
    faded = [
        (1 - 2 * each.expected) / each.chance * (1 - 1 / MEMORY) ** age for each, age in zip(rounds, ages, strict=True)
    ]
    step = max(0.0, *faded)
    # h = z sqrt((variance + h step) / n), from where it certainly lies above down to the fixed point
    z, half = 1.959963984540054, 1e6
    for _ in range(1000):
        half = z * np.sqrt((variance + half * step) * concentration)
    means = weights @ cost, weights @ expected, weights @ reachable
    refuted = means[0] + half < means[2]
    estimate = means[0] if refuted else min(means[0], max(means[0], means[1]) - means[2])
    return ReferenceSaving(estimate, half, 1 / concentration, means[0], means[1], 0.0 if refuted else means[2])
