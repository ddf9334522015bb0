"""What a learner predicts: costs, the best label of each example, and what its answers cost."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.data.costs import Costs, check_cost
from coalface.data.frames import by_row
from coalface.data.rows import Rows
from coalface.data.targets import given_costs
from coalface.errors import InputError, UnknownLabelError
from coalface.kernels.state import NO_ROUNDS
from coalface.learner.inputs import warn_of_inputs
from coalface.learner.intake import MIDDLE, Examples, Mask, allowed, examples_to_decide, known_parts, row_weights
from coalface.learner.monitor import warn_if_unanswered, warn_of_labels_alone
from coalface.learner.state import LearnerState, answers_of, ready, scale_of, settings_of

ROUTING = "in searches and cross-validation, it needs sklearn.set_config(enable_metadata_routing=True)"
NO_OFFSETS = NO_ROUNDS.offsets
BestOf = Callable[[LearnerState, Rows, Mask, Costs], NDArray[np.int64]]


def predicted_labels(learner: LearnerState, X: Any, candidates: Any = None, offset: Any = None) -> NDArray[Any]:
    """What ``predict`` returns; a warning says once which labels have no answered cost yet."""
    return best_labels(learner, X, candidates, offset, warns=True)


def best_labels(
    learner: LearnerState,
    X: Any,
    candidates: Any = None,
    offset: Any = None,
    *,
    by_model: bool = False,
    warns: bool = False,
) -> NDArray[Any]:
    """What ``predict`` returns, without its warning about labels that have no answered cost yet.

    With ``by_model``, a label without an answered cost counts with the number of the model: the online model starts at
    the lower bound. Studies compare these labels, as the paper and Vowpal Wabbit do.

    >>> from coalface import CoalClassifier
    >>> learner = CoalClassifier(["walk", "fly"], model="online").tell([[1.0]] * 9, [[0.2, np.nan]] * 9)
    >>> best_labels(learner, [[1.0]]).tolist(), best_labels(learner, [[1.0]], by_model=True).tolist()
    (['walk'], ['fly'])
    """
    settings = settings_of(ready(learner))
    examples, model = examples_to_decide(learner, X, candidates), learner.model_
    mask = examples.candidates if model.active.all() else allowed(learner, examples.candidates, examples.n_rows)
    allowed_labels = NO_ROUNDS.candidates if mask is None else mask
    offsets = NO_OFFSETS if offset is None else known_parts(learner, examples, learner.classes_, offset).offsets
    silent = model.unanswered()
    if by_model or silent.all() or not silent.any():
        best = model.answer(examples.rows, settings, allowed_labels, offsets)
    else:
        best = best_of(learner, examples.rows, allowed_labels, offsets)
        if warns:
            warn_if_unanswered(learner)
    if warns:
        warn_of_inputs(learner, examples.rows)
    if best.min(initial=0) < 0:
        refuse_no_candidate(best)
    return (learner.classes_ if learner.abstain is None else answers_of(learner, learner.classes_))[best]


def candidates_of(learner: LearnerState, examples: Examples) -> Mask:
    """The labels that may be predicted, (n, K); without rows: all."""
    mask = examples.candidates
    if not learner.model_.active.all():
        mask = allowed(learner, mask, examples.n_rows)
    return NO_ROUNDS.candidates if mask is None else mask


def _model_best(learner: LearnerState, rows: Rows, candidates: Mask, offsets: Costs = NO_OFFSETS) -> NDArray[np.int64]:
    """The column of the label with the least number of the model, K for abstaining."""
    return learner.model_.answer(rows, settings_of(learner), candidates, offsets)


def best_of(learner: LearnerState, rows: Rows, candidates: Mask, offsets: Costs = NO_OFFSETS) -> NDArray[np.int64]:
    """The column of the best label of each row; labels without an answer must not win with their first number."""
    model = learner.model_
    silent = model.unanswered()
    if silent.all() or not silent.any():
        return _model_best(learner, rows, candidates, offsets)
    with model.lock:
        return model.best_of(_compared(learner, rows), settings_of(learner), candidates, offsets)


def _compared(learner: LearnerState, rows: Rows) -> Costs:
    """The costs that decide what is predicted, (n, K), scaled to [0, 1]: the model's, where labels have answers."""
    model = learner.model_
    with model.lock:
        predicted, silent = model.predictions(rows).copy(), model.unanswered()  # the model may keep its array
        if not silent.all():
            predicted[:, silent] = MIDDLE
            predicted[:, silent & (model.state.since[: len(silent)] > 0)] = np.inf  # a new label waits
    return predicted


def predicted_costs(learner: LearnerState, X: Any, candidates: Any = None) -> NDArray[np.float64]:
    """The predicted cost of every label, (n, K), NaN for a label that is not a candidate."""
    examples = examples_to_decide(ready(learner), X, candidates)
    with learner.model_.lock:
        cost = scale_of(learner).from_unit(learner.model_.predictions(examples.rows))
    return cost if examples.candidates is None else np.where(examples.candidates, cost, np.nan)


def decision_values(learner: LearnerState, X: Any) -> NDArray[np.float64]:
    """What ``CoalClassifier.decision_function`` returns."""
    values = -_possible_costs(learner, X)
    return values[:, 1] - values[:, 0] if values.shape[1] == 2 else values


