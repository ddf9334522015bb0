"""What the kernels share: the learner's arrays, its settings, and scratch memory.

Labels are the contiguous axis everywhere, padded to a multiple of ``LANES`` so that one pass over the
non-zeros of an example serves all labels with vector instructions.

Units. The update rule is scale-free, and so are the cells: each feature is measured in its own unit,
the first absolute value seen, which keeps every number near one whatever the scale of the data.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

F32 = NDArray[np.float32]
F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
I8 = NDArray[np.int8]
Bool = NDArray[np.bool_]

LANES = 8

# cells[slot, part, label]
WEIGHT = 0  # prediction per unit of (value / largest value seen)
SQUARES = 1  # sum of gradient factor x value^2 (AdaGrad's accumulator)
INVERSE_SCALE = 2  # 1 / largest |value| seen

UNSEEN = 0  # slot of every feature that was never learned; its cells never change
UNSEEN_INVERSE_SCALE = np.float32(1e18)  # so that min(|value| * inverse scale, 1) is 1 at first sight
SMALLEST_VALUE, LARGEST_VALUE = np.float32(1e-15), np.float32(1e15)  # of a value in its feature's unit

# counters[...]
ROUND, EXAMPLES_QUERIED, COSTS_QUERIED, SLOTS_USED, SILENT_ROUNDS = range(5)
N_COUNTERS = 5

# the learner chooses these itself
AUTO_RATE = 0.0  # in place of a learning rate
AUTO_WARM_UP = -1  # in place of a number of examples
# outlook[...], what a round looks like before its answers come, and saving[...], the same over the rounds so far
ANSWER, PREDICTED, CHANCE, REACHABLE = range(4)
ROUNDS, MEAN_COST, MEAN_PREDICTED, MEAN_REACHABLE, VARIANCE, SQUARED_SHARES, STEP = range(7)
N_OUTLOOK, N_SAVING = 4, 7

# rules, accumulators, sensitivities, slacks: the numbers behind the names
COAL, ALL_OR_NONE, NO_DOMINATION, PASSIVE = range(4)
ADAX, ADAGRAD = range(2)
SHADOW, SEEN_ONLY, DERIVATIVE = range(3)
PUBLISHED, NOISE_SCALED = range(2)

# why a cost is asked for or not
(
    NOT_A_CANDIDATE,
    CANNOT_BE_BEST,
    KNOWN_WELL,
    ONLY_CONTENDER,
    UNCERTAIN,
    WARM_UP,
    WITH_THE_REST,
    AUDIT,
    OVER_LIMIT,
    SETTLED,
    ANSWERED,
    ABSTAINING_IS_CHEAPER,
    OVER_BUDGET,
    ASKED_BEFORE,
) = range(14)

# implied[source, level of its cost, label, ...]
LEVELS = 9
COUNT, AVERAGE = range(2)
COUNT_CLASSES = 4  # of trust[level, class of counts, ...]
MOST_IMPLIED = 512  # labels beyond which the table of what costs imply would be too large

# pacing[...]
SLACK_FACTOR, EXAMPLES_BEFORE, COSTS_BEFORE = range(3)

# how a simulated run asked for a cost
NOT_ASKED, ASKED, ASKED_AS_AUDIT = range(3)


class Csr(NamedTuple):
    """Examples: the non-zeros of row i stand at indptr[i] to indptr[i + 1]."""

    indptr: I64
    columns: I32
    values: F32


class Model(NamedTuple):
    """Everything that learning changes."""

    cells: F32  # (slots, 3, lanes)
    units: F32  # (slots,)
    features: I32  # (slots,) the feature number of each slot
    table: I32  # open addressing: feature -> slot, 0 = empty
    norm_sum: F64  # (lanes,) S: sum of squared normalised values over the updates
    updates: F64  # (lanes,) W: number of updates
    squared_residuals: F64  # (lanes,) over the answered costs
    answered: I64  # (lanes,)
    asked: I64  # (lanes,)
    counters: I64
    recent_regret: F64  # (2,) moving average over the answered examples, and how many it looks back over
    row_sizes: F64  # (2,) non-zeros of the answered rows, and how many rows
    was_best: I64  # (lanes,) how often the label had the least of the answered costs
    implied: F32  # (lanes, LEVELS, lanes, 2) see kernels.implied; without rows where nothing is asked in turn
    trust: F64  # (LEVELS, COUNT_CLASSES, 2) see kernels.implied
    saving: F64  # (N_SAVING,) what more asking could save: see kernels.stopping


class Settings(NamedTuple):
    """Everything that learning leaves alone."""

    n_labels: int
    rule: int
    accumulator: int
    sensitivity: int
    slack: int
    mellowness: float
    width_scale: float
    learning_rate: float
    warm_up: int
    in_turn: bool
    audit_rate: float
    seed: int
    intercept: bool
    abstain_cost: float  # infinite where there is no abstaining
    alike: float  # similarity from which two rows of a batch count as one; infinite: never
    budget: float = np.inf  # what may be spent in all; infinite: there is no budget, and the rest means nothing
    over: int = 1  # examples that the budget is for
    price_per_example: float = 0.0  # of the first cost of an example, in addition
    price_per_cost: float = 1.0
    rounds_before_budget: int = 0
    examples_before_budget: int = 0
    costs_before_budget: int = 0


class Scratch(NamedTuple):
    """The row at hand; owned by the caller, overwritten by every row."""

    slots: I64  # (longest row + 1,)
    values: F32  # (longest row + 1,) in the unit of each feature
    columns: I32  # (longest row + 1,)
    sizes: F32  # (longest row + 1,) |value| as given
    predicted: F32  # (lanes,) raw
    norm: F32  # (lanes,) squared normalised length of the row
    reach: F32  # (lanes,) prediction change per unit of update, before the label's average norm
    sensitivity: F32  # (lanes,)
    lowest: F32
    highest: F32
    gradient: F32  # (lanes,) factor of value^2 in SQUARES; 0 = leave this label alone
    step: F32  # (lanes,)
    costs: F32  # (lanes,) the answers, NaN = none
    candidates: Bool  # (lanes,)
    mask: Bool  # (lanes,) asked
    next: Bool  # (lanes,) asked first
    reasons: I8  # (lanes,)
    propensity: F64  # (lanes,) chance with which the cost was asked for
    labels: I64  # (lanes,) the labels to learn, as a list
    share: F32  # (lanes,) how much an implied cost counts
    order: I64  # (lanes,) the labels to ask for, as a list
    unseen: I64  # (1,) features of the row without a slot
    outlook: F64  # (N_OUTLOOK,)
    pacing: F64  # (3,) what the slack is multiplied by, and what was asked for under the budget before the row


def lanes_for(n_labels: int) -> int:
    """The number of labels rounded up to whole vectors."""
    return -(-n_labels // LANES) * LANES


def new_scratch(n_labels: int, longest_row: int) -> Scratch:
    """Scratch memory for rows of up to ``longest_row`` non-zeros."""
    lanes, cells = lanes_for(n_labels), longest_row + 1
    single = [np.zeros(lanes, np.float32) for _ in range(9)]
    predicted, norm, reach, sensitivity, lowest, highest, gradient, step, costs = single
    return Scratch(
        np.zeros(cells, np.int64),
        np.zeros(cells, np.float32),
        np.zeros(cells, np.int32),
        np.zeros(cells, np.float32),
        predicted,
        norm,
        reach,
        sensitivity,
        lowest,
        highest,
        gradient,
        step,
        costs,
        np.arange(lanes) < n_labels,
        np.zeros(lanes, np.bool_),
        np.zeros(lanes, np.bool_),
        np.zeros(lanes, np.int8),
        np.ones(lanes, np.float64),
        np.zeros(lanes, np.int64),
        np.zeros(lanes, np.float32),
        np.zeros(lanes, np.int64),
        np.zeros(1, np.int64),
        np.zeros(N_OUTLOOK),
        np.ones(3),
    )
