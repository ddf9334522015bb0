"""The online COAL engine once more, in plain NumPy: slow, readable, and sharing no code with the library.

Everything is written from the formulas, in the order in which they are stated. The only vectorisation is over
labels, whose regressors are independent; features are visited one by one, the constant feature last, so that
sums round as they do in a loop.

Notation, in the shape ``[feature, label]`` or ``[label]``:

============= ======================== =====================================================
paper or VW   here                     meaning
============= ======================== =====================================================
w             ``weights``              weight of the feature in the label's regressor
G             ``accumulators``         sum of squared (gradient times) feature values
N             ``scales``               largest ``|x|`` the label has learned from
S             ``norms_learned``        sum over updates of ``sum_j (x_j / N_j)^2``
W             ``updates_learned``      number of updates
i             ``round_number``         examples decided on so far, plus one
Delta_i       ``loss_slack``           on the scale of a *sum* of squared errors
psi_i         ``width_threshold``      a range no wider than this is not worth a question
============= ======================== =====================================================
"""

from dataclasses import dataclass

import numpy as np

RULES = ("coal", "all-or-none", "no-domination", "passive")
SENSITIVITIES = ("shadow", "seen-only", "derivative")

# Below this, x * x is no longer a normal float32; VW then calculates with sqrt of it in place of |x|.
SMALLEST_SQUARE = float(np.finfo(np.float32).tiny)


@dataclass(frozen=True)
class Decision:
    """What the engine thinks of one row before it learns anything from it; one entry per label.

    ``predicted`` is the raw, unclipped prediction. ``sensitivity`` is the undirected number: with
    ``sensitivity="derivative"`` it is the seen-only value, before the factor of two gaps of either direction.
    Labels that are no candidates have NaN ranges and are never asked for.
    """

    predicted: np.ndarray
    lowest: np.ndarray
    highest: np.ndarray
    sensitivity: np.ndarray
    mask: np.ndarray

    @property
    def width(self):
        return self.highest - self.lowest

    def best_label(self):
        """The label with the least raw prediction, the first of them in a tie."""
        return int(np.argmin(np.where(np.isnan(self.lowest), np.inf, self.predicted)))


@dataclass(frozen=True)
class _Step:
    """State of the asked-about labels as it would be after looking at a row, before the weights move."""

    weights: np.ndarray
    accumulators: np.ndarray
    scales: np.ndarray
    rates: np.ndarray
    norm: np.ndarray
    move_per_unit: np.ndarray  # sum of x^2 * rate: how far a unit update moves the prediction


