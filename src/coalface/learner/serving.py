"""Feedback of the chosen label only: ``act`` chooses the label to serve, ``observe`` learns the cost of that label."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from coalface.data.costs import CostScale, as_cost_array, check_mask
from coalface.data.frames import by_row, in_seen_order
from coalface.data.numbers import finite_number, whole_number
from coalface.data.rows import Rows
from coalface.errors import InputError, shortened
from coalface.kernels.state import COSTS_SEEN, ROUND, Settings
from coalface.learner.label_changes import LabelLearner
from coalface.models.serving import ServedRun
from coalface.rounds.arrays import ServedLabels
from coalface.rounds.queries import Actions, CostRanges


class ServingLearner(LabelLearner):
    """A learner that serves labels and sees only what these cost."""

    @property
    def costs_seen_(self) -> int:
        """The number of costs seen because their label was served; ``costs_queried_`` counts those asked for."""
        return int(self.model_.state.counters[COSTS_SEEN]) if hasattr(self, "model_") else 0

    @property
    def records(self) -> bool:
        """Whether the learner writes its rounds to a ledger."""
        return self._recorder is not None

    def act(
        self, X: Any, *, candidates: Any = None, exploration: float = 1.0, first_round: int | None = None
    ) -> Actions:
        """The label to serve on each example, drawn at random with a known probability; the learner does not change.

        Only labels that could be best are served: those whose cost range reaches below the least highest cost. Among
        them, a label is the rarer the more it is predicted to cost (inverse-gap weighting), and labels are explored
        less from round to round. A label without any known cost is tried first. ``exploration`` multiplies how often
        other labels than the best are served; 0 serves the best one always. The learner never abstains here.

        Row r is decided at round ``first_round`` + r, by default the next rounds. The draw depends on ``random_state``
        and the round, so the same call gives the same labels.

        >>> from coalface import CoalClassifier
        >>> learner = CoalClassifier(["refund", "billing"], random_state=1)
        >>> for _ in range(50):
        ...     action = learner.act([[1.0, 0.0]])
        ...     cost = 0.2 if action.labels[0] == "refund" else 0.9
        ...     _ = learner.observe([[1.0, 0.0]], action.labels, cost, action.probability)
        >>> learner.act([[1.0, 0.0]]).labels.tolist(), learner.costs_seen_, learner.costs_queried_
        (['refund'], 50, 0)
        """
        explored = finite_number("exploration", exploration, 0.0)
        start = None if first_round is None else whole_number("first_round", first_round, least=1)
        X, candidates = self.with_label_features(X, candidates)
        rows = self._rows(X)
        allowed = self._candidates(candidates, rows, X)
        with self.model_.lock:
            start = int(self.model_.state.counters[ROUND]) if start is None else start
            chosen, found = self.model_.choose(rows, self.settings_to_serve(), allowed, explored, start)
        if (chosen < 0).any():
            raise InputError(f"candidates must leave at least one label, row {np.argmax(chosen < 0)} has none.")
        scale = CostScale.of(self.cost_bounds)
        return Actions(
            labels=np.asarray(self.classes_[chosen]),
            probability=found.propensity[np.arange(len(chosen)), chosen],
            probabilities=found.propensity,
            ranges=CostRanges(
                scale.within(scale.from_unit(found.lowest)), scale.within(scale.from_unit(found.highest))
            ),
            predicted=scale.from_unit(found.predicted),
            classes=self.classes_,
            first_round=start,
        )

    def observe(self, X: Any, label: Any, cost: Any, probability: Any, *, candidates: Any = None) -> Self:
        """Learn what the served labels cost, one per example, and close a round per row.

        ``label``, ``cost`` and ``probability`` have one entry per row, or are single values for all rows. The
        probability is that with which the label was chosen, by ``act`` or by the policy that wrote a log. It decides
        which model of a committee leads; costs are learned without weights. The costs count as seen, not as asked for.

        Where you also buy costs of a served example, pass all of them to ``tell`` instead, the served one included, and
        what you bought as ``asked``.

        >>> from coalface import CoalClassifier
        >>> learner = CoalClassifier(["refund", "billing"])
        >>> learner.observe([[1.0, 0.0], [0.0, 1.0]], ["refund", "refund"], [0.2, 0.7], 0.5).round_
        3
        """
        if not hasattr(self, "model_"):
            self.begin()
        X, candidates = self.with_label_features(X, candidates)
        X = in_seen_order(X, self)
        rows, encoder = self.encoded(X)
        candidates = by_row(candidates, X, "candidates")
        served = self._checked_served(len(rows), label, probability, candidates)
        costs = np.full((len(rows), len(self.classes_)), np.nan)
        costs[np.arange(len(rows)), served.labels] = _seen_costs(cost, len(rows))
        nothing = np.zeros(costs.shape, np.bool_)
        self._tell(X, rows, self.classes_, costs, nothing, candidates, encoder=encoder, served=served)
        return self

    def serve_rows(self, rows: Rows, run: ServedRun, piece: int) -> None:
        """Serve all rows of a simulated run, ``piece`` rows between two checks for Ctrl-C."""
        for start in range(0, len(run.order), piece):
            stop = min(start + piece, len(run.order))
            self.model_.serve(rows, self.settings_to_serve(), run, start, stop)
            self.n_features_in_ = max(rows.width, getattr(self, "n_features_in_", 0))

    def settings_to_serve(self) -> Settings:
        """The settings of ``act`` and ``observe``: a budget limits what is asked for, and serving asks for nothing."""
        return self.settings_for()._replace(budget=np.inf, alike=np.inf)

    def _checked_served(self, n_rows: int, label: Any, probability: Any, candidates: Any) -> ServedLabels:
        """The served labels and their probabilities; their costs are checked by ``_tell``."""
        names = _per_row("label", np.asarray(label), n_rows)
        codes = np.array(self._columns_of(names), np.int64)
        chances = _per_row("probability", np.asarray(probability), n_rows)
        if chances.dtype.kind not in "fiu" or not ((chances > 0) & (chances <= 1)).all():
            raise InputError(
                f"probability must be above 0 and at most 1, got {shortened(chances.tolist())}. Pass that with which "
                "each label was served, such as act(X).probability."
            )
        if candidates is not None:
            allowed = check_mask(candidates, n_rows, self.classes_, "candidates")[np.arange(n_rows), codes]
            if not allowed.all():
                row = int(np.argmin(allowed))
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
    raise InputError(f"{name} must have one entry per row, {n_rows}, or be a single one, got shape {values.shape}.")
