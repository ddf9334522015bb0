"""The shared model: one regressor for all labels, which predicts the cost of a label from the label's own features.

A label that was never seen has a prediction and a range as soon as it has features. So labels may be the places of a
ranked list, tools described by text, or the mentions that a word may refer to.
"""

from collections.abc import Mapping
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from coalface.data.label_features import BLOCK, label_rows
from coalface.data.rows import Rows
from coalface.errors import InputError, shortened
from coalface.kernels.codes import COAL, FIXED_SLACK
from coalface.kernels.state import Settings
from coalface.models.contract import CostModel
from coalface.models.forest import ForestModel
from coalface.models.online import OnlineModel
from coalface.models.ridge import RidgeModel
from coalface.models.values import NO_WEIGHTS, Costs, Mask, Ranged

Regressor = Literal["online", "ridge", "rbf", "forest"] | OnlineModel | Mapping[str, Any]
_ONLINE = "online"
_REGRESSORS = (_ONLINE, "ridge", "rbf", "forest")
_PREFIX = "shared_"  # of the regressor's arrays, whose names are those of this model's counts


class SharedModel(CostModel):
    """Predicts every label's cost with one regressor, from the features that ``candidates`` gives each label.

    The regressor "online" sees the features of the example, those of the label, and all products of the two. "ridge",
    "rbf" and "forest" see the features of the label alone. An ``OnlineModel`` is "online" with its parameters.

    >>> from coalface import CoalClassifier
    >>> learner = CoalClassifier(["near", "far", "new"], model=SharedModel())
    >>> distance = [{"near": [0.1], "far": [0.9]}] * 50
    >>> _ = learner.fit(None, cost=[[0.1, 0.9, np.nan]] * 50, candidates=distance)
    >>> learner.predict(None, candidates=[{"far": [0.8], "new": [0.2]}]).tolist()  # "new" never had an answer
    ['new']
    """

    learned_with = ("random_state", "audits.rate", "rule.miss_rate")
    reads_label_features = True
    regressor_: CostModel

    def __init__(self, regressor: Regressor = "online") -> None:
        self.regressor = regressor

    def begin(self, n_labels: int, settings: Settings) -> Self:
        """An untrained model."""
        begun = super().begin(n_labels, settings)
        begun.regressor_ = _regressor(self.regressor).begin(1, _of_one_label(settings))
        begun.default_miss_rate = begun.regressor_.default_miss_rate
        return begun

    def predict(self, rows: Rows) -> Costs:
        """The predicted costs, (n, K)."""
        return self.regressor_.predict(self._label_rows(rows)).reshape(len(rows), self.n_labels)

    def ranges(self, rows: Rows, settings: Settings, first_round: int) -> Ranged:
        """Predictions and ranges; all labels of an example are decided at the same round."""
        found = Ranged(*(np.empty((len(rows), self.n_labels), np.float32) for _ in range(3)))
        own, of_labels, n_labels = _of_one_label(settings), self._label_rows(rows), self.n_labels
        step = 1 if settings.round_step else max(len(rows), 1)
        for first in range(0, len(rows), step):
            stop = min(first + step, len(rows))
            part = of_labels.between(first * n_labels, stop * n_labels)
            ranged = self.regressor_.ranges(part, own, first_round + settings.round_step * first)
            for array, costs in zip(found, ranged, strict=True):
                array[first:stop] = costs.reshape(-1, n_labels)
        return found

    def learn(
        self, rows: Rows, costs: Costs, settings: Settings, first_round: int, weights: Costs = NO_WEIGHTS
    ) -> None:
        """Learn the known costs, label by label and row by row."""
        own = _of_one_label(settings)
        for row in range(len(rows)):  # each row is predicted before it is learned, however rows are split over calls
            one = slice(row, row + 1)
            known = np.flatnonzero(~np.isnan(costs[row]))
            if not len(known):
                continue
            of_labels = self._label_rows(rows.between(row, row + 1))
            predicted = self.regressor_.predict(of_labels).reshape(1, -1)
            self.count_answers(predicted, costs[one], weights[one])
            importance = np.ascontiguousarray(weights[row, known][:, None]) if len(weights) else NO_WEIGHTS
            answers = np.ascontiguousarray(costs[row, known][:, None])
            self.regressor_.learn(of_labels.take(known), answers, own, first_round + row, importance)

    def check(self, rows: Rows) -> None:
        """Raise an InputError if the regressor cannot learn these rows; features of labels may all be 0."""
        self.regressor_.check(self._label_rows(rows))

    def unanswered(self) -> Mask:
        """No label once any has an answer, since all share what is learned."""
        return np.full(self.n_labels, not self.state.answered.any())

    def add_label(self, first_round: int) -> None:
        """Take in one more label, the last; it needs no warm-up, since its features say what it costs."""
        super().add_label(0)

    def grow(self) -> None:
        """Nothing: what was learned holds for every label."""

    def plain(self) -> dict[str, Any]:
        """The parameters as JSON values."""
        given = self.regressor
        return {"regressor": given.plain() if isinstance(given, OnlineModel) else str(given)}

    def linear_parameters(self) -> dict[str, Any]:
        """The parameters of the regressor."""
        return _regressor(self.regressor).linear_parameters()

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The regressor as named arrays."""
        return {_PREFIX + name: array for name, array in self.regressor_.saved().items()}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Restore the state that ``arrays`` returned."""
        found = {name.removeprefix(_PREFIX): array for name, array in arrays.items() if name.startswith(_PREFIX)}
        self.regressor_.restore_saved(found)

    def _label_rows(self, rows: Rows) -> Rows:
        return label_rows(rows, self.n_labels, with_example=isinstance(self.regressor_, OnlineModel))


def _of_one_label(settings: Settings) -> Settings:
    """The settings of a regressor that only predicts, gives ranges and learns; the shared model does the rest."""
    return settings._replace(
        n_labels=1,
        rule=COAL,
        warm_up=0,
        in_turn=False,
        audit_rate=0.0,
        abstain_cost=np.inf,
        alike=np.inf,
        miss_rate=FIXED_SLACK,
        budget=np.inf,
        price_of_truth=np.inf,
        audits_by_loss=False,
        round_step=0,
    )


def _regressor(name: Any) -> CostModel:
    if isinstance(name, Mapping):
        name = OnlineModel(**name)
    if name == _ONLINE or isinstance(name, OnlineModel):
        own = {} if name == _ONLINE else name.get_params(deep=False)
        return OnlineModel(**{**own, "interactions": [[[0, BLOCK], [BLOCK, 2 * BLOCK]]]})
    if name == "ridge":
        return RidgeModel()
    if name == "rbf":
        return RidgeModel(kernel="rbf")
    if name == "forest":
        return ForestModel()
    raise InputError(f"regressor must be one of {', '.join(map(repr, _REGRESSORS))}, got {shortened(name)}.")