class ReferenceCoal:
    """A COAL learner for dense rows and costs between the two ends of ``label_range``.

    ``decide`` looks and changes nothing; ``learn`` updates the asked labels and moves on to the next round.

    >>> coal = ReferenceCoal(n_labels=2, n_features=1, mellowness=0.01)
    >>> coal.decide([1.0]).mask
    array([ True,  True])
    >>> coal.learn([1.0], costs=[1.0, 0.0], asked_mask=[True, True])
    >>> coal.decide([1.0]).best_label(), coal.round_number
    (1, 2)

    ``label_range`` is both the scale of the ranges and the first value of the interval that predictions are
    clipped to; a cost outside it widens the latter, as in VW. ``stale_state`` repeats a defect of VW 9.8.0 to
    9.11.9: the sensitivities of all labels use the norms and update counts of one label, the first whose
    sensitivity was asked for since anything was learned. ``vw_bisection`` finds the ends of a range in VW's
    twenty float32 steps.
    """

    def __init__(
        self,
        n_labels,
        n_features,
        *,
        mellowness,
        width_scale=0.5,
        learning_rate=0.5,
        warm_up=1,
        rule="coal",
        accumulator="adax",
        sensitivity="shadow",
        slack="published",
        fit_intercept=True,
        stale_state=False,
        vw_bisection=False,
        dtype=np.float32,
        label_range=(0, 1),
        abstain_cost=None,
    ):
        assert rule in RULES
        assert accumulator in ("adax", "adagrad")
        assert sensitivity in SENSITIVITIES
        assert slack in ("published", "noise-scaled")
        self.n_labels, self.n_features = n_labels, n_features
        self.mellowness, self.width_scale, self.warm_up = mellowness, width_scale, warm_up
        self.learning_rate = dtype(learning_rate)
        self.rule, self.accumulator, self.sensitivity, self.slack = rule, accumulator, sensitivity, slack
        self.fit_intercept, self.stale_state, self.vw_bisection = fit_intercept, stale_state, vw_bisection
        self.dtype = dtype
        self.floor, self.ceiling = dtype(label_range[0]), dtype(label_range[1])
        self.abstain_cost = np.inf if abstain_cost is None else dtype(abstain_cost)

        shape = (n_features + fit_intercept, n_labels)
        self.weights = np.zeros(shape, dtype)
        self.accumulators = np.zeros(shape, dtype)
        self.scales = np.zeros(shape, dtype)
        self.norms_learned = np.zeros(n_labels)
        self.updates_learned = np.zeros(n_labels)
        self.lowest_cost_seen, self.highest_cost_seen = self.floor, self.ceiling
        self.squared_residuals = np.zeros(n_labels)
        self.costs_learned = np.zeros(n_labels)
        self.round_number = 1
        self._stale_label = None

    # Looking

    def decide(self, row, candidates=None):
        """Predictions, ranges and the labels to ask for on this row, in the current round."""
        candidates = self._candidates(candidates)
        features, values = self._nonzero(row)
        predicted = self._predict(features, values)
        clipped = self._clip(predicted)
        sensitivity = self._sensitivity(features, values, clipped, candidates)
        loss_slack = self.loss_slack()

        lowest = np.full(self.n_labels, np.nan)
        highest = np.full(self.n_labels, np.nan)
        for label in np.flatnonzero(candidates):
            lowest[label], highest[label] = self._range(clipped[label], sensitivity[label], loss_slack[label])
        mask = candidates & self._asked(lowest, highest, candidates)
        return Decision(predicted, lowest, highest, sensitivity, mask)

    def loss_slack(self):
        """How much more squared error than the best, summed over the past, is still plausible; per label."""
        span = float(self.ceiling - self.floor)
        slack = self.mellowness * np.log(max(self.n_labels, 2) * max(self.round_number - 1, 1)) * span**2
        slack = np.full(self.n_labels, slack)
        if self.slack == "noise-scaled":
            slack *= (1 + self.squared_residuals) / (1 + self.costs_learned)
        return slack

    def width_threshold(self):
        return self.width_scale * float(self.ceiling - self.floor) / np.sqrt(self.round_number)

    def guaranteed_cost(self, highest):
        """What the best answer costs at most; NaN stands for labels that are no candidates."""
        return np.nanmin(np.append(highest, self.abstain_cost))

    def answer(self, decision):
        """The label of least prediction, or None to abstain."""
        best = decision.best_label()
        return None if decision.predicted[best] > self.abstain_cost else best

    # Acting

    def learn(self, row, costs, asked_mask, candidates=None):
        """None; the asked labels whose cost is known (not NaN) are updated, and the round ends."""
        features, values = self._nonzero(row)
        costs = np.asarray(costs, self.dtype)
        learned = np.flatnonzero(np.asarray(asked_mask, bool) & ~np.isnan(costs))
        # One label after the other: a cost outside label_range widens the clipping interval for the labels
        # after it in the same example.
        for label in learned:
            self._learn_one(features, values, label, costs[label])
        if len(learned):
            self._stale_label = None
        elif self._stale_label is None:
            self._stale_label = int(np.argmax(self._candidates(candidates)))
        self.round_number += 1

    def _learn_one(self, features, values, label, cost):
        self.lowest_cost_seen = min(self.lowest_cost_seen, cost)
        self.highest_cost_seen = max(self.highest_cost_seen, cost)
        only = np.array([label])
        clipped = self._clip(self._predict(features, values)[only])
        self.costs_learned[label] += 1
        self.squared_residuals[label] += (float(clipped[0]) - float(cost)) ** 2
        if clipped[0] == cost:
            return

        step = self._look_at_row(features, values, only, clipped - cost)
        self.norms_learned[label] += float(step.norm[0])
        self.updates_learned[label] += 1
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):  # a row without any feature
            multiplier = self.dtype(np.sqrt(self.updates_learned[label] / self.norms_learned[label]))
            move_per_unit = step.move_per_unit[0] * multiplier
            gap = cost - clipped[0]
            if self.learning_rate * move_per_unit < 1e-6:
                update = 2 * self.learning_rate * gap
            else:
                update = gap * (1 - np.exp(-2 * self.learning_rate * move_per_unit)) / move_per_unit
            moved = step.weights[:, 0] + update * multiplier * values * step.rates[:, 0]
        self.weights[features, label] = moved
        self.accumulators[features, label] = step.accumulators[:, 0]
        self.scales[features, label] = step.scales[:, 0]

    # The formulas

    def _look_at_row(self, features, values, labels, residual):
        """Accumulators, scales and rates of these labels after the row was seen; nothing is changed."""
        four = self.dtype(4)
        gradient_factor = np.ones_like(residual) if self.accumulator == "adax" else four * residual**2
        shape = (len(features), len(labels))
        weights, accumulators, scales, rates = (np.empty(shape, self.dtype) for _ in range(4))
        norm = np.zeros(len(labels), self.dtype)
        move_per_unit = np.zeros(len(labels), self.dtype)
        for position, (feature, value) in enumerate(zip(features, values, strict=True)):
            square = max(value * value, self.dtype(SMALLEST_SQUARE))
            size = max(abs(value), self.dtype(np.sqrt(SMALLEST_SQUARE)))
            weight, scale = self.weights[feature, labels], self.scales[feature, labels]
            grown = size > scale
            rescaled = grown & (scale > 0)
            weights[position] = np.where(rescaled, weight * (scale / size), weight)
            scales[position] = np.where(grown, size, scale)
            accumulators[position] = self.accumulators[feature, labels] + gradient_factor * square
            with np.errstate(divide="ignore"):  # adagrad at zero residual: no accumulator, an infinite rate
                rates[position] = 1 / (np.sqrt(accumulators[position]) * scales[position])
            norm += square / scales[position] ** 2
            move_per_unit += square * rates[position]
        return _Step(weights, accumulators, scales, rates, norm, move_per_unit)

    def _sensitivity(self, features, values, clipped, candidates):
        """How far one unit of weight on an imaginary example would move each label's prediction, at most."""
        # The state of VW's defect: one label's norms and counts stand in for everybody's.
        source = np.arange(self.n_labels)
        if self.stale_state:
            first = int(np.argmax(candidates)) if self._stale_label is None else self._stale_label
            source = np.full(self.n_labels, first)
        norms, updates = self.norms_learned[source], self.updates_learned[source]

        every_label = np.arange(self.n_labels)
        with np.errstate(divide="ignore", invalid="ignore"):
            if self.sensitivity == "shadow":
                # The imaginary example has cost zero, whatever the direction.
                step = self._look_at_row(features, values, every_label, clipped)
                multiplier = np.sqrt((updates + 1) / (norms + step.norm)).astype(self.dtype)
                return self.learning_rate * (step.move_per_unit * multiplier)
            move_per_unit = np.zeros(self.n_labels, self.dtype)
            for feature, value in zip(features, values, strict=True):
                move_per_unit += value**2 / (np.sqrt(self.accumulators[feature]) * self.scales[feature])
            multiplier = np.sqrt(updates / norms).astype(self.dtype)
            return self.learning_rate * (move_per_unit * multiplier)

    def _range(self, clipped, sensitivity, loss_slack):
        if self.round_number == 1 or not np.isfinite(sensitivity):
            return self.floor, self.ceiling
        down = self._pull(clipped - self.floor, sensitivity, loss_slack)
        up = self._pull(self.ceiling - clipped, sensitivity, loss_slack)
        return max(clipped - down, self.floor), min(clipped + up, self.ceiling)

    def _pull(self, gap, sensitivity, loss_slack):
        """How far an imaginary example at the end of the scale may pull a prediction ``gap`` away from it."""
        if self.sensitivity == "derivative":
            sensitivity = 2 * gap * sensitivity
        if self.vw_bisection:
            return sensitivity * pull_weight_as_vw(gap, sensitivity, loss_slack)
        return pull(float(gap), float(sensitivity), float(loss_slack))

    def _asked(self, lowest, highest, candidates):
        if self.rule == "passive" or self.round_number <= self.warm_up:
            return candidates
        wide = highest - lowest > self.width_threshold()
        if self.rule == "no-domination":
            return wide
        contenders = lowest <= self.guaranteed_cost(highest)
        # Abstaining has no label and a range without width; it contends where no label is sure to do as well.
        others = 1 if np.all(highest[candidates] > self.abstain_cost) else 0
        asked = contenders & wide if np.sum(contenders) + others > 1 else np.zeros(self.n_labels, bool)
        if self.rule == "all-or-none":
            return np.full(self.n_labels, np.any(asked))
        return asked

    # Rows

    def _candidates(self, candidates):
        return np.ones(self.n_labels, bool) if candidates is None else np.asarray(candidates, bool)

    def _nonzero(self, row):
        row = np.asarray(row, self.dtype)
        assert row.shape == (self.n_features,)
        features = np.flatnonzero(row)
        values = row[features]
        if self.fit_intercept:
            features, values = np.append(features, self.n_features), np.append(values, self.dtype(1))
        return features, values

    def _predict(self, features, values):
        predicted = np.zeros(self.n_labels, self.dtype)
        for feature, value in zip(features, values, strict=True):
            predicted += self.weights[feature] * value
        return predicted

    def _clip(self, predicted):
        return np.clip(predicted, self.lowest_cost_seen, self.highest_cost_seen)


