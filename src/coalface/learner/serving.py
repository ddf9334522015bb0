"""Feedback of the chosen label only: ``act`` chooses the label to serve, ``observe`` learns the cost of that label."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from coalface.data.costs import as_cost_array
from coalface.data.labels import label_codes
from coalface.data.numbers import finite_number, whole_number
from coalface.data.rows import Rows
from coalface.errors import InputError, shortened
from coalface.kernels.state import ROUND, Settings
from coalface.learner.intake import Examples, allowed, examples_to_decide, keep_features, read_examples
from coalface.learner.predicting import refuse_no_candidate
from coalface.learner.state import LearnerState, begin, ready, scale_of, settings_of
from coalface.learner.teaching import Answers, learn
from coalface.models.serving import ServedRun
from coalface.rounds.arrays import ServedLabels
from coalface.rounds.queries import Actions, CostRanges


def act(
    learner: LearnerState, X: Any, candidates: Any = None, exploration: float = 1.0, first_round: int | None = None
) -> Actions:
    """The label to serve on each example: see ``CoalClassifier.act``."""
    explored = finite_number("exploration", exploration, 0.0)
    start = None if first_round is None else whole_number("first_round", first_round, least=1)
    examples, model = examples_to_decide(ready(learner), X, candidates), learner.model_
    mask = allowed(learner, examples.candidates, examples.n_rows)
    with model.lock:
        start = int(model.state.counters[ROUND]) if start is None else start
        chosen, found = model.choose(examples.rows, _settings_to_serve(learner), mask, explored, start)
    refuse_no_candidate(chosen)
    scale = scale_of(learner)
    return Actions(
        labels=np.asarray(learner.classes_[chosen]),
        probability=found.propensity[np.arange(len(chosen)), chosen],
        probabilities=found.propensity,
        ranges=CostRanges(*(scale.within(scale.from_unit(end)) for end in (found.lowest, found.highest))),
        predicted=scale.from_unit(found.predicted),
        classes=learner.classes_,
        first_round=start,
    )


def observe(learner: LearnerState, X: Any, label: Any, cost: Any, probability: Any, candidates: Any = None) -> None:
    """Learn what the served labels cost: see ``CoalClassifier.observe``."""
    begin(learner)
    examples = read_examples(learner, X, candidates)
    served = _checked_served(learner, examples, label, probability)
    costs = np.full((examples.n_rows, len(learner.classes_)), np.nan)
    costs[np.arange(examples.n_rows), served.labels] = _seen_costs(cost, examples.n_rows)
    nothing_asked = np.zeros(costs.shape, np.bool_)
    learn(learner, examples, learner.classes_, Answers(costs, nothing_asked, served=served))


def serve_rows(learner: LearnerState, rows: Rows, run: ServedRun, piece: int) -> None:
    """Serve all rows of a simulated run, ``piece`` rows between two checks for Ctrl-C."""
    for start in range(0, len(run.order), piece):
        stop = min(start + piece, len(run.order))
        learner.model_.serve(rows, _settings_to_serve(learner), run, start, stop)
        keep_features(learner, Examples(None, rows))


def _settings_to_serve(learner: LearnerState) -> Settings:
    """The settings of ``act`` and ``observe``: a budget limits what is asked for, and serving asks for nothing."""
    return settings_of(learner)._replace(budget=np.inf, alike=np.inf)


def _checked_served(learner: LearnerState, examples: Examples, label: Any, probability: Any) -> ServedLabels:
    """The served labels and their probabilities; their costs are checked when they are learned."""
    n_rows = examples.n_rows
    names = _per_row("label", np.asarray(label), n_rows)
    codes = label_codes(names.tolist(), learner.classes_).astype(np.int64)
    chances = _per_row("probability", np.asarray(probability), n_rows)
    if chances.dtype.kind not in "fiu" or not ((chances > 0) & (chances <= 1)).all():
        raise InputError(
            f"probability must be above 0 and at most 1, got {shortened(chances.tolist())}. Pass that with which "
            "each label was served, such as act(X).probability."
        )
    if examples.candidates is not None:
        fits = examples.candidates[np.arange(n_rows), codes]
        if not fits.all():
            row = int(np.argmin(fits))
            raise InputError(
                f"label must be a candidate, got {names[row].item()!r} in row {row}. Correct candidates, or leave "
                "the row out."
            )
    return ServedLabels(codes, chances.astype(np.float64))


def _seen_costs(cost: Any, n_rows: int) -> NDArray[np.float64]:
    array = np.asarray(cost)
    one_each = _per_row("cost", array if array.dtype.kind in "biuf" else np.asarray(cost, object), n_rows)
    costs = as_cost_array(one_each[:, None])[:, 0]
    if not np.isfinite(costs).all():
        row = int(np.argmin(np.isfinite(costs)))
        raise InputError(f"cost must be a finite number, got {costs[row]} in row {row}. Leave out rows without a cost.")
    return costs.astype(np.float64)


def _per_row(name: str, values: NDArray[Any], n_rows: int) -> NDArray[Any]:
    if values.ndim == 0 or values.shape == (n_rows,):
        return np.broadcast_to(values, n_rows)
    raise InputError(
        f"{name} must have one entry per row, {n_rows}, or be a single one, got shape {values.shape}. Correct it."
    )
