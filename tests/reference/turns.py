"""The default learner once more, in plain NumPy and double precision: slow, readable, from the documentation.

Regressors, ranges and the rule are those of ``ReferenceCoal``. What the default adds is written here as
``docs/how-it-works.md`` says it: a learning rate and a warm-up of its own choice, audits, questions in turn, and what
answers imply. Nothing is summed up that can be kept: averages are taken over lists of all the costs so far. Only the
random numbers are the library's.

Three things the documentation leaves open are settled here: a mean squared error starts from one error of 1, the
constant counts as a non-zero, and of equally trusted averages the one over more examples speaks.
"""

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from coalface.kernels.draws import uniform

from .online import Decision, ReferenceCoal

LEVELS = 9
LEAST_TRUST = 0.5
DOUBT = 10.0
WHETHER_TO_AUDIT, WHAT_TO_AUDIT, WHETHER_WHOLE = range(3)  # the random numbers of a round


@dataclass(frozen=True)
class Round:
    """What happened to one row: the decision before any answer, then one entry per label."""

    decision: Decision
    asked: np.ndarray
    settled: np.ndarray
    known: np.ndarray  # costs, NaN where not asked or not told


class ReferenceDefault(ReferenceCoal):
    """What ``CoalClassifier(range(n_labels))`` does with rows whose costs are at hand.

    >>> coal = ReferenceDefault(n_labels=2, n_features=1)
    >>> rounds = [coal.play([1.0], np.array([0.25, 0.75])) for _ in range(40)]
    >>> rounds[0].asked, coal.decide([1.0]).predicted.round(2)
    (array([ True,  True]), array([0.25, 0.75]))
    """

    def __init__(self, n_labels, n_features, *, seed=0, audit_rate=0.1, mellowness=0.12, fit_intercept=True):
        super().__init__(
            n_labels,
            n_features,
            mellowness=mellowness,
            slack="noise-scaled",
            fit_intercept=fit_intercept,
            dtype=np.float64,
        )
        self.seed, self.audit_rate = seed, audit_rate
        self.row_sizes = []  # of the answered rows
        self.were_best = set()
        self.times_asked = np.zeros(n_labels)
        self.costs_met = defaultdict(list)  # (source, level, label): the label's costs
        self.tests = defaultdict(list)  # (level, class of counts): (error of the average, error of the prediction)

    def decide(self, row, candidates=None):
        sizes = [*self.row_sizes, len(self._nonzero(row)[0])]
        self.learning_rate = 2.5 / np.sqrt(max(np.mean(sizes), 1))
        self.warm_up = 50 if len(self.were_best) < min(3, self.n_labels) else 5
        return super().decide(row, candidates)

    def play(self, row, costs, candidates=None):
        """Ask about one row whose costs are at hand (NaN: nobody can tell), learn the answers, close the round."""
        decision = self.decide(row, candidates)
        listed, audited = decision.mask, self._audited(decision)
        settled = np.zeros(self.n_labels, bool)
        if self.round_number <= self.warm_up or self._draw(WHETHER_WHOLE) < self.audit_rate / 2:
            asked = listed | audited
        else:
            asked, left = audited.copy(), listed.copy()
            while left.any():
                question = np.argmin(np.where(left, decision.predicted, np.inf))
                asked[question], left[question] = True, False
                settled |= left & (decision.lowest >= np.fmin.reduce(costs[asked], initial=np.inf))
                left &= ~settled
        happened = Round(decision, asked, settled, np.where(asked, costs, np.nan))
        self._learn_round(row, happened)
        return happened

    def _draw(self, number):
        return uniform(self.seed, self.round_number, number)

    def _audited(self, decision):
        """At most one label that the rule does not ask for."""
        audited = np.zeros(self.n_labels, bool)
        unasked = np.flatnonzero(~decision.mask & ~np.isnan(decision.lowest))
        if len(unasked) == 0 or self._draw(WHETHER_TO_AUDIT) >= self.audit_rate:
            return audited
        chances = 1 / (1 + self.times_asked[unasked])
        chances /= chances.sum()
        best, place = decision.best_label(), self._draw(WHAT_TO_AUDIT)
        if best in unasked:  # every other time
            if place < 0.5:
                audited[best] = True
                return audited
            place = 2 * (place - 0.5)
        audited[unasked[np.argmax(place < np.cumsum(chances))]] = True
        return audited

    # What answers teach

    def _learn_round(self, row, happened):
        answered = np.flatnonzero(~np.isnan(happened.known))
        clipped = self._clip(happened.decision.predicted)
        features, values = self._nonzero(row)
        for label in np.flatnonzero(happened.settled):
            trust, average = self._most_trusted(label, answered, happened.known)
            if trust > LEAST_TRUST:
                self._step(features, values, label, trust * (average - clipped[label]), share=trust**4)
        self._note_pairs(answered, happened.known, clipped)
        self.learn(row, happened.known, happened.asked)
        self.times_asked += happened.asked
        if len(answered):
            self.row_sizes.append(len(features))
            self.were_best.add(int(np.nanargmin(happened.known)))

    def trust(self, level, count):
        """The share of the regressors' squared error that averages over so many costs have taken away."""
        errors = np.reshape(self.tests[level, class_of(count)], (-1, 2))
        of_average, of_prediction = np.sum(errors**2, axis=0)
        return 1 - (of_average + DOUBT) / (of_prediction + DOUBT)

    def _most_trusted(self, label, answered, known):
        """The trust in the average that speaks for a settled label, and that average."""
        speakers = []
        for source in answered:
            level = level_of(known[source])
            met = self.costs_met[source, level, label]
            if met:
                speakers.append((self.trust(level, len(met)), len(met), -source, sum(met) / len(met)))
        if not speakers:
            return 0.0, np.nan
        trust, _, _, average = max(speakers)
        return trust, average

    def _note_pairs(self, answered, known, clipped):
        for source in answered:
            level = level_of(known[source])
            for label in answered[answered != source]:
                met = self.costs_met[source, level, label]
                if met:
                    errors = sum(met) / len(met) - known[label], clipped[label] - known[label]
                    self.tests[level, class_of(len(met))].append(errors)
                met.append(known[label])

    def _step(self, features, values, label, difference, share):
        """An update by ``difference`` that counts for confidence only by its ``share``."""
        if difference == 0:
            return
        step = self._look_at_row(features, values, np.array([label]), np.ones(1))
        multiplier = np.sqrt((self.updates_learned[label] + 1) / (self.norms_learned[label] + step.norm[0]))
        move_per_unit = step.move_per_unit[0] * multiplier
        update = difference * -np.expm1(-2 * self.learning_rate * move_per_unit) / move_per_unit
        self.weights[features, label] = step.weights[:, 0] + update * multiplier * values * step.rates[:, 0]
        self.accumulators[features, label] += share * values**2
        self.scales[features, label] = step.scales[:, 0]
        self.norms_learned[label] += share * step.norm[0]
        self.updates_learned[label] += share


def level_of(cost):
    """The nearest of nine equally spaced levels, the upper one of two.

    >>> [level_of(cost) for cost in (0.0, 0.06, 0.0625, 0.5, 1.0)]
    [0, 0, 1, 4, 8]
    """
    return int(np.floor(cost * (LEVELS - 1) + 0.5))


def class_of(count):
    """1, 2 to 3, 4 to 15, more.

    >>> [class_of(count) for count in (1, 2, 3, 4, 15, 16, 1000)]
    [0, 1, 1, 2, 2, 3, 3]
    """
    return int(np.searchsorted([2, 4, 16], count, side="right"))
