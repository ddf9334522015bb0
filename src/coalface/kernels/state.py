"""The data that kernels share: a model's arrays, the settings, scratch memory, and the codes of reasons.

Labels are the contiguous axis everywhere, padded to a multiple of ``LANES``. So one pass over the non-zeros of an
example serves all labels with vector instructions.

The update rule is scale-free. Each feature is stored in its own unit, the first absolute value seen, which keeps all
numbers near one for data of any scale.
"""

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from coalface.kernels.codes import FIXED_SLACK

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
UNSEEN_INVERSE_SCALE = np.float32(1e18)  # makes min(|value| * inverse scale, 1) equal 1 for an unseen feature
SMALLEST_VALUE, LARGEST_VALUE = np.float32(1e-15), np.float32(1e15)  # of a value in its feature's unit

# counters[...]
ROUND, EXAMPLES_QUERIED, COSTS_QUERIED, SLOTS_USED, SILENT_ROUNDS, TRUTHS_QUERIED, COSTS_SEEN = range(7)
HISTORY = 7  # where the counts of earlier rounds begin: see kernels.history
N_MARKS, COUNTS_PER_MARK = 128, 3
N_COUNTERS = HISTORY + N_MARKS * COUNTS_PER_MARK

# outlook[...] and saving[...]: see kernels.stopping
ANSWER, PREDICTED, CHANCE, REACHABLE = range(4)
ROUNDS, MEAN_COST, MEAN_PREDICTED, MEAN_REACHABLE, VARIANCE, SQUARED_SHARES, STEP = range(7)
N_OUTLOOK, N_SAVING = 4, 7

# calibration[...]: see kernels.calibration
LOG_FACTOR, AUDITS, MISSES = range(3)
N_CALIBRATION = 3
MOST_AUDITED = 0.5  # costs per example that full audits may ask for on average

# reasons why a cost is or is not asked for
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
    WITH_THE_TRUTH,
    NEW_LABEL,
) = range(16)

# implied[source, level of its cost, label, ...]
LEVELS = 9
COUNT, AVERAGE = range(2)
COUNT_CLASSES = 4  # of trust[level, class of counts, ...]
MOST_IMPLIED = 512  # labels: with more, the table of implied costs would be too large

# pacing[...]
SLACK_FACTOR, EXAMPLES_BEFORE, COSTS_BEFORE = range(3)


class Csr(NamedTuple):
    """Examples: the non-zeros of row i are at positions indptr[i] to indptr[i + 1] - 1."""

    indptr: I64
    columns: I32
    values: F32


class Counts(NamedTuple):
    """The counts that every model keeps; models other than the online one store their weights themselves."""

    squared_residuals: F64  # (lanes,) over the answered costs
    answered: I64  # (lanes,)
    asked: I64  # (lanes,)
    counters: I64
    recent_regret: F64  # (2,) moving average over the answered examples, and the number it covers
    was_best: I64  # (lanes,) how often the label had the least of the answered costs
    saving: F64  # (N_SAVING,) see kernels.stopping
    calibration: F64  # (N_CALIBRATION,) see kernels.calibration
    since: I64  # (lanes,) the first round of a label that was added later; 0: it was there from the start


class Model(NamedTuple):
    """The state of the online model; the last fields are those of ``Counts``."""

    cells: F32  # (slots, 3, lanes)
    units: F32  # (slots,)
    features: I32  # (slots,) the feature number of each slot
    table: I32  # open addressing: feature -> slot, 0 = empty
    norm_sum: F64  # (lanes,) S: sum of squared normalised values over the updates
    updates: F64  # (lanes,) W: number of updates
    row_sizes: F64  # (2,) non-zeros of the answered rows, and the number of these rows
    implied: F32  # (lanes, LEVELS, lanes, 2) see kernels.implied; empty unless labels are asked in turn
    trust: F64  # (LEVELS, COUNT_CLASSES, 2) see kernels.implied
    interactions: I64  # (n, 4) ranges of columns to multiply: see kernels.interactions; learning does not change them
    squared_residuals: F64
    answered: I64
    asked: I64
    counters: I64
    recent_regret: F64
    was_best: I64
    saving: F64
    calibration: F64
    since: I64


Counted: TypeAlias = Counts | Model  # kernels read the counts of both by name


