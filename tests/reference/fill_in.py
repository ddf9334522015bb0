"""Implied costs once more, in plain NumPy: from lists of all the costs so far, with no running averages.

An average is tested by every answer before it joins. Averages of a level are used if the mean squared error of their
tests is below 0.02 and a tenth of 1 / K, with half an error in advance, and a cost of another level was among them.
"""

from collections import defaultdict

import numpy as np

LEVELS = 9


def level_of(cost):
    return int(np.floor(cost * (LEVELS - 1) + 0.5))


class ReferenceFillIn:
    def __init__(self, n_labels):
        self.n_labels = n_labels
        self.pairs, self.levels = defaultdict(list), defaultdict(list)
        self.pair_tests, self.level_tests = defaultdict(list), defaultdict(list)  # (squared error, another level)

    def learn(self, costs):
        answered = np.flatnonzero(~np.isnan(costs))
        for source in answered:
            level = level_of(costs[source])
            for label in answered[answered != source]:
                pair, cost, other = (level, source, label), float(costs[label]), level_of(costs[label]) != level
                if self.pairs[pair]:
                    self.pair_tests[level].append(((np.mean(self.pairs[pair]) - cost) ** 2, other))
                if self.levels[level]:
                    self.level_tests[level].append(((np.mean(self.levels[level]) - cost) ** 2, other))
                self.pairs[pair].append(cost)
                self.levels[level].append(cost)

    def trusts(self, tests):
        error = (sum(error for error, _ in tests) + 0.5) / (len(tests) + 1)
        return error < min(0.02, 0.1 / self.n_labels) and any(other for _, other in tests)

    def filled(self, costs):
        found = costs.astype(np.float64)
        for source in np.flatnonzero(~np.isnan(costs)):
            level = level_of(costs[source])
            by_pair, by_level = self.trusts(self.pair_tests[level]), self.trusts(self.level_tests[level])
            for label in np.flatnonzero(np.isnan(found)):
                if by_pair and self.pairs[level, source, label]:
                    found[label] = np.mean(self.pairs[level, source, label])
                elif by_level:
                    found[label] = np.mean(self.levels[level])
        return found
