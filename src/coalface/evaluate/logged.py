"""What a policy would have cost, estimated from the log of another: offline evaluation.

A log has, for each example, the label that was served, its cost c, and the probability p with which it was chosen. With
w = (probability that the new policy serves this label) / p, the estimates of the new policy's mean cost are

- inverse propensity: the mean of w c; unbiased if p is right and above 0 wherever the policy may serve a label;
- self-normalised: the sum of w c over the sum of w; slightly biased, but steadier, and within the bounds of costs;
- doubly robust: the mean predicted cost of the policy, plus the mean of w (c - predicted cost of the served label);
  unbiased like the first, and the steadier the better the predictions are.

The 95 % intervals are Student's, of the self-normalised estimate by the delta method. Equal costs in m rows do not show
that all costs are equal: by the rule of three, up to a share 3 / m may differ. So no interval reaches less far from its
estimate than that share of the scale, with m the effective rows. They need enough rows where the policy may serve what
was served: with fewer than ``LEAST_ROWS``, nothing is known. Estimates and intervals end at the bounds of costs.
"""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.data.costs import CostScale
from coalface.data.labels import label_codes, label_texts
from coalface.errors import FileFormatError, InputError, shortened
from coalface.learner.estimator import CoalClassifier
from coalface.learner.named_learner import NamedLearner
from coalface.learner.predicting import best_labels
from coalface.learner.state import scale_of
from coalface.rounds.arrays import answer_arrays
from coalface.rounds.lines import numbered_rounds

LEAST_ROWS = 10
_UPPER_TAIL = 0.975
_RULE_OF_THREE = 3.0
F64 = NDArray[np.float64]


@dataclass(frozen=True)
class _PolicyEstimate:
    """The estimated mean cost of a policy, and the ends of its 95 % interval."""

    method: str
    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class LoggedReport:
    """The estimates of a policy's mean cost, and how much of the log they rest on.

    ``matched`` counts the rows whose served label the policy may serve. ``effective_rows`` is the number of rows with
    equal weights that would be as precise: the squared sum of the weights over the sum of their squares.

    >>> policy, served = np.array([[1.0, 0.0]] * 40), np.array([0, 1] * 20)  # half of the log is what it would serve
    >>> report = policy_estimates(served, np.array([0.2, 0.9] * 20), np.full(40, 0.5), policy, np.full((40, 2), 0.5))
    >>> report.matched, report.effective_rows, round(report.logged_cost, 3), round(report["self-normalised"].mean, 3)
    (20, 20.0, 0.55, 0.2)
    """

    rows: int
    matched: int
    effective_rows: float
    logged_cost: float  # the mean cost of what was served
    estimates: tuple[_PolicyEstimate, ...]

    def __getitem__(self, method: str) -> _PolicyEstimate:
        """The estimate of a method: "inverse propensity", "self-normalised" or "doubly robust"."""
        return next(one for one in self.estimates if one.method == method)

    def to_values(self) -> dict[str, Any]:
        """The report as values that JSON can hold."""
        return asdict(self)


def policy_estimates(
    served: NDArray[np.int64],
    cost: F64,
    probability: F64,
    policy: F64,
    predicted: F64,
    cost_bounds: tuple[float, float] = (0.0, 1.0),
) -> LoggedReport:
    """The estimates for a policy that serves label k on row i with probability ``policy[i, k]``.

    ``served`` (n,) are columns, ``predicted`` (n, K) are predicted costs; any are valid, good ones make the doubly
    robust estimate precise.

    >>> policy, predicted = np.array([[1.0, 0.0]] * 40), np.full((40, 2), 0.5)
    >>> served, cost = np.array([0, 1] * 20), np.array([0.2, 0.9] * 20)
    >>> report = policy_estimates(served, cost, np.full(40, 0.5), policy, predicted)
    >>> [(one.method, round(one.mean, 3)) for one in report.estimates]
    [('inverse propensity', 0.2), ('self-normalised', 0.2), ('doubly robust', 0.2)]
    """
    scale, rows = CostScale.of(cost_bounds), np.arange(len(served))
    weights = policy[rows, served] / probability
    matched, total = int(np.count_nonzero(weights)), float(weights.sum())
    enough = matched >= LEAST_ROWS
    normalised = float(weights @ cost) / total if total else float("nan")
    around = normalised + weights * (cost - normalised) / max(total / len(rows), 1e-300) if total else weights
    robust = (policy * predicted).sum(axis=1) + weights * (cost - predicted[rows, served])
    effective = total * total / float(weights @ weights) if total else 0.0
    least = _RULE_OF_THREE / effective * (scale.ceiling - scale.floor) if enough else float("inf")
    return LoggedReport(
        rows=len(rows),
        matched=matched,
        effective_rows=effective,
        logged_cost=float(cost.mean()),
        estimates=tuple(
            _PolicyEstimate(method, *_within(scale, mean, max(_half_width(values), least)))
            for method, mean, values in (
                ("inverse propensity", float((weights * cost).mean()), weights * cost),
                ("self-normalised", normalised, around),
                ("doubly robust", float(robust.mean()), robust),
            )
        ),
    )


