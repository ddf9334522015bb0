"""The codes by which kernels know rules, accumulators, sensitivities and slacks, and settings left to the learner."""

import math

COAL, ALL_OR_NONE, NO_DOMINATION, PASSIVE = range(4)
ADAX, ADAGRAD = range(2)
SHADOW, SEEN_ONLY, DERIVATIVE = range(3)
PUBLISHED, NOISE_SCALED, PRINTED = range(3)

# settings that the learner chooses itself
AUTO_RATE = 0.0  # in place of a learning rate
AUTO_WARM_UP = -1  # in place of a number of examples
AUTO_MISSES = math.inf  # in place of a rate of misses: the model decides; in kernels the slack is fixed
FIXED_SLACK = 2.0  # in place of a rate of misses: the slack does not follow any