class RoundArrays(NamedTuple):
    """The rounds of n examples as arrays, with costs in [0, 1]; an empty array is missing input or unwanted output.

    A ``coalface.rounds.Round`` is one row of these arrays, with names in place of columns.
    """

    candidates: Bool  # (n, K) labels that may be predicted and asked about; empty: all
    costs: F32  # (n, K) the answers, NaN = unknown
    asked: Bool  # (n, K) asked for so far, answered or not
    mask: Bool  # (n, K) to be asked for
    next: Bool  # (n, K) to be asked for first
    reasons: I8  # (n, K)
    propensity: F64  # (n, K) probability that the cost is asked for
    lowest: F32  # (n, K)
    highest: F32  # (n, K)
    predicted: F32  # (n, K)
    outlook: F64  # (n, N_OUTLOOK)
    truth: Bool  # (n,) whether the true label is asked for, which gives all costs; empty: nowhere
    offsets: F32  # (n, K) the known part of each total cost, added to the cost that is learned; empty: none
    prices: F32  # (n, K) the price of asking for each cost, in any unit; empty: all the same


class Told(NamedTuple):
    """The part of ``RoundArrays`` that telling reads: fewer arrays make a faster call for a single row."""

    candidates: Bool
    costs: F32
    asked: Bool
    outlook: F64
    audited: Bool  # (n, K) asked for only because of an audit; empty: unknown
    truth: Bool
    offsets: F32
    weights: F32  # (n, K) how many answers each counts as; empty: one


_NO_FLAGS, _NO_COSTS, _NO_NUMBERS = np.zeros((0, 0), np.bool_), np.zeros((0, 0), np.float32), np.zeros((0, 0))
_NO_TRUTHS = np.zeros(0, np.bool_)
NO_ROUNDS = RoundArrays(
    candidates=_NO_FLAGS,
    costs=_NO_COSTS,
    asked=_NO_FLAGS,
    mask=_NO_FLAGS,
    next=_NO_FLAGS,
    reasons=np.zeros((0, 0), np.int8),
    propensity=_NO_NUMBERS,
    lowest=_NO_COSTS,
    highest=_NO_COSTS,
    predicted=_NO_COSTS,
    outlook=_NO_NUMBERS,
    truth=_NO_TRUTHS,
    offsets=_NO_COSTS,
    prices=_NO_COSTS,
)


class Until(NamedTuple):
    """Where a simulated run pauses: at a position, at a total price, or below an estimated saving."""

    position: int
    costs: int  # a true label counts as its price
    saving: float  # minus infinity: never


class Settings(NamedTuple):
    """The learner's parameters as numbers; learning does not change them."""

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
    abstain_cost: float  # infinite: the learner cannot abstain
    alike: float  # the least similarity of near-duplicates in a batch; infinite: none
    miss_rate: float = FIXED_SLACK  # how often the best label may be missed; above 1, the slack is fixed
    budget: float = np.inf  # the total to spend; infinite: no budget, and the fields below are unused
    over: int = 1  # examples that the budget is spread over
    price_per_example: float = 0.0  # added to the price of an example's first cost
    price_per_cost: float = 1.0
    rounds_before_budget: int = 0
    examples_before_budget: int = 0
    costs_before_budget: int = 0
    truths_before_budget: int = 0
    price_of_truth: float = np.inf  # of one true label, in costs; infinite: true labels are never asked for
    audits_by_loss: bool = False  # whether audits look where the predicted label may be wrong
    round_step: int = 1  # rounds from one row of a batch to the next; 0: all rows are decided at the same round
    only_ones: bool = False  # whether 1 is the only value, and no row has a feature twice: saves work, changes no bit


