"""What comes in: examples and what was given with them, read once per call into checked rows and masks."""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from coalface.data.costs import CostScale, check_asking_price, check_cost, check_mask, check_offset
from coalface.data.encoding.choice import check_features, encoded_rows, encoder_for
from coalface.data.encoding.encoder import Encoder
from coalface.data.encoding.table import is_raw
from coalface.data.frames import by_row, in_memory, in_seen_order
from coalface.data.label_features import are_features, joined, require_joined
from coalface.data.numbers import AUTO, flag, whole_number
from coalface.data.rows import Rows, check_feature_names, check_rows, check_width
from coalface.errors import InputError, shortened
from coalface.kernels.state import NO_ROUNDS
from coalface.learner.state import LearnerState, own_seed, scale_of
from coalface.models.choice import model_of
from coalface.models.contract import CostModel

Mask = NDArray[np.bool_]
_MOST_COPIES = 100  # of a row, on average
STEPS = 2**30  # of a weight of 1: weights are whole numbers of them, so that sums are exact
MIDDLE = np.float32(0.5)  # of costs scaled to [0, 1]: what a cost counts as if nothing is known about it


@dataclass(frozen=True)
class Examples:
    """Some examples as rows, and what is needed to align what else was given with them."""

    X: Any  # as given, for tables that are matched by index
    rows: Rows
    encoder: Encoder | None = None  # that made the rows from raw examples
    names: NDArray[np.object_] | None = None  # of new features
    candidates: Mask | None = None  # (n, K) the labels that may be predicted and asked about, as the caller said

    @property
    def n_rows(self) -> int:
        """The number of examples."""
        return len(self.rows.indptr) - 1

    def taken(self, numbers: NDArray[np.int64]) -> "Examples":
        """The examples with these numbers, in this order."""
        candidates = None if self.candidates is None else self.candidates[numbers]
        return replace(self, X=None, rows=self.rows.take(numbers), candidates=candidates)


class KnownParts(NamedTuple):
    """Known parts of costs, scaled to [0, 1], and prices of questions, (n, K) each; without rows if there are none.

    >>> parts = KnownParts(offsets=np.array([[0.1, 0.0], [0.0, 0.2]], np.float32))
    >>> parts.of_rows([1]).offsets.tolist(), len(parts.of_rows([1]).prices)
    ([[0.0, 0.20000000298023224]], 0)
    """

    offsets: NDArray[np.float32] = NO_ROUNDS.offsets
    prices: NDArray[np.float32] = NO_ROUNDS.prices

    def of_rows(self, rows: Any) -> "KnownParts":
        """The parts of some rows."""
        return KnownParts(*(part[rows] if len(part) else part for part in self))


NO_PARTS = KnownParts()


def read_examples(
    learner: LearnerState, X: Any, candidates: Any = None, labels: Any = None, *, allow_empty: bool = True
) -> Examples:
    """The examples as checked rows; nothing is kept. ``labels`` are those of a learner that has not begun.

    >>> from coalface import CoalClassifier
    >>> found = read_examples(CoalClassifier(["walk", "fly"]), [{"legs": 2}, {"legs": 4}])
    >>> found.rows.row(0)
    (array([0], dtype=int32), array([-1.], dtype=float32))
    >>> found.encoder.describe()
    'legs  number, standardised (mean 3, deviation 1)'
    """
    X = X if isinstance(X, np.ndarray) else in_memory(X)
    known, own = vars(learner), learner.model
    labels = known.get("classes_") if labels is None else labels
    if candidates is not None or not isinstance(own, str) or own == "shared":
        X, candidates = with_label_features(learner, X, candidates, labels)
    if hasattr(X, "columns") or type(X).__name__ == "RecordBatch":
        X = in_seen_order(X, learner)
    rows, encoder = encoded(learner, X, allow_empty=allow_empty)
    if rows.width != known.get("n_features_in_", rows.width):
        check_width(rows, learner, grows=sparse.issparse(X) or (hasattr(X, "columns") and "feature_names_in_" in known))
    names = None
    if encoder is None and "encoder_" not in known and (hasattr(X, "columns") or "feature_names_in_" in known):
        names = check_feature_names(learner, X)
    found = Examples(X, rows, encoder, names)
    if candidates is None:
        return found
    return replace(
        found, candidates=check_mask(by_row(candidates, X, "candidates"), found.n_rows, labels, "candidates")
    )