def probabilities(learner: LearnerState, X: Any) -> NDArray[np.float64]:
    """The probability of every label, (n, K): see ``CoalClassifier.predict_proba``."""
    shares, (right, wrong) = _possible_costs(learner, X), _costs_of_classes(learner)
    shares = (wrong - shares) / (wrong - right)
    possible, seen = np.isfinite(shares), float(learner.model_.state.answered.max())
    equal = possible / possible.sum(axis=1, keepdims=True)
    found: NDArray[np.float64] = (seen * _nearest_probabilities(shares) + equal) / (seen + 1.0)
    return found


def has_probabilities(learner: LearnerState) -> bool:
    """True, or an AttributeError if mistakes differ in cost: a cost of 0.5 then says little about the truth."""
    _costs_of_classes(learner)
    return True


def _costs_of_classes(learner: LearnerState) -> tuple[float, float]:
    """What a right and what a wrong label costs."""
    if learner.cost_matrix is None:
        scale = scale_of(learner)
        return scale.floor, scale.ceiling
    matrix = np.asarray(learner.cost_matrix, np.float64)
    right, wrong = float(matrix.min()), float(matrix.max())
    if right == wrong or not np.array_equal(matrix, np.where(np.eye(len(matrix)), right, wrong)):
        raise AttributeError(
            "predict_proba needs a cost that is the same for all mistakes, but cost_matrix has several. Use "
            "predict_cost or decision_function."
        )
    return right, wrong


def _possible_costs(learner: LearnerState, X: Any) -> NDArray[np.float64]:
    """The costs that decide what is predicted, (n, K), infinite for a label that is not predicted."""
    examples = examples_to_decide(ready(learner), X)
    unit = _compared(learner, examples.rows)
    possible = learner.model_.active & np.isfinite(unit)
    refuse_no_candidate(np.where(possible.any(axis=1), 0, -1))
    return np.where(possible, scale_of(learner).from_unit(np.where(possible, unit, 0.0)), np.inf)


def _nearest_probabilities(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The probabilities nearest to the values of each row, (n, K): their projection onto the simplex.

    >>> _nearest_probabilities(np.array([[0.9, 0.3, -0.5], [0.2, 0.8, 0.0]])).round(2)
    array([[0.8, 0.2, 0. ],
           [0.2, 0.8, 0. ]])
    """
    falling, places = -np.sort(-values, axis=1), np.arange(1, values.shape[1] + 1)
    excess = (np.cumsum(falling, axis=1) - 1.0) / places
    n_positive = (falling > excess).sum(axis=1)
    return np.maximum(values - excess[np.arange(len(values)), n_positive - 1, None], 0.0)


def score_of(
    learner: LearnerState, X: Any, y: Any, cost: Any, sample_weight: Any = None, candidates: Any = None
) -> float:
    """Minus the mean cost of the predictions."""
    if y is None and cost is None:
        raise InputError(f"score needs y or cost, got neither. It requires y to be passed, or cost=...; {ROUTING}.")
    examples = examples_to_decide(ready(learner), X, candidates, allow_empty=False)
    warn_of_labels_alone(learner, cost, ROUTING)
    cost, scale = by_row(cost, examples.X, "cost"), scale_of(learner)
    y = by_row(y, examples.X, "y")
    known = costs_given(learner, examples.n_rows, learner.classes_, y, cost, strange=True)
    best = best_of(learner, examples.rows, candidates_of(learner, examples))
    refuse_no_candidate(best)
    paid = _paid(learner, best, check_cost(known, examples.n_rows, learner.classes_, scale, clip=False))
    warn_if_unanswered(learner)
    warn_of_inputs(learner, examples.rows)
    if np.isnan(paid).any():
        raise InputError(
            f"cost must be known for the predicted labels, got NaN in row {np.argmax(np.isnan(paid))}. "
            "Leave such rows out."
        )
    mean = np.average(paid, weights=None if sample_weight is None else row_weights(sample_weight, examples))
    return -float(scale.from_unit(np.asarray(mean)))


def costs_of_answers(learner: LearnerState, rows: Rows, unit: NDArray[np.float32]) -> NDArray[np.float64]:
    """The costs of the model's labels for checked rows; ``unit`` (n, K) are the true costs, scaled to [0, 1]."""
    return _paid(learner, _model_best(learner, rows, candidates_of(learner, Examples(None, rows))), unit)


def costs_given(
    learner: LearnerState, n_rows: int, labels: NDArray[Any], y: Any, cost: Any, *, strange: bool = False
) -> NDArray[Any]:
    """The costs (n, K) that ``y`` or ``cost`` gives; ``strange`` is as in ``given_costs``."""
    scale = scale_of(learner)
    try:
        return given_costs(y, cost, n_rows, labels, learner.cost_matrix, scale, strange=strange)
    except UnknownLabelError as problem:
        raise UnknownLabelError(problem.label, labels.tolist(), addable=True) from None


def refuse_no_candidate(best: NDArray[np.int64]) -> None:
    """Raise an InputError if a row has no label that may be predicted."""
    if (best < 0).any():
        raise InputError(f"candidates must leave at least one label, row {np.argmax(best < 0)} has none. Add one.")


def _paid(learner: LearnerState, best: NDArray[np.int64], unit: NDArray[np.float32]) -> NDArray[np.float64]:
    settings = settings_of(learner)
    of_labels = unit[np.arange(len(best)), np.minimum(best, settings.n_labels - 1)].astype(np.float64)
    return np.where(best < settings.n_labels, of_labels, settings.abstain_cost)