class Scratch(NamedTuple):
    """Working memory for one row; owned by the caller, overwritten by every row."""

    slots: I64  # (longest row + 1,)
    values: F32  # (longest row + 1,) in the unit of each feature
    columns: I32  # (longest row + 1,)
    sizes: F32  # (longest row + 1,) |value| as given
    predicted: F32  # (lanes,) raw
    norm: F32  # (lanes,) squared normalised length of the row
    reach: F32  # (lanes,) change of the prediction per unit of update, without the factor of the label's average norm
    sensitivity: F32  # (lanes,)
    lowest: F32
    highest: F32
    gradient: F32  # (lanes,) factor of value^2 in SQUARES; 0 = no update of this label
    step: F32  # (lanes,)
    costs: F32  # (lanes,) the answers, NaN = none
    candidates: Bool  # (lanes,)
    mask: Bool  # (lanes,) asked
    next: Bool  # (lanes,) asked first
    reasons: I8  # (lanes,)
    propensity: F64  # (lanes,) probability that the cost was asked for
    labels: I64  # (lanes,) the labels to learn, as a list
    share: F32  # (lanes,) weight of an implied cost
    weights: F32  # (lanes,) importance weight of an answered cost
    order: I64  # (lanes,) the answered labels, as a list
    unseen: I64  # (1,) number of the row's features without a slot
    outlook: F64  # (N_OUTLOOK,)
    pacing: F64  # (3,) factor of the slack; examples and costs asked for under the budget before the row
    truth: Bool  # (1,) whether the true label is asked for
    offset: F32  # (lanes,) the known part of each total cost; 0 without one
    prices: F32  # (lanes,) the price of asking for each cost; 0 if all are the same
    inverse_roots: F32  # (longest row + 1, lanes) 1 / sqrt(SQUARES + 1) before the update; empty unless ``only_ones``
    trusted: F64  # (LEVELS, COUNT_CLASSES) how far implied costs are trusted


def lanes_for(n_labels: int) -> int:
    """The number of labels, rounded up to a multiple of ``LANES``."""
    return -(-n_labels // LANES) * LANES


def new_scratch(n_labels: int, longest_row: int, *, only_ones: bool = False) -> Scratch:
    """Scratch memory for rows of up to ``longest_row`` non-zeros."""
    lanes, cells = lanes_for(n_labels), longest_row + 1
    row = [np.zeros(cells, dtype) for dtype in (np.int64, np.float32, np.int32, np.float32)]
    numbers = [np.zeros(lanes, np.float32) for _ in range(9)]  # predicted to costs
    flags = [np.arange(lanes) < n_labels, np.zeros(lanes, np.bool_), np.zeros(lanes, np.bool_)]
    reasons, propensity = np.zeros(lanes, np.int8), np.ones(lanes, np.float64)
    labels, order, unseen = (np.zeros(length, np.int64) for length in (lanes, lanes, 1))
    share, weights = np.zeros(lanes, np.float32), np.ones(lanes, np.float32)
    rest = (reasons, propensity, labels, share, weights, order, unseen)
    offset, prices = (np.zeros(lanes, np.float32) for _ in range(2))
    inverse_roots = np.zeros((cells if only_ones else 0, lanes), np.float32)
    of_row = (np.zeros(N_OUTLOOK), np.ones(3), np.zeros(1, np.bool_), offset, prices, inverse_roots)
    trusted = np.zeros((LEVELS, COUNT_CLASSES))
    return Scratch._make([*row, *numbers, *flags, *rest, *of_row, trusted])


def new_counts(n_labels: int) -> Counts:
    """The counts before the first round."""
    lanes, counters = lanes_for(n_labels), np.zeros(N_COUNTERS, np.int64)
    counters[ROUND] = counters[SLOTS_USED] = 1
    return Counts(
        squared_residuals=np.zeros(lanes),
        answered=np.zeros(lanes, np.int64),
        asked=np.zeros(lanes, np.int64),
        counters=counters,
        recent_regret=np.zeros(2),
        was_best=np.zeros(lanes, np.int64),
        saving=np.zeros(N_SAVING),
        calibration=np.zeros(N_CALIBRATION),
        since=np.zeros(lanes, np.int64),
    )


def new_rounds(
    n_rows: int,
    n_labels: int,
    candidates: Bool | None = None,
    costs: F32 | None = None,
    asked: Bool | None = None,
    offsets: F32 = _NO_COSTS,
    prices: F32 = _NO_COSTS,
) -> RoundArrays:
    """Arrays to write decisions about rows to; ``costs`` and ``asked`` are the answers and questions so far."""
    shape = (n_rows, n_labels)
    return RoundArrays(
        candidates=_NO_FLAGS if candidates is None else candidates,
        costs=_NO_COSTS if costs is None else costs,
        asked=_NO_FLAGS if asked is None else asked,
        mask=np.empty(shape, np.bool_),
        next=np.empty(shape, np.bool_),
        reasons=np.empty(shape, np.int8),
        propensity=np.empty(shape, np.float64),
        lowest=np.empty(shape, np.float32),
        highest=np.empty(shape, np.float32),
        predicted=np.empty(shape, np.float32),
        outlook=_NO_NUMBERS,
        truth=np.zeros(n_rows, np.bool_),
        offsets=offsets,
        prices=prices,
    )