def visiting_order(learner: LearnerState, n_rows: int) -> NDArray[np.int64]:
    """The order in which given rows are learned or asked about: random, but the same for the same ``random_state``.

    >>> from coalface import CoalClassifier
    >>> visiting_order(CoalClassifier(), 5).tolist(), visiting_order(CoalClassifier(shuffle=False), 3).tolist()
    ([2, 4, 3, 0, 1], [0, 1, 2])
    """
    if not flag("shuffle", learner.shuffle):
        return np.arange(n_rows)
    return np.random.default_rng(whole_number("random_state", own_seed(learner))).permutation(n_rows)


def examples_to_decide(learner: LearnerState, X: Any, candidates: Any = None, *, allow_empty: bool = True) -> Examples:
    """Examples for a learner that is ready to decide; their encoder is kept for all later ones."""
    found = read_examples(learner, X, candidates, allow_empty=allow_empty)
    if found.encoder is not None:
        learner.encoder_ = found.encoder
    return found


def allowed(learner: LearnerState, candidates: Mask | None, n_rows: int) -> Mask | None:
    """The labels (n, K) that may be predicted and asked about, without retired ones; None: all."""
    active = learner.model_.active
    if active.all():
        return candidates
    return np.tile(active, (n_rows, 1)) if candidates is None else candidates & active


def keep_features(learner: LearnerState, examples: Examples) -> None:
    """Remember how many features the learner has seen, and their names, and encode all later examples alike."""
    learner.n_features_in_ = max(examples.rows.width, getattr(learner, "n_features_in_", 0))
    if examples.names is not None:
        learner.feature_names_in_ = examples.names
    if examples.encoder is not None:
        learner.encoder_ = examples.encoder


def encoded(learner: LearnerState, X: Any, *, allow_empty: bool = True) -> tuple[Rows, Encoder | None]:
    """The checked rows, and the encoder that made them, which is new if X is the first; None for numbers."""
    kept, seen = getattr(learner, "encoder_", None), hasattr(learner, "n_features_in_")
    if (isinstance(X, list | tuple) and not X) or (isinstance(X, np.ndarray) and X.shape == (0,)):
        if not allow_empty:
            raise InputError("X must have at least one row, got 0 sample(s). Pass some examples.")
        if seen:
            return check_rows(np.zeros((0, learner.n_features_in_), np.float32)), kept
    if kept is None and seen:
        if learner.features != AUTO:
            check_features(learner.features)
        return _numbers(X, allow_empty=allow_empty), None
    encoder = encoder_for(X, learner.features, kept)
    return check_rows(encoded_rows(X, encoder), allow_empty=allow_empty), encoder


def _numbers(X: Any, *, allow_empty: bool) -> Rows:
    """The checked rows of a learner that began with numbers."""
    try:
        return check_rows(X, allow_empty=allow_empty)
    except InputError as problem:
        if not is_raw(X):
            raise
        raise InputError(
            f"{problem} The first rows were numbers without gaps, so the learner takes no others. Start with "
            "features=Encoder() if later rows may have texts or missing values."
        ) from None


def with_label_features(learner: LearnerState, X: Any, candidates: Any, classes: Any = None) -> tuple[Any, Any]:
    """The examples and the mask of candidates; features of labels, given as ``candidates``, join the examples.

    >>> from coalface import CoalClassifier
    >>> X, candidates = with_label_features(CoalClassifier(["walk", "fly"], model="shared"), [[1.0]], [{"fly": [3.0]}])
    >>> X.nnz, candidates
    (2, array([[False,  True]]))
    """
    model: CostModel = vars(learner).get("model_") or model_of(learner.model)
    reads = model.reads_label_features
    if candidates is None and not reads:
        return X, None
    is_empty = isinstance(candidates, list | tuple) and not candidates
    if not are_features(candidates) and not (is_empty and reads):
        if reads:
            require_joined(X.shape[1] if isinstance(X, sparse.csr_array) else 0, candidates)
        return X, candidates
    if not reads:
        raise InputError(
            f"candidates with features of labels need a learner with model='shared', got {type(model).__name__}."
        )
    return joined(X, candidates, learner.classes if classes is None else classes)


