"""Which examples of a pool matter most: what questions about each could still save."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.kernels.state import NOT_A_CANDIDATE, RoundArrays, Settings, new_rounds
from coalface.learner.intake import MIDDLE, Mask, allowed, examples_to_decide
from coalface.learner.predicting import best_of, candidates_of
from coalface.learner.state import LearnerState, ready, scale_of, settings_of


def possible_savings(learner: LearnerState, X: Any, candidates: Any = None) -> NDArray[np.float64]:
    """What further questions could still save on each example, in the unit of ``cost_bounds``, (n,).

    It is the predicted cost of the answer less the least lowest cost of any candidate; 0 where the rule asks nothing.
    Budget, audits and near-duplicates do not count, and all examples are decided at the next round, so an example has
    the same saving in any batch. ``coalface rank`` sorts by it.

    >>> from coalface import CoalClassifier
    >>> learner = CoalClassifier().fit([[1.0, 0.0], [0.0, 1.0]] * 20, ["walk", "fly"] * 20)
    >>> plain, doubtful = possible_savings(learner, [[1.0, 0.0], [0.5, 0.5]])
    >>> bool(plain < doubtful)
    True
    """
    examples = examples_to_decide(ready(learner), X, candidates)
    rows, mask = examples.rows, allowed(learner, examples.candidates, examples.n_rows)
    settings = settings_of(learner)._replace(budget=np.inf, alike=np.inf, audit_rate=0.0, round_step=0)
    model, span = learner.model_, scale_of(learner).span
    unanswered = model.unanswered()
    if mask is None and not unanswered.any():
        savings = model.quick_savings(rows, settings)
        if savings is not None:
            return savings * span
    best = best_of(learner, rows, candidates_of(learner, examples))
    with model.lock:
        found = model.ask(rows, settings, new_rounds(len(rows), settings.n_labels, mask), outlook=False)
    return _unit_savings(found, best, unanswered, settings) * span


def _unit_savings(found: RoundArrays, best: NDArray[np.int64], unanswered: Mask, settings: Settings) -> NDArray[Any]:
    """The possible savings (n,) of decided rows, in [0, 1]; ``best`` are the columns of the answers."""
    predicted = np.where(unanswered, MIDDLE, found.predicted.astype(np.float64).clip(0.0, 1.0))
    abstaining = np.full((len(best), 1), settings.abstain_cost)
    answers = np.take_along_axis(np.hstack([predicted, abstaining]), best[:, None], axis=1)[:, 0]
    lowest = np.where(found.reasons == NOT_A_CANDIDATE, np.inf, found.lowest.astype(np.float64))
    reachable = np.minimum(lowest.min(axis=1), settings.abstain_cost)
    asks = found.mask.any(axis=1)  # a row without candidates asks nothing, and both of its costs are infinite
    saved = np.subtract(answers, reachable, out=np.zeros(len(best)), where=asks)
    return np.asarray(np.maximum(saved, 0.0))