def evaluate_logged(
    learner: CoalClassifier, X: Any, label: Any, cost: Any, probability: Any, *, candidates: Any = None
) -> LoggedReport:
    """What the learner's predictions would have cost on a log that it has not learned.

    ``label``, ``cost`` and ``probability`` (n,) are what was served, what it cost and how likely it was.

    >>> from coalface import CoalClassifier
    >>> X, served = [[1.0, 0.0], [0.0, 1.0]] * 40, ["walk", "walk", "fly", "fly"] * 20
    >>> cost = [0.1, 0.8, 0.9, 0.2] * 20
    >>> learner = CoalClassifier(["walk", "fly"]).observe(X[:40], served[:40], cost[:40], 0.5)
    >>> round(evaluate_logged(learner, X[40:], served[40:], cost[40:], [0.5] * 40)["inverse propensity"].mean, 3)
    0.15
    """
    labels, chances = np.asarray(label), np.asarray(probability, np.float64)
    costs = np.asarray(cost, np.float64)
    scale = scale_of(learner).containing(costs[np.isfinite(costs)])
    predicted = np.clip(learner.predict_cost(X), scale.floor, scale.ceiling)
    n_rows = len(predicted)
    for name, values in (("label", labels), ("cost", costs), ("probability", chances)):
        if values.shape != (n_rows,):
            raise InputError(
                f"{name} must have one entry per row, {n_rows}, got shape {values.shape}. Pass an array of that length."
            )
    if not n_rows or not (np.isfinite(costs) & (costs >= scale.floor) & (costs <= scale.ceiling)).all():
        raise InputError(
            f"cost must have numbers in [{scale.floor:g}, {scale.ceiling:g}], at least one, got "
            f"{shortened(costs.tolist())}. Leave out the other rows."
        )
    if not ((chances > 0) & (chances <= 1)).all():
        raise InputError(
            f"probability must be above 0 and at most 1, got {shortened(chances.tolist())}. Pass that with which "
            "each label was served."
        )
    if learner.abstain is not None:
        raise InputError("abstain must be None: a log has no cost for abstaining. Evaluate without it.")
    chosen = label_codes(best_labels(learner, X, candidates), learner.classes_)
    policy = np.zeros(predicted.shape)
    policy[np.arange(n_rows), chosen] = 1.0
    return policy_estimates(
        label_codes(labels, learner.classes_).astype(np.int64),
        costs,
        chances,
        policy,
        predicted,
        (scale.floor, scale.ceiling),
    )


def _half_width(values: F64) -> float:
    """Half the width of Student's interval of a mean of these values; 0 if there is only one."""
    from scipy.special import stdtrit

    if len(values) < 2:
        return 0.0
    quantile, deviation = float(stdtrit(len(values) - 1, _UPPER_TAIL)), float(values.std(ddof=1))
    return quantile * deviation / float(np.sqrt(len(values)))


def _within(scale: CostScale, mean: float, half: float) -> tuple[float, float, float]:
    """An estimate and the ends of its interval, within the bounds of costs; all costs if the width is infinite."""
    if half == float("inf"):
        return float(np.clip(mean, scale.floor, scale.ceiling)), scale.floor, scale.ceiling
    mean_, low, high = np.clip([mean, mean - half, mean + half], scale.floor, scale.ceiling).tolist()
    return mean_, low, high


def evaluate_lines(named: NamedLearner, lines: Iterable[str], source: str) -> LoggedReport:
    """The estimates for a model from lines with "served", "probability", "costs" and the example.

    Lines without "served", such as questions in a ledger, are left out. Errors name ``source`` and the line.

    >>> from coalface import CoalClassifier
    >>> named = NamedLearner(CoalClassifier(["walk", "fly"]).tell([[1.0]] * 9, [[0.2, 0.9]] * 9))
    >>> served = '"served": "walk", "probability": 0.5, "costs": {"walk": 0.3}'
    >>> line = f'{{"round": 1, "indices": [0], "values": [1], {served}}}'
    >>> round(evaluate_lines(named, [line] * 20, "log")["self-normalised"].mean, 6)
    0.3
    """
    learner = named.learner
    labels = dict.fromkeys(label_texts(learner.classes_))
    rounds = [one for _, one in numbered_rounds(lines, source, labels=labels, partial=True) if one.served is not None]
    if not rounds:
        raise FileFormatError(f'{source} must have at least one line with "served" and "probability", got none.')
    answers = answer_arrays(rounds, learner.classes_.tolist())
    assert answers.served is not None
    X, _ = named.examples_of(rounds)
    served, chances = answers.served
    costs = answers.cost[range(len(rounds)), served]
    return evaluate_logged(learner, X, learner.classes_[served], costs, chances, candidates=answers.candidates)