def pull(gap, sensitivity, loss_slack):
    """The ``u`` in ``[0, gap]`` with ``u^2 (2 gap - u) = loss_slack * sensitivity``, or ``gap``.

    >>> round(pull(1.0, 1.0, 0.5), 6), pull(1.0, 1.0, 2.0), pull(1.0, 0.0, 2.0)
    (0.596968, 1.0, 0.0)
    """
    target = loss_slack * sensitivity
    if gap**3 <= target:
        return gap
    if target == 0:
        return 0.0
    below, above = 0.0, gap
    while True:
        middle = (below + above) / 2
        if middle in (below, above):
            return middle
        if middle**2 * (2 * gap - middle) <= target:
            below = middle
        else:
            above = middle


def pull_weight_as_vw(gap, sensitivity, loss_slack):
    """The weight of the imaginary example as VW finds it: float32, at most twenty halvings, the lower end."""
    gap, sensitivity, loss_slack = np.float32(gap), np.float32(sensitivity), np.float32(loss_slack)
    tolerance = np.float32(1e-6)
    if gap == 0 or sensitivity == 0:
        return np.float32(0)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        most = min(gap / sensitivity, np.finfo(np.float32).max)
        if most * gap * gap <= loss_slack:
            return most
        below, above = np.float32(0), most
        for _ in range(20):
            weight = (below + above) / np.float32(2)
            excess = weight * (gap * gap - (gap - sensitivity * weight) ** 2) - loss_slack
            if excess > 0:
                above = weight
            else:
                below = weight
            if abs(excess) <= tolerance or above - below <= tolerance:
                break
    return below