# -- what is given with examples ------------------------------------------------------------------


def known_parts(
    learner: LearnerState,
    examples: Examples,
    labels: NDArray[Any],
    offset: Any = None,
    asking_price: Any = None,
    scale: CostScale | None = None,
) -> KnownParts:
    """The known parts of costs and the prices of questions, checked; ``scale`` is by default the one in use."""
    scale = scale or scale_of(learner)
    parts = NO_PARTS if offset is None else KnownParts(unit_offsets(learner, examples, labels, offset, scale))
    if asking_price is None:
        return parts
    prices = by_row(asking_price, examples.X, "asking_price")
    return parts._replace(prices=check_asking_price(prices, examples.n_rows, labels))


def unit_offsets(
    learner: LearnerState, examples: Examples, labels: NDArray[Any], offset: Any, scale: CostScale
) -> NDArray[np.float32]:
    """The known parts of costs, scaled to [0, 1]; the least of a row is 0 unless abstaining has a cost."""
    offset = by_row(offset, examples.X, "offset")
    return check_offset(offset, examples.n_rows, labels, scale, shifted=learner.abstain is None)


def checked_answers(
    learner: LearnerState, examples: Examples, known: Any, asked: Any
) -> tuple[NDArray[np.float32] | None, Mask | None]:
    """The known costs, scaled to [0, 1], and the mask of those asked for."""
    if known is None:
        return None, None
    known, asked = by_row(known, examples.X, "known"), by_row(asked, examples.X, "asked")
    scale = scale_of(learner)
    unit = check_cost(known, examples.n_rows, learner.classes_, scale)
    unit = unit if scale.known else np.where(np.isnan(unit), unit, MIDDLE)  # any other label may cost more or less
    return unit, ~np.isnan(unit) if asked is None else check_mask(asked, len(unit), learner.classes_, "asked")


def row_weights(sample_weight: Any, examples: Examples) -> NDArray[np.float64]:
    """The weights of examples, (n,), checked."""
    try:
        weights = np.asarray(by_row(sample_weight, examples.X, "sample_weight"), np.float64)
    except InputError:  # of another index
        raise
    except (TypeError, ValueError):
        weights = np.zeros(0)
    shaped = weights.shape == (examples.n_rows,)
    if not shaped or not np.isfinite(weights).all() or weights.min() < 0 or weights.sum() == 0:
        raise InputError(
            f"sample_weight must be {examples.n_rows} finite numbers, none negative and not all of them zero, got "
            f"{shortened(sample_weight, most=60)}. Correct it, or leave it out."
        )
    return weights


def rows_by_weight(weights: NDArray[np.float64], start: int, *, scaled: bool = False) -> tuple[NDArray[np.int64], int]:
    """The numbers of rows, each as often as its weight says, and the ``start`` for the rows after them.

    The rows share a line on which each takes up its weight, and one is learned at every whole number (systematic
    resampling). ``start``, in ``STEPS`` to the next, is the place on the line. If ``scaled``, positive weights with a
    mean below 1 are multiplied to have the mean 1, such as those with the sum 1.

    >>> rows_by_weight(np.array([2.0, 0.0, 1.0, 0.25]), start=0)[0].tolist()
    [0, 0, 2]
    >>> rows_by_weight(np.array([0.5, 0.0, 0.25, 0.25]), start=0, scaled=True)[0].tolist()
    [0, 2, 3]
    """
    total, n_positive = weights.sum(), np.count_nonzero(weights)
    if total > _MOST_COPIES * n_positive:
        raise InputError(
            f"sample_weight must be at most {_MOST_COPIES} on average, because a row is learned as often as its weight "
            f"says, got {total / n_positive:g}. Divide it by its mean."
        )
    times = weights * max(1.0, n_positive / total) if scaled else weights
    ends = start + np.cumsum(np.rint(times * STEPS).astype(np.int64))
    return np.repeat(np.arange(len(times)), np.diff(ends // STEPS, prepend=0)), int(ends[-1] % STEPS)
